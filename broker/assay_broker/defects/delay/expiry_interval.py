"""Defects in the time to live of staged messages, and in reports of their expiry (DD-55, DD-57)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import FromMember, Put
from assay_broker.core.messages.bodies import body_of
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.messages.reports import FEEDBACK, options
from assay_broker.core.networks.parcels import Carry
from assay_broker.core.records import MessageStored, Record
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.defects.delay.failures.outcomes import outcome_cells
from assay_broker.defects.delay.filters import arrivals, end_of_delay, in_branch, reported_at_once, understood, without
from assay_broker.defects.delay.staging.processor_filters import lost_when_shut
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import as_text, is_delayed, resent
from assay_broker.defects.shapes import Commands, delayed_puts, puts, read, shown
from assay_broker.defects.view import Sent, View
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import MQMT_REPORT, Mqro

_OVER = (Step.OVER, Act.GO_ON)
_DAY_MS = 86_400_000
_TENTH_MS = 100
_ASKED = Mqro.EXCEPTION | Mqro.EXPIRATION
_DATA = (Mqro.EXCEPTION_WITH_FULL_DATA | Mqro.EXPIRATION_WITH_FULL_DATA) & ~_ASKED
_PASSED = Mqro.PASS_MSG_ID | Mqro.PASS_CORREL_ID


@defect(puts, "delay-counts-twice", "DD-55")
def _delay_twice(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The delay of a message counts twice against its time to live, so that the message expires too early."""
    due, expiry = end_of_delay(put, now_ms), put.message.expiry_ms
    if due is None or not expiry or expiry <= due:
        return None
    return resent(put, expiry_ms=max(expiry - (due - now_ms), due + 1))


