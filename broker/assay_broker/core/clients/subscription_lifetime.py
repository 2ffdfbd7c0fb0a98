"""The lifetime of subscriptions: their creation, their time to live after the last receiver, and their end.

The time to live of a subscription begins when its last receiver leaves, for any reason (AMQP:31). The core records when
the receiver left, so the time to live continues over a restart. If the subscription had a receiver when the queue
manager was killed, the time to live begins at the next start.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assay_broker.core.clients.connections import Connection
from assay_broker.core.commands import Unsubscribe
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.queues.queue import Queue
from assay_broker.core.records import MessageRemoved, SubscriptionDefined, SubscriptionRemoved
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.topics.subscriptions import Subscription, Terms
from assay_broker.core.turn import Turn
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.selectors import Selector

_RETRY_MS = 1_000
"""The time in milliseconds before the core tries again to end a subscription whose end the store refused."""


def new_subscription(
    number: int, terms: Terms, selector: Selector | None, connection: int, model: Definition
) -> Subscription:
    """Return a new subscription with its queue; it receives publications only after `add_subscription`.

    Args:
        number: The number of the subscription.
        terms: The terms of the subscription.
        selector: The parsed selector; None without a selector.
        connection: The number of the connection that opens the subscription; 0 at a recovery.
        model: The definition with the attributes of the subscription's queue.
    """
    queue = Queue(
        f"{SUBSCRIPTION_HOME}{number}",
        terms.name or terms.managed_queue(number),
        model,
        recorded=terms.durable,
    )
    return Subscription(number, terms, selector, connection, queue)


def add_subscription(state: State, subscription: Subscription) -> None:
    """Add a new subscription to the state; it receives publications from now on."""
    state.queues.add(subscription.queue)
    _remember(state, subscription)


def _remember(state: State, subscription: Subscription) -> None:
    state.topics.add(subscription)
    state.subscriptions.add(subscription)


def forget_subscription(state: State, subscription: Subscription) -> None:
    """Remove a subscription and its queue from the state; the caller removes the messages."""
    state.endings.discard(subscription.number)
    state.topics.discard(subscription)
    state.subscriptions.discard(subscription)
    state.queues.forget(subscription.queue)


def defined(subscription: Subscription) -> SubscriptionDefined:
    """Return the record of a durable subscription."""
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
    """Handle the end of a subscription's receiver (PD-12, QS-20).

    A non-durable subscription, or one with a time to live of 0, ends with its last receiver. For any other subscription
    with a time to live, that time begins.
    """
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
    """Undo nothing: the receiver has left. Without the record, the time to live begins anew at the next start."""


def wait_for_end(state: State, subscription: Subscription) -> None:
    """Schedule the end of a subscription if its time to live has begun; otherwise do nothing."""
    if subscription.ends_ms is not None:
        state.endings.add(subscription.number, subscription.ends_ms, subscription)


def resume(state: State, turn: Turn, subscription: Subscription, terms: Terms, expel: Callable[[Turn], None]) -> None:
    """Prepare an existing subscription for a new receiver, which also gets the stored messages (PD-25, QS-21).

    The subscription gets the time to live of the receiver's terms. This time does not run while the subscription has a
    receiver.

    Args:
        state: The queue manager.
        turn: The present turn.
        subscription: The subscription.
        terms: The terms that the receiver asks for.
        expel: A function that closes the receiver if the store refuses the change.
    """
    before, left_ms = subscription.terms, subscription.left_ms
    if terms.timeout_ms == before.timeout_ms and left_ms is None:
        return
    subscription.terms, subscription.left_ms = terms, None
    state.endings.discard(subscription.number)

    def not_resumed(failed: Turn) -> None:
        subscription.terms = before
        failed.once_undone(expel)
        failed.once_undone(partial(_go_on, state, subscription, left_ms))

    turn.record(defined(subscription), not_resumed)


def _go_on(state: State, subscription: Subscription, left_ms: int | None, turn: Turn) -> None:
    """Undo `resume`: the time to live continues as if no receiver had opened the subscription.

    Args:
        state: The queue manager.
        subscription: The subscription, with its former terms.
        left_ms: When the last receiver left before `resume`, in milliseconds since the epoch; None if the time to live
            did not run.
        turn: The turn that handles the store's refusal.
    """
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
    """End every subscription whose time to live is over, and remove all its messages (QS-22)."""
    while (subscription := state.endings.pop_due(turn.now_ms)) is not None:
        end_subscription(state, turn, subscription)


def end_subscription(state: State, turn: Turn, subscription: Subscription) -> None:
    """End a subscription, and remove all messages from its queue (PD-12, PD-27, QS-22).

    The delay processor drops the staged copies of the subscription when their delay is over (DD-76).
    """
    with turn.together():
        if subscription.terms.durable:
            turn.record(SubscriptionRemoved(subscription.number), partial(_revive, state, subscription))
        forget_subscription(state, subscription)
        drop_entries(state, turn, subscription.queue)


def drop_entries(state: State, turn: Turn, queue: Queue) -> None:
    """Remove all messages of a queue, because the caller removes the queue."""
    for entry in queue.entries.values():
        enter_again = partial(_enter_again, queue, entry, held=entry.state is CopyState.HELD)
        entry.state = CopyState.GONE
        state.expiry.discard(entry.key)
        if entry.recorded:
            turn.record(MessageRemoved(entry.key), enter_again)
        else:
            turn.unrecorded(entry, enter_again)
    queue.clear()


def _enter_again(queue: Queue, entry: Entry, _turn: Turn, *, held: bool) -> None:
    """Undo one removal of `drop_entries`: the message waits, is held or is uncommitted again, as before the removal."""
    queue.enter(entry)
    if held:
        queue.take(entry)


def _revive(state: State, subscription: Subscription, turn: Turn) -> None:
    """Undo `end_subscription`: restore the subscription and its queue.

    The undo of each removal has returned the messages to the queue already.
    """
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
        RefusalError: The client has no durable subscription of that name, or the subscription is in use.
    """
    found = find_subscription(state, connection, command.name, is_global=command.is_global)
    check_unused(found, command.name)
    end_subscription(state, turn, found)


def check_unused(subscription: Subscription, name: str) -> None:
    """Refuse to remove a subscription that is in use.

    Args:
        subscription: The subscription.
        name: The name in the command.

    Raises:
        RefusalError: The subscription has a receiver, or a unit of work holds some of its messages.
    """
    if subscription.active:
        raise refusal(Mqrc.SUBSCRIPTION_IN_USE, f'The subscription "{name}" is in use; close its consumer first.', name)


def find_subscription(state: State, connection: Connection, name: str, *, is_global: bool) -> Subscription:
    """Return a durable subscription by its name.

    Args:
        state: The queue manager.
        connection: The connection of the client.
        name: The subscription's name.
        is_global: Whether to find a shared subscription that belongs to no client id, instead of a subscription of the
            client id.

    Raises:
        RefusalError: The client has no durable subscription of that name.
    """
    found = state.subscriptions.durable(None if is_global else connection.client_id, name)
    if found is None:
        raise refusal(Mqrc.NO_SUBSCRIPTION, f'This client has no durable subscription "{name}".', name)
    return found
