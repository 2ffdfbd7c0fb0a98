"""Defects of the client that refuse a call of acknowledge or recover which the documents allow (BT-11, QS-14)."""

from __future__ import annotations

from assay_adapters.ports.client import Client, ClientEvent, ClientSession, Script, Seen
from assay_adapters.ports.outcome import JmsErrorKind, Outcome, Refused
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, noting_batches
from assay_steps.defects.model import at_port
from assay_steps.defects.ports import ConnectionFilter, SessionFilter, clients, connecting, in_sessions


def _refused(why: str) -> Refused:
    return Refused(JmsErrorKind.ILLEGAL_STATE, why)


def _only_during_delivery(client: Client) -> Client:
    """A call of acknowledge is refused after the batch listener was removed or the connection was stopped."""
    delivers = True

    def note(_consumer: ConsumerFilter, script: Script | None, _size: int) -> None:
        nonlocal delivers
        delivers = script is not None

    class NotesStop(ConnectionFilter):
        def start(self) -> Outcome[None]:
            nonlocal delivers
            delivers = True
            return super().start()

        def stop(self) -> Outcome[None]:
            nonlocal delivers
            delivers = False
            return super().stop()

    def acknowledge(session: ClientSession, seen: Seen) -> Outcome[None]:
        return session.acknowledge(seen) if delivers else _refused("no message is delivered now")

    return connecting(NotesStop)(ConsumingClientFilter(client, noting_batches(note), acknowledge=acknowledge))


def _acknowledged_once(client: Client) -> Client:
    """A call of acknowledge is refused if an earlier call has acknowledged the message."""
    receivers: dict[str, ClientSession] = {}
    waiting: dict[ClientSession, set[str]] = {}
    covered: dict[ClientSession, set[str]] = {}

    def note(consumer: ConsumerFilter, _script: Script | None, _size: int) -> None:
        receivers[consumer.actor] = consumer.session

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

    return ConsumingClientFilter(client, noting_batches(note), tell, acknowledge)


class _RecoversNothing(SessionFilter):
    """A session in client mode refuses to recover."""

    def recover(self) -> Outcome[None]:
        return _refused("a session with a listener cannot recover")


def _oldest_first(client: Client) -> Client:
    """The client refuses to acknowledge a message before all earlier messages of the receiver."""
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
    at_port(in_sessions, _RecoversNothing, "recover-refused", "BT-11"),
    at_port(clients, _oldest_first, "acknowledged-oldest-first-only", "QS-14"),
    at_port(clients, _only_during_delivery, "call-refused-without-delivery", "BT-11"),
    at_port(clients, _acknowledged_once, "call-refused-again", "BT-11"),
)
