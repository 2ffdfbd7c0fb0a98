"""Defects of gets of staged messages, and of the changes that staging makes to a message."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import ClearQueue, NativeBrowse, NativeTake
from assay_broker.core.commands import Administer, Browse, Cancel, Command, Stored, StoreFailed
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.records import MessageRemoved, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import as_text, cancelled, change_of, handed_in, is_topic, rows
from assay_broker.defects.shapes import Commands, commands, delayed_messages, deliveries, filters, writing
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message, Property

_LONGEST = 4_000
_MANY = 64
_LATER_MS = 30_000
_OTHER_ID = "ID:" + "AB" * 24


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
    """A get by correlation id returns the staged message that was sent first."""
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


def _came_changed(descriptor: dict[str, str], message_id: str | None) -> Seams:
    """Make filters that alter the ids that delayed messages have on their target.

    Args:
        descriptor: The ids to change: the field of the message for each field of the descriptor.
        message_id: The new value of these ids; None for the message's own message id.
    """

    def changed(message: Message) -> Message:
        other = message_id or message.message_id
        return replace(opened(message), **dict.fromkeys(descriptor.values(), other))

    def shown(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
        change = change_of(asked)
        if not isinstance(change, NativeBrowse) or change.queue == STAGING_QUEUE:
            return answer
        return replace(answer, value=tuple(map(_row, rows(answer))))

    def _row(row: Described) -> Described:
        if row.message.delivery_time_ms is None:
            return row
        ids = dict.fromkeys(descriptor, native_id(message_id or row.message.message_id).hex())
        return replace(row, descriptor={**row.descriptor, **ids})

    def delivered(delivery: Deliver, _view: View) -> Deliver:
        if delivery.message.delivery_time_ms is None:
            return delivery
        return replace(delivery, message=changed(delivery.message))

    return filters(answer=shown, delivery=delivered)


@defect(delayed_messages, "staged-properties-lost", "DD-39")
def _first_property(message: Message) -> Message:
    """A delayed message loses all but the first of its properties."""
    return replace(message, properties=dict(list(message.properties.items())[:1]))


@defect(delayed_messages, "staged-becomes-persistent", "DD-39")
def _persistent(message: Message) -> Message:
    """Each delayed message is persistent on its target."""
    return replace(message, durable=True)


@defect(delayed_messages, "staged-priority-lost", "DD-39")
def _plain_priority(message: Message) -> Message:
    """Each delayed message has priority 4 on its target."""
    return message if message.priority is None else replace(message, priority=4)


@defect(delayed_messages, "staged-body-cut", "DD-39")
def _cut(message: Message) -> Message:
    """The body of a delayed message is cut to 4,000 characters."""
    return message if message.body is None else replace(message, body=message.body[:_LONGEST])


@defect(delayed_messages, "staged-text-becomes-bytes", "DD-39")
def _bytes(message: Message) -> Message:
    """A delayed text message becomes a bytes message."""
    return replace(message, body=message.body.encode()) if isinstance(message.body, str) else message


@defect(delayed_messages, "staged-bytes-become-text", "DD-03", "DD-39")
def _text(message: Message) -> Message:
    """A delayed message with a body of bytes becomes a text message, without the octets that are not UTF-8."""
    return as_text(message)


@defect(delayed_messages, "staged-type-lost", "DD-39")
def _no_type(message: Message) -> Message:
    """A delayed message loses its type (JMSType)."""
    return replace(message, subject=None)


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


def _properties(message: Message, kept: Callable[[Property], bool]) -> Message:
    return replace(message, properties={name: value for name, value in message.properties.items() if kept(value)})


@defect(delayed_messages, "staged-empty-properties-lost", "DD-39")
def _no_empty_properties(message: Message) -> Message:
    """A delayed message loses its properties that are 0, false or empty."""
    return _properties(message, bool)


@defect(delayed_messages, "staged-other-properties-lost", "DD-39")
def _texts_and_numbers(message: Message) -> Message:
    """A delayed message loses its properties that are neither strings nor integers."""
    return _properties(message, lambda value: isinstance(value, str | int) and not isinstance(value, bool))


@defect(delayed_messages, "temporary-reply-to-lost-with-delay", "DD-39")
def _no_temporary_reply_to(message: Message) -> Message:
    """A delayed message loses its reply-to if the reply-to is a temporary queue."""
    to = message.reply_to
    return replace(message, reply_to=None) if to is not None and to.kind is AddressKind.TEMPORARY_QUEUE else message


@defect(delayed_messages, "staged-reply-to-is-a-queue", "DD-39")
def _reply_to_queue(message: Message) -> Message:
    """A reply-to topic of a delayed message becomes a queue of the same name."""
    to = message.reply_to
    return message if to is None else replace(message, reply_to=Address(AddressKind.QUEUE, to.name))


@defect(deliveries, "expiration-shown-from-release", "DD-39")
def _expiration_from_release(delivery: Deliver, _view: View) -> Deliver:
    """JMSExpiration of a delayed message counts from the end of its delay."""
    message = delivery.message
    if message.delivery_time_ms is None or not message.expiry_ms:
        return delivery
    later_ms = message.expiry_ms + message.delivery_time_ms - (message.creation_ms or 0)
    return replace(delivery, message=replace(opened(message), expiry_ms=later_ms))


@defect(deliveries, "publication-has-staging-ids", "DD-39")
def _staging_ids(delivery: Deliver, _view: View) -> Deliver:
    """A delayed publication reaches its subscribers with its message id as correlation id."""
    message = delivery.message
    if message.delivery_time_ms is None or not is_topic(delivery.origin):
        return delivery
    return replace(delivery, message=replace(opened(message), correlation_id=message.message_id))


@defect(made, "browsed-keeps-staging-ids", "DD-39")
def _browsed_keeps_ids() -> Seams:
    """A message that was browsed on the staging queue is delivered with its message id as correlation id."""
    seen: set[str] = set()

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Browse) and command.address.name == STAGING_QUEUE:
            seen.update(view.delayed)
        return None

    def changed(delivery: Deliver, _view: View) -> Deliver:
        message = delivery.message
        if message.message_id not in seen:
            return delivery
        return replace(delivery, message=replace(opened(message), correlation_id=message.message_id))

    return filters(note, delivery=changed)


@defect(deliveries, "staging-counts-as-delivery", "DD-39")
def _counted(delivery: Deliver, _view: View) -> Deliver:
    """A delayed message is marked as redelivered at its first delivery."""
    return delivery if delivery.message.delivery_time_ms is None else replace(delivery, redelivered=True)


STAGED_MESSAGE_DEFECTS = (
    _shown_only,
    _all_copies,
    _the_first,
    _the_next_too,
    _many_taken,
    _taken_until_restart,
    _cleared_until_restart,
    _refused_take,
    Defect(
        name="moved-under-another-id",
        rules=("DD-39",),
        text="A message that was delayed has another message id on its target.",
        apply=lambda: _came_changed({"MsgId": "message_id"}, _OTHER_ID),
    ),
    Defect(
        name="moved-with-staging-correlation-id",
        rules=("DD-39",),
        text="A message that was delayed still has its message id as its correlation id on its target.",
        apply=lambda: _came_changed({"CorrelId": "correlation_id"}, None),
    ),
    _first_property,
    _persistent,
    _plain_priority,
    _cut,
    _bytes,
    _text,
    _no_type,
    _no_empty_properties,
    _texts_and_numbers,
    _reply_to_queue,
    _no_temporary_reply_to,
    _expiration_from_release,
    _staging_ids,
    _browsed_keeps_ids,
    _counted,
)
