"""What a new subscription is given: the retained publications of its topics."""

from __future__ import annotations

from functools import partial

from assay_broker.core.entries import Entry
from assay_broker.core.placing import enter, new_entry
from assay_broker.core.refusals import refusal
from assay_broker.core.retained import RetainedPublication
from assay_broker.core.state import State
from assay_broker.core.subscriptions import Subscription
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc


def check_welcome(state: State, subscription: Subscription, now_ms: int) -> None:
    """Refuse a subscription whose retained publications are more than its queue takes.

    Raises:
        RefusalError: As said; nothing was given, and the subscription is not to stay.
    """
    given, queue = len(_given(state, subscription, now_ms)), subscription.queue
    if queue.fills(given):
        raise refusal(
            Mqrc.RETAINED_NOT_DELIVERED,
            f"{given} retained publications are for the subscription, and {queue.name} does not take so many.",
            queue.name,
        )


def welcome(state: State, turn: Turn, subscription: Subscription) -> None:
    """Give a subscription that has just been made the retained publications that it wants, the oldest first.

    A copy that the store does not hold leaves only once the store holds what it is a copy of (PD-24).
    """
    queue = subscription.queue
    for one, message in _given(state, subscription, turn.now_ms):
        copy = new_entry(state, queue.home, message, now_ms=turn.now_ms, expires_ms=one.expires_ms)
        enter(state, turn, queue, copy)
        waits_for = state.ledger.pending.get(state.gate(one.batch))
        if waits_for is not None and not copy.recorded:
            copy.batch = one.batch
            waits_for.undo.append(partial(_take_away, state, subscription, copy))


def _given(state: State, subscription: Subscription, now_ms: int) -> list[tuple[RetainedPublication, Message]]:
    return [
        (one, one.message)
        for one in state.retained.fitting(subscription.topic, now_ms)
        if one.message is not None and subscription.wants(one.message, one.kept.connection, one.kept.client_id)
    ]


def _take_away(state: State, subscription: Subscription, entry: Entry, _turn: Turn) -> None:
    """The store could not take the retained publication, so there has never been a copy of it."""
    subscription.queue.remove(entry)
    state.expiry.discard(entry.key)
