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

Handler = Callable[[int, FrameType | None], object]
"""A handler of a signal."""


class _Deferral:
    """A handler of SIGINT that waits while a block is open; entered, it is that block.

    Args:
        before: The handler that gets the signal then.
    """

    def __init__(self, before: Handler) -> None:
        self.before = before
        self.depth = 0
        self._came: Handler | None = None

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        self.strike(self.before, frame)

    def strike(self, handler: Handler, frame: FrameType | None) -> None:
        """Have a handler of Ctrl-C called, now or when the block is over."""
        if self.depth:
            self._came = handler
        else:
            handler(signal.SIGINT, frame)

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.depth -= 1
        came = self._came
        if came is not None and not self.depth:
            self._came = None
            came(signal.SIGINT, None)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Somebody has Ctrl-C ignored."""


_standing: list[_Deferral] = []
"""The handler that is in place all along, if one is: asking for the present handler costs as much as a journal line."""


@contextmanager
def ctrl_c_deferrable() -> Generator[None]:
    """Make `ctrl_c_deferred` cheap for the length of a block; for one with very many short ones in it."""
    before = signal.getsignal(signal.SIGINT)
    if _standing or threading.current_thread() is not threading.main_thread():
        yield
        return
    deferral = _Deferral(before if callable(before) else _nothing)
    if callable(before):
        signal.signal(signal.SIGINT, deferral)
    _standing.append(deferral)
    try:
        yield
    finally:
        _standing.clear()
        if signal.getsignal(signal.SIGINT) is deferral:
            signal.signal(signal.SIGINT, before)


def as_ctrl_c(handler: Handler) -> Handler:
    """A handler of another signal that means what Ctrl-C means, and waits where that waits.

    Args:
        handler: What is called then, as for SIGINT.
    """

    def struck(_number: int, frame: FrameType | None) -> None:
        if _standing:
            _standing[0].strike(handler, frame)
        else:
            handler(signal.SIGINT, frame)

    return struck


def ctrl_c_deferred() -> AbstractContextManager[None]:
    """Let Ctrl-C wait until the block is over; for blocks that are short, or that must not be left half done.

    Other threads are never interrupted, so there it does nothing.

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
