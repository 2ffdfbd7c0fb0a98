"""Python's search for garbage, in processes that live for one run.

Python looks through what was made since its last look after every seven hundred objects, and now and then through
everything.  A run makes millions that are needed to its end or go away by themselves, so looking finds next to nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

OBJECTS_A_SEARCH = 50_000
"""More than a scenario's whole world has, less than would be noticed if it stayed."""


@contextmanager
def searched_seldom() -> Generator[None]:
    """Look for garbage only after that many new objects, for the length of a block that the process is there for."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_A_SEARCH)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def kept_for_good() -> None:
    """What there is now stays to that block's end: it is neither looked through nor, in forked processes, copied."""
    gc.freeze()
