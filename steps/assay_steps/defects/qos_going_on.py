"""Defects of an MQ Light client after a receive call without a message, and after its close."""

from __future__ import annotations

from assay_adapters.ports.client import Client, ClientConnection, Endpoint, Seen
from assay_adapters.ports.outcome import Ok, Outcome
from assay_sdk.driver import Closed, Driver, DriverEvent, Login, Opened
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, consuming
from assay_steps.defects.model import Defect, at_port
from assay_steps.defects.ports import ConnectionFilter
from assay_steps.defects.wires import WireFilter, wires


class _AskedInVain(ConsumerFilter):
    """After a receive call without a message, all further receive calls return no message."""

    _vain = False

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        if self._vain:
            return Ok(None)
        answer = super().receive(timeout_ms)
        self._vain = isinstance(answer, Ok) and answer.value is None
        return answer


class _GoesOnClosed:
    """A client that is closed while it has no connection connects again and receives messages."""

    def __init__(self) -> None:
        self._torn = False

    def port(self, client: Client) -> Client:
        torn = self._is_torn

        class Deaf(ConnectionFilter):
            def close(self) -> Outcome[None]:
                return Ok(None) if torn() else super().close()

        class Going(ConsumingClientFilter):
            def connect(
                self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
            ) -> Outcome[ClientConnection]:
                made = super().connect(to, client_id=client_id, login=login, checks=checks)
                return Ok(Deaf(made.value, lambda producer: producer)) if isinstance(made, Ok) else made

        return Going(client)

    def wire(self, driver: Driver) -> Driver:
        note = self._note

        class Noting(WireFilter):
            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Opened | Closed):
                    note(isinstance(event, Closed))
                return (event,)

        return wires(Noting)(driver)

    def _is_torn(self) -> bool:
        return self._torn

    def _note(self, torn: bool) -> None:
        self._torn = torn


_GOING = _GoesOnClosed()


GOING_ON_QOS_DEFECTS: tuple[Defect, ...] = (
    at_port(consuming, _AskedInVain, "deaf-once-asked-in-vain", "QS-13"),
    Defect(
        name="goes-on-though-closed",
        rules=("QS-11",),
        text="A client that is closed while it has no connection connects again and receives messages.",
        port=_GOING.port,
        wire=_GOING.wire,
    ),
)
"""Defects of a client that goes on wrongly."""
