"""Ctrl-C where it must not strike: half of a journal's line, a container that nobody knows of yet.

Python runs a signal's handler between any two instructions of the main thread, so `KeyboardInterrupt` may come out of
every one of them.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType, TracebackType


class _Deferral:
    """A handler of SIGINT that waits while a block is open; entered, it is that block.

    Args:
        before: The handler that gets the signal then.
    """

    def __init__(self, before: Callable[[int, FrameType | None], object]) -> None:
        self.before = before
        self.depth = 0
        self._came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.depth:
            self._came = True
        else:
            self.before(number, frame)

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.depth -= 1
        if self._came and not self.depth:
            self._came = False
            self.before(signal.SIGINT, None)


_standing: list[_Deferral] = []
"""The handler that is in place all along, if one is: asking for the present handler costs as much as a journal line."""


@contextmanager
def ctrl_c_deferrable() -> Generator[None]:
    """Make `ctrl_c_deferred` cheap for the length of a block; for one with very many short ones in it."""
    before = signal.getsignal(signal.SIGINT)
    if _standing or threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    deferral = _Deferral(before)
    signal.signal(signal.SIGINT, deferral)
    _standing.append(deferral)
    try:
        yield
    finally:
        _standing.clear()
        if signal.getsignal(signal.SIGINT) is deferral:
            signal.signal(signal.SIGINT, before)


def ctrl_c_deferred() -> AbstractContextManager[None]:
    """Let Ctrl-C wait until the block is over; for blocks that are short, or that must not be left half done.

    Other threads are never interrupted, so there it does nothing; nor where somebody has Ctrl-C ignored.

    Raises:
        KeyboardInterrupt: When the block is over, if Ctrl-C came meanwhile; whatever else the handler before does.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _standing[0] if _standing else _deferred_once()


@contextmanager
def _deferred_once() -> Generator[None]:
    with ctrl_c_deferrable(), _standing[0] if _standing else nullcontext():
        yield
