"""The threads that wait in `RealRunner.run_until`, and their wake-up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class Wake:
    """An event for one waiting thread.

    `threading.Event` is not used: if a signal's handler raises during its `wait`, the application may get a
    RuntimeError of `Event` instead of the handler's exception.
    """

    __slots__ = ("_lock", "_set")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._set = False

    def is_set(self) -> bool:
        """Return whether `set` was called."""
        return self._set

    def set(self) -> None:
        """Wake the waiting thread; any thread may call this, even several times."""
        self._set = True
        with suppress(RuntimeError):  # raised if the lock was released before
            self._lock.release()

    def wait(self, timeout_s: float = -1) -> bool:
        """Wait until `set` is called, and return whether it was called before the timeout.

        Args:
            timeout_s: How long to wait, in seconds; -1 waits without limit.
        """
        return self._set or self._lock.acquire(timeout=timeout_s)


class Waiter:
    """A thread that waits in `RealRunner.run_until`, with its condition (`done`) and its error."""

    __slots__ = ("done", "error", "woken")

    def __init__(self, done: Callable[[], bool]) -> None:
        self.done = done
        self.error: BaseException | None = None
        self.woken = Wake()

    def check(self) -> None:
        """Evaluate the condition, and wake the thread if it is true; called on the loop's thread."""
        try:
            if self.done():
                self.woken.set()
        except Exception as error:  # noqa: BLE001  an error of the waiter's condition is raised on the waiter's thread
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Wake the thread with an error, which `run_until` then raises."""
        self.error = self.error or error
        self.woken.set()
