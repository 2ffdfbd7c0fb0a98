"""Defects of the client that leave the staged messages of a rolled-back unit of work on the staging queue (DD-36)."""

from __future__ import annotations

from assay_sdk.driver import Begin, DriverCommand, Rollback, RollbackXa, Send
from assay_steps.defects.model import on_wire
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires


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


DELAY_STAGING_QUEUE_DEFECTS = (on_wire(wires, _DelayedStays, "rollback-of-delayed-untold", "DD-36"),)
