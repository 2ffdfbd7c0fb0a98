"""Defects of report options and of expiry on delayed messages."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Put
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.messages.reports import FEEDBACK, options, report
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import dropped, handed_in, is_delayed, resent, with_options
from assay_broker.defects.shapes import Commands, puts, shown
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import REPORT_PROPERTIES, WHOLE_REPORT, Mqro

_DAY_MS = 86_400_000
_TENTH_MS = 100
_ASKED = Mqro.EXCEPTION | Mqro.EXPIRATION
_CONFIRMATIONS = (
    Mqro.COA_WITH_FULL_DATA | Mqro.COD_WITH_FULL_DATA | Mqro.PAN | Mqro.NAN | Mqro.ACTIVITY  # these include COA and COD
)
_DATA = (Mqro.EXCEPTION_WITH_FULL_DATA | Mqro.EXPIRATION_WITH_FULL_DATA) & ~_ASKED
_PASSED = Mqro.PASS_MSG_ID | Mqro.PASS_CORREL_ID


def _understood(rewrite: Callable[[Mqro, Message], Mqro]) -> Seams:
    """Make filters that change the report options of delayed messages."""

    def options_of(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if not is_delayed(put, now_ms):
            return None
        asked = options(put.message)
        other = rewrite(asked, put.message)
        if other == asked:
            return None
        properties = {name: value for name, value in put.message.properties.items() if name not in REPORT_PROPERTIES}
        return resent(put, properties={**properties, WHOLE_REPORT: int(other)})

    return puts(options_of)


def _with_everything(asked: Mqro, _message: Message) -> Mqro:
    wanted = asked
    if Mqro.EXCEPTION in asked:
        wanted |= Mqro.EXCEPTION_WITH_FULL_DATA
    if Mqro.EXPIRATION in asked:
        wanted |= Mqro.EXPIRATION_WITH_FULL_DATA
    return wanted


def _always(asked: Mqro, added: Mqro) -> Mqro:
    return asked | added if asked & _ASKED else asked


def _reported_at_once(kinds: Mqro, kind: Mqro, *, lost: bool = False) -> Seams:
    """Make filters that send reports on delayed messages as soon as the messages are staged.

    Args:
        kinds: The report options; the broker reports on a message that has at least one of them.
        kind: The kind of the report.
        lost: Whether the broker loses the message itself.
    """

    def reported(put: Put, _target: Address, now_ms: int, view: View) -> Commands | None:
        message = put.message
        to = message.reply_to
        if not is_delayed(put, now_ms) or not options(message) & kinds or to is None or message.message_id is None:
            return None
        early = report(
            message, kind, FEEDBACK[kind], f"{message.message_id} report", now_ms=now_ms, expires_ms=message.expiry_ms
        )
        return (*handed_in(view, to, early), dropped(put, now_ms) if lost else put)

    return puts(reported)


@defect(shown, "options-used-up", "DD-85", "DD-86")
def _options_used_up(described: Described) -> Described:
    """A delayed message has no report options on its target."""
    if described.message.delivery_time_ms is None:
        return described
    return replace(described, descriptor={**described.descriptor, "Report": 0})


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
    """The broker gives a delayed message without a time to live a time to live of one day."""
    if not is_delayed(put, now_ms) or put.message.expiry_ms or put.message.ttl_ms:
        return None
    return resent(put, expiry_ms=(put.message.delivery_time_ms or now_ms) + _DAY_MS)


@defect(puts, "missing-correlation-id-filled-in", "DD-85")
def _filled_in(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
    """A report with MQRO_PASS_CORREL_ID on a message without a correlation id gets the message id in its place."""
    message = put.message
    if message.correlation_id is not None or Mqro.PASS_CORREL_ID not in options(message):
        return None
    return resent(put, correlation_id=message.message_id)


@defect(puts, "report-to-no-temporary-queue", "DD-57", "DD-72")
def _to_no_temporary_queue(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker treats a temporary reply-to queue of a delayed message as deleted, so the report does not reach it."""
    to = put.message.reply_to
    if to is None or to.kind is not AddressKind.TEMPORARY_QUEUE or not is_delayed(put, now_ms):
        return None
    return resent(put, reply_to=Address(to.kind, f"{to.name}.gone")) if options(put.message) else None


