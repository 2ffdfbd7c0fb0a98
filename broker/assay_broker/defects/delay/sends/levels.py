"""Defects of queue managers of earlier levels (DD-10)."""

from __future__ import annotations

from assay_broker.core.commands import Put
from assay_broker.defects.model import defect
from assay_broker.defects.sends import is_delayed, undelayed
from assay_broker.defects.shapes import Commands, puts
from assay_broker.defects.view import View
from assay_sdk.model.message import Address


@defect(puts, "old-level-delays", "DD-10")
def _old_level_delays(put: Put, _target: Address, now_ms: int, view: View) -> Commands | None:
    """A queue manager older than level 8.0 accepts delayed messages and delivers them at once."""
    return undelayed(put) if not view.settings.delays and is_delayed(put, now_ms) else None


LEVELS_DEFECTS = (_old_level_delays,)
