"""Defects in an administrator's gets from the staging queue (DD-38)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import ClearQueue, NativeBrowse, NativeTake
from assay_broker.core.commands import Administer, Cancel, Command, Stored, StoreFailed
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.records import MessageRemoved, Record
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import cancelled, change_of, handed_in
from assay_broker.defects.shapes import Commands, commands, filters, writing
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams

_MANY = 64
_LATER_MS = 30_000
_UNUSED_ID = bytes(24)


def _take(command: Command) -> NativeTake | None:
    """Return an administrator's get from the staging queue; None for any other command."""
    change = change_of(command)
    return change if isinstance(change, NativeTake) and change.queue == STAGING_QUEUE else None


def _asked_for(take: NativeTake, view: View) -> Sent | None:
    """Return the delayed message that a get asks for by correlation id; None if no delayed message has this id."""
    return next((one for id_, one in view.delayed.items() if native_id(id_) == take.correlation_id), None)


@defect(made, "take-only-shows", "DD-38")
def _shown_only() -> Seams:
    """An administrator's get from the staging queue returns a copy of the message and does not remove it."""

    def looked(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if _take(command) is None or not isinstance(command, Administer):
            return None
        return (replace(command, change=NativeBrowse(STAGING_QUEUE)),)

    def shown(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
        take = _take(asked)
        if take is None:
            return answer
        found = _asked_for(take, view)
        return replace(
            answer, value=() if found is None else (Described(descriptor={}, headers=(), message=found.message),)
        )

    return filters(looked, answer=shown)


@defect(commands, "take-takes-all-copies", "DD-38")
def _all_copies(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A get of one staged copy of a publication removes all of its copies."""
    take = _take(command)
    found = None if take is None else _asked_for(take, view)
    if found is None or found.message.message_id is None or not isinstance(command, Administer):
        return None
    return (command, Cancel(command.connection, None, found.message.message_id))


@defect(commands, "take-takes-the-first", "DD-38")
def _the_first(command: Command, now_ms: int, view: View) -> Commands | None:
    """A get from the staging queue returns the message that was sent first, even if it asks for another message."""
    first = next((id_ for id_, one in view.delayed.items() if one.due_ms > now_ms), None)
    if _take(command) is None or first is None or not isinstance(command, Administer):
        return None
    return (replace(command, change=NativeTake(STAGING_QUEUE, native_id(first))),)


@defect(commands, "take-takes-the-next-too", "DD-38")
def _the_next_too(command: Command, now_ms: int, view: View) -> Commands | None:
    """When an administrator gets a staged message, the broker also drops another staged message for its target."""
    take = _take(command)
    found = None if take is None else _asked_for(take, view)
    if found is None or not isinstance(command, Administer):
        return None
    others = [
        id_
        for id_, one in view.delayed.items()
        if one is not found and one.target == found.target and one.due_ms >= max(found.due_ms, now_ms)
    ]
    return (command, *(Cancel(command.connection, None, id_) for id_ in others[-1:]))


@defect(made, "many-taken-delay-the-others", "DD-38")
def _many_taken() -> Seams:
    """After 64 gets from the staging queue, the broker delivers the other staged messages 30 seconds late."""
    taken: list[NativeTake] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        take = _take(command)
        if take is None:
            return None
        taken.append(take)
        if len(taken) != _MANY:
            return None
        gone = {one.correlation_id for one in taken}
        others = [one for id_, one in view.delayed.items() if native_id(id_) not in gone and one.due_ms > now_ms]
        lost = cancelled(view, *(one.message.message_id or "" for one in others))
        again = [
            put
            for one in others
            for put in handed_in(
                view, one.target, replace(opened(one.message), delivery_time_ms=one.due_ms + _LATER_MS)
            )
        ]
        return (command, *lost, *again)

    return commands(rewrite)


@defect(writing, "taken-until-restart", "DD-38")
def _taken_until_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """After a restart, a message that an administrator got from the staging queue is there again."""
    taking = view.last is not None and _take(view.last) is not None
    return tuple(record for record in records if not (taking and isinstance(record, MessageRemoved)))


@defect(writing, "cleared-until-restart", "DD-38")
def _cleared_until_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """After a restart, messages that an administrator cleared from the staging queue are there again."""
    change = None if view.last is None else change_of(view.last)
    clearing = isinstance(change, ClearQueue) and change.name == STAGING_QUEUE
    return tuple(record for record in records if not (clearing and isinstance(record, MessageRemoved)))


@defect(made, "refused-take-takes", "DD-38")
def _refused_take() -> Seams:
    """When the store refuses an administrator's get or clear of staged messages, the messages are lost."""
    asked: list[str] = []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        take = _take(command)
        if take is not None:
            asked.extend(id_ for id_ in view.delayed if native_id(id_) == take.correlation_id)
        elif change_of(command) == ClearQueue(STAGING_QUEUE):
            asked.extend(view.delayed)
        if not isinstance(command, Stored | StoreFailed):
            return None
        lost = tuple(asked)
        asked.clear()
        return (command, *cancelled(view, *lost)) if lost and isinstance(command, StoreFailed) else None

    return commands(rewrite)


@defect(commands, "take-finds-the-plain-only", "DD-38")
def _finds_plain(command: Command, now_ms: int, view: View) -> Commands | None:
    """An administrator cannot get a staged message that is non-persistent, sent in a unit of work, or overdue."""
    change = change_of(command)
    if not isinstance(command, Administer) or not isinstance(change, NativeTake) or change.queue != STAGING_QUEUE:
        return None
    found = next((one for id_, one in view.delayed.items() if native_id(id_) == change.correlation_id), None)
    if found is None or (found.message.durable and found.put.unit is None and found.due_ms > now_ms):
        return None
    return (replace(command, change=replace(change, correlation_id=_UNUSED_ID)),)


@defect(made, "second-copy-not-found", "DD-38")
def _one_copy_only() -> Seams:
    """An administrator's second get with the same correlation id finds no message, even if a copy is still staged."""
    asked: set[bytes | None] = set()

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        take = _take(command)
        if take is None or not isinstance(command, Administer):
            return None
        if take.correlation_id not in asked:
            asked.add(take.correlation_id)
            return None
        return (replace(command, change=replace(take, correlation_id=_UNUSED_ID)),)

    return commands(rewrite)


STAGED_MESSAGE_GETS_DEFECTS = (
    _shown_only,
    _all_copies,
    _the_first,
    _the_next_too,
    _many_taken,
    _taken_until_restart,
    _cleared_until_restart,
    _refused_take,
    _finds_plain,
    _one_copy_only,
)
