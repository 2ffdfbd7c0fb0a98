"""The faults of a soak: their kinds, and a thread that causes a planned fault."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from msgspec import Struct

from assay.soak.plan import PlannedFault
from assay_adapters.ports.backend import Instance
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import Cut, FaultRequest, Kill, Restart
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
}
"""The kinds of faults by the name that `--faults` takes."""

LATER: Mapping[str, str] = {
    "pause": "No backend can pause its broker yet.",
    "slow": "No backend can slow its connections yet.",
    "power": "No backend outside this process can cut the power of its disk yet.",
}
"""Kinds of faults that a soak will have; it leaves them out, and says so."""


LIMIT_S = 60.0
"""The longest time, in seconds, that a soak which ends early waits for the end of a fault."""


class Striking:
    """A planned fault that happens on a thread of its own, so that the controller can listen to the clients.

    Args:
        instance: The broker.
        fault: The planned fault.
    """

    def __init__(self, instance: Instance, fault: PlannedFault) -> None:
        self.fault = fault
        self.span: tuple[int, int] | None = None
        """Begin and end in nanoseconds of the monotonic clock; None before the fault is over."""
        self.error: Exception | None = None
        self._instance = instance
        self._thread = threading.Thread(target=self._strike, name="assay-soak-fault", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the fault is over, or has failed."""
        return not self._thread.is_alive()

    def await_end(self) -> None:
        """Wait until the fault is over or has failed, so that the broker can be ended; at most `LIMIT_S`."""
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
        span = injection.wait()
        if isinstance(span, Unsupported):
            raise LookupError(span.source.text)
        return span
