"""An injected fault in two steps: the first causes the fault, such as a kill; the second ends it, such as a new start.

The first step runs on the thread that detects the trigger, so this thread does nothing else before the fault. The
second step runs on a thread of its own, so the first thread need not wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Source
from assay_sdk.time import Runner

_TRIGGER_LIMIT_NS = 30 * 10**9
"""The longest wait for a trigger: longer than a send or a receive of any scenario takes."""


class HalvesInjection:
    """A fault in two steps; `fire` causes the first step, and starts the second on another thread.

    Args:
        runner: The runner that waits and has the clock.
        down: The first step, such as to end the broker or its connections. Returns the time at which the fault began,
            in nanoseconds of the runner's monotonic clock; None if the fault began with the call.
        heal: The second step, such as to start the broker again and wait until it answers.
        lasts: Whether the second step waits for a call of the method `heal`; otherwise it follows the first at once.
    """

    def __init__(
        self, runner: Runner, down: Callable[[], int | None], heal: Callable[[], None], *, lasts: bool = False
    ) -> None:
        self._lasts = lasts
        self._runner = runner
        self._down = down
        self._heal = heal
        self._firing = threading.Lock()
        self._begin_ns: int | None = None
        self._end_ns: int | None = None
        self._error: Exception | None = None

    def fire(self) -> None:
        """Carry out the first step, and start the second unless the fault lasts; further calls do nothing."""
        with self._firing:
            if self._begin_ns is not None:
                return
            self._begin_ns = self._runner.clock.monotonic_ns()
            try:
                self._begin_ns = self._down() or self._begin_ns
            except Exception as error:  # noqa: BLE001  `wait` raises it again
                self._error = error
                return
            finally:
                self._runner.call_soon(_wake)
        if not self._lasts:
            threading.Thread(target=self._come_back, name="assay-heal", daemon=True).start()

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the fault is over.

        Returns:
            The fault's begin and end, in nanoseconds of the runner's monotonic clock; `Unsupported` if the trigger did
            not occur.

        Raises:
            BackendError: The broker did not end or did not start again, and the kit or the machine may be the cause.
            NoReturnError: The broker itself failed to shut down normally or to start again.
        """
        deadline_ns = self._runner.clock.monotonic_ns() + _TRIGGER_LIMIT_NS
        if not self._runner.run_until(lambda: self._begin_ns is not None, deadline_ns):
            return Unsupported("fault", Source("The fault's trigger did not occur."))
        self._runner.run_until(lambda: self._end_ns is not None or self._error is not None, None)
        if self._error is not None:
            raise self._error
        if self._begin_ns is None or self._end_ns is None:
            raise RuntimeError("a fault has ended, but has no begin")
        return self._begin_ns, self._end_ns

    def heal(self) -> None:
        """End a fault that lasts until this call; do nothing for a fault that ends by itself."""
        if self._lasts and self._begin_ns is not None and self._end_ns is None:
            self._come_back()

    def _come_back(self) -> None:
        try:
            self._heal()
        except Exception as error:  # noqa: BLE001  `wait` raises it again
            self._error = error
        else:
            self._end_ns = self._runner.clock.monotonic_ns()
        with suppress(RuntimeError):  # the runner is closed, so `wait` no longer runs
            self._runner.call_soon(_wake)


def _wake() -> None:
    """Do nothing: after any job, such as this one, the runner checks the condition of `run_until`."""
