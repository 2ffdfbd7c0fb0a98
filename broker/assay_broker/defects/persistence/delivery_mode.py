"""Defects of the broker in delivery modes (PD-02)."""

from __future__ import annotations

from assay_broker.core.commands import Put
from assay_broker.defects.model import defect
from assay_broker.defects.sends import resent
from assay_broker.defects.shapes import Commands, puts
from assay_broker.defects.view import View
from assay_sdk.model.message import Address


@defect(puts, "defpsist-before-the-sender", "PD-02", "PD-03")
def _before_the_sender(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """DEFPSIST of a queue or topic overrides the delivery mode that the sender has set."""
    says = view.said_of(target).get("DEFPSIST")
    return None if says is None or put.message.durable is None else resent(put, durable=says == "YES")


PERSISTENCE_DELIVERY_MODE_DEFECTS = (_before_the_sender,)
