"""Defects in the checks of the target at a delayed send (DD-78)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, DefineObject
from assay_broker.core.commands import Administer, Command, Put, Stored, StoreFailed
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import opened
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.records import ObjectDefined, Record
from assay_broker.defects.delay.filters import failed
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import is_delayed, unlimited
from assay_broker.defects.shapes import (
    Commands,
    answers,
    commands,
    delayed_puts,
    puts_without_destination,
    read,
    refusing,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc, refused

_NINE = 9


@defect(answers, "target-always-full", "DD-78")
def _always_full(sent: Sent, answer: Answer) -> Answer:
    """If the target cannot take a delayed message, the sender always gets the reason MQRC_Q_FULL."""
    why = answer.refused
    if sent.message.delivery_time_ms is None or why is None or not failed(answer, staging=False):
        return answer
    return replace(answer, refused=refused(Mqrc.Q_FULL, why.text, *why.objects))


def _get_disabled(_put: Put, target: Address, _now_ms: int, view: View) -> Mqrc | None:
    return Mqrc.PUT_INHIBITED if view.said_of(target).get("GET") == "DISABLED" else None


@defect(made, "depth-counts-all", "DD-78")
def _counting_all() -> Seams:
    """A queue refuses delayed messages as full once MAXDEPTH messages have been sent to it, consumed or not."""
    sent: dict[Address, int] = {}

    def judge(put: Put, target: Address, now_ms: int, view: View) -> Mqrc | None:
        before = sent.get(target, 0)
        sent[target] = before + 1
        most = view.said_of(target).get("MAXDEPTH")
        full = isinstance(most, int) and before >= most
        return Mqrc.Q_FULL if full and is_delayed(put, now_ms) else None

    return refusing(judge, "The queue is full.")


@defect(delayed_puts, "target-not-checked-in-unit", "DD-78")
def _unchecked_in_unit(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker does not check the limits of a delayed message's target at a send in a unit of work."""
    return None if put.unit is None else unlimited(put, sent.target.name, view)


@defect(delayed_puts, "target-not-checked-for-non-persistent", "DD-78")
def _light_unchecked(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker does not check the limits of a non-persistent delayed message's target at the send."""
    return unlimited(put, sent.target.name, view) if put.message.durable is False else None


@defect(delayed_puts, "places-of-units-free", "DD-78")
def _queue_places_free(put: Put, sent: Sent, view: View) -> Commands | None:
    """When the broker checks a delayed message's target, it does not count the messages of open units of work."""
    taken = put.unit is None and any(one.target == sent.target for one in view.uncommitted())
    return unlimited(put, sent.target.name, view) if taken else None


@defect(delayed_puts, "characters-counted", "DD-78")
def _characters_counted(put: Put, sent: Sent, view: View) -> Commands | None:
    """MAXMSGL counts the characters of a delayed message, not its bytes."""
    most, text = view.said_of(sent.target).get("MAXMSGL"), opened(put.message).body
    fits = isinstance(most, int) and isinstance(text, str) and len(text) <= most
    return unlimited(put, sent.target.name, view) if fits else None


@defect(delayed_puts, "special-messages-unchecked", "DD-78")
def _special_unchecked(put: Put, sent: Sent, view: View) -> Commands | None:
    """A full queue accepts delayed messages with priority 9, a time to live, the property "colour", or no body."""
    message = opened(put.message)
    special = message.priority == _NINE or message.expiry_ms or "colour" in message.properties or not message.body
    return unlimited(put, sent.target.name, view) if special else None


@defect(puts_without_destination, "target-unchecked-without-destination", "DD-78")
def _unchecked_without_destination(sent: Sent, view: View) -> Commands | None:
    """The broker does not check a delayed message's target if the producer was opened without a destination."""
    return unlimited(sent.put, sent.target.name, view) if sent.delayed else None


@defect(made, "target-checked-once", "DD-78")
def _checked_once() -> Seams:
    """The broker checks a producer's target at the first delayed send only."""
    known: set[tuple[int, int]] = set()

    def rewrite(put: Put, sent: Sent, view: View) -> Commands | None:
        link = put.connection, put.link
        again = link in known
        known.add(link)
        return unlimited(put, sent.target.name, view) if again else None

    return delayed_puts(rewrite)


_LENIENT: dict[str, Value] = {
    "PUT": "ENABLED",
    "MAXDEPTH": 5_000,
    "MAXMSGL": 4_194_304,
    "DEFBIND": "NOTFIXED",
    "PMSGDLV": "ALLAVAIL",
    "NPMSGDLV": "ALLAVAIL",
}


@defect(read, "restart-lifts-restrictions", "DD-11", "DD-78", "DD-82")
def _lenient_after_restart(record: Record) -> tuple[Record, ...]:
    """After a restart, queues and topics accept delayed messages that their attributes forbid."""
    if not isinstance(record, ObjectDefined) or record.definition.kind is Kind.QMGR:
        return (record,)
    said = record.definition.attributes
    lenient = {keyword: value for keyword, value in _LENIENT.items() if keyword in said}
    return (ObjectDefined(replace(record.definition, attributes=said | lenient)),)


@defect(made, "refused-alteration-counts", "DD-40", "DD-61", "DD-64", "DD-78")
def _refused_alteration() -> Seams:
    """A definition or alteration of an object counts although the store refused it."""
    asked: list[Administer] = []

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Administer) and isinstance(command.change, AlterObject | DefineObject):
            asked[:] = [replace(command, token=None)]
        if not isinstance(command, Stored | StoreFailed):
            return None
        again = tuple(asked)
        asked.clear()
        return (command, *again) if isinstance(command, StoreFailed) else None

    return commands(rewrite)


TARGET_CHECKS_DEFECTS = (
    _queue_places_free,
    _characters_counted,
    _special_unchecked,
    _unchecked_without_destination,
    _checked_once,
    _always_full,
    Defect(
        name="get-disabled-refuses-puts",
        rules=("DD-78",),
        text="A queue that is disabled for gets refuses puts too.",
        apply=lambda: refusing(_get_disabled, "The queue is disabled."),
    ),
    _counting_all,
    _unchecked_in_unit,
    _light_unchecked,
    _lenient_after_restart,
    _refused_alteration,
)