@defect(puts, "ttl-from-release", "DD-55", "DD-56")
def _ttl_from_release(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The time to live of a delayed message starts anew when its delay is over."""
    due, expiry = end_of_delay(put, now_ms), put.message.expiry_ms
    if due is None or not expiry:
        return None
    return resent(put, expiry_ms=expiry + due - now_ms)


@defect(read, "expiry-forgotten-at-restart", "DD-55", "DD-56")
def _expiry_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart removes the time to live of stored messages."""
    return (replace(record, expires_ms=None),) if isinstance(record, MessageStored) else (record,)


def _with_everything(asked: Mqro, _message: Message) -> Mqro:
    wanted = asked
    if Mqro.EXCEPTION in asked:
        wanted |= Mqro.EXCEPTION_WITH_FULL_DATA
    if Mqro.EXPIRATION in asked:
        wanted |= Mqro.EXPIRATION_WITH_FULL_DATA
    return wanted


def _always(asked: Mqro, added: Mqro) -> Mqro:
    return asked | added if asked & _ASKED else asked


@defect(shown, "report-of-staged", "DD-57")
def _of_staged(described: Described) -> Described:
    """An expiration report contains the message as it was staged, with the staging header."""
    if described.descriptor.get("Feedback") != FEEDBACK[Mqro.EXPIRATION]:
        return described
    staged = {"StrucId": "DDH", "Version": 1}
    other = {**described.descriptor, "CorrelId": "00" * 24}
    return replace(described, descriptor=other, headers=(staged, *described.headers))


@defect(shown, "expiry-in-milliseconds", "DD-55", "DD-85")
def _in_milliseconds(described: Described) -> Described:
    """The Expiry field (MQMD) counts milliseconds and not tenths of a second."""
    expiry = described.descriptor["Expiry"]
    if not isinstance(expiry, int) or expiry < 0:
        return described
    return replace(described, descriptor={**described.descriptor, "Expiry": expiry * _TENTH_MS})


@defect(puts, "delayed-is-mortal", "DD-55")
def _mortal(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A delayed message without a time to live expires one day after its delay."""
    if not is_delayed(put, now_ms) or put.message.expiry_ms or put.message.ttl_ms:
        return None
    return resent(put, expiry_ms=(put.message.delivery_time_ms or now_ms) + _DAY_MS)


@defect(puts, "report-to-no-temporary-queue", "DD-57", "DD-72")
def _to_no_temporary_queue(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker treats a temporary reply-to queue of a delayed message as deleted, so the report does not reach it."""
    to = put.message.reply_to
    if to is None or to.kind is not AddressKind.TEMPORARY_QUEUE or not is_delayed(put, now_ms):
        return None
    return resent(put, reply_to=Address(to.kind, f"{to.name}.gone")) if options(put.message) else None


@defect(shown, "reports-in-ascii", "DD-57", "DD-72")
def _in_ascii(row: Described) -> Described:
    """A report contains only the ASCII characters of the original message's body."""
    body = body_of(row.message)
    if row.descriptor.get("MsgType") != MQMT_REPORT or not isinstance(body, str) or body.isascii():
        return row
    return replace(row, message=replace(row.message, body=body.encode("ascii", "ignore").decode(), encoded=None))


@defect(shown, "reports-of-bytes-as-text", "DD-57", "DD-72")
def _bytes_as_text(row: Described) -> Described:
    """A report on a message of bytes has a text as its body, with U+FFFD for octets that are not UTF-8."""
    if row.descriptor.get("MsgType") != MQMT_REPORT:
        return row
    return replace(row, message=as_text(row.message))


@defect(shown, "dead-letter-never-expires", "DD-55")
def _dead_letter_immortal(row: Described) -> Described:
    """A message on the dead-letter queue has no expiry."""
    dead = any(header["StrucId"] == "DLH" for header in row.headers)
    return replace(row, descriptor={**row.descriptor, "Expiry": -1}) if dead else row


@defect(arrivals, "never-expires-at-another-member", "DD-55", "DD-56")
def _immortal(command: FromMember, parcel: Carry, _view: View) -> Commands:
    """A delayed message for another queue manager's clustered queue does not expire there."""
    message = replace(parcel.message, expiry_ms=None, ttl_ms=None)
    return (replace(command, parcel=replace(parcel, message=message, expires_ms=None)),)


@defect(delayed_puts, "delayed-of-branch-never-expires", "DD-55", "DD-56")
def _immortal_in_branch(put: Put, _sent: Sent, view: View) -> Commands | None:
    """A delayed message of a branch of a global unit of work does not expire."""
    return resent(put, expiry_ms=None, ttl_ms=None) if in_branch(put, view) else None


@defect(read, "expired-while-down-unreported", "DD-57")
def _expired_while_down(record: Record) -> tuple[Record, ...]:
    """After a restart, the broker sends no expiration report when a staged message expires."""
    return without(record, Mqro.EXPIRATION_WITH_FULL_DATA, expiring=True)


EXPIRY_INTERVAL_DEFECTS = (
    _ttl_from_release,
    _delay_twice,
    _expiry_forgotten,
    Defect(
        name="expired-unreported",
        rules=("DD-57", "DD-85"),
        text="The broker never reports a message that expires while it is staged.",
        apply=lambda: outcome_cells({(Step.PUT, Result.EXPIRED): _OVER}),
    ),
    _in_milliseconds,
    _mortal,
    _of_staged,
    Defect(
        name="expired-in-advance",
        rules=("DD-57",),
        text="The broker sends the expiration report on a delayed message as soon as it stages the message.",
        apply=lambda: reported_at_once(Mqro.EXPIRATION, Mqro.EXPIRATION),
    ),
    Defect(
        name="reports-without-data",
        rules=("DD-57", "DD-72", "DD-76", "DD-83", "DD-85"),
        text="Reports on delayed messages never contain data of the message.",
        apply=lambda: understood(lambda asked, _: asked & ~_DATA),
    ),
    Defect(
        name="reports-with-everything",
        rules=("DD-57", "DD-72", "DD-76", "DD-83", "DD-85"),
        text="Reports on delayed messages always contain the whole body.",
        apply=lambda: understood(_with_everything),
    ),
    Defect(
        name="reports-unasked",
        rules=("DD-57", "DD-72"),
        text="The broker reports on each delayed message with a reply-to, with or without report options.",
        apply=lambda: understood(lambda asked, message: asked | _ASKED if message.reply_to is not None else asked),
    ),
    Defect(
        name="passed-ids-ignored",
        rules=("DD-57", "DD-85"),
        text="A report never has the message id or the correlation id of the delayed message.",
        apply=lambda: understood(lambda asked, _: asked & ~_PASSED),
    ),
    Defect(
        name="ids-always-passed",
        rules=("DD-57", "DD-85"),
        text="A report has both ids of the delayed message, even if the message does not ask for that.",
        apply=lambda: understood(lambda asked, _: _always(asked, _PASSED)),
    ),
    _to_no_temporary_queue,
    Defect(
        name="shut-queue-loses-mortal",
        rules=("DD-57",),
        text="When the staging queue is disabled, the messages with a time to live on it are lost.",
        apply=lambda: lost_when_shut(lambda one: bool(one.message.expiry_ms)),
    ),
    _in_ascii,
    _bytes_as_text,
    _dead_letter_immortal,
    _immortal,
    _immortal_in_branch,
    _expired_while_down,
)
