"""The start: from records to a running queue manager."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay_broker.core.clients.attaching import parse_selector
from assay_broker.core.clients.subscribing import make_subscription, receiver_left, wait_for_end
from assay_broker.core.messages.entries import Entry, Place
from assay_broker.core.networks.sharing import is_shared
from assay_broker.core.queues.placing import DEFAULT_PRIORITY, stage_again, watch_expiry
from assay_broker.core.queues.resolution import recovered
from assay_broker.core.records import (
    AuthoritySet,
    MemberTold,
    MessageMarked,
    MessageRemoved,
    MessageStored,
    ObjectDefined,
    ObjectRemoved,
    ParcelForgotten,
    ParcelTaken,
    Record,
    RetainedSet,
    SubscriptionDefined,
    SubscriptionRemoved,
)
from assay_broker.core.state import State
from assay_broker.core.topics.administered import take_up_all
from assay_broker.core.topics.retained import restore_retained
from assay_broker.core.topics.subscriptions import Terms
from assay_broker.core.turn import Turn

_NO_CONNECTION = 0


def recover(state: State, turn: Turn, records: Iterable[Record]) -> None:
    """Replay records into an empty state.

    Messages stand in the order in which they came to their queues.  What belongs to a subscription that has gone is
    removed; what is staged is staged again, whatever became of its target, and left to the delay processor.
    """
    subscriptions: dict[int, SubscriptionDefined] = {}
    messages: dict[int, MessageStored] = {}
    counts: dict[int, int] = {}
    retained: list[RetainedSet] = []
    highest_key = highest_subscription = 0
    for record in _beside_objects(state, records):
        if isinstance(record, MessageStored):
            messages[record.key] = record
            highest_key = max(highest_key, record.key)
        elif isinstance(record, MessageRemoved):
            messages.pop(record.key, None)
            highest_key = max(highest_key, record.key)
        elif isinstance(record, MessageMarked):
            counts[record.key] = record.count
        elif isinstance(record, RetainedSet):
            retained.append(record)
        elif isinstance(record, SubscriptionDefined):
            subscriptions[record.number] = record
            highest_subscription = max(highest_subscription, record.number)
        else:
            subscriptions.pop(record.number, None)
            highest_subscription = max(highest_subscription, record.number)
    state.reserve_numbers(highest_key, highest_subscription)
    take_up_all(state)
    for defined in subscriptions.values():
        _define(state, turn, defined)
    restore_retained(state, turn, retained)
    # What stands on a shared queue, the group has kept.
    own = (stored for stored in messages.values() if not is_shared(stored.home))
    for stored in sorted(own, key=lambda one: (one.arrived_ms, one.key)):
        _place(state, turn, stored, counts.get(stored.key, 0))


def _beside_objects(
    state: State, records: Iterable[Record]
) -> Iterator[MessageStored | MessageRemoved | MessageMarked | RetainedSet | SubscriptionDefined | SubscriptionRemoved]:
    """Define the objects and who may use them, learn what others have said, and hand on everything else."""
    for record in records:
        if isinstance(record, ObjectDefined):
            state.objects.replay(record.definition)
        elif isinstance(record, ObjectRemoved):
            state.objects.replay_removed(record.namespace, record.name)
        elif isinstance(record, AuthoritySet):
            state.authorities.put(record.record)
        elif isinstance(record, MemberTold):
            state.members.neighbour(record.member).bulletin = record.bulletin
        elif isinstance(record, ParcelTaken):
            state.members.neighbour(record.member).taken.add(record.number)
        elif isinstance(record, ParcelForgotten):
            state.members.neighbour(record.member).taken.discard(record.number)
        else:
            yield record


def _define(state: State, turn: Turn, record: SubscriptionDefined) -> None:
    terms = Terms(
        topic=record.topic,
        client_id=record.client_id,
        name=record.name,
        selector=record.selector,
        no_local=record.no_local,
        shared=record.shared,
        durable=True,
        timeout_ms=record.timeout_ms,
    )
    subscription = make_subscription(state, record.number, terms, parse_selector(record.selector), _NO_CONNECTION)
    if record.left_ms is None:  # whoever received has gone with the queue manager
        receiver_left(state, turn, subscription)
    else:
        subscription.left_ms = record.left_ms
        wait_for_end(state, subscription)


def _place(state: State, turn: Turn, stored: MessageStored, count: int) -> None:
    message = stored.message
    entry = Entry(
        key=stored.key,
        home=stored.home,
        message=message,
        priority=DEFAULT_PRIORITY if message.priority is None else message.priority,
        recorded=True,
        arrived_ms=stored.arrived_ms,
        expires_ms=stored.expires_ms,
        due_ms=stored.due_ms,
        dead=stored.dead,
        via=stored.via,
        count=count,
        redelivered=count > 0,
    )
    if entry.due_ms is not None:
        stage_again(state, entry, entry.due_ms)
        return
    queue = recovered(state, stored.home)
    if queue is None:
        entry.place = Place.GONE
        turn.record(MessageRemoved(entry.key), _for_good)
        return
    entry.order = state.next_order()
    queue.enter(entry)
    watch_expiry(state, entry)
    if queue.onward is not None:
        turn.touch(queue)


def _for_good(_turn: Turn) -> None:
    """Nobody can have what has no place; if the store cannot say so, the next start does."""
