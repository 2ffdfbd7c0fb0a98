"""Defects of the staging queue, and in the delivery from it to the target (DD-05, DD-06, DD-35)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import Change, ClearQueue, DisplayObjects, NativeBrowse
from assay_broker.core.commands import Command, Detach, Disconnect, Put, Settle
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.bodies import body_size
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Namespace, Value
from assay_broker.core.records import ObjectRemoved, Record
from assay_broker.defects.delay.filters import due_at, staged
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import (
    NOTHING,
    browses,
    cancelled,
    change_of,
    dropped,
    handed_in,
    is_delayed,
    is_staged,
    is_topic,
    left_ms,
    resent,
    rows,
)
from assay_broker.defects.shapes import Commands, changes, commands, delayed_puts, puts, reading, replies, reshown
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, Message

_LINGERING_MS = 600_000
_UNREAD: dict[str, Value] = {"DestQName": "", "DeliveryDelay": 0}
_DAY_MS = 86_400_000
_HOUR_MS = 3_600_000


def _counting(answer: Answer, queue: str, further: int) -> Answer:
    """Add a number to the CURDEPTH that an answer shows for a queue."""
    value = tuple(
        replace(row, attributes={**row.attributes, "CURDEPTH": row.number("CURDEPTH") + further})
        if isinstance(row, Definition) and row.name == queue and "CURDEPTH" in row.attributes
        else row
        for row in answer.value or ()
    )
    return replace(answer, value=value)


def _looked_at(asked: Command) -> str | None:
    """Return the name of the queue that an administrator browses, or of the objects that an administrator displays.

    The result is None for any other command.
    """
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
    """An administrator does not see delayed publications and non-persistent messages on the staging queue."""
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


@defect(replies, "staging-header-blank-after-restart", "DD-05")
def _unread_after_restart(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """After a restart, the staging header of a message names neither its target nor its delay."""
    if not browses(asked, STAGING_QUEUE) or view.starts == 1:
        return answer
    return reshown(answer, _unreadable)


@defect(delayed_puts, "delays-cut-to-a-day", "DD-06")
def _cut_to_a_day(put: Put, sent: Sent, _view: View) -> Commands | None:
    """The broker shortens every delay of more than a day to one day."""
    return resent(put, delivery_time_ms=sent.at_ms + _DAY_MS) if sent.due_ms > sent.at_ms + _DAY_MS else None


@defect(commands, "cleared-with-target", "DD-06")
def _cleared_too(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a queue is cleared, the broker also drops the messages staged for it."""
    change = change_of(command)
    if not isinstance(change, ClearQueue):
        return None
    lost = [id_ for id_, one in view.delayed.items() if one.target.name == change.name]
    return (*cancelled(view, *lost), command) if lost else None


@defect(delayed_puts, "lost-where-gets-are-disabled", "DD-06")
def _lost_without_gets(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delayed message for a queue that is disabled for gets is lost."""
    shut = view.said_of(sent.target).get("GET") == "DISABLED"
    return (dropped(put, sent.at_ms),) if shut else None


@defect(made, "last-place-not-for-delayed", "DD-06", "DD-70")
def _last_place_kept() -> Seams:
    """A delayed message that would fill its target up to MAXDEPTH is lost."""
    taken: dict[str, int] = {}

    def rewrite(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        taken[target.name] = taken.get(target.name, 0) + 1
        last = view.said_of(target).get("MAXDEPTH")
        return (dropped(put, now_ms),) if is_delayed(put, now_ms) and last == taken[target.name] else None

    return puts(rewrite)


@defect(delayed_puts, "longest-not-delayed", "DD-06")
def _longest_lost(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delayed message whose body is exactly as long as its target's MAXMSGL is lost."""
    longest = view.said_of(sent.target).get("MAXMSGL")
    return (dropped(put, sent.at_ms),) if longest == body_size(put.message) else None


@defect(commands, "delayed-again-when-returned", "DD-06")
def _delayed_again(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker delays a delayed message for another hour when a receiver returns it."""
    back: Sequence[Deliver] = ()
    if isinstance(command, Detach | Disconnect) or (
        isinstance(command, Settle) and command.outcome in {Outcome.MODIFIED, Outcome.RELEASED}
    ):
        back = view.unsettled(command)
    late = [one for one in back if one.message.delivery_time_ms is not None and not is_topic(one.origin)]
    again = tuple(
        put
        for one in late
        for put in handed_in(view, one.origin, replace(one.message, delivery_time_ms=now_ms + _HOUR_MS))
    )
    if isinstance(command, Settle) and late:
        return (replace(command, outcome=Outcome.ACCEPTED), *again)
    return (*(_taken(one) for one in late), *again, command)


def _taken(delivery: Deliver) -> Settle:
    return Settle(delivery.connection, None, delivery.link, (delivery.delivery,), Outcome.ACCEPTED)


@defect(puts, "long-delays-in-hours", "DD-06")
def _long_is_late(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker rounds delays of an hour or more up to the next whole hour."""
    rest_ms = left_ms(put.message, now_ms)
    return due_at(put, now_ms + (rest_ms // _HOUR_MS + 1) * _HOUR_MS) if rest_ms >= _HOUR_MS else None


STAGING_QUEUE_DEFECTS = (
    Defect(
        name="staged-without-header",
        rules=("DD-05",),
        text="Staged messages have no staging header.",
        apply=lambda: staged(_headless),
    ),
    Defect(
        name="staging-header-blank",
        rules=("DD-05",),
        text="The staging header of a message names neither its target nor its delay.",
        apply=lambda: staged(_unreadable),
    ),
    _out_of_sight,
    _on_target_too,
    _lingering,
    _header_kept,
    _hidden,
    _gone_after_restart,
    _unread_after_restart,
    _cut_to_a_day,
    _cleared_too,
    _lost_without_gets,
    _last_place_kept,
    _longest_lost,
    _delayed_again,
    _long_is_late,
)
