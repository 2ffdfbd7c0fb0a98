"""The folder of the features."""

from functools import cache
from pathlib import Path


@cache
def feature_root() -> Path:
    """Return the folder whose subfolders `delay`, `persistence`, `qos` and `batch` hold the `.feature` files."""
    return Path(__file__).resolve().parent
