"""The lifetime of subscriptions: creation, time to live after the last receiver, end.

The time to live begins when the last receiver leaves, for whatever reason (AMQP:31). The moment is recorded, so a
restart does not begin the time anew. For a subscription that had a receiver when the queue manager ended, the time
begins at the next start.
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
"""How long after the store has refused the end of a subscription the end is tried again."""


def make_subscription(
    state: State, number: int, terms: Terms, selector: Selector | None, connection: int
) -> Subscription:
    """Create a subscription with its queue; later publications are matched against it."""
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
    """Remove a subscription from the state, without its messages."""
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
    """End a subscription after its last receiver at once, begin its time to live, or keep it (PD-12, QS-20)."""
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
    """Undo nothing: the receiver has left, and a restart without the record counts from the start."""


def wait_for_end(state: State, subscription: Subscription) -> None:
    """Schedule the end of a subscription without receivers for the end of its time to live."""
    if subscription.ends_ms is not None:
        state.endings.add(subscription.number, subscription.ends_ms, subscription)


def resume(state: State, turn: Turn, subscription: Subscription, terms: Terms, expel: Callable[[Turn], None]) -> None:
    """Give a subscription to a receiver, which also gets the messages that came meanwhile (PD-25, QS-21).

    The receiver sets the subscription's time to live anew; the time does not run while it has a receiver.

    Args:
        state: The queue manager.
        turn: The present turn.
        subscription: The subscription.
        terms: What the receiver asks for.
        expel: Closes the receiver if the store refuses the change.
    """
    before, left_ms = subscription.terms, subscription.left_ms
    if terms.timeout_ms == before.timeout_ms and left_ms is None:
        return
    subscription.terms, subscription.left_ms = terms, None
    state.endings.discard(subscription.number)

    def not_resumed(failed: Turn) -> None:
        subscription.terms = before  # the receiver leaves without having changed them
        failed.once_undone(expel)
        failed.once_undone(partial(_go_on, state, subscription, left_ms))

    turn.record(defined(subscription), not_resumed)


def _go_on(state: State, subscription: Subscription, left_ms: int | None, turn: Turn) -> None:
    """Undo `resume`: the time to live continues as if no receiver had come."""
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
    """End every subscription whose time to live is over, with all its messages (QS-22)."""
    while (subscription := state.endings.pop_due(turn.now_ms)) is not None:
        end_subscription(state, turn, subscription)


def end_subscription(state: State, turn: Turn, subscription: Subscription) -> None:
    """End a subscription, with all messages on its queue (PD-12, PD-27, QS-22).

    Its staged copies are dropped when their delay is over (DD-51).
    """
    with turn.together():
        if subscription.terms.durable:
            turn.record(SubscriptionRemoved(subscription.number), partial(_revive, state, subscription))
        forget_subscription(state, subscription)
        drop_entries(state, turn, subscription.queue)


def drop_entries(state: State, turn: Turn, queue: Queue) -> None:
    """Remove all messages of a queue that is removed."""
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
    """Undo one removal of `drop_entries`; a message that a unit of work held is held again."""
    queue.enter(entry)
    if held:
        queue.take(entry)


def _revive(state: State, subscription: Subscription, turn: Turn) -> None:
    """Undo `end_subscription`; the messages are back already, by the undo of each removal."""
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
    """Refuse to remove a subscription that has a receiver.

    Args:
        subscription: The subscription.
        name: The name in the command.

    Raises:
        RefusalError: It is in use.
    """
    if subscription.active:
        raise refusal(Mqrc.SUBSCRIPTION_IN_USE, f'The subscription "{name}" has a consumer; close it first.', name)


def find_subscription(state: State, connection: Connection, name: str, *, everybodys: bool) -> Subscription:
    """Return a durable subscription by its name.

    Args:
        state: The queue manager.
        connection: The connection with the subscription's client id.
        name: Its name.
        everybodys: Whether it belongs to no client id.

    Raises:
        RefusalError: There is none of that name.
    """
    found = state.subscriptions.durable(None if everybodys else connection.client_id, name)
    if found is None:
        raise refusal(Mqrc.NO_SUBSCRIPTION, f'There is no durable subscription "{name}" of this client.', name)
    return found
