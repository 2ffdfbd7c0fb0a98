"""Defects in the reports on delayed messages (DD-85, DD-86)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.administration.changes import NativeTake
from assay_broker.core.commands import Command, Put
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.messages.reports import FEEDBACK, options, report
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.defects.delay.filters import reported_at_once, understood
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import change_of, handed_in, resent
from assay_broker.defects.shapes import Commands, commands, puts, shown
from assay_broker.defects.view import View
from assay_sdk.model.message import Address
from assay_sdk.model.report_options import MQMT_REPORT, Mqro

_ASKED = Mqro.EXCEPTION | Mqro.EXPIRATION
_CONFIRMATIONS = (
    Mqro.COA_WITH_FULL_DATA | Mqro.COD_WITH_FULL_DATA | Mqro.PAN | Mqro.NAN | Mqro.ACTIVITY  # these include COA and COD
)


def _always(asked: Mqro, added: Mqro) -> Mqro:
    return asked | added if asked & _ASKED else asked


@defect(shown, "options-used-up", "DD-85", "DD-86")
def _options_used_up(described: Described) -> Described:
    """A delayed message has no report options on its target."""
    if described.message.delivery_time_ms is None:
        return described
    return replace(described, descriptor={**described.descriptor, "Report": 0})


@defect(puts, "missing-correlation-id-filled-in", "DD-85")
def _filled_in(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
    """With MQRO_PASS_CORREL_ID, a report on a message without a correlation id has the message id as correlation id."""
    message = put.message
    if message.correlation_id is not None or Mqro.PASS_CORREL_ID not in options(message):
        return None
    return resent(put, correlation_id=message.message_id)


@defect(shown, "reports-under-one-id", "DD-85")
def _one_report_id(row: Described) -> Described:
    """An administrator sees the same new message id on all reports."""
    reports = row.descriptor.get("MsgType") == MQMT_REPORT
    return replace(row, descriptor={**row.descriptor, "MsgId": "BB" * 24}) if reports else row


@defect(commands, "reported-when-taken-back", "DD-86")
def _reported_when_taken(command: Command, now_ms: int, view: View) -> Commands | None:
    """When an administrator gets a staged message, the broker reports the message as delivered (COD)."""
    change = change_of(command)
    if not isinstance(change, NativeTake) or change.queue != STAGING_QUEUE:
        return None
    found = next((one for id_, one in view.delayed.items() if native_id(id_) == change.correlation_id), None)
    if found is None or found.message.reply_to is None or Mqro.COD not in options(found.message):
        return None
    told = report(found.message, Mqro.COD, FEEDBACK[Mqro.COD], "ID:confirmed", now_ms=now_ms, expires_ms=None)
    return (command, *handed_in(view, found.message.reply_to, told))


REPORTS_DEFECTS = (
    Defect(
        name="life-not-passed",
        rules=("DD-85",),
        text="A report never gets the rest of the original message's expiry or its option MQRO_DISCARD_MSG.",
        apply=lambda: understood(lambda asked, _: asked & ~Mqro.PASS_DISCARD_AND_EXPIRY),
    ),
    Defect(
        name="life-always-passed",
        rules=("DD-85",),
        text="A report always gets the rest of the original message's expiry and its option MQRO_DISCARD_MSG.",
        apply=lambda: understood(lambda asked, _: _always(asked, Mqro.PASS_DISCARD_AND_EXPIRY)),
    ),
    _options_used_up,
    Defect(
        name="confirmations-dropped",
        rules=("DD-86",),
        text="The broker removes the options for confirmation (COA, COD) and activity from delayed messages.",
        apply=lambda: understood(lambda asked, _: asked & ~_CONFIRMATIONS),
    ),
    Defect(
        name="confirmed-when-staged",
        rules=("DD-86",),
        text="The broker sends the confirmations of a delayed message as soon as it stages the message.",
        apply=lambda: reported_at_once(_CONFIRMATIONS, Mqro.COA),
    ),
    Defect(
        name="confirmed-and-lost",
        rules=("DD-86",),
        text="The broker confirms a staged message that asks for a confirmation, and loses the message.",
        apply=lambda: reported_at_once(_CONFIRMATIONS, Mqro.COD, lost=True),
    ),
    _filled_in,
    _one_report_id,
    _reported_when_taken,
)
