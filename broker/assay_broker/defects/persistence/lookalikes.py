"""Defects that confuse similar things: names in other case, topic patterns, defaults, neighbouring records."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Disconnect, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.records import MessageRemoved, Record, SubscriptionDefined
from assay_broker.core.topics.topic_strings import has_wildcards
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import is_durable, is_topic, resent, twice
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts, read, replies, writing
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc, refused


def _is_pattern(attach: Attach | None) -> bool:
    return attach is not None and is_topic(attach.address) and has_wildcards(attach.address.name)


@defect(deliveries, "pattern-hidden-by-topic", "PD-11")
def _hidden_by_topic(delivery: Deliver, view: View) -> Deliver | None:
    """A subscription to a topic pattern gets no messages while a subscription to a single topic is open."""
    exact = any(is_topic(one.address) and not _is_pattern(one) for one in view.receivers.values())
    return None if exact and _is_pattern(view.receiver(delivery)) else delivery


@defect(deliveries, "pattern-hidden-by-pattern", "PD-11")
def _hidden_by_pattern(delivery: Deliver, view: View) -> Deliver | None:
    """Only the oldest of the subscriptions to topic patterns gets publications."""
    patterns = [one for one in view.receivers.values() if _is_pattern(one)]
    own = view.receiver(delivery)
    return None if _is_pattern(own) and own is not patterns[0] else delivery


@defect(commands, "client-ids-in-any-case", "PD-16")
def _any_case(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Client ids that differ only in case are the same client id."""
    if not isinstance(command, Connect) or command.client_id is None:
        return None
    return (replace(command, client_id=command.client_id.casefold()),)


@defect(replies, "shared-name-of-one-client", "PD-16")
def _of_one_client(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """A client cannot open a shared subscription while another client has one of the same name and topic open."""
    if not isinstance(asked, Attach) or not asked.shared or not is_durable(asked):
        return answer
    client = view.client_id(asked.connection)
    others = (one for one in view.on(asked.address) if one.shared and one.name == asked.name)
    if all(view.client_id(one.connection) == client for one in others):
        return answer
    return replace(answer, refused=refused(Mqrc.SUBSCRIPTION_IN_USE, "Another client shares the subscription."))


@defect(writing, "removal-takes-what-lies-between", "PD-20")
def _takes_between(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
    """When the store removes several messages together, it also removes all messages stored between them."""
    removed = [record.key for record in records if isinstance(record, MessageRemoved)]
    if not removed:
        return tuple(records)
    between = set(range(min(removed), max(removed))) - {*removed}
    return (*records, *(MessageRemoved(key) for key in sorted(between)))


@defect(deliveries, "non-persistent-again-unmarked", "PD-18", "QS-09", "QS-10")
def _again_unmarked(delivery: Deliver, _view: View) -> Deliver:
    """A redelivered non-persistent message has a delivery count and is not marked as redelivered."""
    return delivery if delivery.message.durable else replace(delivery, redelivered=False)


@defect(deliveries, "unmarked-after-restart", "QS-09")
def _unmarked_after_restart(delivery: Deliver, view: View) -> Deliver:
    """After a restart, a redelivered message has a delivery count and is not marked as redelivered."""
    return replace(delivery, redelivered=False) if view.starts > 1 else delivery


@defect(puts, "defpsist-before-the-sender", "PD-02", "PD-03")
def _before_the_sender(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """DEFPSIST of a queue or topic overrides the delivery mode that the sender has set."""
    says = view.said(target.name).get("DEFPSIST")
    return None if says is None or put.message.durable is None else resent(put, durable=says == "YES")


@defect(puts, "copy-for-each-selector", "PD-18")
def _copy_for_each_selector(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """While two consumers of a queue have selectors, the broker puts each message on the queue twice."""
    selecting = [attach for attach in view.on(target) if attach.selector]
    return twice(put) if len(selecting) > 1 and not is_topic(target) else None


@defect(made, "late-selector-finds-nothing", "PD-18")
def _finds_nothing() -> Seams:
    """A consumer with a selector gets no message that was sent before the consumer opened."""
    came: dict[tuple[int, int], int] = {}

    def note(command: Command, now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Attach) and command.selector and not is_topic(command.address):
            came[command.connection, command.link] = now_ms
        return None

    def seen(delivery: Deliver, _view: View) -> Deliver | None:
        since_ms = came.get((delivery.connection, delivery.link), 0)
        return delivery if (delivery.message.creation_ms or since_ms) >= since_ms else None

    return filters(note, delivery=seen)


@defect(read, "names-in-ascii-after-restart", "PD-15")
def _in_ascii(record: Record) -> tuple[Record, ...]:
    """A restart replaces non-ASCII characters in the name, client id and topic of a durable subscription."""
    if not isinstance(record, SubscriptionDefined):
        return (record,)
    client_id = None if record.client_id is None else _ascii(record.client_id)
    topic = replace(record.topic, name=_ascii(record.topic.name))
    return (replace(record, name=_ascii(record.name), client_id=client_id, topic=topic),)


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()


@defect(made, "client-ids-taken-over-a-restart", "PD-17")
def _taken_over_a_restart() -> Seams:
    """After a restart, the broker refuses a client id that a connection had when the broker ended."""
    connected: set[str | None] = set()
    taken: set[str | None] = set()

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Connect):
            connected.add(command.client_id)
        elif isinstance(command, Disconnect) and command.clean:
            connected.discard(view.client_id(command.connection))
        return None

    def told(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
        if not isinstance(asked, Connect) or asked.client_id is None or asked.client_id not in taken:
            return answer
        return replace(answer, refused=refused(Mqrc.IDENTITY_MISMATCH, "The client id is in use."))

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        taken.update(connected)
        return tuple(records)

    return filters(note, answer=told, read=start)


LOOKALIKE_DEFECTS = (
    _hidden_by_topic,
    _hidden_by_pattern,
    _any_case,
    _of_one_client,
    _takes_between,
    _again_unmarked,
    _unmarked_after_restart,
    _before_the_sender,
    _copy_for_each_selector,
    _finds_nothing,
    _in_ascii,
    _taken_over_a_restart,
)
