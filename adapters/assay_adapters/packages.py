"""Checks for installed packages."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from assay_adapters.ports.backend import Unavailable


def missing_packages(names: Iterable[str], *, extra: str) -> Unavailable | None:
    """Find packages that are not installed.

    Args:
        names: Import names.
        extra: The extras of this distribution that install them.

    Returns:
        The missing packages and how to install them; None if none is missing.
    """
    absent = [name for name in names if find_spec(name) is None]
    if not absent:
        return None
    several = len(absent) > 1
    what = f"the package{'s' * several} {', '.join(absent)} {'are' if several else 'is'} not installed"
    return Unavailable(what, f"pip install 'assay-mq[{extra}]'")
