"""A check that packages are installed."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from assay_adapters.ports.backend import Unavailable


def missing_packages(names: Iterable[str], *, extra: str) -> Unavailable | None:
    """Find packages that are not installed.

    Args:
        names: The packages' import names.
        extra: The extras of `assay-mq` that install the packages, with commas.

    Returns:
        The missing packages, and the command that installs them; None if all are installed.
    """
    absent = [name for name in names if find_spec(name) is None]
    if not absent:
        return None
    several = len(absent) > 1
    what = f"the package{'s' * several} {', '.join(absent)} {'are' if several else 'is'} not installed"
    return Unavailable(what, f"pip install 'assay-mq[{extra}]'")
