"""The folder of the features."""

from functools import cache
from pathlib import Path


@cache
def feature_root() -> Path:
    """Return the folder whose subfolders, such as `delay` and `probes`, contain the `.feature` files."""
    return Path(__file__).resolve().parent
