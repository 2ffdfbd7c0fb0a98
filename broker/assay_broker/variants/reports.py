"""The tolerated variants of report options, and of reports on delayed messages."""

from __future__ import annotations

from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.commands import Command, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.messages.reports import options
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
    """Return a browsed message on its target without the report options on which the delay processor acts."""
    on_target = not row.headers and "JMS_IBM_Feedback" not in row.message.properties
    if not on_target or row.message.delivery_time_ms is None:
        return row
    return replace(row, descriptor={**row.descriptor, "Report": int(options(row.message) & _PASSED_ON)})


def _discards_unreported(tables: Tables) -> Tables:
    given_up = {(Step.DEAD_LETTER, Result.REFUSED_PUBLICATION): (Step.OVER, Act.GO_ON)}
    return replace(tables, release=MappingProxyType({**tables.release, **given_up}))


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
)
"""The variants of rules DD-77, DD-85 and DD-86."""
