"""Defects of the staging queue: of its attributes, and of the view that administrators have of it and its messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DisplayObjects, NativeBrowse
from assay_broker.core.commands import Administer, Command, Put
from assay_broker.core.effects import Answer
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Namespace, Value
from assay_broker.core.records import ObjectDefined, ObjectRemoved, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import NOTHING, browses, change_of, is_staged, is_topic, rows, unlimited
from assay_broker.defects.shapes import Commands, changes, delayed_puts, read, reading, replies, reshown
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Message

_LINGERING_MS = 600_000
_HEADER_BYTES = 4_096
_LIMITS: dict[str, Value] = {"MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600}
_UNREAD: dict[str, Value] = {"DestQName": "", "DeliveryDelay": 0}


def _staged(rewrite: Callable[[Described], Described]) -> Seams:
    """Make filters that alter the messages of the staging queue in answers to administrators."""
    return replies(
        lambda answer, asked, _now_ms, _view: reshown(answer, rewrite) if browses(asked, STAGING_QUEUE) else answer
    )


def _counting(answer: Answer, queue: str, further: int) -> Answer:
    """Add a number of messages to the CURDEPTH of a queue in an answer."""
    value = tuple(
        replace(row, attributes={**row.attributes, "CURDEPTH": row.number("CURDEPTH") + further})
        if isinstance(row, Definition) and row.name == queue and "CURDEPTH" in row.attributes
        else row
        for row in answer.value or ()
    )
    return replace(answer, value=value)


def _looked_at(asked: Command) -> str | None:
    """Return the queue that an administrator browses or displays; None for any other command."""
    match change_of(asked):
        case NativeBrowse(queue=name) | DisplayObjects(name=name):
            return name
        case _:
            return None


def _with_further(answer: Answer, queue: str, further: Sequence[Message]) -> Answer:
    """Add messages to an answer that shows a queue: to its CURDEPTH, or to the browsed messages."""
    if any(isinstance(row, Definition) for row in answer.value or ()):
        return _counting(answer, queue, len(further))
    shown = (Described(descriptor={}, headers=(), message=message) for message in further)
    return replace(answer, value=(*rows(answer), *shown))


def _headless(row: Described) -> Described:
    return replace(row, headers=())


def _unreadable(row: Described) -> Described:
    """Remove target and delay from the staging header of a browsed message."""
    return replace(row, headers=tuple({**header, **_UNREAD} for header in row.headers))


@defect(replies, "staged-out-of-sight", "DD-05")
def _out_of_sight(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """Delayed publications and non-persistent messages are not visible on the staging queue."""
    if not browses(asked, STAGING_QUEUE):
        return answer
    published = {id_ for id_, one in view.delayed.items() if is_topic(one.target)}
    return replace(
        answer,
        value=tuple(row for row in rows(answer) if row.message.durable and row.message.message_id not in published),
    )


@defect(replies, "staged-and-on-target", "DD-05")
def _on_target_too(answer: Answer, asked: Command, now_ms: int, view: View) -> Answer:
    """An administrator sees a delayed message on its target during its delay."""
    queue = _looked_at(asked)
    waiting = [one.message for one in view.delayed.values() if one.target.name == queue and one.due_ms > now_ms]
    return answer if queue is None or not waiting else _with_further(answer, queue, waiting)


@defect(replies, "moved-and-still-staged", "DD-06")
def _lingering(answer: Answer, asked: Command, now_ms: int, view: View) -> Answer:
    """An administrator sees a message on the staging queue for ten minutes after its delay."""
    if _looked_at(asked) != STAGING_QUEUE or answer.refused is not None:
        return answer
    moved = [one.message for one in view.delayed.values() if 0 <= now_ms - one.due_ms < _LINGERING_MS]
    return _with_further(answer, STAGING_QUEUE, moved) if moved else answer


@defect(replies, "staging-header-kept", "DD-06", "DD-39")
def _header_kept(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
    """A delayed message still has its staging header on its target."""
    queue = _looked_at(asked)
    kept = [
        replace(row, headers=({"StrucId": "DDH"}, *row.headers)) if _was_delayed(row) else row for row in rows(answer)
    ]
    return replace(answer, value=tuple(kept)) if kept and queue != STAGING_QUEUE else answer


def _was_delayed(row: Described) -> bool:
    return row.message.delivery_time_ms is not None


def _own_message_id(row: Described) -> Described:
    return replace(row, descriptor={**row.descriptor, "MsgId": native_id(row.message.message_id).hex()})


def _own_correlation_id(row: Described) -> Described:
    return replace(row, descriptor={**row.descriptor, "CorrelId": native_id(row.message.correlation_id).hex()})


@defect(changes, "staging-queue-hidden", "DD-35")
def _hidden(change: Change, _view: View) -> Change | None:
    """The broker tells an administrator that the staging queue does not exist."""
    if isinstance(change, DisplayObjects) and change.name == STAGING_QUEUE:
        return DisplayObjects(kinds=change.kinds, name=NOTHING)
    return None


@defect(reading, "staging-queue-gone-after-restart", "DD-35")
def _gone_after_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """A restart deletes an empty staging queue."""
    if view.starts == 1 or any(is_staged(record) for record in records):
        return tuple(records)
    return (*records, ObjectRemoved(Namespace.QUEUE, STAGING_QUEUE))


def _altered(change: Change) -> dict[str, Value] | None:
    """Return the attributes that a change gives to the staging queue; None for any other change."""
    if isinstance(change, AlterObject) and change.name == STAGING_QUEUE:
        return change.attributes
    return None


def _alter(attributes: dict[str, Value]) -> AlterObject:
    return AlterObject(Kind.QLOCAL, STAGING_QUEUE, attributes)


def _beside(put: Put, before: dict[str, Value], after: dict[str, Value]) -> Commands:
    """Wrap a send in two alterations of the staging queue.

    Args:
        put: The send.
        before: The attributes during the send.
        after: The attributes after the send.
    """
    return (
        Administer(put.connection, None, _alter(before)),
        put,
        Administer(put.connection, None, _alter(after)),
    )


def _said_limits(view: View) -> dict[str, Value]:
    said = view.said(STAGING_QUEUE)
    return {keyword: said[keyword] for keyword in _LIMITS if keyword in said}


@defect(delayed_puts, "staging-limits-ignored", "DD-36")
def _unlimited(put: Put, _sent: Sent, view: View) -> Commands | None:
    """An administrator can set MAXDEPTH and MAXMSGL of the staging queue, but these limits have no effect."""
    limits = _said_limits(view)
    return _beside(put, {keyword: _LIMITS[keyword] for keyword in limits}, limits) if limits else None


@defect(made, "staging-places-never-freed", "DD-36")
def _never_freed() -> Seams:
    """A message that has left the staging queue still counts towards MAXDEPTH of that queue."""
    taken: list[None] = []

    def no_place(put: Put, _sent: Sent, view: View) -> Commands | None:
        limit = _said_limits(view).get("MAXDEPTH")
        if not isinstance(limit, int):
            return None
        taken.append(None)
        return _beside(put, {"MAXDEPTH": 0}, {"MAXDEPTH": limit}) if len(taken) > limit else None

    return delayed_puts(no_place)


def _less(keyword: str, by: int) -> Seams:
    def lowered(change: Change, _view: View) -> Change | None:
        attributes = _altered(change)
        limit = None if attributes is None else attributes.get(keyword)
        if attributes is None or not isinstance(limit, int):
            return None
        return _alter({**attributes, keyword: max(0, limit - by)})

    return changes(lowered)


@defect(changes, "staging-limits-fixed", "DD-36")
def _first_counts(change: Change, view: View) -> Change | None:
    """An administrator can alter the limits of the staging queue only once."""
    attributes, before = _altered(change), _said_limits(view)
    return None if attributes is None or not before else _alter({**attributes, **before})


@defect(changes, "staging-queue-unalterable", "DD-36")
def _unalterable(change: Change, _view: View) -> Change | None:
    """The staging queue cannot be altered."""
    return None if _altered(change) is None else AlterObject(Kind.QLOCAL, NOTHING, {})


@defect(replies, "staging-header-blank-after-restart", "DD-05")
def _unread_after_restart(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """After a restart, the staging header of a message names neither its target nor its delay."""
    if not browses(asked, STAGING_QUEUE) or view.starts == 1:
        return answer
    return reshown(answer, _unreadable)


@defect(read, "staging-limits-forgotten-at-restart", "DD-36")
def _limits_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart resets the staging queue's attributes to their defaults."""
    forgotten = isinstance(record, ObjectDefined) and record.definition.name == STAGING_QUEUE
    return () if forgotten else (record,)


