"""Defects of the client in the time to live of delayed messages (DD-56)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Arrived, DriverEvent
from assay_steps.defects.model import on_wire
from assay_steps.defects.wire_filters import WireFilter, wires


class _LivesFromTheDelay(WireFilter):
    """The client counts the time to live of a received message from the end of the message's delay."""

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, Arrived) or not event.message.delivery_time_ms or not event.message.ttl_ms:
            return (event,)
        expiry_ms = event.message.delivery_time_ms + event.message.ttl_ms
        return (replace(event, message=replace(event.message, expiry_ms=expiry_ms)),)


DELAY_EXPIRY_DEFECTS = (on_wire(wires, _LivesFromTheDelay, "buffered-lives-from-the-delay", "DD-56"),)
