"""Defects of the client that refuse a call of acknowledge or recover which the documents allow (BT-11, QS-14)."""

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
from assay_steps.defects.ports import ConnectionFilter, SessionFilter


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


class _RecoversNothing(SessionFilter):
    """A session that refuses recover once a batch listener has received messages."""

    def recover(self) -> Outcome[None]:
        return _refused("a session with a listener cannot recover")


class _RefusesRecover(ConsumingClientFilter):
    def connect(
        self, to: Endpoint, *, client_id: str | None = None, login: Login | None = None, checks: bool = True
    ) -> Outcome[ClientConnection]:
        """Connect; the sessions of the connection refuse recover."""
        made = super().connect(to, client_id=client_id, login=login, checks=checks)
        return Ok(_WithoutRecover(made.value)) if isinstance(made, Ok) else made


class _WithoutRecover(ConnectionFilter):
    def __init__(self, behind: ClientConnection) -> None:
        super().__init__(behind, lambda producer: producer)

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        made = self._behind.session(ack)
        return Ok(_RecoversNothing(made.value, lambda producer: producer)) if isinstance(made, Ok) else made


def _oldest_first(client: Client) -> Client:
    """Make a client refuse to acknowledge a message before the messages that its receiver got earlier."""
    waiting: dict[str, list[str]] = {}

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        if event.what == "seen" and event.seen is not None:
            waiting.setdefault(event.actor, []).append(event.seen.key)
        return (event,)

    def acknowledge(session: ClientSession, seen: Seen) -> Outcome[None]:
        for keys in waiting.values():
            if seen.key in keys:
                if keys[0] != seen.key:
                    return _refused("an earlier message is not acknowledged yet")
                keys.remove(seen.key)
        return session.acknowledge(seen)

    return ConsumingClientFilter(client, tell=tell, acknowledge=acknowledge)


REFUSED_CALL_DEFECTS = (
    Defect(
        name="recover-refused",
        rules=("BT-11",),
        text="A session in client mode refuses to recover.",
        port=_RefusesRecover,
    ),
    Defect(
        name="acknowledged-oldest-first-only",
        rules=("QS-14",),
        text="The client refuses to acknowledge a message before all earlier messages of the receiver.",
        port=_oldest_first,
    ),
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
