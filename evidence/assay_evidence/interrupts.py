"""Deferral of Ctrl-C in short blocks that Ctrl-C must not interrupt, such as the writing of a journal's line.

Python runs a signal's handler between any two instructions of the main thread, so each instruction may raise
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
    """A handler of SIGINT that can defer Ctrl-C; as a context manager, it defers Ctrl-C to the end of the block.

    Args:
        before: The earlier handler of SIGINT, which `_Deferral` calls at once or at the end of the block.
    """

    def __init__(self, before: Handler) -> None:
        self.before = before
        self.depth = 0
        self._came: Handler | None = None

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        self.strike(self.before, frame)

    def strike(self, handler: Handler, frame: FrameType | None) -> None:
        """Call a handler now or, if a block defers Ctrl-C, at the end of the block."""
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
    """Ignore Ctrl-C, for a process that already ignored Ctrl-C before the deferral."""


_standing: list[_Deferral] = []
"""The deferral that `ctrl_c_deferrable` has installed; empty outside its block.

It stays installed for the whole block, because an installation takes as long as writing a line."""


@contextmanager
def ctrl_c_deferrable() -> Generator[None]:
    """Install the deferral for a block in which `ctrl_c_deferred` is used often, so that each use is cheap."""
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
    """Return a handler for another signal, such as SIGTERM; the blocks that defer Ctrl-C defer this handler, too.

    Args:
        handler: The handler that is called with the number of SIGINT, at once or after the deferral.
    """

    def struck(_number: int, frame: FrameType | None) -> None:
        if _standing:
            _standing[0].strike(handler, frame)
        else:
            handler(signal.SIGINT, frame)

    return struck


def ctrl_c_deferred() -> AbstractContextManager[None]:
    """Defer Ctrl-C until the end of the block, for short blocks that must not be left half done.

    In threads other than the main thread this has no effect, because Ctrl-C never interrupts them.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl-C during the block; the earlier handler of SIGINT raises it at the end.
    """
    if threading.current_thread() is not threading.main_thread():
        return nullcontext()
    return _standing[0] if _standing else _deferred_once()


@contextmanager
def _deferred_once() -> Generator[None]:
    with ctrl_c_deferrable(), _standing[0] if _standing else nullcontext():
        yield
