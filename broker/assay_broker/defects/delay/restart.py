"""Defects that change staged messages at a restart (DD-48)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Put
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.delay.filters import end_of_delay
from assay_broker.defects.model import Defect
from assay_broker.defects.sends import SHIFT, is_delayed, resent
from assay_broker.defects.shapes import Commands, puts, refusing
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc

_NOT_NOW = "It is not accepted now."


def _kept_though_non_persistent(*, twice: bool) -> Seams:
    """Make filters that keep non-persistent delayed messages over a restart, as allowed, but deliver them wrongly.

    Args:
        twice: True to deliver the messages twice, False to deliver them once but without their delay.
    """

    def persistent(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if put.message.durable or end_of_delay(put, now_ms) is None:
            return None
        marked = {**put.message.properties, "defect_kept": True}
        return resent(put, durable=True, properties=marked)

    def again(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        out: list[Record] = []
        for record in records:
            kept = isinstance(record, MessageStored) and "defect_kept" in record.message.properties
            if not kept or not isinstance(record, MessageStored):
                out.append(record)
            elif twice:
                out += [record, replace(record, key=record.key + SHIFT)]
            else:
                out.append(replace(record, due_ms=None))
        return tuple(out)

    return puts(persistent, again)


def _light_refused(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.RESOURCE_PROBLEM if is_delayed(put, now_ms) and put.message.durable is False else None


DELAY_RESTART_DEFECTS = (
    Defect(
        name="kept-and-early",
        rules=("DD-48",),
        text="Non-persistent delayed messages survive a restart and are then delivered early.",
        apply=lambda: _kept_though_non_persistent(twice=False),
    ),
    Defect(
        name="kept-and-twice",
        rules=("DD-48",),
        text="Non-persistent delayed messages survive a restart and are then delivered twice.",
        apply=lambda: _kept_though_non_persistent(twice=True),
    ),
    Defect(
        name="delayed-non-persistent-refused",
        rules=("DD-48",),
        text="The broker refuses every delayed send of a non-persistent message.",
        apply=lambda: refusing(_light_refused, _NOT_NOW),
    ),
)
