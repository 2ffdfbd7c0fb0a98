"""Defects of the delay processor, of reports and of gets from the staging queue that need a special condition."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, NativeTake
from assay_broker.core.commands import Administer, Command, Put, Tick, WorkerDied
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import body_of
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.messages.reports import FEEDBACK, options, report
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind
from assay_broker.core.records import Record
from assay_broker.core.states.processor import ProcessorAction, ProcessorInput, ProcessorState
from assay_broker.core.states.tables import Tables
from assay_broker.defects.delay.processor import with_cells
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import as_text, cancelled, change_of, handed_in, is_staged, with_options
from assay_broker.defects.shapes import Commands, commands, delayed_puts, filters, read, reshown, shown
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import MQMT_REPORT, Mqro

_S, _I, _A = ProcessorState, ProcessorInput, ProcessorAction
_UNUSED_ID = bytes(24)
_OVERDUE_MS = 500


# DD-37, DD-38


@defect(shown, "staged-under-one-id", "DD-37")
def _one_id(row: Described) -> Described:
    """The broker gives all staged messages the same new message id."""
    staged = any(header["StrucId"] == "DDH" for header in row.headers)
    return replace(row, descriptor={**row.descriptor, "MsgId": "AA" * 24}) if staged else row


@defect(commands, "take-finds-the-plain-only", "DD-38")
def _finds_plain(command: Command, now_ms: int, view: View) -> Commands | None:
    """An administrator cannot get a staged message that is non-persistent, sent in a unit of work, or overdue."""
    change = change_of(command)
    if not isinstance(command, Administer) or not isinstance(change, NativeTake) or change.queue != STAGING_QUEUE:
        return None
    found = next((one for id_, one in view.delayed.items() if native_id(id_) == change.correlation_id), None)
    if found is None or (found.message.durable and found.put.unit is None and found.due_ms > now_ms):
        return None
    return (replace(command, change=replace(change, correlation_id=_UNUSED_ID)),)


# DD-57, DD-62, DD-64, DD-65, DD-71


def _stays_closed(tables: Tables) -> Tables:
    cells = {
        (_S.CLOSED, _I.AVAILABLE): (_S.CLOSED, _A.STAY),
        (_S.CLOSED, _I.PUT_DISABLED): (_S.CLOSED, _A.STAY),
    }
    return with_cells(tables, "distributed", cells)


def _shuts(command: Command) -> bool:
    """Check whether an administrator disables the staging queue for gets or puts."""
    change = change_of(command)
    named = isinstance(change, AlterObject) and change.name == STAGING_QUEUE
    return isinstance(change, AlterObject) and named and "DISABLED" in change.attributes.values()


def _lost_when_shut(wanted: Callable[[Sent], bool]) -> Seams:
    """Make filters that drop some staged messages when the staging queue is disabled."""

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        lost = [id_ for id_, one in view.delayed.items() if wanted(one)] if _shuts(command) else []
        return (*cancelled(view, *lost), command) if lost else None

    return commands(rewrite)


@defect(commands, "zos-stuck-message-stops-processor", "DD-71")
def _stopped_by_stuck(command: Command, now_ms: int, view: View) -> Commands | None:
    """On z/OS the processor stops if neither the target nor the dead-letter queue can take a message."""
    if view.settings.platform != "zos" or not isinstance(command, Tick):
        return None
    shut = {name for name, said in view.objects.items() if said.get("PUT") == "DISABLED"}
    stuck = any(one.target.name in shut and one.due_ms + _OVERDUE_MS <= now_ms for one in view.delayed.values())
    return (WorkerDied(), command) if stuck else None


# DD-70, DD-72


@defect(delayed_puts, "discard-needs-a-report", "DD-70")
def _discard_with_report_only(put: Put, _sent: Sent, _view: View) -> Commands | None:
    """The broker heeds MQRO_DISCARD_MSG only if the message also asks for an exception report."""
    asked = options(put.message)
    if Mqro.DISCARD_MSG not in asked or Mqro.EXCEPTION in asked:
        return None
    return (replace(put, message=with_options(put.message, asked & ~Mqro.DISCARD_MSG)),)


@defect(made, "first-obstacle-remembered", "DD-70")
def _first_obstacle() -> Seams:
    """The dead-letter header gives the first reason for which the target refused puts, not the current reason."""
    first: dict[object, int] = {}

    def noted(command: Command, _now_ms: int, _view: View) -> Commands | None:
        change = change_of(command)
        if isinstance(change, AlterObject) and change.kind is Kind.QLOCAL:
            too_long = "MAXMSGL" in change.attributes
            first.setdefault(change.name, int(Mqrc.MSG_TOO_BIG_FOR_Q if too_long else Mqrc.PUT_INHIBITED))
        return None

    def named(row: Described) -> Described:
        headers = tuple(
            {**one, "Reason": first[one["DestQName"]]} if one.get("DestQName") in first and "Reason" in one else one
            for one in row.headers
        )
        return replace(row, headers=headers)

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, named)

    return filters(noted, answer=answer)


@defect(delayed_puts, "reports-to-queues-of-their-own-only", "DD-72")
def _no_alias(put: Put, _sent: Sent, view: View) -> Commands | None:
    """The broker sends no report if the reply-to queue is an alias."""
    to = put.message.reply_to
    if to is None or "TARGET" not in view.said(to.name) or not options(put.message):
        return None
    return (replace(put, message=with_options(put.message, options(put.message) & ~Mqro.EXCEPTION_WITH_FULL_DATA)),)


@defect(delayed_puts, "non-persistent-not-reported", "DD-72")
def _light_unreported(put: Put, _sent: Sent, _view: View) -> Commands | None:
    """The broker sends no exception report on a non-persistent message."""
    asked = options(put.message)
    if put.message.durable is not False or Mqro.EXCEPTION not in asked:
        return None
    return (replace(put, message=with_options(put.message, asked & ~Mqro.EXCEPTION_WITH_FULL_DATA)),)


def _unasked(record: Record) -> tuple[Record, ...]:
    if not is_staged(record):
        return (record,)
    return (replace(record, message=with_options(record.message, Mqro(0))),)


@defect(shown, "reports-in-ascii", "DD-57", "DD-72")
def _in_ascii(row: Described) -> Described:
    """A report contains only the ASCII characters of the original message's body."""
    body = body_of(row.message)
    if row.descriptor.get("MsgType") != MQMT_REPORT or not isinstance(body, str) or body.isascii():
        return row
    return replace(row, message=replace(row.message, body=body.encode("ascii", "ignore").decode(), encoded=None))


