"""A fault on its way, in two halves: the broker is hurt, and is well again.

The first half (the kill, the stop) happens where its trigger happens, and nothing else goes on there meanwhile; the
second half (coming back) has a thread of its own, so that nobody has to wait for it to happen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Source
from assay_sdk.time import Runner

_TRIGGER_LIMIT_NS = 30 * 10**9
"""How long a trigger is waited for: longer than a send or a receive of any scenario takes."""


class HalvesInjection:
    """A fault on its way.

    Args:
        runner: How to wait.
        hurt: Strikes.
        heal: Brings the broker back; returns when it answers.
        lasts: Whether it lasts until somebody heals it, instead of ending by itself.
    """

    def __init__(
        self, runner: Runner, hurt: Callable[[], None], heal: Callable[[], None], *, lasts: bool = False
    ) -> None:
        self._lasts = lasts
        self._runner = runner
        self._hurt = hurt
        self._heal = heal
        self._firing = threading.Lock()
        self._begin_ns: int | None = None
        self._end_ns: int | None = None
        self._error: Exception | None = None

    def fire(self) -> None:
        """Strike, once; returns when the broker is down."""
        with self._firing:
            if self._begin_ns is not None:
                return
            self._begin_ns = self._runner.clock.monotonic_ns()
            try:
                self._hurt()
            except Exception as error:  # noqa: BLE001  raised again to whoever waits for the fault
                self._error = error
                return
            finally:
                self._runner.call_soon(_look)
        if not self._lasts:
            threading.Thread(target=self._come_back, name="assay-heal", daemon=True).start()

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the broker was hurt and is well again; monotonic nanoseconds of begin and end.

        Raises:
            BackendError: It could not be hurt, or did not come back.
        """
        deadline_ns = self._runner.clock.monotonic_ns() + _TRIGGER_LIMIT_NS
        if not self._runner.run_until(lambda: self._begin_ns is not None, deadline_ns):
            return Unsupported("fault", Source("What the fault waited for did not happen."))
        self._runner.run_until(lambda: self._end_ns is not None or self._error is not None, None)
        if self._error is not None:
            raise self._error
        if self._begin_ns is None or self._end_ns is None:
            raise RuntimeError("a fault ended without a beginning")
        return self._begin_ns, self._end_ns

    def heal(self) -> None:
        """End a fault that lasts until then; the others end by themselves."""
        if self._lasts and self._begin_ns is not None and self._end_ns is None:
            self._come_back()

    def _come_back(self) -> None:
        try:
            self._heal()
        except Exception as error:  # noqa: BLE001  raised again to whoever waits for the fault
            self._error = error
        else:
            self._end_ns = self._runner.clock.monotonic_ns()
        with suppress(RuntimeError):  # the runner is closed: nobody waits for it any more
            self._runner.call_soon(_look)


def _look() -> None:
    """A job that does nothing: after it, every condition that somebody waits for is asked."""
