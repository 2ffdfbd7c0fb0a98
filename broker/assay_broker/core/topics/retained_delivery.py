"""What a new subscription is given: the retained publications of its topics."""

from __future__ import annotations

from functools import partial

from assay_broker.core.messages.entries import Entry
from assay_broker.core.queues.placement import enter, new_entry
from assay_broker.core.queues.queue import Queue
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.topics.retained import Given
from assay_broker.core.topics.subscriptions import Subscriber, Subscription
from assay_broker.core.turn import Turn
from assay_sdk.model.reasons import Mqrc


def given(state: State, subscriber: Subscriber, now_ms: int) -> tuple[Given, ...]:
    """The retained publications that a new subscriber wants, the oldest first."""
    return tuple(
        Given(one.message, one.expires_ms, one.batch)
        for one in state.retained.fitting(subscriber.topic, now_ms)
        if one.message is not None and subscriber.wants(one.message, one.kept.connection, one.kept.client_id)
    )


def check_welcome(state: State, subscription: Subscription, now_ms: int) -> None:
    """Refuse a subscription whose retained publications are more than its queue takes.

    Raises:
        RefusalError: As said; nothing was given, and the subscription is not to stay.
    """
    wanted, queue = len(given(state, subscription, now_ms)), subscription.queue
    if queue.fills(wanted):
        raise refusal(
            Mqrc.RETAINED_NOT_DELIVERED,
            f"{wanted} retained publications are for the subscription, and {queue.name} does not take so many.",
            queue.name,
        )


def welcome(state: State, turn: Turn, subscription: Subscription) -> None:
    """Give a subscription that has just been made the retained publications that it wants."""
    for one in given(state, subscription, turn.now_ms):
        give(state, turn, subscription.queue, one)


def give(state: State, turn: Turn, queue: Queue, one: Given) -> None:
    """A copy of a retained publication comes to stand on a queue.

    If the store does not hold the copy, it leaves only once the store holds what it is a copy of (PD-24).
    """
    copy = new_entry(state, queue.home, one.message, now_ms=turn.now_ms, expires_ms=one.expires_ms)
    enter(state, turn, queue, copy)
    waits_for = state.ledger.pending.get(state.gate(one.batch))
    if waits_for is not None and not copy.recorded:
        copy.batch = one.batch
        waits_for.undo.append(partial(_take_away, state, queue, copy))


def _take_away(state: State, queue: Queue, copy: Entry, _turn: Turn) -> None:
    """The store could not take the retained publication, so there has never been a copy of it."""
    queue.withdraw(copy)
    state.expiry.discard(copy.key)
