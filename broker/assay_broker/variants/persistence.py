"""The tolerated variants of the rules of persistence."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Put, Unsubscribe
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.records import MessageMarked, MessageStored, Record
from assay_broker.core.topics.topic_strings import Patterns, has_wildcards
from assay_broker.defects.qos.filters import is_light
from assay_broker.defects.sends import accepted, dropped, is_delayed, is_topic, resent
from assay_broker.defects.shapes import commands, deliveries, filters, reshown
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_broker.variants.model import Variant
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address


def _keeps_non_persistent() -> Seams:
    """Return filters that store non-persistent messages without a delay on disk, but show them as non-persistent."""
    kept: set[str] = set()

    def rewrite(command: Command, now_ms: int, _view: View) -> tuple[Command, ...] | None:
        if not isinstance(command, Put) or command.message.durable is not False or is_delayed(command, now_ms):
            return None
        if command.message.message_id is None:
            return None
        kept.add(command.message.message_id)
        return resent(command, durable=True)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        if delivered.message.message_id not in kept:
            return delivered
        return replace(delivered, message=replace(delivered.message, durable=False))

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, shown)

    def shown(row: Described) -> Described:
        if row.message.message_id not in kept:
            return row
        return replace(row, descriptor={**row.descriptor, "Persistence": 0})

    return filters(rewrite, delivery=delivery, answer=answer)


def _drops_unheard() -> Seams:
    """Return filters that drop a non-persistent message if its destination has no receiver.

    The filters keep delayed messages, messages for queue and topic objects that an administrator has defined
    (DELAY:50), and messages for MQ Light's subscriptions (AMQP:31).
    """
    lasting: set[Address] = set()

    def rewrite(command: Command, now_ms: int, view: View) -> tuple[Command, ...] | None:
        if isinstance(command, Attach) and is_light(command):
            lasting.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target is None or command.message.durable is not False:
            return None
        heard = any(_covers(address, target) for address in (*_open(view), *lasting))
        keeps = is_delayed(command, now_ms) or heard or view.said_of(target)
        return None if keeps else (dropped(command, now_ms),)

    return commands(rewrite)


def _open(view: View) -> list[Address]:
    """Return the addresses of the open receivers."""
    return [attach.address for attach in view.receivers.values()]


def _covers(address: Address, target: Address) -> bool:
    """Return whether a receiver on an address, which may be a pattern, gets the messages of a destination."""
    if not is_topic(address) or not has_wildcards(address.name):
        return address == target
    patterns: Patterns[Address] = Patterns()
    patterns.add(address.name, 0, address)
    return is_topic(target) and any(patterns.fitting(target.name))


def _keeps_for_returned_only() -> Seams:
    """Return filters that drop non-persistent publications if no durable subscriber is back since the broker's start.

    The filters act only on a topic that had a durable subscriber before the broker's last start and has had none since,
    and only while no topic has an open receiver.
    """
    last: dict[Address, int] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> tuple[Command, ...] | None:
        if isinstance(command, Attach) and command.durability is Durability.DURABLE:
            last[command.address] = view.starts
        target = view.target(command)
        if not isinstance(command, Put) or target is None or last.get(target, view.starts) == view.starts:
            return None
        hears = any(is_topic(attach.address) for attach in view.receivers.values())
        return None if hears or _may_be_persistent(command, view) else (dropped(command, now_ms),)

    return commands(rewrite)


def _may_be_persistent(put: Put, view: View) -> bool:
    """Return whether a publication may be persistent: by its durable header, or else by any object's DEFPSIST."""
    by_default = any(said.get("DEFPSIST") == "YES" for said in view.objects.values())
    return put.message.durable is True or (put.message.durable is None and by_default)


def _ignores_case(command: Command, _now_ms: int) -> tuple[Command, ...]:
    """Fold the name of a subscription to lower case, so that names that differ only in case are equal."""
    if not isinstance(command, Attach | Unsubscribe) or command.name is None:
        return (command,)
    return (replace(command, name=command.name.casefold()),)


def _marks_recovered(records: Sequence[Record]) -> tuple[Record, ...]:
    """Add records that mark each message of the store as redelivered."""
    marks = tuple(MessageMarked(record.key, 1) for record in records if isinstance(record, MessageStored))
    return (*records, *marks)


def _loses_with_receiver(command: Command, _now_ms: int, view: View) -> tuple[Command, ...] | None:
    """When a receiver on a queue ends, remove the non-persistent messages that it had not acknowledged."""
    if not isinstance(command, Detach | Disconnect):
        return None
    return accepted(command, view, lambda _attach, one: not one.message.durable and not is_topic(one.origin))


def _marks_sent() -> Seams:
    """Return filters that mark a message of a queue as redelivered if it was sent to a receiver of the queue before."""
    sent: set[tuple[Address, str]] = set()

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        if is_topic(delivered.origin) or delivered.message.message_id is None:
            return delivered
        message = delivered.origin, delivered.message.message_id
        if message in sent:
            return replace(delivered, redelivered=True)
        sent.add(message)
        return delivered

    return deliveries(delivery)


PERSISTENCE_VARIANTS = (
    Variant(
        name="non-persistent-kept-through-restart",
        rules=("PD-22", "PD-30", "PD-31"),
        text="Non-persistent messages outlive a restart and a kill.",
        allowed_by="PERSIST:59 and Jakarta Messaging 3.1, 3.4.10: delivery is not guaranteed, but at most once.",
        apply=_keeps_non_persistent,
    ),
    Variant(
        name="non-persistent-dropped-without-receiver",
        rules=("PD-29", "PD-32"),
        text="A non-persistent message is dropped if its destination has no receiver.",
        allowed_by="PERSIST:59 lets a broker keep the message in memory, and does not guarantee it.",
        apply=_drops_unheard,
    ),
    Variant(
        name="non-persistent-not-kept-since-start",
        rules=("PD-29", "QS-04", "QS-05", "QS-35"),
        text="A non-persistent publication is lost if no subscriber of its topic is back since the broker's start.",
        allowed_by="PERSIST:59 guarantees only persistent messages; AMQP:40: the default is non-persistent.",
        apply=_keeps_for_returned_only,
    ),
    Variant(
        name="subscription-names-without-case",
        rules=("PD-16",),
        text="Two names of durable subscriptions that differ only in case are one name.",
        allowed_by="PERSIST:33 says that client id and name identify a subscription, but not when two names are equal.",
        apply=lambda: Seams(command=_ignores_case),
    ),
    Variant(
        name="recovered-marked-redelivered",
        rules=("PD-15", "PD-20", "PD-23", "PD-24", "PD-25"),
        text="After a restart every stored message is marked as redelivered, even if it was never delivered before.",
        allowed_by="Jakarta Messaging 3.1, 3.4.7: the mark says that a message was likely delivered before.",
        apply=lambda: Seams(read=_marks_recovered),
    ),
    Variant(
        name="non-persistent-lost-with-receiver",
        rules=("PD-18", "PD-21"),
        text="When a receiver on a queue ends, its unacknowledged non-persistent messages are lost.",
        allowed_by="PERSIST:59 and Jakarta Messaging 3.1, 3.4.10: a non-persistent message is delivered at most once.",
        apply=lambda: commands(_loses_with_receiver),
    ),
    Variant(
        name="returned-unread-marked-redelivered",
        rules=("PD-18", "PD-21", "BT-11", "BT-12"),
        text="A message of a queue that a receiver returned unread is marked as redelivered at its next delivery.",
        allowed_by="Jakarta Messaging 3.1, 3.4.7: the mark says that a message was likely delivered before.",
        apply=_marks_sent,
    ),
)
