"""Defects of the client in which messages one acknowledgement covers, and when it is sent (BT-08, BT-11, BT-12)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_adapters.ports.client import Client, ClientEvent, ClientObserver
from assay_sdk.driver import Arrived, Credit, Driver, DriverCommand, DriverEvent, Enlist, Outcome, Settle
from assay_steps.defects.batch_contents import is_batch_window
from assay_steps.defects.consumers import ConsumingClientFilter
from assay_steps.defects.model import Defect, on_wire
from assay_steps.defects.wires import FilteredWire, WireFilter, wires


def _is_accepting(command: DriverCommand) -> bool:
    return isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED


class _OneByOne:
    """A client that acknowledges each message of a batch by itself, and tells each of these acknowledgements.

    Its events are kept at the port until the wire carries them out.
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
    """Knows the size of each batch listener, and what has arrived for it and is not settled."""

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
        """What goes to the driver instead of the settlement of a batch."""
        return (command,)


class _WithTheNextFull(_Sized):
    """A batch that is not full is acknowledged with the next full one."""

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
    """With a batch, what waits for the rest of the next one is acknowledged, or becomes part of the unit of work."""

    def settling(self, command: Settle | Enlist) -> tuple[DriverCommand, ...]:
        if isinstance(command, Settle) and command.outcome is not Outcome.ACCEPTED:
            return (command,)
        behind, self.waiting[command.link] = tuple(self.waiting[command.link]), []
        return (replace(command, deliveries=command.deliveries + behind),)


_ONE_BY_ONE = _OneByOne()

SETTLEMENT_DEFECTS = (
    Defect(
        name="batch-acknowledged-one-by-one",
        rules=("BT-08",),
        text="Each message of a batch is acknowledged by itself.",
        port=_ONE_BY_ONE.port,
        wire=_ONE_BY_ONE.wire,
    ),
    on_wire(wires, _WithTheNextFull, "partial-batch-accepted-with-the-next-full", "BT-08"),
    on_wire(wires, _WhatWaitsBehind, "batch-accepts-what-waits-behind", "BT-08", "BT-11", "BT-12"),
)
