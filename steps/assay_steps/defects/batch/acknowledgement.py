"""Defects of the client in acknowledging batches: which messages it acknowledges, and when (BT-08, BT-16)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_adapters.clients.keys import KID
from assay_adapters.ports.client import Client, ClientEvent, ClientObserver, Script
from assay_sdk.driver import Arrived, Credit, Driver, DriverCommand, DriverEvent, Enlist, Outcome, Settle
from assay_steps.defects.batch.listener_links import OfBatches, is_batch_window
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, noting_batches
from assay_steps.defects.model import in_both, on_wire
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, commands, wires


def _first_of_batch(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """The client acknowledges only the first message of a batch."""
    if isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED:
        return (replace(command, deliveries=command.deliveries[:1]),)
    return None


class _OnArrival(OfBatches):
    """The client acknowledges the messages of a batch when they arrive."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        passed = super().command(command)
        return () if isinstance(command, Settle | Enlist) and command.link in self.batches else passed

    def arrived(self, event: Arrived) -> tuple[DriverEvent, ...]:
        self.accept(event)
        return (event,)


class _WithTheNext(WireFilter):
    """The client acknowledges a batch only when it should acknowledge the next one."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._owed: dict[int, tuple[int, ...]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle) or len(command.deliveries) == 1:
            return (command,)
        owed = self._owed.pop(command.link, ())
        if command.outcome is not Outcome.ACCEPTED:
            return (replace(command, deliveries=owed + command.deliveries),)
        self._owed[command.link] = command.deliveries
        return (Settle(self.line.own_token(), command.link, owed, Outcome.ACCEPTED),) if owed else ()


class _ForOthers(WireFilter):
    """When the client acknowledges a batch, it also acknowledges the unfinished batches of other consumers."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._batches: dict[int, list[int]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Credit) and is_batch_window(command.credit):
            self._batches.setdefault(command.link, [])
        if not isinstance(command, Settle | Enlist):
            return (command,)
        if waiting := self._batches.get(command.link):
            self._batches[command.link] = [one for one in waiting if one not in command.deliveries]
        if not _is_accepting(command) or not self._triggers(command.link):
            return (command,)
        return (*self._accepted(command.link), command)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self._batches:
            self._batches[event.link].append(event.delivery)
        return (event,)

    def _triggers(self, link: int) -> bool:
        """Return whether an acknowledgement on a link acknowledges the batches of other consumers."""
        return link in self._batches

    def _accepted(self, but: int) -> tuple[DriverCommand, ...]:
        others = {link: tuple(waiting) for link, waiting in self._batches.items() if waiting and link != but}
        for link in others:
            self._batches[link] = []
        return tuple(Settle(self.line.own_token(), link, one, Outcome.ACCEPTED) for link, one in others.items())


class _ReceiptAcceptsBatches(_ForOthers):
    """When the client acknowledges a message outside a batch, it acknowledges unfinished batches, too."""

    def _triggers(self, link: int) -> bool:
        return link not in self._batches


def _is_accepting(command: DriverCommand) -> bool:
    return isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED


class _OneByOne:
    """The client acknowledges the messages of a batch one at a time.

    The filter at the port holds back the events of the acknowledgements until the filter on the wire sends the
    acknowledgements.
    """

    def __init__(self) -> None:
        self._kept: list[ClientEvent] = []
        self._observers: list[ClientObserver] = []

    def port(self, client: Client) -> Client:
        kept, observers = self._kept, self._observers

        class Keeps(ConsumingClientFilter):
            def observe(self, observer: ClientObserver) -> None:
                observers.append(observer)
                super().observe(observer)

        def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
            if event.what != "settle" or event.unit is not None:
                return (event,)
            kept.append(event)
            return ()

        return Keeps(client, tell=tell)

    def wire(self, driver: Driver) -> Driver:
        tell, kept = self._tell, self._kept

        class Split(WireFilter):
            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Settle):
                    return (command,)
                told, kept[:] = kept[-len(command.deliveries) :], []
                if not _is_accepting(command) or len(told) != len(command.deliveries):
                    tell(told)
                    return (command,)
                for event, delivery in zip(told, command.deliveries, strict=True):
                    tell((event,))
                    own = self.line.own_token()
                    self.line.wire.submit(Settle(own, command.link, (delivery,), Outcome.ACCEPTED))
                return ()

        return wires(Split)(driver)

    def _tell(self, told: Sequence[ClientEvent]) -> None:
        for event in told:
            for observer in tuple(self._observers):
                observer(event)


