"""Settings of Python's garbage collector for processes that live for one run.

By default Python searches for garbage after every 700 new objects.  A run needs most of its objects to the end, and
reference counting frees the others.  So a search finds almost nothing. With Python's default setting, the searches took
a tenth of the run.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

OBJECTS_A_SEARCH = 50_000
"""The number of new objects between two searches.

A scenario creates fewer objects, and this number of unused objects needs little memory.
"""


@contextmanager
def collect_rarely() -> Generator[None]:
    """Search for garbage only after `OBJECTS_A_SEARCH` new objects, inside the `with` block."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_A_SEARCH)
    gc.freeze()  # pytest searches ten times at its end, and a search skips frozen objects
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def freeze() -> None:
    """Exclude all present objects from garbage collection (`gc.freeze`) until the block of `collect_rarely` ends.

    Call this before a fork: a collection writes to the objects that it examines, and forked processes then no longer
    share the objects' memory.
    """
    gc.freeze()
