"""Defects of the send and the staging queue that show under one more condition only."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject
from assay_broker.core.commands import (
    Administer,
    Command,
    Put,
)
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.reports import options
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import BASE_TOPIC, DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.queues.homes import home_of
from assay_broker.core.records import MessageStored, ObjectDefined, Record
from assay_broker.defects.delay.staging_queue import unreadable
from assay_broker.defects.model import defect
from assay_broker.defects.sends import (
    SHIFT,
    browses,
    cancelled,
    change_of,
    handed_in,
    is_staged,
    is_topic,
    resent,
    undelayed,
    with_options,
)
from assay_broker.defects.shapes import (
    Commands,
    changes,
    commands,
    delayed_puts,
    deliveries,
    read,
    reading,
    replies,
    reshown,
)
from assay_broker.defects.view import Sent, View
from assay_sdk.model.message import AddressKind
from assay_sdk.model.report_options import Mqro

_OPEN: dict[str, Value] = {"PUT": "ENABLED", "MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600}


_REACHES = ("PMSGDLV", "NPMSGDLV")


def _published(view: View) -> list[str]:
    return [id_ for id_, one in view.delayed.items() if is_topic(one.target)]


# DD-05


@defect(replies, "staging-header-blank-after-restart", "DD-05")
def _unread_after_restart(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """After a restart the header of a staged message names neither its target nor its delay."""
    if not browses(asked, STAGING_QUEUE) or view.starts == 1:
        return answer
    return reshown(answer, unreadable)


# DD-11


@defect(delayed_puts, "clustered-through-alias", "DD-11")
def _alias_in_no_cluster(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delay on the way through an alias to a clustered queue is taken, and forgotten."""
    base = view.said(sent.target.name).get("TARGET")
    if not isinstance(base, str) or not view.said(base).get("CLUSTER"):
        return None
    return undelayed(put)


# DD-26


