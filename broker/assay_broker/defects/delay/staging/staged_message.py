"""Defects in the fields of staged messages, before and after their delay (DD-37, DD-39)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import NativeBrowse
from assay_broker.core.commands import Browse, Command, FromMember, Put
from assay_broker.core.effects import Answer, Browsed, Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.networks.parcels import Carry
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.delay.filters import arrivals, in_branch, staged
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import change_of, is_topic, resent, rows
from assay_broker.defects.shapes import (
    Commands,
    delayed_messages,
    delayed_puts,
    deliveries,
    filters,
    read,
    replies,
    shown,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message, Property

_LONGEST = 4_000
_OTHER_ID = "ID:" + "AB" * 24


def _own_message_id(row: Described) -> Described:
    return replace(row, descriptor={**row.descriptor, "MsgId": native_id(row.message.message_id).hex()})


def _own_correlation_id(row: Described) -> Described:
    return replace(row, descriptor={**row.descriptor, "CorrelId": native_id(row.message.correlation_id).hex()})


def _came_changed(descriptor: dict[str, str], message_id: str | None) -> Seams:
    """Make filters that alter the ids that delayed messages have on their target.

    Args:
        descriptor: The ids to change. Maps a field of the descriptor to the field of the message with the same id.
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


@defect(delayed_messages, "staged-type-lost", "DD-39")
def _no_type(message: Message) -> Message:
    """A delayed message loses its type (JMSType)."""
    return replace(message, subject=None)


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


@defect(shown, "staged-under-one-id", "DD-37")
def _one_id(row: Described) -> Described:
    """The broker gives all staged messages the same new message id."""
    staged = any(header["StrucId"] == "DDH" for header in row.headers)
    return replace(row, descriptor={**row.descriptor, "MsgId": "AA" * 24}) if staged else row


@defect(replies, "browsed-under-own-id", "DD-37")
def _browsed_own_id(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
    """A client that browses the staging queue sees the messages' original ids, although an administrator does not."""
    if not isinstance(asked, Browse) or asked.address.name != STAGING_QUEUE or not isinstance(answer.value, tuple):
        return answer
    return replace(answer, value=tuple(_own_id(one) for one in answer.value if isinstance(one, Browsed)))


def _own_id(found: Browsed) -> Browsed:
    message = opened(found.message)
    return replace(found, message=replace(message, message_id=message.correlation_id))


@defect(made, "delayed-without-rank", "DD-39")
def _without_rank() -> Seams:
    """A queue orders a delayed message as a message of priority 4, whatever its priority is."""
    own: dict[str | None, int | None] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        if sent is None or not sent.delayed:
            return None
        own[sent.message.message_id] = sent.message.priority
        return resent(sent.put, priority=4)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        id_ = delivered.message.message_id
        return replace(delivered, message=replace(delivered.message, priority=own[id_])) if id_ in own else delivered

    return filters(rewrite, delivery=delivery)


@defect(deliveries, "delayed-never-marked", "DD-39")
def _never_marked(delivered: Deliver, _view: View) -> Deliver:
    """The broker never marks a delayed message as redelivered."""
    if delivered.message.delivery_time_ms is None:
        return delivered
    return replace(delivered, redelivered=False, count=0)


def _with(command: FromMember, parcel: Carry, message: Message) -> Commands:
    return (replace(command, parcel=replace(parcel, message=message)),)


@defect(arrivals, "bare-at-another-member", "DD-39")
def _bare(command: FromMember, parcel: Carry, _view: View) -> Commands:
    """A delayed message for another queue manager's queue loses its ids, reply-to, type and priority."""
    message = opened(parcel.message)
    bare = replace(message, message_id=None, correlation_id=None, reply_to=None, subject=None, priority=None)
    return _with(command, parcel, bare)


@defect(delayed_puts, "delayed-of-branch-bare", "DD-39")
def _bare_in_branch(put: Put, _sent: Sent, view: View) -> Commands | None:
    """A delayed message of a branch loses its ids, reply-to, type and priority."""
    if not in_branch(put, view):
        return None
    message = opened(put.message)
    bare = replace(message, message_id=None, correlation_id=None, reply_to=None, subject=None, priority=None)
    return (replace(put, message=bare),)


@defect(read, "lowest-priority-lost-at-restart", "DD-39", "PD-20", "PD-25")
def _no_lowest_priority(record: Record) -> tuple[Record, ...]:
    """A restart removes priority 0 from stored messages, so they are delivered before messages of priority 1."""
    if not isinstance(record, MessageStored) or record.message.priority != 0:
        return (record,)
    return (replace(record, message=replace(opened(record.message), priority=None)),)


STAGED_MESSAGE_DEFECTS = (
    Defect(
        name="staged-under-own-id",
        rules=("DD-37",),
        text="A staged message keeps its message id.",
        apply=lambda: staged(_own_message_id),
    ),
    Defect(
        name="staged-with-own-correlation-id",
        rules=("DD-37",),
        text="A staged message keeps its correlation id.",
        apply=lambda: staged(_own_correlation_id),
    ),
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
    _no_type,
    _no_empty_properties,
    _texts_and_numbers,
    _reply_to_queue,
    _no_temporary_reply_to,
    _expiration_from_release,
    _staging_ids,
    _browsed_keeps_ids,
    _counted,
    _one_id,
    _browsed_own_id,
    _without_rank,
    _never_marked,
    _bare,
    _bare_in_branch,
    _no_lowest_priority,
)
