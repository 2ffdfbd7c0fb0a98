"""Defects of the client in calls of acknowledge and recover: the messages that they cover and their answers (BT-11)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_adapters.clients.keys import KID
from assay_adapters.ports.client import Client, ClientEvent, ClientSession, Script, Seen
from assay_adapters.ports.outcome import JmsErrorKind, Refused
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import Arrived, Driver, DriverCommand, DriverEvent, Enlist, OpenReceiver, Outcome, Settle
from assay_sdk.model.message import Address
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, noting_batches
from assay_steps.defects.model import at_port, in_both, on_wire
from assay_steps.defects.ports import ConnectionFilter, SessionFilter, clients, connecting, in_sessions
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires

_SAID = (Outcome.ACCEPTED, Outcome.MODIFIED)


class _OnlyThatMessage:
    """With client acknowledgement, a call acknowledges only the message on which it is called.

    The filter at the port notes the message; the filter on the wire alters the acknowledgement.
    """

    def __init__(self) -> None:
        self._called_on: list[str] = []

    def port(self, client: Client) -> Client:
        def acknowledge(session: ClientSession, seen: Seen) -> Answer[None]:
            self._called_on.append(seen.key)
            try:
                return session.acknowledge(seen)
            finally:
                self._called_on.clear()

        return ConsumingClientFilter(client, acknowledge=acknowledge)

    def wire(self, driver: Driver) -> Driver:
        called_on = self._called_on

        class Alone(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._keys: dict[tuple[int, int], object] = {}

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Settle) or not called_on:
                    return (command,)
                kept = tuple(one for one in command.deliveries if self._keys[command.link, one] in called_on)
                return (replace(command, deliveries=kept),) if kept else ()

            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Arrived):
                    self._keys[event.link, event.delivery] = event.message.properties.get(KID)
                return (event,)

        return wires(Alone)(driver)


class _EarlierBatchesOnly:
    """With client acknowledgement, a call in a callback acknowledges only earlier batches.

    The filter at the port notes the batch; the filter on the wire alters the acknowledgement.
    """

    def __init__(self) -> None:
        self._in_callback: dict[str, set[str]] = {}

    def port(self, client: Client) -> Client:
        in_callback = self._in_callback

        def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
            if event.batch is not None and event.seen is not None and event.what == "seen":
                in_callback.setdefault(event.actor, set()).add(event.seen.key)
            elif event.what == "callback":
                in_callback.pop(event.actor, None)
            return (event,)

        return ConsumingClientFilter(client, tell=tell)

    def wire(self, driver: Driver) -> Driver:
        in_callback = self._in_callback

        class Earlier(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._keys: dict[tuple[int, int], object] = {}

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Settle) or command.outcome is not Outcome.ACCEPTED or not in_callback:
                    return (command,)
                handed = {key for keys in in_callback.values() for key in keys}
                kept = tuple(one for one in command.deliveries if self._keys[command.link, one] not in handed)
                return (replace(command, deliveries=kept),) if kept else ()

            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Arrived):
                    self._keys[event.link, event.delivery] = event.message.properties.get(KID)
                return (event,)

        return wires(Earlier)(driver)


class _AcknowledgesUnanswered(WireFilter):
    """The client's acknowledge call returns before the broker has answered."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        is_accepting = isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED
        return (replace(command, token=self.line.own_token()),) if is_accepting else (command,)


def _refused(why: str) -> Refused:
    return Refused(JmsErrorKind.ILLEGAL_STATE, why)


def _only_during_delivery(client: Client) -> Client:
    """A call of acknowledge is refused after the batch listener was removed or the connection was stopped."""
    delivers = True

    def note(_consumer: ConsumerFilter, script: Script | None, _size: int) -> None:
        nonlocal delivers
        delivers = script is not None

    class NotesStop(ConnectionFilter):
        def start(self) -> Answer[None]:
            nonlocal delivers
            delivers = True
            return super().start()

        def stop(self) -> Answer[None]:
            nonlocal delivers
            delivers = False
            return super().stop()

    def acknowledge(session: ClientSession, seen: Seen) -> Answer[None]:
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

    def acknowledge(session: ClientSession, seen: Seen) -> Answer[None]:
        if seen.key in covered.get(session, ()):
            return _refused("the message is acknowledged already")
        covered.setdefault(session, set()).update(waiting.pop(session, ()))
        return session.acknowledge(seen)

    return ConsumingClientFilter(client, noting_batches(note), tell, acknowledge)


class _RecoversNothing(SessionFilter):
    """A session refuses to recover."""

    def recover(self) -> Answer[None]:
        return _refused("a session with a listener cannot recover")


class _SettlesUnderOneConsumer(WireFilter):
    """The client settles the messages of two consumers of one destination under the number of the first consumer."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._firsts: dict[tuple[int, Address], int] = {}
        self._first: dict[int, int] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver):
            place = command.session, command.address
            self._first[command.link] = self._firsts.setdefault(place, command.link)
        if isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED:
            return (replace(command, link=self._first.get(command.link, command.link)),)
        return (command,)


class _SettlesOthers(WireFilter):
    """When one session of a connection settles messages, the connection's other sessions settle their messages, too."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._sessions: dict[int, int] = {}
        self._held: dict[int, list[int]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver):
            self._sessions[command.link] = command.session
        if isinstance(command, Enlist):
            self._drop(command.link, command.deliveries)
        if not isinstance(command, Settle):
            return (command,)
        known = self._held.get(command.link, [])
        if not all(one in known for one in command.deliveries):
            return ()  # another session has settled them
        self._drop(command.link, command.deliveries)
        return (command, *self._others(command)) if command.outcome in _SAID else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self._held.setdefault(event.link, []).append(event.delivery)
        return (event,)

    def _others(self, command: Settle) -> list[DriverCommand]:
        own = self._sessions.get(command.link)
        others = [link for link, held in self._held.items() if held and self._sessions.get(link) != own]
        return [Settle(self.line.own_token(), link, tuple(self._held.pop(link)), command.outcome) for link in others]

    def _drop(self, link: int, deliveries: tuple[int, ...]) -> None:
        self._held[link] = [one for one in self._held.get(link, []) if one not in deliveries]


BATCH_ACKNOWLEDGEMENT_CALLS_DEFECTS = (
    in_both(_OnlyThatMessage(), "acknowledges-that-message-only", "BT-11"),
    in_both(_EarlierBatchesOnly(), "call-in-callback-leaves-its-batch-out", "BT-11"),
    on_wire(wires, _AcknowledgesUnanswered, "acknowledge-returns-unanswered", "BT-11"),
    at_port(in_sessions, _RecoversNothing, "recover-refused", "BT-11"),
    at_port(clients, _only_during_delivery, "call-refused-without-delivery", "BT-11"),
    at_port(clients, _acknowledged_once, "call-refused-again", "BT-11"),
    on_wire(wires, _SettlesOthers, "settles-for-other-sessions", "BT-11"),
    on_wire(wires, _SettlesUnderOneConsumer, "settles-under-one-consumer", "BT-11"),
)
