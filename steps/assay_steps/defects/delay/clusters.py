"""Defects of the client in delayed sends to clustered destinations (DD-11)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_adapters.ports.client import Draft
from assay_sdk.driver import CLUSTERED_PROPERTY, DEFBIND_PROPERTY, Done, DriverEvent
from assay_steps.defects.delay.undelayed import is_grouped, is_retained, sent_at_once
from assay_steps.defects.model import Defect, on_wire
from assay_steps.defects.ports import twisted
from assay_steps.defects.wire_filters import events


def _is_plain(draft: Draft) -> bool:
    return not is_retained(draft) and not is_grouped(draft)


def _not_fixed_misread(event: DriverEvent) -> DriverEvent:
    """The client takes a destination with DEFBIND(NOTFIXED) for a clustered one with DEFBIND(OPEN)."""
    if not isinstance(event, Done) or event.properties.get(DEFBIND_PROPERTY) != "NOTFIXED":
        return event
    return replace(event, properties={**event.properties, CLUSTERED_PROPERTY: True, DEFBIND_PROPERTY: "OPEN"})


DELAY_CLUSTERS_DEFECTS = (
    Defect(
        name="clustered-sent-at-once",
        rules=("DD-11",),
        text="If a clustered destination refuses a delay, the client sends the message without the delay.",
        port=twisted(sent_at_once(_is_plain)),
    ),
    on_wire(events, _not_fixed_misread, "notfixed-misread", "DD-11"),
)
