"""A delay for the application's signal handlers, so that they run only between jobs or during a listener's call.

Python calls a signal's handler on the main thread, between any two instructions.  The handler may raise, as the handler
of Ctrl-C does.  The jobs of an in-process broker run on the thread that waits for them, which may be the main thread.
An exception within a job would leave broker and client with half of the job's effects.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Self

Handler = Callable[[int, FrameType | None], object]

_HELD = tuple(int(number) for number in signal.Signals if number.name in {"SIGINT", "SIGALRM", "SIGTERM"})
"""Signals whose handlers are likely to raise; replacing the handlers of all signals would take too long."""


class SignalHold:
    """A context manager that delays the handlers of signals to the end of its block.

    The process has one instance (`hold`), because handlers belong to the process.  It has an effect only on the main
    thread, on which Python calls handlers.  A block inside another block has no effect of its own, unless it is in a
    function that `application` calls.
    """

    def __init__(self) -> None:
        self.came: deque[tuple[int, FrameType | None]] = deque()
        """The signals whose handlers still have to be called, in the order of arrival."""
        self._handlers: dict[int, Handler] = {}
        self._installed: list[int] = []
        self._depth = 0
        self._late = False
        self._outer: list[bool] = []
        self._own: Handler = self._note

    def __enter__(self) -> Self:
        """Delay handlers until `tell` is called or the block ends."""
        if _on_main_thread():
            outer, self._late = self._late, True
            try:
                if not self._depth:
                    self._install()
            except BaseException:  # a handler that is not replaced yet may raise
                self._restore()
                self._late = outer
                raise
            self._outer.append(outer)
            self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        """End the block, and call the delayed handlers, which may raise; an inner block calls none."""
        if _on_main_thread():
            late = self._outer.pop()
            self._depth -= 1
            try:
                if not self._depth:
                    self._restore()
            finally:
                self._late = late
            if not late:
                self.tell()

    def tell(self) -> None:
        """Call the delayed handlers if this is the main thread; a handler may raise."""
        while self.came and _on_main_thread():
            number, frame = self.came.popleft()
            self._handlers[number](number, frame)

    def application(self, call: Callable[[], None]) -> None:
        """Call a function of the application; while it runs, handlers of signals are called at once."""
        if not (self._depth and _on_main_thread()):
            call()
            return
        late, self._late = self._late, False
        try:
            self.tell()
            call()
        finally:
            self._late = late

    def _install(self) -> None:
        for number in _HELD:
            handler = signal.getsignal(number)
            if callable(handler) and handler != self._own:
                self._handlers[number] = handler
                self._installed.append(number)
                signal.signal(number, self._own)

    def _restore(self) -> None:
        while self._installed:
            number = self._installed.pop()
            now = signal.signal(number, self._handlers[number])
            if now != self._own:  # the application has set another handler meanwhile
                signal.signal(number, now)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._late:
            self.came.append((number, frame))
        else:
            self._handlers[number](number, frame)


def _on_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


hold = SignalHold()
"""The only `SignalHold` of this process."""
