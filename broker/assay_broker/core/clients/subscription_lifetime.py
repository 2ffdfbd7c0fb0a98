"""How subscriptions come, outlive their receivers, and end.

One with a time to live ends so long after its last receiver has left, however that left (AMQP:31); the moment of the
leaving is recorded, so that a restart does not begin the time anew.  What had a receiver when the queue manager died
counts from the next start: nobody was there to leave later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assay_broker.core.clients.connections import Connection
from assay_broker.core.commands import Unsubscribe
from assay_broker.core.messages.entries import Entry, Place
from assay_broker.core.objects.factory import DURABLE_MODEL, NON_DURABLE_MODEL
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.resolution import managed
from assay_broker.core.records import MessageRemoved, SubscriptionDefined, SubscriptionRemoved
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.topics.subscriptions import Subscription, Terms
from assay_broker.core.turn import Turn
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.selectors import Selector

_RETRY_MS = 1_000
"""How long after the store has failed to take the end of a subscription it is tried again."""


def make_subscription(
    state: State, number: int, terms: Terms, selector: Selector | None, connection: int
) -> Subscription:
    """Make a subscription with its queue; from now on publications are matched against it."""
    queue = state.queues.make(
        f"{SUBSCRIPTION_HOME}{number}",
        terms.name or terms.managed_queue(number),
        managed(state, DURABLE_MODEL if terms.durable else NON_DURABLE_MODEL),
        recorded=terms.durable,
    )
    subscription = Subscription(number, terms, selector, connection, queue)
    _remember(state, subscription)
    return subscription


def _remember(state: State, subscription: Subscription) -> None:
    state.topics.add(subscription)
    state.subscriptions.add(subscription)


def forget_subscription(state: State, subscription: Subscription) -> None:
    """A subscription is not there any more, or never was."""
    state.endings.discard(subscription.number)
    state.topics.discard(subscription)
    state.subscriptions.discard(subscription)
    state.queues.forget(subscription.queue)


def defined(subscription: Subscription) -> SubscriptionDefined:
    """The record of a durable subscription."""
    terms = subscription.terms
    return SubscriptionDefined(
        number=subscription.number,
        client_id=terms.client_id,
        name=str(terms.name),
        topic=terms.topic,
        selector=terms.selector,
        no_local=terms.no_local,
        shared=terms.shared,
        timeout_ms=terms.timeout_ms,
        left_ms=subscription.left_ms,
    )


def receiver_left(state: State, turn: Turn, subscription: Subscription) -> None:
    """A receiver has left: with the last one a subscription ends at once, after a time, or never (PD-12, QS-20)."""
    terms = subscription.terms
    if subscription.receivers or subscription.queue.gone:
        return
    if not terms.durable or terms.timeout_ms == 0:
        end_subscription(state, turn, subscription)
    elif terms.timeout_ms is not None:
        subscription.left_ms = turn.now_ms
        turn.record(defined(subscription), _for_good)
        wait_for_end(state, subscription)


def _for_good(_turn: Turn) -> None:
    """The receiver has left whether the store knows or not; a restart that does not know counts from the start."""


def wait_for_end(state: State, subscription: Subscription) -> None:
    """A subscription that nobody receives from ends when its time to live is over."""
    if subscription.ends_ms is not None:
        state.endings.add(subscription.number, subscription.ends_ms, subscription)


def resume(state: State, turn: Turn, subscription: Subscription, terms: Terms, expel: Callable[[Turn], None]) -> None:
    """A receiver comes (again) to a subscription and gets what came meanwhile (PD-25, QS-21).

    Its time to live is as the receiver says from now on, and does not run.

    Args:
        state: The queue manager.
        turn: The present turn.
        subscription: The subscription.
        terms: What the receiver asks for.
        expel: Closes the receiver, should the store fail to take its coming.
    """
    before, left_ms = subscription.terms, subscription.left_ms
    if terms.timeout_ms == before.timeout_ms and left_ms is None:
        return
    subscription.terms, subscription.left_ms = terms, None
    state.endings.discard(subscription.number)

    def not_resumed(failed: Turn) -> None:
        subscription.terms = before  # the receiver leaves as if it had asked for nothing
        failed.once_undone(expel)
        failed.once_undone(partial(_go_on, state, subscription, left_ms))

    turn.record(defined(subscription), not_resumed)


def _go_on(state: State, subscription: Subscription, left_ms: int | None, turn: Turn) -> None:
    """Undo `resume`: the time to live has gone on as if nobody had come."""
    if subscription.queue.gone:
        return
    state.endings.discard(subscription.number)
    if subscription.terms.timeout_ms is None:
        subscription.left_ms = None
    elif not subscription.receivers:
        left = (left_ms, subscription.left_ms, turn.now_ms)
        subscription.left_ms = next(moment for moment in left if moment is not None)
        turn.record(defined(subscription), _for_good)
        wait_for_end(state, subscription)


def end_subscriptions(state: State, turn: Turn) -> None:
    """Let every subscription go whose time to live is over, with all its messages (QS-22)."""
    while (subscription := state.endings.pop_due(turn.now_ms)) is not None:
        end_subscription(state, turn, subscription)


def end_subscription(state: State, turn: Turn, subscription: Subscription) -> None:
    """A subscription ends, with everything that stands on its queue (PD-12, PD-27, QS-22).

    Its staged copies are dropped when their delay is over (DD-51).
    """
    with turn.together():
        if subscription.terms.durable:
            turn.record(SubscriptionRemoved(subscription.number), partial(_revive, state, subscription))
        forget_subscription(state, subscription)
        drop_entries(state, turn, subscription.queue)


def drop_entries(state: State, turn: Turn, queue: Queue) -> None:
    """Everything that stands on a queue goes with it."""
    for entry in queue.entries.values():
        enter_again = partial(_enter_again, queue, entry, held=entry.place is Place.HELD)
        entry.place = Place.GONE
        state.expiry.discard(entry.key)
        if entry.recorded:
            turn.record(MessageRemoved(entry.key), enter_again)
        else:
            turn.unrecorded(entry, enter_again)
    queue.clear()


def _enter_again(queue: Queue, entry: Entry, _turn: Turn, *, held: bool) -> None:
    """Undo one removal of `drop_entries`; what a unit of work held, it holds again."""
    queue.enter(entry)
    if held:
        queue.take(entry)


def _revive(state: State, subscription: Subscription, turn: Turn) -> None:
    """Undo `end_subscription`; the undoing of each removal has put its messages back already."""
    state.queues.revive(subscription.queue)
    _remember(state, subscription)
    for entry in subscription.queue.entries.values():
        if entry.expires_ms is not None:
            state.expiry.add(entry.key, entry.expires_ms, entry)
    if subscription.ends_ms is not None:
        state.endings.add(subscription.number, max(subscription.ends_ms, turn.now_ms + _RETRY_MS), subscription)


def unsubscribe(state: State, turn: Turn, connection: Connection, command: Unsubscribe) -> None:
    """Remove a durable subscription.

    Raises:
        RefusalError: There is none of that name, or it is in use.
    """
    found = find_subscription(state, connection, command.name, everybodys=command.everybodys)
    check_unused(found, command.name)
    end_subscription(state, turn, found)


def check_unused(subscription: Subscription, name: str) -> None:
    """Refuse to remove a subscription that somebody receives from.

    Args:
        subscription: The subscription.
        name: What it is called by who asks.

    Raises:
        RefusalError: It is in use.
    """
    if subscription.active:
        raise refusal(Mqrc.SUBSCRIPTION_IN_USE, f'The subscription "{name}" has a consumer; close it first.', name)


def find_subscription(state: State, connection: Connection, name: str, *, everybodys: bool) -> Subscription:
    """A durable subscription by its name.

    Args:
        state: The queue manager.
        connection: Whose subscription it is.
        name: Its name.
        everybodys: Whether it belongs to no client id.

    Raises:
        RefusalError: There is none of that name.
    """
    found = state.subscriptions.durable(None if everybodys else connection.client_id, name)
    if found is None:
        raise refusal(Mqrc.NO_SUBSCRIPTION, f'There is no durable subscription "{name}" of this client.', name)
    return found
