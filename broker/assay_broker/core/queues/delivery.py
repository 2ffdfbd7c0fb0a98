"""Deliveries to receivers and to other queue managers, and the removal or return of delivered messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assay_broker.core.delay.release import release
from assay_broker.core.effects import Deliver
from assay_broker.core.messages.alterations import with_annotations
from assay_broker.core.messages.entries import CopyState, Entry, UnitOfWork
from assay_broker.core.messages.report_puts import send_report
from assay_broker.core.messages.reports import wants
from assay_broker.core.networks.parcels import Carry
from assay_broker.core.queues.placement import watch_expiry
from assay_broker.core.queues.queue import Delivery, Queue, Receiver
from assay_broker.core.records import MessageMarked, MessageRemoved
from assay_broker.core.state import State
from assay_broker.core.states.links import LinkState
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Address
from assay_sdk.model.report_options import Mqro

_HELD, _COD = CopyState.HELD, Mqro.COD
"""Cached at import, because `Enum` lookups are slow.

Without caching, 13 lookups would take 0.8 of the 24 us that a message takes (`bench/broker.py durable`, 2026-11-28).
"""


def pump(state: State, turn: Turn, queue: Queue) -> None:
    """Deliver messages of a queue while a receiver with credit can get one (PD-21).

    The messages of a transmission queue are sent to the other queue manager.
    """
    if queue.onward is not None:
        _send_on(state, turn, queue, queue.onward)
    while (pair := queue.next_pair()) is not None:
        receiver, entry = pair
        if entry.unit is not None and entry.expired(turn.now_ms):  # an uncommitted copy expires only after the commit
            queue.disown(entry, entry.unit.owner)
        elif entry.expired(turn.now_ms):  # DD-56: never delivered, even before the Tick that removes it
            discard_expired(state, turn, queue, entry)
        else:
            _hand_out(state, turn, queue, receiver, entry)
    state.queues.forget_if_idle(queue)


def _send_on(state: State, turn: Turn, queue: Queue, to: tuple[str, Address]) -> None:
    """Send all waiting messages to another queue manager, and hold them until it answers `Taken`.

    Args:
        state: The queue manager.
        turn: The present turn.
        queue: The transmission queue.
        to: The name of the other queue manager, and the destination there.
    """
    member, target = to
    for entry in queue.waiting():
        if entry.expired(turn.now_ms):
            discard_expired(state, turn, queue, entry)
            continue
        queue.take(entry)
        carry = Carry(
            number=entry.key,
            target=target,
            message=entry.message,
            expires_ms=entry.expires_ms,
            via=(*entry.via, state.settings.name),
        )
        turn.to_member(member, carry, gate=state.gate(entry.batch))


def _hand_out(state: State, turn: Turn, queue: Queue, receiver: Receiver, entry: Entry) -> None:
    number = state.connections.anywhere(receiver.connection).next_delivery()
    gate = max(entry.batch, receiver.gate)
    if receiver.settled:  # at most once: the queue manager removes the copy when it sends it (QS-06)
        remove(state, turn, queue, entry, failed=False)
        if entry.recorded:  # the removal is on disk before the copy is sent, so that no kill causes a second delivery
            gate = turn.number
    else:
        queue.take(entry)
    receiver.gate = gate  # PD-24: a copy is sent after it is on disk, and later copies on the link wait
    delivery = Delivery(number, entry, queue, receiver, gate)
    if not receiver.settled:
        receiver.unsettled[number] = delivery
    queue.served(receiver, entry)
    effect = Deliver(
        connection=receiver.connection,
        link=receiver.number,
        origin=receiver.origin,
        delivery=number,
        message=entry.message,
        count=entry.count,
        redelivered=entry.redelivered,
        after=state.gate(gate) or None,
        settled=receiver.settled,
    )
    turn.deliver(delivery, effect)


def remove(state: State, turn: Turn, queue: Queue, entry: Entry, *, failed: bool) -> None:
    """Remove a copy from its queue, for example because it was consumed or has expired.

    Args:
        state: The queue manager.
        turn: The present turn.
        queue: The copy's queue.
        entry: The copy.
        failed: Whether the delivery counts as failed if the store refuses the removal, so that the copy stays.
    """
    queue.remove(entry)
    if entry.expires_ms is not None:
        state.expiry.discard(entry.key)
    restore = _restore_failed if failed else _restore
    if entry.recorded:
        turn.record(MessageRemoved(entry.key), partial(restore, state, queue, entry))
    elif turn.is_together:
        turn.unrecorded(entry, partial(_restore_to, entry.unit, entry, partial(restore, state, queue, entry)))


def discard_expired(state: State, turn: Turn, queue: Queue, entry: Entry) -> None:
    """Remove an expired copy, and send an expiration report if the message asks for one."""
    with turn.together():
        send_report(state, turn, entry, Mqro.EXPIRATION)
        remove(state, turn, queue, entry, failed=False)


def consume(state: State, turn: Turn, delivery: Delivery) -> None:
    """Remove the message of an accepted or rejected delivery (QS-08).

    If the message asks for a confirmation of delivery (COD), send this report.
    """
    entry = delivery.entry
    if entry.state is not _HELD:
        return  # the copy's queue was removed, or the unit of work that put the copy was backed out
    if wants(entry.message, _COD):
        with turn.together():
            send_report(state, turn, entry, Mqro.COD)
            remove(state, turn, delivery.queue, entry, failed=True)
    else:
        remove(state, turn, delivery.queue, entry, failed=True)
    turn.touch(delivery.queue)


def _restore(state: State, queue: Queue, entry: Entry, turn: Turn) -> None:
    """Undo `remove`: add the copy to its queue again; restore a queue that was dropped as unused."""
    if queue.gone and queue.on_use:
        queue = state.queues.restored(queue)
    if queue.gone:
        return
    queue.enter(entry)
    turn.touch(queue)
    if entry.expires_ms is not None:
        state.expiry.add(entry.key, entry.expires_ms, entry)


def _restore_failed(state: State, queue: Queue, entry: Entry, turn: Turn) -> None:
    """Undo `remove`: add the copy to its queue again, as after a failed delivery."""
    entry.count += 1
    entry.redelivered = True
    _restore(state, queue, entry, turn)


def _restore_to(unit: UnitOfWork | None, entry: Entry, restore: Callable[[Turn], None], turn: Turn) -> None:
    """Undo `remove`, unless the unit of work that put the copy has ended since; the copy then no longer exists.

    Args:
        unit: The copy's unit of work at the removal (`Entry.unit`); None without a unit of work.
        entry: The copy.
        restore: The function that undoes the removal.
        turn: The turn that handles the store's refusal.
    """
    if entry.unit is unit:
        restore(turn)


def give_back(state: State, turn: Turn, delivery: Delivery, *, failed: bool) -> None:
    """End a delivery without consumption: the message waits again at its original position; if expired, it is removed.

    Args:
        state: The queue manager.
        turn: The present turn.
        delivery: The delivery.
        failed: Whether the delivery counts as failed (JMS 2.0, 3.4.7, 3.5.11). A delivery that the broker has not sent
            yet never counts as failed.
    """
    entry, queue = delivery.entry, delivery.queue
    if entry.state is not CopyState.HELD:
        return  # the copy's queue was removed
    if failed and not state.gate(delivery.gate):
        entry.count += 1
        entry.redelivered = True
        if entry.recorded:
            turn.record(MessageMarked(entry.key, entry.count), _nothing)
    if entry.unit is None and entry.expired(turn.now_ms):  # DD-56: the copy expired while it was held
        discard_expired(state, turn, queue, entry)
    else:
        queue.put_back(entry)
    turn.touch(queue)


def annotate(delivery: Delivery, annotations: bytes) -> None:
    """Change the annotations of a delivery's message; the change is lost at a restart.

    The change is not recorded, because a new record of the message needs space on a disk that may be full.

    Args:
        delivery: The delivery.
        annotations: Annotations that the message gets, as an encoded map; they replace annotations with the same keys.
    """
    entry = delivery.entry
    if entry.state is _HELD:  # otherwise the copy's queue was removed
        entry.message = with_annotations(entry.message, annotations)
        delivery.queue.entries.weigh(entry)


def _nothing(_turn: Turn) -> None:
    """Undo nothing: the mark stays in memory and is lost at a restart, which JMS allows (`MessageMarked`)."""


def take_back_unsent(state: State, turn: Turn, delivery: Delivery) -> None:
    """Take back a delivery whose batch failed: the message waits again, and the receiver gets its credit back.

    If the receiver was closed before, the message has returned to the queue already, and another receiver may have the
    message.
    """
    receiver, entry = delivery.link, delivery.entry
    if receiver.unsettled.pop(delivery.number, None) is not None and entry.state is CopyState.HELD:
        delivery.queue.put_back(entry)
        if entry.expired(turn.now_ms):  # the copy expired while it was held, so the next Tick has to remove it
            watch_expiry(state, entry)
    if receiver.state is LinkState.RECEIVING:
        receiver.grant(1)
    turn.touch(delivery.queue)


def expire_due(state: State, turn: Turn) -> None:
    """Remove all expired messages that are staged or waiting (DD-56).

    A held message expires only after its delivery has ended without consumption, or after its branch was backed out. A
    persistent staged message stays staged if it asks for a report that no queue can take now (DD-74).
    """
    while (entry := state.expiry.pop_due(turn.now_ms)) is not None:
        if entry.state is CopyState.STAGED:
            release(state, turn, entry)
        elif entry.state is CopyState.WAITING:
            queue = state.queues.find(entry.home)
            if queue is not None:
                discard_expired(state, turn, queue, entry)
                turn.touch(queue)
