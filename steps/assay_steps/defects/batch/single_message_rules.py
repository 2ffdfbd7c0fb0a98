"""Defects of the client that break BT-15 (the rules for single messages hold for batches, too).

For example, with a batch listener the client alters the contents of messages, ignores their delay, their expiry or the
selector, or continues to deliver after the connection was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec.structs import replace

from assay_adapters.clients.keys import KID
from assay_adapters.ports.client import Client, Script
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused
from assay_adapters.ports.outcome import Outcome as Answer
from assay_broker.defects.sends import as_text
from assay_sdk.driver import (
    Arrived,
    CloseLink,
    Driver,
    DriverCommand,
    DriverEvent,
    Durability,
    OpenReceiver,
    OpenSender,
    Outcome,
    Send,
    Settle,
)
from assay_sdk.model.message import Address
from assay_steps.defects.batch.listener_links import OfBatches
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, consuming, noting_batches
from assay_steps.defects.model import at_port, in_both, on_wire
from assay_steps.defects.ports import ConnectionFilter, ConnectionsFilter, connecting
from assay_steps.defects.wire_filters import FilteredWire, MakeFilter, WireFilter, commands, events, wires


class _BatchesForgetDelays:
    """Messages to a destination with a batch listener lose their delivery delay.

    The filter at the port notes the destinations; the filter on the wire removes the delays.
    """

    def __init__(self) -> None:
        self._batched: set[Address] = set()

    def port(self, client: Client) -> Client:
        def note(consumer: ConsumerFilter, _script: Script | None, _size: int) -> None:
            self._batched.add(consumer.of.address)

        return ConsumingClientFilter(client, noting_batches(note))

    def wire(self, driver: Driver) -> Driver:
        batched = self._batched

        class Undelayed(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._targets: dict[int, Address | None] = {}

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if isinstance(command, OpenSender):
                    self._targets[command.link] = command.address
                if isinstance(command, Send) and self._targets.get(command.link) in batched:
                    return (replace(command, message=replace(command.message, delivery_time_ms=None)),)
                return (command,)

        return wires(Undelayed)(driver)


def _without_time_to_live(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """The client sends messages without their time to live."""
    if not isinstance(command, Send):
        return None
    return (replace(command, message=replace(command.message, ttl_ms=None, expiry_ms=None)),)


def _arrives_without_expiry(event: DriverEvent) -> DriverEvent:
    """The client delivers messages that expired while they waited in the client."""
    return replace(event, message=replace(event.message, expiry_ms=None)) if isinstance(event, Arrived) else event


class _OneBody(OfBatches):
    """All messages of a batch listener have the body of its first message."""

    _first: Arrived | None = None

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        self._first = self._first or event
        return (replace(event, message=replace(event.message, body=self._first.message.body, encoded=None)),)


class _BytesAsText(OfBatches):
    """A batch listener gets bodies of bytes as texts, with U+FFFD for octets that are not UTF-8."""

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        return (replace(event, message=as_text(event.message)),)


class _PersistentOnly(OfBatches):
    """Batches leave out non-persistent messages."""

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        if event.message.durable:
            return (event,)
        self.accept(event)
        return ()


class _OneCopyForAll(OfBatches):
    """Only the first of several batch listeners of a connection gets its copy of a publication."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._handed: dict[str | None, int] = {}

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        if self._handed.setdefault(event.message.message_id, event.link) == event.link:
            return (event,)
        self.accept(event)
        return ()


def _selecting_nothing(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """The client opens receivers without their selectors, so they get all messages."""
    return (replace(command, selector=None),) if isinstance(command, OpenReceiver) else None


class _Bare(OfBatches):
    """Messages in batches have no ids, reply-to, type, priority and properties."""

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        message = event.message
        known = {name: value for name, value in message.properties.items() if name == KID}
        bare = replace(message, message_id=None, correlation_id=None, reply_to=None, subject=None, properties=known)
        return (replace(event, message=replace(bare, priority=None)),)


class _SubscribesAnew(ConsumerFilter):
    """Setting a batch listener on a durable subscription removes the subscription and creates it again."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        if self.of.durability is Durability.DURABLE and self.of.name is not None:
            self.behind.close()
            self.session.unsubscribe(self.of.name, shared=self.of.shared)
            made = self.session.consumer(self.of, actor=self.actor)
            if isinstance(made, Refused):
                return made
            self.behind = made.value
        return super().listen_batch(script, size, timeout_ms)


class _StaysAttached(OfBatches):
    """A consumer whose batch listener got messages stays attached at the broker after its close."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._used: set[int] = set()

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        self._used.add(event.link)
        return (event,)

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, CloseLink) and command.link in self._used:
            return ()
        return super().command(command)


