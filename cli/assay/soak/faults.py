"""The faults of a soak: their kinds, their times, and a thread that causes a planned fault."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from assay.soak.plan import PlannedFault
from assay.soak.slice_consumer import QUIET_MS
from assay_adapters.ports.backend import Instance
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import Cut, FaultRequest, Kill, Pause, PowerLoss, Restart, Slow
from assay_sdk.model.capabilities import Capability


class FaultKind(Struct, frozen=True, kw_only=True):
    """A kind of fault that a soak can cause.

    Args:
        text: What happens, in a few words.
        needs: The capability that the pair must have.
        request: Makes the request to the backend.
    """

    text: str
    needs: Capability
    request: Callable[[], FaultRequest]


KINDS: Mapping[str, FaultKind] = {
    "kill": FaultKind(
        text="SIGKILL to the broker's process, then a start on the same data", needs=Capability.KILL, request=Kill
    ),
    "restart": FaultKind(
        text="a normal stop, then a start on the same data", needs=Capability.RESTART, request=Restart
    ),
    "cut": FaultKind(text="all connections of clients are cut", needs=Capability.CUT, request=Cut),
    "pause": FaultKind(
        text="the broker's processes are suspended, with open connections", needs=Capability.KILL, request=Pause
    ),
    "slow": FaultKind(
        text="each piece of data between clients and broker is held back for 200 ms", needs=Capability.CUT, request=Slow
    ),
    "power": FaultKind(
        text="the broker's process ends, what it has not flushed is discarded, then a start on the rest of the data",
        needs=Capability.POWER_LOSS,
        request=PowerLoss,
    ),
}
"""The kinds of faults by the name that `--faults` takes."""


CALM_MS = QUIET_MS + 2_500
"""The shortest time from the end of a fault to the next fault, in milliseconds.

In this time the consumers attach again and can be silent for `QUIET_MS`, so that slices end.  Without this time, no
slice would end if a broker's start took longer than the plan's time between two faults.
"""
OPEN_SLICES = 5
"""The largest number of open slices at which a fault may begin.

On a busy machine, the consumers may not become silent between two faults.  Then slices stay open, and after each fault
more consumers have to attach again, which takes longer each time.
"""
LIMIT_S = 60.0
"""If a soak ends early, it waits at most this long for the end of a fault, in seconds."""


class Coming:
    """The planned faults that have not begun.

    All times are in milliseconds from the soak's start.

    Args:
        faults: The planned faults, in the order of time.
        load_ms: The end of the load, from which on no fault begins.
    """

    def __init__(self, faults: Iterable[PlannedFault], load_ms: float) -> None:
        self._faults = list(faults)
        self._load_ms = load_ms
        self._calm_ms = 0.0
        """When the next fault may begin at the earliest."""

    @property
    def count(self) -> int:
        """The number of planned faults that have not begun."""
        return len(self._faults)

    def take(self, now_ms: float, open_slices: int) -> PlannedFault | None:
        """Take the next fault if it is due and at most `OPEN_SLICES` slices are open; else return None."""
        if (
            not self._faults
            or open_slices > OPEN_SLICES
            or not max(self._faults[0].at_ms, self._calm_ms) <= now_ms < self._load_ms
        ):
            return None
        return self._faults.pop(0)

    def calm(self, now_ms: float) -> None:
        """Note that a fault is over, so that the next one begins `CALM_MS` later at the earliest."""
        self._calm_ms = now_ms + CALM_MS


class Striking:
    """A planned fault that happens on a thread of its own, so that the controller can listen to the clients.

    Args:
        instance: The broker.
        fault: The planned fault.
    """

    def __init__(self, instance: Instance, fault: PlannedFault) -> None:
        self.fault = fault
        self.span: tuple[int, int] | None = None
        """The beginning and the end, in nanoseconds of the monotonic clock; None before the fault is over."""
        self.error: Exception | None = None
        self._instance = instance
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._strike, name="assay-soak-fault", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the fault is over, or has failed."""
        return not self._thread.is_alive()

    def await_end(self) -> None:
        """End a lasting fault, and wait until it is over or has failed, so that the soak can then end the broker.

        The wait lasts for at most `LIMIT_S`.
        """
        self._hurry.set()
        self._thread.join(LIMIT_S)

    def _strike(self) -> None:
        try:
            self.span = self._happen()
        except Exception as error:  # noqa: BLE001 - the controller raises it again
            self.error = error

    def _happen(self) -> tuple[int, int]:
        faults = self._instance.faults
        if faults is None:
            raise LookupError("The broker's backend can cause no faults.")
        injection = faults.inject(KINDS[self.fault.kind].request())
        if isinstance(injection, Unsupported):
            raise LookupError(injection.source.text)
        if self.fault.lasts_ms:
            self._hurry.wait(self.fault.lasts_ms / 1_000)
            injection.heal()
        span = injection.wait()
        if isinstance(span, Unsupported):
            raise LookupError(span.source.text)
        return span
