"""Deliveries: to receivers, back to the queue, consumed, expired."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assay_broker.core.delay.release import release
from assay_broker.core.effects import Deliver
from assay_broker.core.messages.alterations import with_annotations
from assay_broker.core.messages.entries import Entry, Place, UnitOfWork
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

_HELD, _COD = Place.HELD, Mqro.COD
"""Cached at import, because `Enum` attribute lookup is slow and this runs for each message."""


def pump(state: State, turn: Turn, queue: Queue) -> None:
    """Deliver everything that has a receiver with credit (PD-21), or is on its way to another queue manager."""
    if queue.onward is not None:
        _send_on(state, turn, queue, queue.onward)
    while (pair := queue.next_pair()) is not None:
        receiver, entry = pair
        if entry.unit is not None and entry.expired(turn.now_ms):  # its end, and a report, are for after the commit
            queue.disown(entry, entry.unit.owner)
        elif entry.expired(turn.now_ms):  # DD-56: never delivered, even if its Tick has not come yet
            discard_expired(state, turn, queue, entry)
        else:
            _hand_out(state, turn, queue, receiver, entry)
    state.queues.forget_if_idle(queue)


def _send_on(state: State, turn: Turn, queue: Queue, to: tuple[str, Address]) -> None:
    """Send all waiting messages to another queue manager; they stay, held, until it has taken them."""
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
    gate = entry.batch if entry.batch > receiver.gate else receiver.gate  # noqa: FURB136  a call for each message
    if receiver.settled:  # at most once: the copy goes as it leaves (QS-06)
        remove(state, turn, queue, entry, failed=False)
        if entry.recorded:  # at most once, a kill included: its removal is on disk before it leaves
            gate = turn.number
    else:
        queue.take(entry)
    receiver.gate = gate  # PD-24: a copy leaves when it is on disk, and none overtakes it on the link
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
    """Remove a copy that was consumed or has expired.

    Args:
        state: The queue manager.
        turn: The present turn.
        queue: Its queue.
        entry: The copy.
        failed: Whether it counts as a failed delivery if the store refuses the removal and the copy comes back.
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
    """Remove an expired copy, with a report if it asks for one."""
    with turn.together():
        send_report(state, turn, entry, Mqro.EXPIRATION)
        remove(state, turn, queue, entry, failed=False)


def consume(state: State, turn: Turn, delivery: Delivery) -> None:
    """Remove the message of an accepted delivery, which is kept until now (QS-08), and send a report if asked for."""
    entry = delivery.entry
    if entry.place is not _HELD:
        return  # its queue, or the unit of work that put it, has gone
    if wants(entry.message, _COD):
        with turn.together():
            send_report(state, turn, entry, Mqro.COD)
            remove(state, turn, delivery.queue, entry, failed=True)
    else:
        remove(state, turn, delivery.queue, entry, failed=True)
    turn.touch(delivery.queue)


def _restore(state: State, queue: Queue, entry: Entry, turn: Turn) -> None:
    """Undo `remove`."""
    if queue.gone and queue.on_use:
        queue = state.queues.restored(queue)
    if queue.gone:
        return
    queue.enter(entry)
    turn.touch(queue)
    if entry.expires_ms is not None:
        state.expiry.add(entry.key, entry.expires_ms, entry)


def _restore_failed(state: State, queue: Queue, entry: Entry, turn: Turn) -> None:
    """Undo `remove`, as a failed delivery."""
    entry.count += 1
    entry.redelivered = True
    _restore(state, queue, entry, turn)


def _restore_to(unit: UnitOfWork | None, entry: Entry, restore: Callable[[Turn], None], turn: Turn) -> None:
    """Undo `remove` of a copy of an open unit of work, unless the unit is over and took the copy with it."""
    if entry.unit is unit:
        restore(turn)


def give_back(state: State, turn: Turn, delivery: Delivery, *, failed: bool) -> None:
    """End a delivery without consumption: the message waits again at its original place.

    Args:
        state: The queue manager.
        turn: The present turn.
        delivery: The delivery.
        failed: Whether the delivery counts (JMS 3.4.7, 3.5.11).  A delivery that never left the broker does not.
    """
    entry, queue = delivery.entry, delivery.queue
    if entry.place is not Place.HELD:
        return  # its queue has gone
    if failed and not state.gate(delivery.gate):
        entry.count += 1
        entry.redelivered = True
        if entry.recorded:
            turn.record(MessageMarked(entry.key, entry.count), _nothing)
    if entry.unit is None and entry.expired(turn.now_ms):  # DD-56: its Tick came while it was held
        discard_expired(state, turn, queue, entry)
    else:
        queue.put_back(entry)
    turn.touch(queue)


def annotate(delivery: Delivery, annotations: bytes) -> None:
    """Change the annotations of a delivery's message until a restart.

    They are not stored, because storing the message anew would need room on a disk that may be full.

    Args:
        delivery: The delivery.
        annotations: Annotations to add or replace, as an encoded map.
    """
    entry = delivery.entry
    if entry.place is _HELD:  # else its queue has gone
        entry.message = with_annotations(entry.message, annotations)
        delivery.queue.entries.weigh(entry)


def _nothing(_turn: Turn) -> None:
    """Undo nothing: a mark that was not stored stands in memory, and a restart may forget it."""


def take_back_unsent(state: State, turn: Turn, delivery: Delivery) -> None:
    """Take back a delivery whose batch failed: the message waits again, and the receiver gets its credit back.

    If the receiver left before, the message was given back then and may be another receiver's by now.
    """
    receiver, entry = delivery.link, delivery.entry
    if receiver.unsettled.pop(delivery.number, None) is not None and entry.place is Place.HELD:
        delivery.queue.put_back(entry)
        if entry.expired(turn.now_ms):  # its Tick came while it was held, and another one is to come
            watch_expiry(state, entry)
    if receiver.state is LinkState.RECEIVING:
        receiver.grant(1)
    turn.touch(delivery.queue)


def expire_due(state: State, turn: Turn) -> None:
    """Remove all expired messages, staged or waiting (DD-56); held ones are left to their holders."""
    while (entry := state.expiry.pop_due(turn.now_ms)) is not None:
        if entry.place is Place.STAGED:
            release(state, turn, entry)
        elif entry.place is Place.WAITING:
            queue = state.queues.find(entry.home)
            if queue is not None:
                discard_expired(state, turn, queue, entry)
                turn.touch(queue)
