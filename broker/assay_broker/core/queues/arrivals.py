"""Messages arrive: outside a unit of work at once, inside one at its commit."""

from __future__ import annotations

from itertools import zip_longest

from msgspec.structs import replace

from assay_broker.core.clients.units import Pending, Work
from assay_broker.core.messages.entries import Entry, Place
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
"""Looked up once: for each message."""


def reserve(state: State, pending: Pending, places: int) -> None:
    """Reserve places for a message of an open unit of work (1), or give them back (-1)."""
    state.staging.reserved += places * pending.staged
    for queue in pending.queues:
        queue.reserved += places


def join(state: State, turn: Turn, unit: Work, pending: Pending) -> None:
    """A message becomes part of an open unit of work.

    One for a queue stands there at once, for its own session alone, if that is known (DD-25); a delayed one stands
    nowhere before the commit (DD-26), and a publication reaches nobody.
    """
    if (
        len(pending.queues) == 1
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
    """A message of a unit of work is everybody's."""
    entry = pending.entry
    if entry is None:
        reserve(state, pending, -1)
        place(state, turn, pending)
        return
    (queue,) = pending.queues
    queue.disown(entry, unit.owner)
    entry.unit = None
    turn.touch(queue)
    if entry.place is Place.GONE:
        return  # the unit itself has consumed it
    # It comes now, after everything that came since the send, and a start finds it at that place.
    queue.renumber(entry, state.next_key())
    entry.arrived_ms = turn.now_ms
    _arrive(state, turn, queue, entry)


def back_out(state: State, turn: Turn, unit: Work, pending: Pending) -> None:
    """A message of a unit of work was never sent."""
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
    """Put a message on the queues that it is for, or stage it for them.

    Queues that have gone since (a subscription that ended before the commit) are left out.
    """
    due_ms = pending.message.delivery_time_ms
    if pending.staged and due_ms is not None:
        # DD-27: a commit after the delay stages it all the same, and the processor moves it at once.
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
    """Put a message on its one queue: what most puts are, and only a report would have to happen together with it."""
    if queue.gone:
        return
    entry = new_entry(state, queue.home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms)
    if wants(entry.message, _COA):
        with turn.together():
            _arrive(state, turn, queue, entry)
    else:
        enter(state, turn, queue, entry)


def _stage(state: State, turn: Turn, pending: Pending, due_ms: int) -> None:
    """Stage a copy for each of the homes."""
    for home in pending.homes:
        entry = new_entry(
            state, home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms, due_ms=due_ms
        )
        queue = state.queues.find(home)
        if queue is None and home.startswith(SUBSCRIPTION_HOME):
            continue
        stage(state, turn, entry, due_ms, recorded=queue is None or queue.recorded)


def _arrive(state: State, turn: Turn, queue: Queue, entry: Entry) -> None:
    """A message reaches its target; a confirmation of arrival goes out if asked for, not before (DD-86)."""
    enter(state, turn, queue, entry)
    if queue.onward is None:
        send_report(state, turn, entry, Mqro.COA)
