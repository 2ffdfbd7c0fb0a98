"""Defects in the reports of failed deliveries (DD-72 to DD-75)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Put
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.messages.reports import options
from assay_broker.core.records import Record
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.defects.delay.failures.outcomes import outcome_cells
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import (
    handed_in,
    is_delayed,
    is_staged,
    read_back,
    with_options,
    written_down,
)
from assay_broker.defects.shapes import Commands, delayed_messages, delayed_puts, filters, puts, read, shown
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import MQMT_REPORT, Mqro

_OVER, _KEPT = (Step.OVER, Act.GO_ON), (Step.KEPT, Act.BACK_OUT)
_REPORTED = (Step.REPORT, Act.GO_ON)


@defect(puts, "report-without-temporary-queue-lost", "DD-73")
def _lost_without_temporary_queue(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker sends no exception report on a delayed message whose reply-to is a temporary queue."""
    to = put.message.reply_to
    if to is None or to.kind is not AddressKind.TEMPORARY_QUEUE or not is_delayed(put, now_ms):
        return None
    message = with_options(put.message, options(put.message) & ~Mqro.EXCEPTION_WITH_FULL_DATA)
    return (replace(put, message=message),)


@defect(delayed_puts, "reports-to-queues-of-their-own-only", "DD-72")
def _no_alias(put: Put, _sent: Sent, view: View) -> Commands | None:
    """The broker sends no exception report on a delayed message whose reply-to queue is an alias."""
    to = put.message.reply_to
    if to is None or "TARGET" not in view.said_of(to) or not options(put.message):
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


@defect(shown, "reports-always-alike", "DD-72")
def _plain_reports(row: Described) -> Described:
    """A report has priority 4 and the opposite of the original message's persistence."""
    if row.descriptor.get("MsgType") != MQMT_REPORT:
        return row
    other = 1 - int(bool(row.message.durable))
    return replace(row, descriptor={**row.descriptor, "Persistence": other, "Priority": 4})


@defect(made, "reported-to-the-first", "DD-72")
def _replies_to_the_first() -> Seams:
    """The broker sends reports on all delayed messages to the reply-to queue of the first delayed message."""
    first: list[Address] = []

    def replying(message: Message) -> Message:
        if message.reply_to is None:
            return message
        first.append(message.reply_to)
        return replace(message, reply_to=first[0])

    return delayed_messages(replying)


@defect(shown, "dead-lettered-report-bare", "DD-73")
def _dead_letter_report_bare(described: Described) -> Described:
    """A report on the dead-letter queue has no data of the original message."""
    dead = any(header["StrucId"] == "DLH" for header in described.headers)
    if not dead or described.descriptor.get("MsgType") != MQMT_REPORT:
        return described
    return replace(described, message=replace(described.message, body=None))


@defect(made, "processed-again-after-restart", "DD-75")
def _processed_again() -> Seams:
    """After a restart, the broker again puts a non-persistent message whose report no queue could take."""
    noted: set[str] = set()
    again: dict[Address, Message] = {}

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        again.update((one.reply_to, one) for one in read_back(records) if one.reply_to is not None)
        return tuple(records)

    def is_lost(sent: Sent, now_ms: int, view: View) -> bool:
        to, message = sent.message.reply_to, sent.message
        refused = to is not None and view.said_of(to).get("PUT") == "DISABLED"
        return refused and message.durable is False and Mqro.EXCEPTION in options(message) and sent.due_ms < now_ms

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        lost = {id_: one for id_, one in view.delayed.items() if id_ not in noted and is_lost(one, now_ms, view)}
        noted.update(lost)
        notes = [note for one in lost.values() for note in written_down(view, plain(one.message), one.target)]
        message = again.pop(command.address, None) if isinstance(command, Attach) else None
        if isinstance(command, Attach) and message is not None:
            return (*notes, command, *handed_in(view, command.address, message))
        return (*notes, command) if notes else None

    def plain(message: Message) -> Message:
        return with_options(message, Mqro(0))

    return filters(rewrite, read=start)


FAILURE_REPORTS_DEFECTS = (
    Defect(
        name="exception-report-missing",
        rules=("DD-72", "DD-83", "DD-85"),
        text="The broker sends no exception report on a delayed message that it discards or dead-letters.",
        apply=lambda: outcome_cells(
            {(Step.DEAD_LETTER, Result.DONE): _OVER, (Step.PUT, Result.REFUSED_DISCARD): _OVER},
        ),
    ),
    Defect(
        name="reported-instead-of-retried",
        rules=("DD-72",),
        text="The broker reports a delayed message that the dead-letter queue cannot take, and does not retry the put.",
        apply=lambda: outcome_cells({(Step.DEAD_LETTER, Result.REFUSED): _REPORTED}),
    ),
    Defect(
        name="delivery-reported",
        rules=("DD-72",),
        text="The broker also sends an exception report on a delayed message that its target takes.",
        apply=lambda: outcome_cells({(Step.PUT, Result.DONE): _REPORTED}),
    ),
    Defect(
        name="report-not-dead-lettered",
        rules=("DD-73", "DD-76", "DD-83"),
        text="The broker drops a report that its reply-to queue cannot take.",
        apply=lambda: outcome_cells({(Step.REPORT, Result.REFUSED): _OVER}),
    ),
    Defect(
        name="lost-report-ignored",
        rules=("DD-74", "DD-83"),
        text="The broker drops a persistent message's report if neither reply-to nor dead-letter queue can take it.",
        apply=lambda: outcome_cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED_PERSISTENT): _OVER}),
    ),
    Defect(
        name="lost-report-takes-message",
        rules=("DD-74", "DD-83"),
        text="The broker loses a persistent message if neither reply-to nor dead-letter queue can take its report.",
        apply=lambda: outcome_cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED_PERSISTENT): (Step.OVER, Act.BACK_OUT)}),
    ),
    Defect(
        name="lost-report-backs-out",
        rules=("DD-75", "DD-77", "DD-83"),
        text="If no queue can take the report on a non-persistent or given-up message, the broker keeps the message.",
        apply=lambda: outcome_cells({(Step.DEAD_LETTER_REPORT, Result.REFUSED): _KEPT}),
    ),
    _lost_without_temporary_queue,
    _no_alias,
    _light_unreported,
    Defect(
        name="report-options-forgotten-at-restart",
        rules=("DD-72", "DD-85", "DD-86"),
        text="After a restart staged messages have no report options.",
        apply=lambda: read(_unasked),
    ),
    _plain_reports,
    _replies_to_the_first,
    _dead_letter_report_bare,
    _processed_again,
)
