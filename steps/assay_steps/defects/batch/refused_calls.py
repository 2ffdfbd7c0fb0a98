"""Defects of the client that refuse a call of acknowledge which JMS allows (BT-11)."""

from __future__ import annotations

from assay_adapters.ports.client import (
    AckMode,
    Client,
    ClientConnection,
    ClientEvent,
    ClientSession,
    Endpoint,
    Script,
    Seen,
)
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_sdk.driver import Login
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter
from assay_steps.defects.model import Defect
from assay_steps.defects.ports import ConnectionFilter


def _refused(why: str) -> Refused:
    return Refused(JmsErrorKind.ILLEGAL_STATE, why)


class _Deliveries:
    """Whether a client's receivers get messages: not after the connection was stopped or a listener was removed."""

    def __init__(self) -> None:
        self.go_on = True


class _OnlyDuringDelivery(ConsumingClientFilter):
    """A client that refuses acknowledge while a connection is stopped, or after a batch listener was removed."""

    def __init__(self, behind: Client) -> None:
        deliveries = self._deliveries = _Deliveries()

        class NotesListener(ConsumerFilter):
            def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
                deliveries.go_on = script is not None
                return super().listen_batch(script, size, timeout_ms)

        def acknowledge(session: ClientSession, seen: Seen) -> Outcome[None]:
            return session.acknowledge(seen) if deliveries.go_on else _refused("no message is delivered now")

        super().__init__(behind, NotesListener, acknowledge=acknowledge)

    def connect(
        self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
    ) -> Outcome[ClientConnection]:
        """Connect, and note when the connection is stopped and started."""
        made = super().connect(to, client_id=client_id, login=login, checks=checks)
        return Ok(_NotesStop(made.value, self._deliveries)) if isinstance(made, Ok) else made


class _NotesStop(ConnectionFilter):
    def __init__(self, behind: ClientConnection, deliveries: _Deliveries) -> None:
        super().__init__(behind, lambda producer: producer)
        self._deliveries = deliveries

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        return self._behind.session(ack)

    def start(self) -> Outcome[None]:
        self._deliveries.go_on = True
        return super().start()

    def stop(self) -> Outcome[None]:
        self._deliveries.go_on = False
        return super().stop()


def _acknowledged_once(client: Client) -> Client:
    """Make a client refuse acknowledge for a message that an earlier call of the session has acknowledged."""
    receivers: dict[str, ClientSession] = {}
    waiting: dict[ClientSession, set[str]] = {}
    covered: dict[ClientSession, set[str]] = {}

    class NotesSession(ConsumerFilter):
        def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
            receivers[self.actor] = self.session
            return super().listen_batch(script, size, timeout_ms)

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        session = receivers.get(event.actor)
        if event.what == "seen" and event.seen is not None and session is not None:
            waiting.setdefault(session, set()).add(event.seen.key)
            covered.get(session, set()).discard(event.seen.key)
        return (event,)

    def acknowledge(session: ClientSession, seen: Seen) -> Outcome[None]:
        if seen.key in covered.get(session, ()):
            return _refused("the message is acknowledged already")
        covered.setdefault(session, set()).update(waiting.pop(session, ()))
        return session.acknowledge(seen)

    return ConsumingClientFilter(client, NotesSession, tell, acknowledge)


REFUSED_CALL_DEFECTS = (
    Defect(
        name="call-refused-without-delivery",
        rules=("BT-11",),
        text="A call of acknowledge is refused after the batch listener was removed or the connection was stopped.",
        port=_OnlyDuringDelivery,
    ),
    Defect(
        name="call-refused-again",
        rules=("BT-11",),
        text="A call of acknowledge is refused if an earlier call has acknowledged the message.",
        port=_acknowledged_once,
    ),
)
