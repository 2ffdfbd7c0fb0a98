"""The check for packages that Spark imports late, because Spark's own error for a missing package does not help."""

from __future__ import annotations

from importlib.util import find_spec

from assay_pipeline.errors import PackageMissingError


def need(use: str, extra: str, *packages: str) -> None:
    """Check that packages are installed.

    Args:
        use: The first words of the error's text, which name the user of the packages: ``A Spark Connect server needs``.
        extra: The extra of this distribution that includes the packages.
        packages: The names under which the packages are imported.

    Raises:
        PackageMissingError: One of them is not installed.
    """
    for package in packages:
        if not _is_installed(package):
            raise PackageMissingError(use, package, extra)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False
