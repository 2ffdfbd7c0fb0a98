"""Placement of message copies: on a queue, committed or not, or on the staging queue."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from assay_broker.core.clients.units import Work
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.messages.headers import DeadLetterHeader
from assay_broker.core.queues.queue import Queue
from assay_broker.core.records import MessageStored
from assay_broker.core.state import State
from assay_broker.core.turn import Turn
from assay_sdk.model.message import DEFAULT_PRIORITY, Message

_HELD = CopyState.HELD
"""Cached at import, because `Enum` lookups are slow.

Without caching, 13 lookups would take 0.8 of the 24 us that a message takes (`bench/broker.py durable`, 2026-11-28).
"""


def new_entry(
    state: State,
    home: str,
    message: Message,
    *,
    now_ms: int,
    expires_ms: int | None,
    due_ms: int | None = None,
    dead: DeadLetterHeader | None = None,
    via: tuple[str, ...] = (),
) -> Entry:
    """Return a new copy of a message, not on a queue yet.

    `Entry` explains the arguments; `now_ms` is the time of arrival, in milliseconds since the epoch.
    """
    return Entry(
        key=state.next_key(),
        home=home,
        message=message,
        priority=DEFAULT_PRIORITY if message.priority is None else message.priority,
        recorded=False,
        arrived_ms=now_ms,
        expires_ms=expires_ms,
        due_ms=due_ms,
        dead=dead,
        via=via,
    )


def enter(state: State, turn: Turn, queue: Queue, entry: Entry) -> None:
    """Put a copy on a queue.

    The store gets a record of the copy only if its message is persistent (PD-20, PD-22, PD-23, PD-31) and the store
    holds the persistent messages of the queue (PD-26, PD-27).
    """
    settle_persistence(queue, entry)
    if entry.recorded:
        entry.batch = turn.record(stored(entry), partial(_withdraw, state, queue, entry))
    elif turn.is_together:
        turn.unrecorded(entry, partial(_withdraw, state, queue, entry))
    entry.order = state.next_order()
    if entry.state is _HELD:  # a receiver of the unit's own session got the copy before the commit (DD-25)
        queue.entries.add(entry)
    else:
        queue.enter(entry)
    if entry.expires_ms is not None:
        watch_expiry(state, entry)
    turn.touch(queue)


def settle_persistence(queue: Queue, entry: Entry) -> None:
    """Decide whether a copy is persistent on its queue, and whether the store has to hold it."""
    if queue.lossy and entry.message.durable:
        entry.message = replace(entry.message, durable=False)
    entry.recorded = queue.recorded and entry.message.durable is True


def enter_uncommitted(state: State, turn: Turn, queue: Queue, entry: Entry, unit: Work) -> None:
    """Put a copy of an open unit of work on a queue, where only the unit's own session can get it (DD-25)."""
    entry.unit = unit
    entry.order = state.next_order()
    queue.enter_uncommitted(entry, unit.owner)
    turn.touch(queue)


def stage(state: State, turn: Turn, entry: Entry, due_ms: int, *, recorded: bool) -> None:
    """Stage a copy until its delay is over (DD-05).

    Args:
        state: The queue manager.
        turn: The present turn.
        entry: The copy.
        due_ms: When the delay is over, in milliseconds since the epoch.
        recorded: Whether to record a copy of a persistent message (DD-03); a copy of a non-persistent message is never
            recorded (DD-48).
    """
    entry.recorded = recorded and entry.message.durable is True
    if entry.recorded:
        entry.batch = turn.record(stored(entry), partial(_unstage, state, entry))
    else:
        turn.unrecorded(entry, partial(_unstage, state, entry))
    stage_again(state, entry, due_ms)


def stage_again(state: State, entry: Entry, due_ms: int) -> None:
    """Stage a copy; the caller records the copy, unless the store holds it already.

    Args:
        state: The queue manager.
        entry: The copy.
        due_ms: When the delay is over, in milliseconds since the epoch.
    """
    settings = state.settings
    release_ms = due_ms + settings.release_after_ms
    if settings.release_every_ms:
        release_ms += -release_ms % settings.release_every_ms
    state.staging.stage(entry, release_ms)
    watch_expiry(state, entry)


def watch_expiry(state: State, entry: Entry) -> None:
    """Schedule the expiry of a copy that has a time to live."""
    if entry.expires_ms is not None:
        state.expiry.add(entry.key, entry.expires_ms, entry)


def stored(entry: Entry, unit: int | None = None) -> MessageStored:
    """Return the record of a copy.

    Args:
        entry: The copy.
        unit: The number of the prepared branch that put the copy; None if no prepared branch put it.
    """
    return MessageStored(
        key=entry.key,
        home=entry.home,
        message=entry.message,
        arrived_ms=entry.arrived_ms,
        expires_ms=entry.expires_ms,
        due_ms=entry.due_ms,
        dead=entry.dead,
        via=entry.via,
        unit=unit,
    )


def _withdraw(state: State, queue: Queue, entry: Entry, _turn: Turn) -> None:
    """Undo `enter`: remove the copy from its queue.

    If the copy has expired meanwhile and its queue was dropped as unused, the undo of the expiry has already restored
    the queue.
    """
    (state.queues.find(queue.home) or queue).withdraw(entry)
    state.expiry.discard(entry.key)


def _unstage(state: State, entry: Entry, _turn: Turn) -> None:
    """Undo `stage`: remove the copy from the staging queue."""
    state.staging.unstage(entry)
    state.expiry.discard(entry.key)
    entry.state = CopyState.GONE