class _NeverStops(ConnectionFilter):
    """A stopped connection continues to deliver messages."""

    def stop(self) -> Answer[None]:
        return Ok(None)


class _StopsRefused(ConnectionFilter):
    """The client refuses to stop a connection."""

    def stop(self) -> Answer[None]:
        return Refused(JmsErrorKind.ILLEGAL_STATE, "A connection with a batch listener cannot be stopped.")


class _StartsRefused(ConnectionFilter):
    """The client refuses to start a connection that was stopped."""

    def start(self) -> Answer[None]:
        return Refused(JmsErrorKind.ILLEGAL_STATE, "A stopped connection cannot be started.")


class _WhileStopped:
    """A defect of a client while one of its connections is stopped.

    The filter at the port notes each stop and start; the filter on the wire misbehaves in between.

    Args:
        make: Gets the collection of the stopped connections, which stays up to date, and returns the function that
            makes the filter of one wire.
    """

    def __init__(self, make: Callable[[Collection[int]], MakeFilter]) -> None:
        self._stopped: set[int] = set()
        self._make = make

    def port(self, client: Client) -> Client:
        """Note each stop and start."""
        stopped = self._stopped

        class Notes(ConnectionFilter):
            def stop(self) -> Answer[None]:
                stopped.add(id(self))
                return super().stop()

            def start(self) -> Answer[None]:
                stopped.discard(id(self))
                return super().start()

            def close(self) -> Answer[None]:
                try:
                    return super().close()
                finally:
                    stopped.discard(id(self))

        return ConnectionsFilter(client, Notes)

    def wire(self, driver: Driver) -> Driver:
        """Put the filter in each wire."""
        return wires(self._make(self._stopped))(driver)


def _arrivals_lost(stopped: Collection[int]) -> MakeFilter:
    class Loses(WireFilter):
        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            if not isinstance(event, Arrived) or not stopped:
                return (event,)
            self.line.wire.submit(Settle(self.line.own_token(), event.link, (event.delivery,), Outcome.ACCEPTED))
            return ()

    return Loses


def _buffer_lost(stopped: Collection[int]) -> MakeFilter:
    class Loses(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Settle) or command.outcome is not Outcome.RELEASED or not stopped:
                return (command,)
            return (replace(command, outcome=Outcome.ACCEPTED),)

    return Loses


BATCH_SINGLE_MESSAGE_RULES_DEFECTS = (
    on_wire(wires, _Bare, "batches-bare", "BT-15"),
    in_both(_BatchesForgetDelays(), "batches-forget-delays", "BT-15"),
    on_wire(commands, _without_time_to_live, "sent-without-time-to-live", "BT-15"),
    on_wire(wires, _OneBody, "batches-share-a-body", "BT-15"),
    on_wire(wires, _BytesAsText, "batches-of-bytes-as-text", "BT-15"),
    on_wire(wires, _PersistentOnly, "batches-leave-out-non-persistent", "BT-15"),
    on_wire(wires, _OneCopyForAll, "one-copy-for-all-batches", "BT-15"),
    on_wire(commands, _selecting_nothing, "selectors-dropped", "BT-15"),
    on_wire(events, _arrives_without_expiry, "expiry-not-looked-at", "BT-15"),
    at_port(consuming, _SubscribesAnew, "batches-subscribe-anew", "BT-15"),
    on_wire(wires, _StaysAttached, "batches-leave-the-link", "BT-11", "BT-15"),
    at_port(connecting, _NeverStops, "stop-without-effect", "BT-15"),
    at_port(connecting, _StopsRefused, "stops-refused", "BT-15"),
    at_port(connecting, _StartsRefused, "starts-refused", "BT-15"),
    in_both(
        _WhileStopped(_arrivals_lost),
        "lost-while-stopped",
        "BT-15",
        "DD-03",
        text="The client acknowledges and never delivers messages that arrive while a connection is stopped.",
    ),
    in_both(
        _WhileStopped(_buffer_lost),
        "closed-while-stopped-keeps-its-buffer",
        "BT-15",
        text="A connection that is closed while it is stopped acknowledges its undelivered messages.",
    ),
)
