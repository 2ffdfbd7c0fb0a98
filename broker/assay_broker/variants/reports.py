"""The tolerated variants of report options, and of reports on delayed messages."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.commands import Command, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.messages.reports import options
from assay_broker.core.records import MessageStored, Record
from assay_broker.core.states.release import Act, Result, Step
from assay_broker.core.states.tables import Tables
from assay_broker.defects.sends import with_options
from assay_broker.defects.shapes import Commands, filters, reshown, shown
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_broker.variants.model import Variant
from assay_sdk.model.message import Message
from assay_sdk.model.report_options import REPORT_PROPERTIES, WHOLE_REPORT, Mqro

_CONFIRMATIONS = Mqro.COA_WITH_FULL_DATA | Mqro.COD_WITH_FULL_DATA
_PASSED_ON = _CONFIRMATIONS | Mqro.PAN | Mqro.NAN | Mqro.ACTIVITY
_OPTIONS = frozenset({*REPORT_PROPERTIES, WHOLE_REPORT})


def _never_confirms() -> Seams:
    """Return filters that prevent COA and COD reports; the messages still show the options for these reports."""
    asked: dict[str | None, Message] = {}

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, Put) or not options(command.message) & _CONFIRMATIONS:
            return None
        asked[command.message.message_id] = command.message
        return (replace(command, message=with_options(command.message, options(command.message) & ~_CONFIRMATIONS)),)

    def as_asked(message: Message) -> Message:
        sent = asked.get(message.message_id)
        if sent is None or "JMS_IBM_Feedback" in message.properties:
            return message
        own = {name: value for name, value in message.properties.items() if name not in _OPTIONS}
        return replace(message, properties={**own, **{k: v for k, v in sent.properties.items() if k in _OPTIONS}})

    def row(shown_row: Described) -> Described:
        message = as_asked(shown_row.message)
        if message is shown_row.message:
            return shown_row
        return replace(shown_row, message=message, descriptor={**shown_row.descriptor, "Report": int(options(message))})

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, row)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        return replace(delivered, message=as_asked(delivered.message))

    return filters(rewrite, answer=answer, delivery=delivery)


def _without_used(row: Described) -> Described:
    """Return a browsed message without the report options on which the delay processor acts, if it is on its target."""
    on_target = not row.headers and "JMS_IBM_Feedback" not in row.message.properties
    if not on_target or row.message.delivery_time_ms is None:
        return row
    return replace(row, descriptor={**row.descriptor, "Report": int(options(row.message) & _PASSED_ON)})


def _discards_unreported(tables: Tables) -> Tables:
    given_up = {(Step.DEAD_LETTER, Result.REFUSED_PUBLICATION): (Step.OVER, Act.GO_ON)}
    return replace(tables, release=MappingProxyType({**tables.release, **given_up}))


def _is_report(message: Message) -> bool:
    return "JMS_IBM_Feedback" in message.properties


def _keeps_no_reports() -> Seams:
    """Return filters that show reports as non-persistent, and lose them at a restart."""

    def row(shown_row: Described) -> Described:
        if not _is_report(shown_row.message):
            return shown_row
        return replace(shown_row, descriptor={**shown_row.descriptor, "Persistence": 0})

    def read(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        return tuple(one for one in records if not isinstance(one, MessageStored) or not _is_report(one.message))

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, row)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        if not _is_report(delivered.message):
            return delivered
        return replace(delivered, message=replace(delivered.message, durable=False))

    return filters(answer=answer, delivery=delivery, read=read)


REPORT_VARIANTS = (
    Variant(
        name="arrivals-never-confirmed",
        rules=("DD-86",),
        text="The options COA and COD never cause a report.",
        allowed_by="DELAY:88 to 93 only say that the options are passed on.",
        apply=_never_confirms,
    ),
    Variant(
        name="used-options-taken-off",
        rules=("DD-85", "DD-86"),
        text="A message on its target no longer has the report options on which the delay processor acts.",
        allowed_by="DELAY:88 says only that the other options are passed on.",
        apply=lambda: shown(_without_used),
    ),
    Variant(
        name="discarded-publication-unreported",
        rules=("DD-77",),
        text="A publication that the dead-letter queue refuses is discarded without a report.",
        allowed_by="DELAY:76 says that the publication is discarded, and says nothing about a report.",
        apply=lambda: Seams(tables=_discards_unreported),
    ),
    Variant(
        name="reports-not-persistent",
        rules=("DD-57", "DD-72", "DD-73"),
        text="Reports are non-persistent, so a restart loses them, even reports on persistent messages.",
        allowed_by="DELAY:64 and DELAY:74 name no persistence of a report.",
        apply=_keeps_no_reports,
    ),
)
"""The variants of rules DD-57, DD-72, DD-73, DD-77, DD-85 and DD-86."""
