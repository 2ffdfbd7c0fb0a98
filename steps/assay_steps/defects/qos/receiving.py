"""Defects of an MQ Light client in its subscriptions after a reconnection (QS-09)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Closed, Driver, DriverCommand, DriverEvent, Opened
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.defects.model import Defect, on_wire
from assay_steps.defects.qos.light_clients import attaches_again, subscribes
from assay_steps.defects.wires import FilteredWire, WireFilter, drivers, wires


def _stops_at_a_taken_id(driver: Driver) -> Driver:
    """A client that connects again while another connection has its client id stops for good."""
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


QOS_RECEIVING_DEFECTS = (
    Defect(
        name="one-subscription-attached-again",
        rules=("QS-09", "QS-11", "QS-21"),
        text="After a reconnection, the client opens only the first of its subscriptions.",
        wire=attaches_again(lambda _command, before: before == 0),
    ),
    on_wire(drivers, _stops_at_a_taken_id, "stops-at-a-taken-client-id", "QS-09"),
)
