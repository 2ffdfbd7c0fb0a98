"""Defects in the refusal of a time to live that is shorter than the delay (DD-12 to DD-18)."""

from __future__ import annotations

from assay_broker.core.commands import Put
from assay_broker.defects.model import defect
from assay_broker.defects.sends import left_ms, resent
from assay_broker.defects.shapes import Commands, puts
from assay_broker.defects.view import View
from assay_sdk.model.message import Address


@defect(puts, "raw-expiry-pair-taken", "DD-14")
def _raw_pair_taken(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker accepts a message whose time to live is below its delay, and ignores its time to live."""
    due, expiry = put.message.delivery_time_ms, put.message.expiry_ms
    if not left_ms(put.message, now_ms) or due is None or not expiry or expiry >= due:
        return None
    return resent(put, expiry_ms=None, ttl_ms=None)


REFUSALS_DEFECTS = (_raw_pair_taken,)