@defect(reading, "uncommitted-survives-a-kill", "DD-26")
def _survives_a_kill(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """A delayed message that was not committed when the broker was killed is staged after the start."""
    sent = (one for unit in view.units.values() for one in unit.sent)
    lost = (one for one in sent if one.delayed and one.target.kind is AddressKind.QUEUE)
    ghosts = (
        MessageStored(
            key=SHIFT + number,
            home=home_of(one.target.name),
            message=one.message,
            arrived_ms=one.at_ms,
            expires_ms=None,
            due_ms=one.due_ms,
        )
        for number, one in enumerate(lost)
    )
    return (*records, *ghosts)


# DD-30, DD-31


@defect(reading, "authority-asked-after-restart", "DD-31")
def _asked_after_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """After a restart, what is staged by somebody who has lost the authority is dropped."""

    def may_not(record: Record) -> bool:
        sent = view.delayed.get(record.message.message_id or "") if is_staged(record) else None
        return sent is not None and sent.user is not None and not view.may(sent.user, sent.target.name)

    return tuple(record for record in records if not may_not(record))


@defect(delayed_puts, "dead-letters-ask-the-sender", "DD-31")
def _dead_letters_asked(put: Put, sent: Sent, view: View) -> Commands | None:
    """What cannot be put is discarded if its sender may not use the dead-letter queue."""
    if not view.withheld(DEAD_LETTER_QUEUE) or sent.user is None or view.may(sent.user, DEAD_LETTER_QUEUE):
        return None
    asked = options(put.message) | Mqro.DISCARD_MSG
    return (replace(put, message=with_options(put.message, asked)),)


# DD-36


@defect(read, "staging-limits-forgotten-at-restart", "DD-36")
def _limits_forgotten(record: Record) -> tuple[Record, ...]:
    """After a restart the staging queue has its factory settings again."""
    forgotten = isinstance(record, ObjectDefined) and record.definition.name == STAGING_QUEUE
    return () if forgotten else (record,)


def _beside(put: Put, name: str, view: View) -> Commands | None:
    """The send, with a queue's limits lifted around it; None for a queue without limits."""
    said = {keyword: value for keyword, value in view.said(name).items() if keyword in _OPEN}
    if not said:
        return None
    before = AlterObject(Kind.QLOCAL, name, {keyword: _OPEN[keyword] for keyword in said})
    after = AlterObject(Kind.QLOCAL, name, said)
    return (Administer(put.connection, None, before), put, Administer(put.connection, None, after))


@defect(delayed_puts, "non-persistent-not-counted", "DD-36")
def _light_does_not_count(put: Put, _sent: Sent, view: View) -> Commands | None:
    """The limits of the staging queue do not hold for non-persistent messages."""
    return _beside(put, STAGING_QUEUE, view) if put.message.durable is False else None


# DD-39


@defect(deliveries, "publication-has-staging-ids", "DD-39")
def _staging_ids(delivery: Deliver, _view: View) -> Deliver:
    """Subscribers see a delayed publication's message id as its correlation id."""
    message = delivery.message
    if message.delivery_time_ms is None or not is_topic(delivery.origin):
        return delivery
    return replace(delivery, message=replace(opened(message), correlation_id=message.message_id))


@defect(deliveries, "staging-counts-as-delivery", "DD-39")
def _counted(delivery: Deliver, _view: View) -> Deliver:
    """A message that was staged is marked as redelivered at its first delivery."""
    return delivery if delivery.message.delivery_time_ms is None else replace(delivery, redelivered=True)


# DD-40, DD-43


@defect(reading, "zos-staging-queue-made-at-restart", "DD-40")
def _made_at_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """A restart makes a staging queue on z/OS."""
    if view.settings.platform != "zos" or view.starts == 1:
        return tuple(records)
    staging = Definition(Kind.QLOCAL, STAGING_QUEUE, {**defaults(Kind.QLOCAL), "MSGDLVSQ": "FIFO"})
    return (ObjectDefined(staging), *records)


@defect(commands, "lower-level-heeds-enabling", "DD-43")
def _lower_level_heeds(command: Command, _now_ms: int, view: View) -> Commands | None:
    """At a level without delays, enabling the staging queue delivers what is on it."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE or view.settings.delays:
        return None
    if "ENABLED" not in change.attributes.values():
        return None
    moved = (
        one
        for sent in view.delayed.values()
        for one in handed_in(view, sent.target, replace(sent.message, delivery_time_ms=None))
    )
    return (command, *cancelled(view, *view.delayed), *moved)


# DD-62


@defect(commands, "publications-lost-when-enabled", "DD-62")
def _publications_lost(command: Command, _now_ms: int, view: View) -> Commands | None:
    """Enabling the staging queue for gets drops the publications on it."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE:
        return None
    if change.attributes.get("GET") != "ENABLED":
        return None
    return (*cancelled(view, *_published(view)), command)


# DD-78


@defect(delayed_puts, "target-not-checked-in-unit", "DD-78")
def _unchecked_in_unit(put: Put, sent: Sent, view: View) -> Commands | None:
    """In a unit of work the target of a delayed message is not checked at the send."""
    return None if put.unit is None else _beside(put, sent.target.name, view)


@defect(delayed_puts, "target-not-checked-for-non-persistent", "DD-78")
def _light_unchecked(put: Put, sent: Sent, view: View) -> Commands | None:
    """The target of a delayed message is not checked at the send if that is non-persistent."""
    return _beside(put, sent.target.name, view) if put.message.durable is False else None


# DD-82


@defect(commands, "topic-asked-at-release", "DD-82")
def _reach_asked_again(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A delayed publication is dropped when its topic is altered to another value during the delay."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.kind is not Kind.TOPIC or change.name == BASE_TOPIC:
        return None
    forbids = any(change.attributes.get(keyword, "ALLAVAIL") != "ALLAVAIL" for keyword in _REACHES)
    return (*cancelled(view, *_published(view)), command) if forbids else None


@defect(changes, "grandparent-topics-unheard", "DD-82")
def _grandparents_unheard(change: Change, view: View) -> Change | None:
    """A topic whose parent is ASPARENT too allows delayed publications."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    above = view.said(change.name.rpartition("/")[0])
    free = {key: "ALLAVAIL" for key in _REACHES if change.attributes.get(key) == above.get(key) == "ASPARENT"}
    return replace(change, attributes={**change.attributes, **free}) if free else None


@defect(delayed_puts, "unsaid-persistence-is-persistent", "DD-82")
def _unsaid_is_persistent(put: Put, sent: Sent, _view: View) -> Commands | None:
    """A publication that leaves its persistence to the topic needs PMSGDLV, whatever the topic says."""
    if not is_topic(sent.target) or put.message.durable is not None:
        return None
    return resent(put, durable=True)


SENDING_DEFECTS = (
    _unread_after_restart,
    _alias_in_no_cluster,
    _survives_a_kill,
    _asked_after_restart,
    _dead_letters_asked,
    _limits_forgotten,
    _light_does_not_count,
    _staging_ids,
    _counted,
    _made_at_restart,
    _lower_level_heeds,
    _publications_lost,
    _unchecked_in_unit,
    _light_unchecked,
    _reach_asked_again,
    _grandparents_unheard,
    _unsaid_is_persistent,
)
