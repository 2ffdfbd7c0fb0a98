"""Defects with delayed retained publications and messages in groups (DD-16, DD-17)."""

from __future__ import annotations

from assay_broker.core.commands import Put
from assay_broker.core.messages.bodies import opened
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import kept_although_refused
from assay_broker.defects.sends import is_delayed, undelayed
from assay_broker.defects.shapes import Commands, puts, refusing
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.properties import LAST_IN_GROUP, RETAIN
from assay_sdk.model.reasons import Mqrc


def _is_retained(message: Message) -> bool:
    return message.properties.get(RETAIN) == 1


def _is_grouped(message: Message) -> bool:
    return bool(message.group_id) or message.group_sequence is not None or LAST_IN_GROUP in message.properties


@defect(puts, "retained-delays", "DD-16")
def _retained_delays(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker accepts a retained publication with a delay and publishes it at once."""
    return undelayed(put) if _is_retained(put.message) and is_delayed(put, now_ms) else None


@defect(puts, "grouped-delays", "DD-17")
def _grouped_delays(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker accepts a delayed message in a group and delivers it at once."""
    return undelayed(put) if _is_grouped(put.message) and is_delayed(put, now_ms) else None


def _retained(put: Put, _target: Address, _now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.OPTIONS_ERROR if _is_retained(put.message) else None


def _grouped(put: Put, _target: Address, _now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.OPTIONS_ERROR if _is_grouped(put.message) else None


@defect(made, "store-refused-stays-retained", "DD-16")
def _refused_stays_retained() -> Seams:
    """The broker keeps a retained publication although the store refused it."""
    return kept_although_refused(lambda sent: _is_retained(opened(sent.message)))


RETAINED_AND_GROUPED_DEFECTS = (
    _retained_delays,
    _refused_stays_retained,
    Defect(
        name="retained-refused",
        rules=("DD-16",),
        text="The broker refuses retained publications, with a delay or without.",
        apply=lambda: refusing(_retained, "A retained publication is not possible."),
    ),
    _grouped_delays,
    Defect(
        name="grouped-refused",
        rules=("DD-17",),
        text="The broker refuses messages in groups, with a delay or without.",
        apply=lambda: refusing(_grouped, "A message group is not possible."),
    ),
)