@defect(shown, "reports-of-bytes-as-text", "DD-57", "DD-72")
def _bytes_as_text(row: Described) -> Described:
    """A report on a message of bytes has a text as its body, without the octets that are not UTF-8."""
    if row.descriptor.get("MsgType") != MQMT_REPORT:
        return row
    return replace(row, message=as_text(row.message))


@defect(shown, "reports-under-one-id", "DD-85")
def _one_report_id(row: Described) -> Described:
    """The broker gives all reports the same new message id."""
    reports = row.descriptor.get("MsgType") == MQMT_REPORT
    return replace(row, descriptor={**row.descriptor, "MsgId": "BB" * 24}) if reports else row


@defect(shown, "reports-always-alike", "DD-72")
def _plain_reports(row: Described) -> Described:
    """A report has priority 4 and the opposite of the original message's persistence."""
    if row.descriptor.get("MsgType") != MQMT_REPORT:
        return row
    other = 1 - int(bool(row.message.durable))
    return replace(row, descriptor={**row.descriptor, "Persistence": other, "Priority": 4})


# DD-86


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


PROCESSING_DEFECTS = (
    _one_id,
    _finds_plain,
    Defect(
        name="distributed-stays-closed",
        rules=("DD-65",),
        text="On distributed platforms the processor stays down once its queue was disabled for gets.",
        apply=lambda: Seams(tables=_stays_closed),
    ),
    Defect(
        name="shut-queue-loses-non-persistent",
        rules=("DD-62", "DD-64"),
        text="When the staging queue is disabled, the non-persistent messages on it are lost.",
        apply=lambda: _lost_when_shut(lambda one: one.message.durable is False),
    ),
    Defect(
        name="shut-queue-loses-mortal",
        rules=("DD-57",),
        text="When the staging queue is disabled, the messages with a time to live on it are lost.",
        apply=lambda: _lost_when_shut(lambda one: bool(one.message.expiry_ms)),
    ),
    _stopped_by_stuck,
    _discard_with_report_only,
    _first_obstacle,
    _no_alias,
    _light_unreported,
    Defect(
        name="report-options-forgotten-at-restart",
        rules=("DD-72", "DD-85", "DD-86"),
        text="After a restart staged messages have no report options.",
        apply=lambda: read(_unasked),
    ),
    _in_ascii,
    _bytes_as_text,
    _one_report_id,
    _plain_reports,
    _reported_when_taken,
)
