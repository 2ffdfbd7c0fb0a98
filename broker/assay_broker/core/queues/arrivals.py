"""Arrival of messages: at the send outside a unit of work, or at the commit of a unit of work."""

from __future__ import annotations

from itertools import zip_longest

from msgspec.structs import replace

from assay_broker.core.clients.units import Pending, Work
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.messages.report_puts import send_report
from assay_broker.core.messages.reports import wants
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.queues.placement import enter, enter_uncommitted, new_entry, stage
from assay_broker.core.queues.queue import Queue
from assay_broker.core.state import State
from assay_broker.core.topics.retained_updates import retain
from assay_broker.core.turn import Turn
from assay_sdk.model.report_options import Mqro

_COA = Mqro.COA
"""Cached at import, because `Enum` lookups are slow.

Without caching, 13 lookups would take 0.8 of the 24 us that a message takes (`bench/broker.py durable`, 2026-11-28).
"""


def reserve(state: State, pending: Pending, places: int) -> None:
    """Reserve places on the queues for the copies of a message in an open unit of work, or free these places.

    Args:
        state: The queue manager.
        pending: The message.
        places: 1 to reserve a place for each copy, -1 to free the places.
    """
    state.staging.reserved += places * pending.staged
    for queue in pending.queues:
        queue.reserved += places


def join(state: State, turn: Turn, unit: Work, pending: Pending) -> None:
    """Add a message to an open unit of work.

    If the unit's session is known, a message for a queue that is not temporary enters the queue at once, and only that
    session can get it (DD-25). Any other message only reserves places: a delayed message is staged at the commit
    (DD-26), and a publication reaches its subscribers at the commit.
    """
    if (
        not pending.dead
        and len(pending.queues) == 1
        and pending.homes == (pending.queues[0].home,)
        and pending.queues[0].on_use
        and unit.owner[1] is not None
    ):
        (queue,) = pending.queues
        entry = new_entry(state, queue.home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms)
        enter_uncommitted(state, turn, queue, entry, unit)
        unit.puts.append(replace(pending, entry=entry))
    else:
        reserve(state, pending, 1)
        unit.puts.append(pending)


def commit(state: State, turn: Turn, unit: Work, pending: Pending) -> None:
    """Carry out a send of a unit of work at the commit: the message arrives on its queues, or is staged."""
    entry = pending.entry
    if entry is None:
        reserve(state, pending, -1)
        place(state, turn, pending)
        return
    (queue,) = pending.queues
    queue.disown(entry, unit.owner)
    entry.unit = None
    turn.touch(queue)
    if entry.state is CopyState.GONE:
        return  # the unit itself has consumed the copy already
    # The copy arrives now, behind messages that arrived since its send. The new key keeps that order over a restart.
    queue.renumber(entry, state.next_key())
    entry.arrived_ms = turn.now_ms
    _arrive(state, turn, queue, entry)


def back_out(state: State, turn: Turn, unit: Work, pending: Pending) -> None:
    """Drop a send of a unit of work at the backout: remove the message from its queue, or free its reserved places."""
    entry = pending.entry
    if entry is None:
        reserve(state, pending, -1)
    else:
        pending.queues[0].disown(entry, unit.owner)
        pending.queues[0].withdraw(entry)
        entry.unit = None
    for queue in pending.queues:
        turn.touch(queue)


def place(state: State, turn: Turn, pending: Pending) -> None:
    """Put the copies of a message on their queues, or stage them.

    Queues that were removed since the send get no copy, for example the queue of a subscription that has ended.
    """
    due_ms = pending.message.delivery_time_ms
    if pending.staged and due_ms is not None:
        # DD-27: a commit after the end of the delay stages the message, too; the processor releases it at once.
        with turn.together():
            _stage(state, turn, pending, due_ms)
        return
    if len(pending.queues) == 1 and pending.retained is None and not pending.dead:
        _place_one(state, turn, pending, pending.queues[0])
        return
    with turn.together():
        if pending.retained is not None:
            retain(state, turn, pending.retained, pending.message, pending.expires_ms)
        for queue, dead in zip_longest(pending.queues, pending.dead):
            if not queue.gone:
                entry = new_entry(
                    state, queue.home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms, dead=dead
                )
                _arrive(state, turn, queue, entry)


def _place_one(state: State, turn: Turn, pending: Pending, queue: Queue) -> None:
    """Put a message on its only queue, without a `together` block; most messages take this fast path."""
    if queue.gone:
        return
    entry = new_entry(state, queue.home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms)
    if wants(entry.message, _COA):
        with turn.together():
            _arrive(state, turn, queue, entry)
    else:
        enter(state, turn, queue, entry)


def _stage(state: State, turn: Turn, pending: Pending, due_ms: int) -> None:
    """Stage one copy of a message for each target, except for subscriptions that have ended."""
    for home in pending.homes:
        entry = new_entry(
            state, home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms, due_ms=due_ms
        )
        queue = state.queues.find(home)
        if queue is None and home.startswith(SUBSCRIPTION_HOME):
            continue
        stage(state, turn, entry, due_ms, recorded=queue is None or queue.recorded)


def _arrive(state: State, turn: Turn, queue: Queue, entry: Entry) -> None:
    """Put a message on its queue, and send the confirmation of arrival (COA) if the message asks for one.

    A message on a transmission queue has not arrived yet, so no confirmation is sent.
    """
    enter(state, turn, queue, entry)
    if queue.onward is None:
        send_report(state, turn, entry, Mqro.COA)
