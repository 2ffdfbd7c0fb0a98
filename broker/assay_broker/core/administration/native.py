"""Puts, gets and browses of administrators, through the queue manager's own interface."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from assay_broker.core.administration.changes import NativeBrowse, NativePut, NativeTake
from assay_broker.core.delay.release import unstage
from assay_broker.core.messages.descriptor import Described, describe, shown_ids
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.networks.clusters import check_here
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind
from assay_broker.core.queues.delivery import remove
from assay_broker.core.queues.homes import home_of
from assay_broker.core.queues.placement import enter, new_entry
from assay_broker.core.queues.resolution import resolve
from assay_broker.core.queues.send_checks import check_put, expiry
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.topics.subscriptions import Subscription
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc


def native_put(state: State, turn: Turn, put: NativePut) -> None:
    """Put a message for an administrator; only a JMS client can delay messages (DD-20).

    Raises:
        RefusalError: The message is not valid or has a delay, or the queue does not exist or cannot take the message.
    """
    if put.delay_ms or put.message.delivery_time_ms is not None:
        raise refusal(Mqrc.OPTIONS_ERROR, "Only JMS clients can put with a delivery delay; put without one.", put.queue)
    target, message = check_put(state, put.queue, put.message)
    entry = new_entry(state, target.home, message, now_ms=turn.now_ms, expires_ms=expiry(message, turn.now_ms))
    enter(state, turn, target, entry)


def native_browse(state: State, turn: Turn, browse: NativeBrowse) -> tuple[Described, ...]:
    """Return the waiting messages of a queue that match the ids in the command, up to the command's limit.

    For the staging queue, the staged messages come first, in the order of their due times.

    Raises:
        RefusalError: The queue does not exist, or belongs to another queue manager.
    """
    manager = state.settings.name
    found = islice(_matching(state, turn, browse), browse.limit)
    return tuple(describe(entry, manager, turn.now_ms) for entry in found)


def native_take(state: State, turn: Turn, take: NativeTake) -> tuple[Described, ...]:
    """Remove and return the first message of a queue that matches the ids in the command; empty if none matches.

    A staged message that is removed is never delivered (DD-38).

    Raises:
        RefusalError: The queue does not exist, belongs to another queue manager, or is disabled for gets.
    """
    _check_get(state, take.queue)
    for entry in _matching(state, turn, take):
        shown = describe(entry, state.settings.name, turn.now_ms)
        if entry.state is CopyState.STAGED:
            unstage(state, turn, entry)
        else:
            queue = state.queues.find(entry.home)
            if queue is not None:
                remove(state, turn, queue, entry, failed=False)
                turn.touch(queue)
        return (shown,)
    return ()


def _check_get(state: State, name: str) -> None:
    """Refuse a get if the named queue, or the queue to which a named alias leads, is disabled for gets."""
    named = state.objects.queue(name)
    base = None if named is None else state.objects.queue(named.text("TARGET")) if named.kind is Kind.QALIAS else named
    for one in (named, base):
        if one is not None and one.says("GET", "DISABLED"):
            raise refusal(Mqrc.GET_INHIBITED, f"{one.name} is disabled for gets.", one.name)


def _matching(state: State, turn: Turn, asked: NativeBrowse | NativeTake) -> Iterator[Entry]:
    """Return the messages of a queue that match the ids in the command and have not expired."""
    manager = state.settings.name
    anything = asked.correlation_id is None and asked.message_id is None
    for entry in _gettable(state, asked.queue):
        if entry.expired(turn.now_ms):
            continue
        if not anything:
            message_id, correlation_id = shown_ids(entry, manager)
            if asked.message_id not in {None, message_id} or asked.correlation_id not in {None, correlation_id}:
                continue
        yield entry


def _gettable(state: State, name: str) -> list[Entry]:
    """Return the messages that an administrator can get from a queue: waiting and, on the staging queue, staged ones.

    Args:
        state: The queue manager.
        name: The name of a queue; the name of a subscription's queue is valid, too.

    Raises:
        RefusalError: The queue does not exist, or belongs to another queue manager.
    """
    if name == STAGING_QUEUE:
        if state.objects.queue(name) is None:
            raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no queue {name}; define it first.", name)
        other = state.queues.find(home_of(name))
        return [*state.staging, *(() if other is None else other.waiting())]
    subscriptions = (one for one in state.topics if isinstance(one, Subscription))
    managed = next((one.queue for one in subscriptions if one.managed_queue == name), None)
    if managed is not None:
        return managed.waiting()
    queue = resolve(state, Address(AddressKind.QUEUE, name)).queue
    if queue is not None:
        check_here(queue)
    return [] if queue is None else queue.waiting()
