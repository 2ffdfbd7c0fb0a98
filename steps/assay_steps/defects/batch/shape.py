"""Defects of the client in the size, the time and the order of batches (BT-04 to BT-07)."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from assay_adapters.ports.client import Client, ClientEvent, Script
from assay_adapters.ports.outcome import Ok
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import Arrived, Credit, Drain, Drained, DriverCommand, DriverEvent, Outcome, Settle
from assay_sdk.time import NS_PER_MS
from assay_steps.defects.batch.listener_links import OfBatches, noting_sizes
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, consuming
from assay_steps.defects.model import Defect, at_port, on_wire
from assay_steps.defects.ports import ConnectionFilter, clients, connecting
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires

HELD_MS = 5
TRICKLE_MS = 400
_AGAIN = 1_000
"""A batch number that no scenario reaches."""
HOUR_MS = 3_600_000
LARGE = 100
VERY_LARGE = 512


def _again_together(event: ClientEvent) -> tuple[ClientEvent, ...]:
    """Report all redelivered messages as one batch."""
    again = event.seen is not None and event.seen.redelivered and event.batch is not None
    return (replace(event, batch=_AGAIN) if again else event,)


def _first_again(client: Client) -> Client:
    """The client delivers the first message of a full batch again at the end of the batch."""
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

    return ConsumingClientFilter(client, noting_sizes(sizes), tell)


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


class _FullBatchesOnly(OfBatches):
    """With a batch timeout of 0, the client waits for full batches after it has received several batches at once."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._sizes: dict[int, int] = {}
        self._together: dict[int, int] = {}
        """The number of messages that have come since the engine began to drain each link."""
        self._held: dict[int, list[Arrived]] = {}
        """The messages held on each link on which the client waits for full batches."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        passed = super().command(command)
        if isinstance(command, Credit) and command.link in self.batches:
            self._sizes.setdefault(command.link, command.credit // 2)  # the first credit is for two batches
        elif isinstance(command, Drain) and command.link in self.batches:
            self._together[command.link] = 1  # a batch listener drains the link when a first message has come
        return passed

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Drained) and self._together.pop(event.link, 0) >= 2 * self._sizes.get(event.link, 1):
            self._held.setdefault(event.link, [])
        return super().event(event)

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        if event.link in self._together:
            self._together[event.link] += 1
        held = self._held.get(event.link)
        if held is None:
            return (event,)
        held.append(event)
        if len(held) < self._sizes[event.link]:
            return ()
        due, self._held[event.link] = tuple(held), []
        return due


class _OneTooMany(ConsumerFilter):
    """A batch has up to one message more than its size."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        return super().listen_batch(script, size + 1, timeout_ms)


class _AtMostAHundred(ConsumerFilter):
    """A batch has no more than a hundred messages, however large its size is."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        return super().listen_batch(script, min(size, LARGE), timeout_ms)


class _AtMostItsCredit(ConsumerFilter):
    """A batch has no more than 512 messages, however large its size is."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        return super().listen_batch(script, min(size, VERY_LARGE), timeout_ms)


class _HalfFilled(ConsumerFilter):
    """The client delivers a batch when it is half full."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        return super().listen_batch(script, max(1, size // 2), timeout_ms)


class _OneMillisecondMore(ConsumerFilter):
    """The client delivers an unfinished batch a millisecond after its timeout."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        return super().listen_batch(script, size, timeout_ms + 1)


class _ZeroIsForEver(ConsumerFilter):
    """With a batch timeout of 0, the client waits for a full batch without a limit."""

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        return super().listen_batch(script, size, timeout_ms or HOUR_MS)


class _WaitingOvertakes(WireFilter):
    """The client delivers the messages of an unfinished batch before redelivered messages."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._arrived: dict[int, dict[int, Arrived]] = {}
        self._kept: dict[int, list[Arrived]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Settle) and command.outcome is Outcome.RELEASED:
            arrived = self._arrived.get(command.link, {})
            self._kept.setdefault(command.link, []).extend(arrived[one] for one in command.deliveries if one in arrived)
            return ()
        if isinstance(command, Credit) and (kept := self._kept.pop(command.link, [])):
            self.line.runner.call_soon(lambda: self._hand_over(kept))
            return (replace(command, credit=max(command.credit - len(kept), 1)),)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self._arrived.setdefault(event.link, {})[event.delivery] = event
        return (event,)

    def _hand_over(self, kept: list[Arrived]) -> None:
        for one in kept:
            self.line.emit(one)


class _NeverStartsAgain(ConnectionFilter):
    """A connection that was stopped delivers no messages after its next start."""

    def start(self) -> Answer[None]:
        return Ok(None)


BATCH_SHAPE_DEFECTS = (
    Defect(
        name="comes-again-in-one-batch",
        rules=("BT-04",),
        text="The client delivers all redelivered messages in one batch, however small the batch size is.",
        port=lambda client: ConsumingClientFilter(client, tell=_again_together),
    ),
    at_port(clients, _first_again, "first-of-batch-again", "BT-04"),
    at_port(clients, _empty_before_the_first, "empty-batches", "BT-04"),
    on_wire(wires, _WaitsForSilence, "batches-wait-for-silence", "BT-05"),
    on_wire(wires, _NewestFirst, "batches-newest-first", "BT-07"),
    at_port(consuming, _OneTooMany, "one-too-many-in-a-batch", "BT-04", "BT-05", "BT-06"),
    at_port(consuming, _AtMostAHundred, "batches-of-at-most-a-hundred", "BT-06"),
    at_port(consuming, _AtMostItsCredit, "batches-of-at-most-512", "BT-06"),
    at_port(consuming, _HalfFilled, "batches-half-filled", "BT-06"),
    at_port(consuming, _OneMillisecondMore, "batch-timeout-one-millisecond-more", "BT-05"),
    at_port(consuming, _ZeroIsForEver, "batch-timeout-zero-is-for-ever", "BT-05"),
    on_wire(wires, _FullBatchesOnly, "full-batches-only-after-several", "BT-05", "BT-06"),
    at_port(connecting, _NeverStartsAgain, "start-without-effect", "BT-05", "BT-12", "BT-15", "DD-03"),
    on_wire(wires, _WaitingOvertakes, "what-waits-overtakes-what-comes-back", "BT-07"),
)
