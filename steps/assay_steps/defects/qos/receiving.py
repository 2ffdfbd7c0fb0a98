"""Defects of an MQ Light client in its subscriptions after a reconnection (QS-09)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Arrived, Closed, Credit, Driver, DriverCommand, DriverEvent, Opened, OpenReceiver, Settle
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.defects.model import Defect, on_wire
from assay_steps.defects.qos.light_clients import attaches_again, subscribes
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, drivers, wires


def _stops_at_a_taken_id(driver: Driver) -> Driver:
    """If another connection has the client id when the client connects again, the client gives up for good."""
    lasting = False

    class Stops(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._opened = False

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            nonlocal lasting
            lasting = lasting or subscribes(command)
            return (command,)

        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            self._opened = self._opened or isinstance(event, Opened)
            why = event.refused if isinstance(event, Closed) else None
            if not isinstance(event, Closed) or why is None or why.kind is not JmsErrorKind.INVALID_CLIENT_ID:
                return (event,)
            if self._opened or not lasting:
                return (event,)
            return (replace(event, refused=replace(why, kind=JmsErrorKind.SECURITY)),)

    return wires(Stops)(driver)


def _counts_lost(driver: Driver) -> Driver:
    """After a reconnection, the unacknowledged messages of the lost connection still use the client's credit."""
    held: dict[str | None, int] = {}

    class Counts(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._names: dict[int, str | None] = {}
            self._lost: dict[int, int] = {}

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if isinstance(command, OpenReceiver) and subscribes(command) and not command.settled:
                self._names[command.link] = command.name
                self._lost[command.link] = held.pop(command.name, 0)
            elif isinstance(command, Settle) and command.link in self._names:
                name = self._names[command.link]
                held[name] = held.get(name, 0) - len(command.deliveries)
            elif isinstance(command, Credit) and self._lost.pop(command.link, 0) > command.credit // 2:
                return ()  # the client asks for more only when half of its credit is free
            return (command,)

        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            if isinstance(event, Arrived) and event.link in self._names:
                name = self._names[event.link]
                held[name] = held.get(name, 0) + 1
            return (event,)

    return wires(Counts)(driver)


QOS_RECEIVING_DEFECTS = (
    Defect(
        name="one-subscription-attached-again",
        rules=("QS-09", "QS-11", "QS-21"),
        text="After a reconnection, the client opens only the first of its subscriptions.",
        wire=attaches_again(lambda _command, before: before == 0),
    ),
    on_wire(drivers, _stops_at_a_taken_id, "stops-at-a-taken-client-id", "QS-09"),
    on_wire(drivers, _counts_lost, "lost-deliveries-use-credit", "QS-09"),
)
