"""Defects of the client with messages that it returns to the broker, and with redelivered messages (BT-08, BT-11)."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from assay_adapters.ports.client import Client, Script
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import Arrived, Credit, Drain, Driver, DriverCommand, DriverEvent, Failed, Outcome, Settle
from assay_steps.defects.batch.listener_links import OfBatches
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, noting_batches
from assay_steps.defects.model import in_both, on_wire
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, commands, events, wires

_AT_ONCE_NS = 1_000_000


class _HalfOfAFailedBatch(WireFilter):
    """The client acknowledges the first half of a batch whose callback failed."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED or len(command.deliveries) == 1:
            return (command,)
        half = len(command.deliveries) // 2
        done = Settle(self.line.own_token(), command.link, command.deliveries[:half], Outcome.ACCEPTED)
        return (done, replace(command, deliveries=command.deliveries[half:]))


class _UndecodableAccepted:
    """The client acknowledges a batch whose callback could not decode a message.

    The filter at the port notes the script; the filter on the wire changes the outcome.
    """

    def __init__(self) -> None:
        self._actors: set[str] = set()

    def port(self, client: Client) -> Client:
        def note(consumer: ConsumerFilter, script: Script | None, _size: int) -> None:
            if script is not None and script.undecodable:
                self._actors.add(consumer.actor)
            else:
                self._actors.discard(consumer.actor)

        return ConsumingClientFilter(client, noting_batches(note))

    def wire(self, driver: Driver) -> Driver:
        def accept(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
            if self._actors and isinstance(command, Settle) and command.outcome is Outcome.MODIFIED:
                return (replace(command, outcome=Outcome.ACCEPTED),)
            return None

        return commands(accept)(driver)


def _accepts_returned(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """When a consumer is closed or stopped, the client acknowledges the messages of its unfinished batch."""
    if isinstance(command, Settle) and command.outcome is Outcome.RELEASED:
        return (replace(command, outcome=Outcome.ACCEPTED),)
    return None


def _unmarked(event: DriverEvent) -> DriverEvent:
    """The client does not show that a message was redelivered."""
    return replace(event, redelivered=False, count=0) if isinstance(event, Arrived) else event


class _FirstOutcomeForAll(WireFilter):
    """When the client releases messages of a receiver, it also releases those that it should settle otherwise."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._given_back: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle):
            return (command,)
        if command.outcome is Outcome.RELEASED:
            self._given_back.add(command.link)
            self.line.runner.call_soon(lambda: self._given_back.discard(command.link))
        return (replace(command, outcome=Outcome.RELEASED),) if command.link in self._given_back else (command,)


def _unseen_marked(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """A message that the client returns without having delivered it to the application counts as a failed delivery."""
    if isinstance(command, Settle) and command.outcome is Outcome.RELEASED:
        return (replace(command, outcome=Outcome.MODIFIED),)
    return None


class _ReturnedUnacknowledged(WireFilter):
    """The client never acknowledges batches with redelivered messages."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._again: set[tuple[int, int]] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle) or command.outcome is not Outcome.ACCEPTED:
            return (command,)
        return () if any((command.link, one) in self._again for one in command.deliveries) else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.redelivered:
            self._again.add((event.link, event.delivery))
        return (event,)


class _GivesUp(OfBatches):
    """After two callbacks of a consumer have failed in a row, the client requests no more messages for it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._failed: Counter[int] = Counter()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        passed = super().command(command)
        if isinstance(command, Settle) and command.link in self.batches:
            if command.outcome is Outcome.MODIFIED:
                self._failed[command.link] += 1
            elif command.outcome is Outcome.ACCEPTED:
                del self._failed[command.link]
        return () if isinstance(command, Credit) and self._failed[command.link] > 1 else passed


class _DropsWhatReturns(WireFilter):
    """After the broker has refused an acknowledgement, the client drops the messages that come again."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._accepting: set[int] = set()
        self._refused = False

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED:
            self._accepting.add(command.token)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Failed) and event.token in self._accepting:
            self._refused = True
        return () if self._refused and isinstance(event, Arrived) and event.redelivered else (event,)


class _RecoversOneConsumer(WireFilter):
    """A recover brings back the messages of only one consumer of the session."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._last: tuple[int, int] | None = None

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED:
            return (command,)
        now_ns = self.line.runner.clock.monotonic_ns()
        before, self._last = self._last, (command.link, now_ns)
        if before is None or before[0] == command.link or now_ns - before[1] > _AT_ONCE_NS:
            return (command,)
        return ()


class _Holds(WireFilter):
    """A filter that records the unsettled messages of each link."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.held: dict[int, list[int]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Settle):
            held = self.held.get(command.link, [])
            self.held[command.link] = [one for one in held if one not in command.deliveries]
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self.held.setdefault(event.link, []).append(event.delivery)
        return (event,)


class _RestStays(_Holds):
    """A closed receiver does not release its unfinished batch while other messages of the receiver are unsettled."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        passed = super().command(command)
        if not isinstance(command, Settle) or command.outcome is not Outcome.RELEASED:
            return passed
        return () if self.held.get(command.link) else passed


class _RemovalGivesBack:
    """A removed batch listener returns the messages that it has received and not acknowledged.

    The filter at the port notes the removal; the filter on the wire returns the messages.
    """

    def __init__(self) -> None:
        self._removing: list[str] = []

    def port(self, client: Client) -> Client:
        removing = self._removing

        class NotesRemoval(ConsumerFilter):
            def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
                if script is not None:
                    return super().listen_batch(script, size, timeout_ms)
                removing.append(self.actor)
                try:
                    return super().listen_batch(script, size, timeout_ms)
                finally:
                    removing.clear()

        return ConsumingClientFilter(client, NotesRemoval)

    def wire(self, driver: Driver) -> Driver:
        removing = self._removing

        class GivesBack(_Holds):
            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if isinstance(command, Settle):
                    held = self.held.get(command.link, [])
                    if not all(one in held for one in command.deliveries):
                        return ()
                passed = super().command(command)
                if not isinstance(command, Drain) or not removing:
                    return passed
                returned = tuple(self.held.pop(command.link, ()))
                back = Settle(self.line.own_token(), command.link, returned, Outcome.MODIFIED)
                return (*passed, back) if returned else passed

        return wires(GivesBack)(driver)


BATCH_ACKNOWLEDGEMENT_RETURNED_DEFECTS = (
    on_wire(wires, _HalfOfAFailedBatch, "half-of-failed-batch-accepted", "BT-08", "BT-11"),
    in_both(_UndecodableAccepted(), "batch-with-undecodable-message-accepted", "BT-08"),
    on_wire(events, _unmarked, "mark-of-redelivery-dropped", "BT-08", "BT-09", "BT-11", "BT-12"),
    on_wire(commands, _accepts_returned, "unfilled-batch-accepted-when-given-back", "BT-08", "BT-10"),
    on_wire(wires, _FirstOutcomeForAll, "first-outcome-for-all", "BT-08", "BT-09"),
    on_wire(commands, _unseen_marked, "given-back-unseen-counts", "BT-08", "BT-12"),
    on_wire(wires, _ReturnedUnacknowledged, "returned-batch-unacknowledged", "BT-08", "BT-11"),
    on_wire(wires, _GivesUp, "two-failed-callbacks-end-delivery", "BT-08"),
    on_wire(wires, _DropsWhatReturns, "refused-acknowledgement-drops-redeliveries", "BT-08", "BT-10"),
    on_wire(wires, _RecoversOneConsumer, "recovers-one-consumer", "BT-11"),
    on_wire(wires, _RestStays, "rest-of-batch-stays-with-closed-receiver", "BT-11", "BT-12"),
    in_both(_RemovalGivesBack(), "removed-listener-gives-back-what-it-was-handed", "BT-11"),
)