class _Sized(WireFilter):
    """A filter that records the batch size and the unsettled messages of each batch listener."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.sizes: dict[int, int] = {}
        self.waiting: dict[int, list[int]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Credit) and is_batch_window(command.credit) and command.link not in self.sizes:
            self.sizes[command.link] = command.credit // 2
        if not isinstance(command, Settle | Enlist) or command.link not in self.sizes:
            return (command,)
        waiting = self.waiting.get(command.link, [])
        self.waiting[command.link] = [one for one in waiting if one not in command.deliveries]
        return self.settling(command)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.sizes:
            self.waiting.setdefault(event.link, []).append(event.delivery)
        return (event,)

    def settling(self, command: Settle | Enlist) -> tuple[DriverCommand, ...]:
        """Return the commands that go to the driver instead of the settlement of a batch."""
        return (command,)


class _WithTheNextFull(_Sized):
    """The client delays the acknowledgement of a batch that is not full, until it acknowledges the next full batch."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._owed: dict[int, tuple[int, ...]] = {}

    def settling(self, command: Settle | Enlist) -> tuple[DriverCommand, ...]:
        if not _is_accepting(command):
            return (command,)
        owed = self._owed.pop(command.link, ()) + command.deliveries
        if len(command.deliveries) < self.sizes[command.link]:
            self._owed[command.link] = owed
            return ()
        return (replace(command, deliveries=owed),)


class _WhatWaitsBehind(_Sized):
    """An acknowledgement of a batch, or its acceptance in a unit of work, also covers the next batch's messages."""

    def settling(self, command: Settle | Enlist) -> tuple[DriverCommand, ...]:
        if isinstance(command, Settle) and command.outcome is not Outcome.ACCEPTED:
            return (command,)
        behind, self.waiting[command.link] = tuple(self.waiting[command.link]), []
        return (replace(command, deliveries=command.deliveries + behind),)


class _SetAgainUnacknowledged:
    """The client never acknowledges a batch whose callback sets the listener again.

    The filter at the port notes the batch; the filter on the wire drops the acknowledgement.
    """

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self._keys: set[str] = set()

    def port(self, client: Client) -> Client:
        left, keys = self._left, self._keys

        def note(consumer: ConsumerFilter, script: Script | None, _size: int) -> None:
            if script is not None and script.again_after is not None:
                left[consumer.actor] = script.again_after

        def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
            if event.what == "seen" and event.seen is not None and left.get(event.actor):
                left[event.actor] -= 1
                if left[event.actor] == 0:
                    keys.add(event.seen.key)
            return (event,)

        return ConsumingClientFilter(client, noting_batches(note), tell)

    def wire(self, driver: Driver) -> Driver:
        keys = self._keys

        class Unacknowledged(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._keys: dict[tuple[int, int], object] = {}

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not _is_accepting(command) or not isinstance(command, Settle):
                    return (command,)
                hit = any(self._keys[command.link, one] in keys for one in command.deliveries)
                return () if hit else (command,)

            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Arrived):
                    self._keys[event.link, event.delivery] = event.message.properties.get(KID)
                return (event,)

        return wires(Unacknowledged)(driver)


BATCH_ACKNOWLEDGEMENT_DEFECTS = (
    on_wire(commands, _first_of_batch, "accepts-first-of-batch", "BT-08"),
    on_wire(wires, _OnArrival, "batches-accepted-on-arrival", "BT-08", "BT-10", "BT-11", "BT-12", "BT-13"),
    on_wire(wires, _WithTheNext, "batch-accepted-with-the-next", "BT-16"),
    on_wire(wires, _ForOthers, "batch-accepts-others", "BT-08", "BT-10"),
    on_wire(wires, _ReceiptAcceptsBatches, "receive-accepts-batches", "BT-08"),
    in_both(_OneByOne(), "batch-acknowledged-one-by-one", "BT-08"),
    in_both(_SetAgainUnacknowledged(), "batch-that-sets-its-listener-unacknowledged", "BT-08"),
    on_wire(wires, _WithTheNextFull, "partial-batch-accepted-with-the-next-full", "BT-08"),
    on_wire(wires, _WhatWaitsBehind, "batch-accepts-what-waits-behind", "BT-08", "BT-11", "BT-12"),
)
