"""Defects of the client in the messages of a batch, their order and their time (BT-01, BT-04, BT-05, BT-07, BT-15)."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from assay_adapters.clients.keys import KID
from assay_adapters.ports.client import Client, ClientEvent, Script
from assay_broker.defects.sends import as_text
from assay_sdk.driver import (
    Arrived,
    Credit,
    Drained,
    Driver,
    DriverCommand,
    DriverEvent,
    OpenReceiver,
    OpenSender,
    Send,
    Settle,
)
from assay_sdk.driver import Outcome as Settlement
from assay_sdk.engine.settings import LISTENER_WINDOW
from assay_sdk.model.message import Address
from assay_steps.defects.consumers import ConsumerFilter, ConsumerTwist, ConsumingClientFilter, noting_batches
from assay_steps.defects.model import Defect, at_port, in_both, on_wire
from assay_steps.defects.ports import clients
from assay_steps.defects.wires import FilteredWire, WireFilter, commands, events, wires

NS_PER_MS = 1_000_000
HELD_MS = 5
TRICKLE_MS = 400
_AGAIN = 1_000
"""A batch number that no scenario reaches."""


def _again_together(event: ClientEvent) -> tuple[ClientEvent, ...]:
    """Report all redelivered messages as one batch."""
    again = event.seen is not None and event.seen.redelivered and event.batch is not None
    return (replace(event, batch=_AGAIN) if again else event,)


def is_batch_window(credit: int) -> bool:
    """Check whether a grant of credit is a batch listener's.

    A receive call grants a credit of 1, and a message listener grants `LISTENER_WINDOW`.
    """
    return credit not in {1, LISTENER_WINDOW}


class OfBatches(WireFilter):
    """A filter that knows the links of batch listeners, and can rewrite and acknowledge the messages on them."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.batches: set[int] = set()
        """The links of batch listeners."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        """Remember the links with the credit of a batch listener."""
        if isinstance(command, Credit) and is_batch_window(command.credit):
            self.batches.add(command.link)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        """Pass a message of a batch listener through `arrived`."""
        if not isinstance(event, Arrived) or event.link not in self.batches:
            return (event,)
        return self.arrived(event)

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        """Return the events that the engine gets in place of the arrival of a message for a batch listener."""
        return (event,)

    def accept(self, event: Arrived) -> None:
        """Acknowledge a message for the client."""
        self.line.wire.submit(Settle(self.line.own_token(), event.link, (event.delivery,), Settlement.ACCEPTED))


def _noting_sizes(sizes: dict[str, int]) -> ConsumerTwist:
    """Make a wrapper of consumers that notes the batch size of each actor's listener."""

    def note(consumer: ConsumerFilter, _script: Script | None, size: int) -> None:
        sizes[consumer.actor] = size

    return noting_batches(note)


def _remainders_swallowed(client: Client) -> Client:
    """The client acknowledges a batch that is not full and does not deliver it to the listener."""
    sizes: dict[str, int] = {}
    held: dict[str, list[ClientEvent]] = {}

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        if event.batch is None or event.actor not in sizes:
            return (event,)
        if event.what == "seen":
            held.setdefault(event.actor, []).append(event)
            return ()
        batch = held.pop(event.actor, [])
        return (*batch, event) if event.what != "callback" or len(batch) == sizes[event.actor] else ()

    return ConsumingClientFilter(client, _noting_sizes(sizes), tell)


def _first_again(client: Client) -> Client:
    """A full batch has its first message a second time at its end."""
    sizes: dict[str, int] = {}
    first: dict[tuple[str, int], ClientEvent] = {}
    counts: Counter[tuple[str, int]] = Counter()

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        if event.what != "seen" or event.batch is None:
            return (event,)
        key = event.actor, event.batch
        counts[key] += 1
        first.setdefault(key, event)
        return (event, first[key]) if counts[key] == sizes.get(event.actor) else (event,)

    return ConsumingClientFilter(client, _noting_sizes(sizes), tell)


