"""Defects of the send and the staging queue that take one more condition to show."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject, NativeBrowse
from assay_broker.core.commands import (
    Administer,
    Backout,
    Command,
    Commit,
    Disconnect,
    Put,
)
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.reports import options
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import BASE_TOPIC, DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.queues.homes import home_of
from assay_broker.core.records import MessageStored, ObjectDefined, Record
from assay_broker.core.settings import Settings
from assay_broker.defects.delay.timing import left_ms
from assay_broker.defects.known_objects import Delayed, Known, cancelled, changes, delayed_puts, knowing, rows
from assay_broker.defects.model import (
    Defect,
    Watch,
    also_reading,
    commands,
    deliveries,
    handed_in,
    is_topic,
    read,
)
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import REPORT_PROPERTIES, WHOLE_REPORT, Mqro

_AGENT = -32  # a connection of the defects' own
_SHIFT = 10**9
_OPEN: dict[str, Value] = {"PUT": "ENABLED", "MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600}


_REACHES = ("PMSGDLV", "NPMSGDLV")


def _with_options(message: Message, asked: Mqro) -> Message:
    """The message with just these report options."""
    plain = {
        name: value for name, value in message.properties.items() if name not in {*REPORT_PROPERTIES, WHOLE_REPORT}
    }
    return replace(message, properties={**plain, WHOLE_REPORT: int(asked)} if asked else plain)


def _published(known: Known) -> list[str]:
    return [id_ for id_, one in known.delayed.items() if is_topic(one.target)]


# DD-05


def _unread_after_restart(answer: Answer, asked: Command, _now_ms: int, known: Known) -> Answer:
    """A start leaves the staging header blank."""
    change = asked.change if isinstance(asked, Administer) else None
    if not isinstance(change, NativeBrowse) or change.queue != STAGING_QUEUE or known.starts == 1:
        return answer
    blank = {"DestQName": "", "DeliveryDelay": 0}
    return replace(
        answer,
        value=tuple(replace(row, headers=tuple({**header, **blank} for header in row.headers)) for row in rows(answer)),
    )


# DD-11


def _alias_in_no_cluster(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    base = known.objects.said(sent.target.name, "TARGET")
    if not isinstance(base, str) or not known.objects.said(base, "CLUSTER"):
        return None
    return (replace(put, message=replace(put.message, delivery_time_ms=None)),)


# DD-26


def _survives_a_kill() -> Seams:
    """What was sent in a unit of work and not committed is staged when the queue manager starts again."""
    open_units: dict[tuple[int, int], list[tuple[Address, Message, int]]] = {}

    def note(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Commit | Backout):
            open_units.pop((command.connection, command.unit), None)
        elif isinstance(command, Disconnect):
            for unit in [one for one in open_units if one[0] == command.connection]:
                del open_units[unit]
        elif isinstance(command, Put) and command.unit is not None and left_ms(command.message, now_ms):
            target = watch.target(command)
            if target is not None and target.kind is AddressKind.QUEUE:
                sent = (target, command.message, now_ms)
                open_units.setdefault((command.connection, command.unit), []).append(sent)
        return None

    def begin(records: Sequence[Record]) -> tuple[Record, ...]:
        lost = [one for sent in open_units.values() for one in sent]
        open_units.clear()
        ghosts = (
            MessageStored(
                key=_SHIFT + number,
                home=home_of(target.name),
                message=message,
                arrived_ms=sent_ms,
                expires_ms=None,
                due_ms=message.delivery_time_ms,
            )
            for number, (target, message, sent_ms) in enumerate(lost)
        )
        return (*records, *ghosts)

    return also_reading(commands(note), begin)


# DD-30, DD-31


def _asked_after_restart() -> Seams:
    """At a start, what is staged by users who have lost the authority meanwhile is dropped."""
    sent: dict[str, Delayed] = {}
    allowed: set[tuple[str, str]] = set()

    def note(command: Command, _now_ms: int, known: Known) -> tuple[Command, ...] | None:
        del command
        sent.update(known.delayed)
        allowed.clear()
        allowed.update(known.granted)
        return None

    def begin(records: Sequence[Record]) -> tuple[Record, ...]:
        return tuple(one for one in records if not _may_not(one))

    def _may_not(record: Record) -> bool:
        if not isinstance(record, MessageStored) or record.due_ms is None:
            return False
        found = sent.get(record.message.message_id or "")
        return found is not None and found.user is not None and (found.user, found.target.name) not in allowed

    return also_reading(knowing(note), begin)


def _dead_letters_asked(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    """Who may not use the dead-letter queue has his messages discarded in its place."""
    if DEAD_LETTER_QUEUE not in known.withheld or sent.user is None or (sent.user, DEAD_LETTER_QUEUE) in known.granted:
        return None
    asked = options(put.message) | Mqro.DISCARD_MSG
    return (replace(put, message=_with_options(put.message, asked)),)


# DD-36


def _limits_forgotten(record: Record) -> tuple[Record, ...]:
    forgotten = isinstance(record, ObjectDefined) and record.definition.name == STAGING_QUEUE
    return () if forgotten else (record,)


def _beside(put: Put, name: str, known: Known) -> tuple[Command, ...] | None:
    """A send for whose duration a queue takes whatever comes, as far as it was said what it takes."""
    said = {keyword: value for keyword, value in known.objects.of(name).items() if keyword in _OPEN}
    if not said:
        return None
    before = AlterObject(Kind.QLOCAL, name, {keyword: _OPEN[keyword] for keyword in said})
    after = AlterObject(Kind.QLOCAL, name, said)
    return (Administer(put.connection, None, before), put, Administer(put.connection, None, after))


def _light_does_not_count(put: Put, _sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    return _beside(put, STAGING_QUEUE, known) if put.message.durable is False else None


# DD-39


def _staging_ids(delivery: Deliver, _watch: Watch) -> Deliver:
    message = delivery.message
    if message.delivery_time_ms is None or not is_topic(delivery.origin):
        return delivery
    return replace(delivery, message=replace(opened(message), correlation_id=message.message_id))


def _counted() -> Seams:
    def effects(seen: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
        return tuple(
            replace(one, redelivered=True)
            if isinstance(one, Deliver) and one.message.delivery_time_ms is not None
            else one
            for one in seen
        )

    return Seams(effects=effects)


# DD-40, DD-43


def _made_at_restart() -> Seams:
    """On z/OS, a start after the first one makes a staging queue."""
    starts: list[Settings] = []

    def start(given: Settings) -> Settings:
        starts.append(given)
        return given

    def begin(records: Sequence[Record]) -> tuple[Record, ...]:
        staging = Definition(Kind.QLOCAL, STAGING_QUEUE, {**defaults(Kind.QLOCAL), "MSGDLVSQ": "FIFO"})
        if starts[-1].platform != "zos" or not records_before:
            records_before.append(None)
            return tuple(records)
        return (ObjectDefined(staging), *records)

    records_before: list[None] = []
    return Seams(settings=start, read=begin)


def _lower_level_heeds() -> Seams:
    """At a level without delays, whoever enables the staging queue has what is staged delivered."""
    starts: list[Settings] = []

    def start(given: Settings) -> Settings:
        starts.append(given)
        return given

    def rewrite(command: Command, _now_ms: int, known: Known) -> tuple[Command, ...] | None:
        change = command.change if isinstance(command, Administer) else None
        if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE or starts[-1].delays:
            return None
        if "ENABLED" not in change.attributes.values():
            return None
        moved = [one for sent in known.delayed.values() for one in _undelayed(sent)]
        return (command, *cancelled(known, _AGENT, *known.delayed), *moved)

    return replace(knowing(rewrite), settings=start)


def _undelayed(sent: Delayed) -> tuple[Command, ...]:
    return handed_in(_AGENT, sent.target, replace(sent.message, delivery_time_ms=None))


# DD-62


def _publications_lost(command: Command, _now_ms: int, known: Known) -> tuple[Command, ...] | None:
    """When the staging queue is enabled for gets, the publications on it are dropped."""
    change = command.change if isinstance(command, Administer) else None
    if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE:
        return None
    if change.attributes.get("GET") != "ENABLED":
        return None
    return (*cancelled(known, _AGENT, *_published(known)), command)


# DD-78


def _unchecked_in_unit(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    return None if put.unit is None else _beside(put, sent.target.name, known)


def _light_unchecked(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    return _beside(put, sent.target.name, known) if put.message.durable is False else None


# DD-82


def _reach_asked_again(command: Command, _now_ms: int, known: Known) -> tuple[Command, ...] | None:
    """Delayed publications are dropped once their topic does not allow them any more."""
    change = command.change if isinstance(command, Administer) else None
    if not isinstance(change, AlterObject) or change.kind is not Kind.TOPIC or change.name == BASE_TOPIC:
        return None
    forbids = any(change.attributes.get(keyword, "ALLAVAIL") != "ALLAVAIL" for keyword in _REACHES)
    return (*cancelled(known, _AGENT, *_published(known)), command) if forbids else None


def _grandparents_unheard(change: Change, known: Known) -> Change | None:
    """A topic that is as its parent, which is as its own, allows everything."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    above = known.objects.of(change.name.rpartition("/")[0])
    free = {key: "ALLAVAIL" for key in _REACHES if change.attributes.get(key) == above.get(key) == "ASPARENT"}
    return replace(change, attributes={**change.attributes, **free}) if free else None


