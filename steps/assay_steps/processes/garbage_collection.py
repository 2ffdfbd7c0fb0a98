"""Python's garbage collector, tuned for processes that live for one run.

By default Python searches for garbage after every 700 new objects.  A run makes millions of objects that it needs to
its end or that reference counting frees, so a search finds almost nothing and took a tenth of the run.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

OBJECTS_A_SEARCH = 50_000
"""More than all objects of one scenario; few enough that the memory of this much garbage does not matter."""


@contextmanager
def collect_rarely() -> Generator[None]:
    """Search for garbage only after `OBJECTS_A_SEARCH` new objects, inside this block."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_A_SEARCH)
    gc.freeze()  # pytest searches ten times at its end; earlier objects are kept out of that
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def freeze() -> None:
    """Exclude all present objects from searches until that block ends, so that forked processes share their memory."""
    gc.freeze()