@defect(puts, "report-without-temporary-queue-lost", "DD-73")
def _lost_without_temporary_queue(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker sends no report on a delayed message whose reply-to is a temporary queue."""
    to = put.message.reply_to
    if to is None or to.kind is not AddressKind.TEMPORARY_QUEUE or not is_delayed(put, now_ms):
        return None
    message = with_options(put.message, options(put.message) & ~Mqro.EXCEPTION_WITH_FULL_DATA)
    return (replace(put, message=message),)


REPORT_DEFECTS = (
    _in_milliseconds,
    _mortal,
    _of_staged,
    Defect(
        name="expired-in-advance",
        rules=("DD-57",),
        text="The broker sends the expiration report on a delayed message as soon as it stages the message.",
        apply=lambda: _reported_at_once(Mqro.EXPIRATION, Mqro.EXPIRATION),
    ),
    Defect(
        name="reports-without-data",
        rules=("DD-57", "DD-72", "DD-76", "DD-83", "DD-85"),
        text="Reports on delayed messages never contain data of the message.",
        apply=lambda: _understood(lambda asked, _: asked & ~_DATA),
    ),
    Defect(
        name="reports-with-everything",
        rules=("DD-57", "DD-72", "DD-76", "DD-83", "DD-85"),
        text="Reports on delayed messages always contain the whole body.",
        apply=lambda: _understood(_with_everything),
    ),
    Defect(
        name="reports-unasked",
        rules=("DD-57", "DD-72"),
        text="The broker reports on each delayed message with a reply-to, with or without report options.",
        apply=lambda: _understood(lambda asked, message: asked | _ASKED if message.reply_to is not None else asked),
    ),
    Defect(
        name="passed-ids-ignored",
        rules=("DD-57", "DD-85"),
        text="A report never has the message id or the correlation id of the delayed message.",
        apply=lambda: _understood(lambda asked, _: asked & ~_PASSED),
    ),
    Defect(
        name="ids-always-passed",
        rules=("DD-57", "DD-85"),
        text="A report has both ids of the delayed message, even if the message does not ask for that.",
        apply=lambda: _understood(lambda asked, _: _always(asked, _PASSED)),
    ),
    Defect(
        name="life-not-passed",
        rules=("DD-85",),
        text="A report never gets the rest of the original message's expiry or its option MQRO_DISCARD_MSG.",
        apply=lambda: _understood(lambda asked, _: asked & ~Mqro.PASS_DISCARD_AND_EXPIRY),
    ),
    Defect(
        name="life-always-passed",
        rules=("DD-85",),
        text="A report always gets the rest of the original message's expiry and its option MQRO_DISCARD_MSG.",
        apply=lambda: _understood(lambda asked, _: _always(asked, Mqro.PASS_DISCARD_AND_EXPIRY)),
    ),
    _options_used_up,
    Defect(
        name="confirmations-dropped",
        rules=("DD-86",),
        text="The broker removes the options for confirmation (COA, COD) and activity from delayed messages.",
        apply=lambda: _understood(lambda asked, _: asked & ~_CONFIRMATIONS),
    ),
    Defect(
        name="confirmed-when-staged",
        rules=("DD-86",),
        text="The broker sends the confirmations of a delayed message as soon as it stages the message.",
        apply=lambda: _reported_at_once(_CONFIRMATIONS, Mqro.COA),
    ),
    Defect(
        name="confirmed-and-lost",
        rules=("DD-86",),
        text="The broker confirms a staged message that asks for a confirmation, and loses the message.",
        apply=lambda: _reported_at_once(_CONFIRMATIONS, Mqro.COD, lost=True),
    ),
    _filled_in,
    _to_no_temporary_queue,
    _lost_without_temporary_queue,
)
