"""Threads that wait until a runner's jobs have made a condition true."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class Wake:
    """An event for one waiting thread.

    `threading.Event` is not used, because the exception of a signal's handler within its wait may become its own
    RuntimeError.
    """

    __slots__ = ("_lock", "_set")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._set = False

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._set

    def set(self) -> None:
        """Wake the thread; from any thread, any number of times."""
        self._set = True
        with suppress(RuntimeError):  # it was released already
            self._lock.release()

    def wait(self, timeout_s: float = -1) -> bool:
        """Wait until it is set, or for this many seconds; without a number, without limit."""
        return self._set or self._lock.acquire(timeout=timeout_s)


class Waiter:
    """A thread that waits in `run_until`."""

    __slots__ = ("done", "error", "woken")

    def __init__(self, done: Callable[[], bool]) -> None:
        self.done = done
        self.error: BaseException | None = None
        self.woken = Wake()

    def look(self) -> None:
        """Evaluate the condition, on the loop's thread."""
        try:
            if self.done():
                self.woken.set()
        except Exception as error:  # noqa: BLE001  an error of the waiter's condition is raised to the waiter
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Wake the waiter with an error."""
        self.error = self.error or error
        self.woken.set()
