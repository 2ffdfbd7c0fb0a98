"""Delay of Ctrl-C where it must not interrupt: in a journal's line, or before a new container is noted.

Python runs a signal's handler between any two instructions of the main thread, so every one of them may raise
`KeyboardInterrupt`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType, TracebackType

Handler = Callable[[int, FrameType | None], object]
"""A signal handler."""


class _Deferral:
    """A handler of SIGINT that waits until a block ends; as a context manager it is that block.

    Args:
        before: The handler that it calls then.
    """

    def __init__(self, before: Handler) -> None:
        self.before = before
        self.depth = 0
        self._came: Handler | None = None

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        self.strike(self.before, frame)

    def strike(self, handler: Handler, frame: FrameType | None) -> None:
        """Call a handler of Ctrl-C, now or when the block is over."""
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
    """Ignore Ctrl-C, as the process did before."""


_standing: list[_Deferral] = []
"""The installed deferral, if any; reading the present handler for each block would cost as much as a journal line."""


@contextmanager
def ctrl_c_deferrable() -> Generator[None]:
    """Make `ctrl_c_deferred` cheap inside a block with many short uses of it."""
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
    """Return a handler for another signal that has the meaning of Ctrl-C and is deferred like it.

    Args:
        handler: Called then, as for SIGINT.
    """

    def struck(_number: int, frame: FrameType | None) -> None:
        if _standing:
            _standing[0].strike(handler, frame)
        else:
            handler(signal.SIGINT, frame)

    return struck


def ctrl_c_deferred() -> AbstractContextManager[None]:
    """Defer Ctrl-C until the block is over, for blocks that are short or must not be left half done.

    Without effect in other threads, which are never interrupted.

    Raises:
        KeyboardInterrupt: When the block is over, if Ctrl-C came meanwhile; or what the earlier handler does.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _standing[0] if _standing else _deferred_once()


@contextmanager
def _deferred_once() -> Generator[None]:
    with ctrl_c_deferrable(), _standing[0] if _standing else nullcontext():
        yield
