"""Temporary changes of the environment variables that Spark reads."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager


@contextmanager
def environment(changes: Mapping[str, str | None]) -> Generator[None, None, None]:
    """Change environment variables, and restore their former values at the end of the block.

    Args:
        changes: The new values by name; None removes a variable.
    """
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