def _unsaid_is_persistent(put: Put, sent: Delayed, _known: Known) -> tuple[Command, ...] | None:
    if not is_topic(sent.target) or put.message.durable is not None:
        return None
    return (replace(put, message=replace(put.message, durable=True)),)


SENDING_DEFECTS = (
    Defect(
        name="staging-header-blank-after-restart",
        rules=("DD-05",),
        text="After a restart the header of a staged message names neither its target nor its delay.",
        apply=lambda: knowing(reshow=_unread_after_restart),
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
        apply=_survives_a_kill,
    ),
    Defect(
        name="authority-asked-after-restart",
        rules=("DD-31",),
        text="After a restart, what is staged by somebody who has lost the authority is dropped.",
        apply=_asked_after_restart,
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
        apply=_counted,
    ),
    Defect(
        name="zos-staging-queue-made-at-restart",
        rules=("DD-40",),
        text="A restart makes a staging queue on z/OS.",
        apply=_made_at_restart,
    ),
    Defect(
        name="lower-level-heeds-enabling",
        rules=("DD-43",),
        text="At a level without delays, enabling the staging queue delivers what is on it.",
        apply=_lower_level_heeds,
    ),
    Defect(
        name="publications-lost-when-enabled",
        rules=("DD-62",),
        text="Enabling the staging queue for gets drops the publications on it.",
        apply=lambda: knowing(_publications_lost),
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
        apply=lambda: knowing(_reach_asked_again),
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