def _empty_before_the_first(client: Client) -> Client:
    """The client calls a batch listener with an empty batch before its first message."""
    called: set[str] = set()

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        if event.what != "seen" or event.batch is None or event.actor in called:
            return (event,)
        called.add(event.actor)
        nothing = ClientEvent(
            what="callback", actor=event.actor, link=event.link, batch=event.batch, outcome="returned"
        )
        return (nothing, event)

    return ConsumingClientFilter(client, tell=tell)


class _Holding(OfBatches):
    """A filter that holds the messages of batch listeners and delivers them later."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._held: dict[int, list[Arrived]] = {}

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Drained):
            return (*self.ordered(self._held.pop(event.link, [])), event)
        return super().event(event)

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        self._held.setdefault(event.link, []).append(event)
        self.came(event.link)
        return ()

    def came(self, link: int) -> None:
        """Schedule the delivery of the held messages, because a message was added to them."""
        if len(self._held[link]) == 1:
            self.later(link, HELD_MS)

    def later(self, link: int, wait_ms: int) -> None:
        """Plan the delivery of the held messages of a link.

        Args:
            link: The link.
            wait_ms: The time until the delivery in milliseconds.
        """
        held = len(self._held[link])
        due_ns = self.line.runner.clock.monotonic_ns() + wait_ms * NS_PER_MS
        self.line.runner.call_at(due_ns, lambda: self.release(link, held))

    def release(self, link: int, held: int) -> None:
        """Deliver the held messages of a link.

        Args:
            link: The link.
            held: The number of held messages when the delivery was planned.
        """
        del held
        for arrived in self.ordered(self._held.pop(link, [])):
            self.line.emit(arrived)

    def ordered(self, held: list[Arrived]) -> list[Arrived]:
        """Return the held messages in the order of their delivery."""
        return held


class _NewestFirst(_Holding):
    """The client puts messages that arrive in quick succession into a batch in reverse order."""

    def ordered(self, held: list[Arrived]) -> list[Arrived]:
        return held[::-1]


class _WaitsForSilence(_Holding):
    """Each message that arrives postpones the deadline of its batch."""

    def came(self, link: int) -> None:
        self.later(link, TRICKLE_MS)

    def release(self, link: int, held: int) -> None:
        if len(self._held.get(link, ())) == held:
            super().release(link, held)


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
    """A batch listener gets bodies of bytes as texts, without the octets that are not UTF-8."""

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


CONTENT_DEFECTS = (
    Defect(
        name="comes-again-in-one-batch",
        rules=("BT-04",),
        text="The client delivers all redelivered messages in one batch, however small the batch size is.",
        port=lambda client: ConsumingClientFilter(client, tell=_again_together),
    ),
    at_port(clients, _remainders_swallowed, "remainders-swallowed", "BT-01", "BT-02", "BT-04"),
    at_port(clients, _first_again, "first-of-batch-again", "BT-04"),
    at_port(clients, _empty_before_the_first, "empty-batches", "BT-04"),
    on_wire(wires, _WaitsForSilence, "batches-wait-for-silence", "BT-05"),
    on_wire(wires, _NewestFirst, "batches-newest-first", "BT-07"),
    on_wire(wires, _Bare, "batches-bare", "BT-15"),
    in_both(_BatchesForgetDelays(), "batches-forget-delays", "BT-15"),
    on_wire(commands, _without_time_to_live, "sent-without-time-to-live", "BT-15"),
    on_wire(wires, _OneBody, "batches-share-a-body", "BT-15"),
    on_wire(wires, _BytesAsText, "batches-of-bytes-as-text", "BT-15"),
    on_wire(wires, _PersistentOnly, "batches-leave-out-non-persistent", "BT-15"),
    on_wire(wires, _OneCopyForAll, "one-copy-for-all-batches", "BT-15"),
    on_wire(commands, _selecting_nothing, "selectors-dropped", "BT-15"),
    on_wire(events, _arrives_without_expiry, "expiry-not-looked-at", "BT-15"),
)
