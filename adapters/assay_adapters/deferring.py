"""Ctrl-C where it must not strike: half of a journal's line, a container that nobody knows of yet.

Python runs a signal's handler between any two instructions of the main thread, so `KeyboardInterrupt` may come out of
every one of them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def ctrl_c_deferred() -> Generator[None]:
    """Let Ctrl-C wait until the block is over; for blocks that are short, or that must not be left half done.

    Other threads are never interrupted, so there it does nothing; nor where somebody has Ctrl-C ignored.

    Raises:
        KeyboardInterrupt: When the block is over, if Ctrl-C came meanwhile; whatever else the handler before does.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(came[0], None)
