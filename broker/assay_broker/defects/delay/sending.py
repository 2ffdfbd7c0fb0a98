"""Defects of the send and the staging queue that take one more condition to show."""

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
from assay_broker.defects.model import Defect
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
    filters,
    read,
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


def _unread_after_restart(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """A start leaves the staging header blank."""
    if not browses(asked, STAGING_QUEUE) or view.starts == 1:
        return answer
    return reshown(answer, unreadable)


# DD-11


def _alias_in_no_cluster(put: Put, sent: Sent, view: View) -> Commands | None:
    base = view.said(sent.target.name).get("TARGET")
    if not isinstance(base, str) or not view.said(base).get("CLUSTER"):
        return None
    return undelayed(put)


# DD-26


def _survives_a_kill(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """What was sent in a unit of work and not committed is staged when the queue manager starts again."""
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


def _asked_after_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """At a start, what is staged by users who have lost the authority meanwhile is dropped."""

    def may_not(record: Record) -> bool:
        sent = view.delayed.get(record.message.message_id or "") if is_staged(record) else None
        return sent is not None and sent.user is not None and not view.may(sent.user, sent.target.name)

    return tuple(record for record in records if not may_not(record))


def _dead_letters_asked(put: Put, sent: Sent, view: View) -> Commands | None:
    """Who may not use the dead-letter queue has his messages discarded in its place."""
    if not view.withheld(DEAD_LETTER_QUEUE) or sent.user is None or view.may(sent.user, DEAD_LETTER_QUEUE):
        return None
    asked = options(put.message) | Mqro.DISCARD_MSG
    return (replace(put, message=with_options(put.message, asked)),)


# DD-36


def _limits_forgotten(record: Record) -> tuple[Record, ...]:
    forgotten = isinstance(record, ObjectDefined) and record.definition.name == STAGING_QUEUE
    return () if forgotten else (record,)


def _beside(put: Put, name: str, view: View) -> Commands | None:
    """A send for whose duration a queue takes whatever comes, as far as it was said what it takes."""
    said = {keyword: value for keyword, value in view.said(name).items() if keyword in _OPEN}
    if not said:
        return None
    before = AlterObject(Kind.QLOCAL, name, {keyword: _OPEN[keyword] for keyword in said})
    after = AlterObject(Kind.QLOCAL, name, said)
    return (Administer(put.connection, None, before), put, Administer(put.connection, None, after))


def _light_does_not_count(put: Put, _sent: Sent, view: View) -> Commands | None:
    return _beside(put, STAGING_QUEUE, view) if put.message.durable is False else None


# DD-39


def _staging_ids(delivery: Deliver, _view: View) -> Deliver:
    message = delivery.message
    if message.delivery_time_ms is None or not is_topic(delivery.origin):
        return delivery
    return replace(delivery, message=replace(opened(message), correlation_id=message.message_id))


def _counted(delivery: Deliver, _view: View) -> Deliver:
    return delivery if delivery.message.delivery_time_ms is None else replace(delivery, redelivered=True)


# DD-40, DD-43


def _made_at_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """On z/OS, a start after the first one makes a staging queue."""
    if view.settings.platform != "zos" or view.starts == 1:
        return tuple(records)
    staging = Definition(Kind.QLOCAL, STAGING_QUEUE, {**defaults(Kind.QLOCAL), "MSGDLVSQ": "FIFO"})
    return (ObjectDefined(staging), *records)


def _lower_level_heeds(command: Command, _now_ms: int, view: View) -> Commands | None:
    """At a level without delays, an administrator who enables the staging queue has what is staged delivered."""
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


def _publications_lost(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the staging queue is enabled for gets, the publications on it are dropped."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE:
        return None
    if change.attributes.get("GET") != "ENABLED":
        return None
    return (*cancelled(view, *_published(view)), command)


# DD-78


def _unchecked_in_unit(put: Put, sent: Sent, view: View) -> Commands | None:
    return None if put.unit is None else _beside(put, sent.target.name, view)


def _light_unchecked(put: Put, sent: Sent, view: View) -> Commands | None:
    return _beside(put, sent.target.name, view) if put.message.durable is False else None


# DD-82


def _reach_asked_again(command: Command, _now_ms: int, view: View) -> Commands | None:
    """Delayed publications are dropped once their topic does not allow them any more."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.kind is not Kind.TOPIC or change.name == BASE_TOPIC:
        return None
    forbids = any(change.attributes.get(keyword, "ALLAVAIL") != "ALLAVAIL" for keyword in _REACHES)
    return (*cancelled(view, *_published(view)), command) if forbids else None


def _grandparents_unheard(change: Change, view: View) -> Change | None:
    """A topic that is as its parent, which is as its own, allows everything."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    above = view.said(change.name.rpartition("/")[0])
    free = {key: "ALLAVAIL" for key in _REACHES if change.attributes.get(key) == above.get(key) == "ASPARENT"}
    return replace(change, attributes={**change.attributes, **free}) if free else None


def _unsaid_is_persistent(put: Put, sent: Sent, _view: View) -> Commands | None:
    if not is_topic(sent.target) or put.message.durable is not None:
        return None
    return resent(put, durable=True)


SENDING_DEFECTS = (
    Defect(
        name="staging-header-blank-after-restart",
        rules=("DD-05",),
        text="After a restart the header of a staged message names neither its target nor its delay.",
        apply=lambda: replies(_unread_after_restart),
    ),
    Defect(
        name="clustered-through-alias",
        rules=("DD-11",),
        text="A delay on the way through an alias to a clustered queue is taken, and forgotten.",
        apply=lambda: delayed_puts(_alias_in_no_cluster),
    ),
    Defect(
        name="uncommitted-survives-a-kill",
        rules=("DD-26",),
        text="A delayed message that was not committed when the broker was killed is staged after the start.",
        apply=lambda: filters(read=_survives_a_kill),
    ),
    Defect(
        name="authority-asked-after-restart",
        rules=("DD-31",),
        text="After a restart, what is staged by somebody who has lost the authority is dropped.",
        apply=lambda: filters(read=_asked_after_restart),
    ),
    Defect(
        name="dead-letters-ask-the-sender",
        rules=("DD-31",),
        text="What cannot be put is discarded if its sender may not use the dead-letter queue.",
        apply=lambda: delayed_puts(_dead_letters_asked),
    ),
    Defect(
        name="staging-limits-forgotten-at-restart",
        rules=("DD-36",),
        text="After a restart the staging queue has its factory settings again.",
        apply=lambda: read(_limits_forgotten),
    ),
    Defect(
        name="non-persistent-not-counted",
        rules=("DD-36",),
        text="The limits of the staging queue do not hold for non-persistent messages.",
        apply=lambda: delayed_puts(_light_does_not_count),
    ),
    Defect(
        name="publication-has-staging-ids",
        rules=("DD-39",),
        text="Subscribers see a delayed publication's message id as its correlation id.",
        apply=lambda: deliveries(_staging_ids),
    ),
    Defect(
        name="staging-counts-as-delivery",
        rules=("DD-39",),
        text="A message that was staged is marked as redelivered at its first delivery.",
        apply=lambda: deliveries(_counted),
    ),
    Defect(
        name="zos-staging-queue-made-at-restart",
        rules=("DD-40",),
        text="A restart makes a staging queue on z/OS.",
        apply=lambda: filters(read=_made_at_restart),
    ),
    Defect(
        name="lower-level-heeds-enabling",
        rules=("DD-43",),
        text="At a level without delays, enabling the staging queue delivers what is on it.",
        apply=lambda: commands(_lower_level_heeds),
    ),
    Defect(
        name="publications-lost-when-enabled",
        rules=("DD-62",),
        text="Enabling the staging queue for gets drops the publications on it.",
        apply=lambda: filters(_publications_lost),
    ),
    Defect(
        name="target-not-checked-in-unit",
        rules=("DD-78",),
        text="In a unit of work the target of a delayed message is not checked at the send.",
        apply=lambda: delayed_puts(_unchecked_in_unit),
    ),
    Defect(
        name="target-not-checked-for-non-persistent",
        rules=("DD-78",),
        text="The target of a delayed message is not checked at the send if that is non-persistent.",
        apply=lambda: delayed_puts(_light_unchecked),
    ),
    Defect(
        name="topic-asked-at-release",
        rules=("DD-82",),
        text="A delayed publication is dropped when its topic is altered to another value during the delay.",
        apply=lambda: filters(_reach_asked_again),
    ),
    Defect(
        name="grandparent-topics-unheard",
        rules=("DD-82",),
        text="A topic whose parent is ASPARENT too allows delayed publications.",
        apply=lambda: changes(_grandparents_unheard),
    ),
    Defect(
        name="unsaid-persistence-is-persistent",
        rules=("DD-82",),
        text="A publication that leaves its persistence to the topic needs PMSGDLV, whatever the topic says.",
        apply=lambda: delayed_puts(_unsaid_is_persistent),
    ),
)
"""Defects of the send and the staging queue that take one more condition to show."""
