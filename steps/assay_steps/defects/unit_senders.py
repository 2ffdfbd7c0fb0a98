"""Defects of the client in a producer's sends in units of work, and in a unit's end (DD-25 to DD-27, DD-36, BT-13)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Begin, CloseLink, Commit, DriverCommand, OpenSender, Rollback, RollbackXa, Send
from assay_steps.defects.model import Defect, on_wire
from assay_steps.defects.wires import FilteredWire, WireFilter, wires


class _AnywhereOutside(WireFilter):
    """Sends of a producer without a destination are not part of the unit of work."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._anywhere: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenSender) and command.address is None:
            self._anywhere.add(command.link)
        if isinstance(command, Send) and command.link in self._anywhere:
            return (replace(command, unit=None),)
        return (command,)


class _FirstSendCounts(WireFilter):
    """All delays of a producer in a unit of work count from the producer's first send in the unit."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._first: dict[tuple[int, int], int] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Send) or command.unit is None:
            return (command,)
        message = command.message
        if message.creation_ms is None or message.delivery_time_ms is None:
            return (command,)
        first_ms = self._first.setdefault((command.link, command.unit), message.creation_ms)
        early_ms = message.delivery_time_ms - (message.creation_ms - first_ms)
        return (replace(command, message=replace(message, delivery_time_ms=early_ms)),)


class _DelayedStays(WireFilter):
    """The client does not send the rollback of a unit of work with a delayed message to the broker."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._names: dict[int, bytes] = {}
        self._delayed: set[int | bytes] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Begin) and command.xid is not None:
            self._names[command.unit] = command.xid
        if isinstance(command, Send) and command.unit is not None and command.message.delivery_time_ms is not None:
            self._delayed.add(self._names.get(command.unit, command.unit))
        untold = (isinstance(command, Rollback) and command.unit in self._delayed) or (
            isinstance(command, RollbackXa) and command.xid in self._delayed
        )
        return () if untold else (command,)


class _ClosedDrops(WireFilter):
    """Closing a producer rolls back the unit of work in which it has sent."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._sent_in: dict[int, int] = {}
        self._over: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Send) and command.unit is not None:
            self._sent_in[command.link] = command.unit
        if isinstance(command, CloseLink) and (unit := self._sent_in.pop(command.link, None)) is not None:
            self._over.add(unit)
            return (Rollback(self.line.own_token(), unit), command)
        if isinstance(command, Commit | Rollback):
            ended = command.unit in self._over
            self._sent_in = {link: unit for link, unit in self._sent_in.items() if unit != command.unit}
            return () if ended else (command,)
        return (command,)


UNIT_SENDER_DEFECTS: tuple[Defect, ...] = (
    on_wire(wires, _AnywhereOutside, "sends-anywhere-outside-unit", "DD-25", "DD-26", "BT-13"),
    on_wire(wires, _FirstSendCounts, "delays-count-from-first-send-in-unit", "DD-27"),
    on_wire(wires, _ClosedDrops, "closed-producer-drops-unit", "DD-25", "DD-26"),
    on_wire(wires, _DelayedStays, "rollback-of-delayed-untold", "DD-36"),
)
