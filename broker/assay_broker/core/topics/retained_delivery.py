"""Delivery of retained publications to new subscriptions."""

from __future__ import annotations

from functools import partial

from assay_broker.core.messages.entries import Entry
from assay_broker.core.queues.placement import enter, new_entry
from assay_broker.core.queues.queue import Queue
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.topics.retained import RetainedCopy
from assay_broker.core.topics.subscriptions import Subscriber, Subscription
from assay_broker.core.turn import Turn
from assay_sdk.model.reasons import Mqrc


def retained_for(state: State, subscriber: Subscriber, now_ms: int) -> tuple[RetainedCopy, ...]:
    """Return copies of the retained publications for a new subscriber, the oldest first."""
    return tuple(
        RetainedCopy(one.message, one.expires_ms, one.batch)
        for one in state.retained.fitting(subscriber.topic, now_ms)
        if one.message is not None and subscriber.wants(one.message, one.kept.connection, one.kept.client_id)
    )


def check_retained_fits(state: State, subscription: Subscription, now_ms: int) -> None:
    """Refuse a new subscription if its queue cannot take all retained publications for it.

    Raises:
        RefusalError: The queue has too few places.
    """
    wanted, queue = len(retained_for(state, subscription, now_ms)), subscription.queue
    if queue.fills(wanted):
        raise refusal(
            Mqrc.RETAINED_NOT_DELIVERED,
            f"The subscription would get {wanted} retained publications, but {queue.name} cannot take so many.",
            queue.name,
        )


def deliver_retained(state: State, turn: Turn, subscription: Subscription) -> None:
    """Put copies of the retained publications for a new subscription on its queue."""
    for one in retained_for(state, subscription, turn.now_ms):
        put_retained(state, turn, subscription.queue, one)


def put_retained(state: State, turn: Turn, queue: Queue, one: RetainedCopy) -> None:
    """Put a copy of a retained publication on a queue.

    If the copy has no record in the store, it is delivered only after the retained publication is stored (PD-24).
    """
    copy = new_entry(state, queue.home, one.message, now_ms=turn.now_ms, expires_ms=one.expires_ms)
    enter(state, turn, queue, copy)
    waits_for = state.ledger.pending.get(state.gate(one.batch))
    if waits_for is not None and not copy.recorded:
        copy.batch = one.batch
        waits_for.undo.append(partial(_take_away, state, queue, copy))


def _take_away(state: State, queue: Queue, copy: Entry, _turn: Turn) -> None:
    """Undo `put_retained` for a copy without a record, because the store refused the retained publication."""
    queue.withdraw(copy)
    state.expiry.discard(copy.key)
