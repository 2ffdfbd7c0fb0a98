"""Defects of the client in a producer's sends in units of work (DD-25, DD-26)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import CloseLink, Commit, DriverCommand, OpenSender, Rollback, Send
from assay_steps.defects.model import on_wire
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires


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


DELAY_UNITS_DEFECTS = (
    on_wire(wires, _AnywhereOutside, "sends-anywhere-outside-unit", "DD-25", "DD-26", "BT-13"),
    on_wire(wires, _ClosedDrops, "closed-producer-drops-unit", "DD-25", "DD-26"),
)