@defect(delayed_puts, "non-persistent-not-counted", "DD-36")
def _light_does_not_count(put: Put, _sent: Sent, view: View) -> Commands | None:
    """The limits of the staging queue do not apply to non-persistent messages."""
    return unlimited(put, STAGING_QUEUE, view) if put.message.durable is False else None


STAGING_QUEUE_DEFECTS = (
    Defect(
        name="staged-without-header",
        rules=("DD-05",),
        text="Staged messages have no staging header.",
        apply=lambda: _staged(_headless),
    ),
    Defect(
        name="staging-header-blank",
        rules=("DD-05",),
        text="The staging header of a message names neither its target nor its delay.",
        apply=lambda: _staged(_unreadable),
    ),
    _out_of_sight,
    _on_target_too,
    _lingering,
    _header_kept,
    _hidden,
    _gone_after_restart,
    _unlimited,
    Defect(
        name="staging-depth-one-less",
        rules=("DD-36",),
        text="The staging queue holds one message less than its MAXDEPTH.",
        apply=lambda: _less("MAXDEPTH", 1),
    ),
    Defect(
        name="staging-header-counted-in-pages",
        rules=("DD-36",),
        text="MAXMSGL of the staging queue counts the staging header as four kilobytes.",
        apply=lambda: _less("MAXMSGL", _HEADER_BYTES),
    ),
    _first_counts,
    _unalterable,
    _never_freed,
    Defect(
        name="staged-under-own-id",
        rules=("DD-37",),
        text="A staged message keeps its message id.",
        apply=lambda: _staged(_own_message_id),
    ),
    Defect(
        name="staged-with-own-correlation-id",
        rules=("DD-37",),
        text="A staged message keeps its correlation id.",
        apply=lambda: _staged(_own_correlation_id),
    ),
    _unread_after_restart,
    _limits_forgotten,
    _light_does_not_count,
)
