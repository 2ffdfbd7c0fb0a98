"""The messages of a branch in doubt: prepared, committed, backed out, and recovered at a start.

After the prepare, the copies that the branch has put stand uncommitted on their queues or have a reserved place on the
staging queue, and the copies that it has accepted are held. They no longer belong to a connection or link. The store
has a `UnitPrepared` record, and for each persistent copy a `MessageStored` with the branch's number. The number has no
effect any more once the branch is not in doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import zip_longest

from assay_broker.core.clients.branches import Branch, KeptPublication, Standing
from assay_broker.core.clients.units import Pending
from assay_broker.core.messages.entries import Entry, Place
from assay_broker.core.messages.report_puts import send_report
from assay_broker.core.queues.arrivals import reserve
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.queues.placement import new_entry, settle_persistence, stage_again, stored, watch_expiry
from assay_broker.core.queues.queue import Queue, Receiver
from assay_broker.core.records import KeptForTopic, MessageMarked, MessageRemoved, Record, UnitPrepared
from assay_broker.core.state import State
from assay_broker.core.topics.retained_updates import retain
from assay_broker.core.turn import Turn
from assay_sdk.model.report_options import Mqro


def secure(state: State, turn: Turn, branch: Branch) -> None:
    """Prepare a branch: keep its messages for commit or backout, and record them in one batch."""
    own = {delivery.entry.key for delivery in branch.settled}
    for delivery in branch.settled:
        delivery.link.unsettled.pop(delivery.number, None)
        if delivery.entry.place is Place.HELD:  # otherwise its queue has gone
            branch.got.append(Standing(delivery.entry, delivery.queue))
    for pending in branch.puts:
        if pending.retained is not None:
            branch.kept.append(KeptPublication(pending.retained, pending.message, pending.expires_ms))
        _secure_put(state, turn, branch, pending, own)
    branch.settled.clear()
    branch.puts.clear()
    branch.prepared_ms = turn.now_ms
    for standing in branch.sent:
        entry = standing.entry
        if entry.recorded:
            entry.batch = turn.record(stored(entry, unit=branch.number), nothing)
    turn.record(_prepared(branch, turn.now_ms), partial(_unprepare, state, branch))


def _prepared(branch: Branch, now_ms: int) -> UnitPrepared:
    return UnitPrepared(
        number=branch.number,
        xid=branch.xid,
        prepared_ms=now_ms,
        sent=tuple(standing.entry.key for standing in branch.sent),
        got=tuple(standing.entry.key for standing in branch.got),
        kept=tuple(
            KeptForTopic(one.kept.topic, one.message, one.expires_ms, one.kept.client_id)
            for one in branch.kept
            if one.message.durable
        ),
    )


def _secure_put(state: State, turn: Turn, branch: Branch, pending: Pending, own: set[int]) -> None:
    """Put a message uncommitted on the queues that it is for, or reserve its places on the staging queue."""
    if pending.entry is not None:
        (queue,) = pending.queues
        queue.disown(pending.entry, branch.owner)
        if pending.entry.place is Place.HELD and pending.entry.key not in own:
            _take_back_from_session(state, queue, pending.entry)
        if pending.entry.place is Place.UNCOMMITTED:  # otherwise the branch itself has got it
            _stand(branch, queue, pending.entry)
        return
    due_ms = pending.message.delivery_time_ms
    reserve(state, pending, -1)
    if pending.staged and due_ms is not None:
        for home in pending.homes:
            target = state.queues.find(home)
            if target is None and home.startswith(SUBSCRIPTION_HOME):
                continue  # the subscription has ended
            entry = new_entry(
                state, home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms, due_ms=due_ms
            )
            entry.recorded = (target is None or target.recorded) and entry.message.durable is True
            stand_by_for_staging(state, branch, entry)
        return
    for queue, dead in zip_longest(pending.queues, pending.dead):
        if not queue.gone:
            entry = new_entry(
                state, queue.home, pending.message, now_ms=turn.now_ms, expires_ms=pending.expires_ms, dead=dead
            )
            entry.order = state.next_order()
            _stand(branch, queue, entry)


def _stand(branch: Branch, queue: Queue, entry: Entry) -> None:
    settle_persistence(queue, entry)
    stand_uncommitted(branch, queue, entry)


def stand_uncommitted(branch: Branch, queue: Queue, entry: Entry) -> None:
    """Put a copy on its queue so that no receiver can get it before the branch is committed."""
    entry.unit = branch
    queue.enter_unseen(entry)
    branch.sent.append(Standing(entry, queue))


def stand_by_for_staging(state: State, branch: Branch, entry: Entry) -> None:
    """Reserve a place on the staging queue for a delayed copy; it is staged when the branch is committed."""
    entry.unit = branch
    entry.place = Place.UNCOMMITTED
    state.staging.reserved += 1
    branch.sent.append(Standing(entry, None))


def hold(branch: Branch, queue: Queue, entry: Entry) -> None:
    """Hold a waiting copy for the branch that had accepted it."""
    queue.take(entry)
    branch.got.append(Standing(entry, queue))


def _take_back_from_session(state: State, queue: Queue, entry: Entry) -> None:
    """Take back a copy that the branch put and its own session received but has not accepted."""
    for connection in state.connections.everywhere():
        for link in connection.links.values():
            if isinstance(link, Receiver) and link.queue is queue:
                for number in [number for number, one in link.unsettled.items() if one.entry is entry]:
                    del link.unsettled[number]
    entry.place = Place.UNCOMMITTED


def nothing(_turn: Turn) -> None:
    """Undo nothing, because another undo of the same batch does it."""


def _unprepare(state: State, branch: Branch, turn: Turn) -> None:
    """Undo `secure`: the branch is backed out."""
    for standing in branch.sent:
        _remove_put(state, turn, standing)
    for standing in branch.got:
        _return(state, turn, branch, standing)


# commit -----------------------------------------------------------------------------------------------------------


def carry_out(state: State, turn: Turn, branch: Branch, record: Record) -> None:
    """Commit a prepared branch, in the order of its sends, recorded in one batch (JMS 6.2.7).

    Args:
        state: The queue manager.
        turn: The present turn.
        branch: The branch.
        record: The record that the branch is no longer in doubt.
    """
    with turn.together():
        turn.record(record, nothing)
        for standing in branch.got:
            _consume(state, turn, branch, standing)
        for one in branch.kept:
            retain(state, turn, one.kept, one.message, one.expires_ms)
        for standing in branch.sent:
            _arrive(state, turn, branch, standing)


def _consume(state: State, turn: Turn, branch: Branch, standing: Standing) -> None:
    entry, queue = standing.entry, standing.queue
    if queue is None or entry.place is not Place.HELD:
        return  # its queue has gone
    send_report(state, turn, entry, Mqro.COD)
    queue.remove(entry)
    state.expiry.discard(entry.key)
    _done(turn, entry, MessageRemoved(entry.key), partial(_hold_again, state, branch, standing))
    turn.touch(queue)


def _arrive(state: State, turn: Turn, branch: Branch, standing: Standing) -> None:
    entry, queue = standing.entry, standing.queue
    if entry.place is not Place.UNCOMMITTED:
        return  # its subscription has ended
    entry.unit = None
    turn.unrecorded(entry, partial(_withdraw, state, branch, standing))
    if queue is None:
        state.staging.reserved -= 1
        stage_again(state, entry, entry.due_ms or 0)
        return
    entry.order = state.next_order()
    queue.enter(entry)
    watch_expiry(state, entry)
    turn.touch(queue)
    if queue.onward is None:
        send_report(state, turn, entry, Mqro.COA)


def _withdraw(state: State, branch: Branch, standing: Standing, _turn: Turn) -> None:
    """Undo `_arrive`."""
    entry, queue = standing.entry, standing.queue
    state.expiry.discard(entry.key)
    if queue is None:
        state.staging.unstage(entry)
    else:
        queue.remove(entry)
    _stand_again(state, branch, standing)


def _stand_again(state: State, branch: Branch, standing: Standing) -> None:
    standing.entry.unit = branch
    if standing.queue is None:
        standing.entry.place = Place.UNCOMMITTED
        state.staging.reserved += 1
    elif not _queue_of(state, standing).gone:
        _queue_of(state, standing).enter_unseen(standing.entry)


# rollback ---------------------------------------------------------------------------------------------------------


def give_back(state: State, turn: Turn, branch: Branch, record: Record) -> None:
    """Back out a prepared branch: drop its puts; the messages that it accepted are delivered again, as redelivered.

    Args:
        state: The queue manager.
        turn: The present turn.
        branch: The branch.
        record: The record that the branch is no longer in doubt.
    """
    with turn.together():
        turn.record(record, nothing)
        for standing in branch.sent:
            if standing.entry.place is Place.UNCOMMITTED:
                _remove_put(state, turn, standing)
                undo = partial(_restore_put, state, branch, standing)
                _done(turn, standing.entry, MessageRemoved(standing.entry.key), undo)
        for standing in branch.got:
            if standing.entry.place is Place.HELD:
                _return(state, turn, branch, standing)
                mark = MessageMarked(standing.entry.key, standing.entry.count)
                _done(turn, standing.entry, mark, partial(_take_again, state, branch, standing))


def _remove_put(state: State, turn: Turn, standing: Standing) -> None:
    entry, queue = standing.entry, standing.queue
    if entry.place is not Place.UNCOMMITTED:
        return
    if queue is None:
        state.staging.reserved -= 1
        entry.place = Place.GONE
    else:
        queue.remove(entry)
        turn.touch(queue)


def _restore_put(state: State, branch: Branch, standing: Standing, _turn: Turn) -> None:
    """Undo `_remove_put`."""
    _stand_again(state, branch, standing)


def _return(state: State, turn: Turn, branch: Branch, standing: Standing) -> None:
    """Put an accepted copy back at its original place; remove it if the branch itself had put it."""
    entry, queue = standing.entry, standing.queue
    if queue is None or entry.place is not Place.HELD:
        return
    if entry.unit is branch:
        queue.remove(entry)
    else:
        entry.count += 1
        entry.redelivered = True
        queue.put_back(entry)
        watch_expiry(state, entry)  # its time may have come while it was held (DD-56)
    turn.touch(queue)


def _take_again(state: State, branch: Branch, standing: Standing, turn: Turn) -> None:
    """Undo `_return`."""
    entry, queue = standing.entry, standing.queue
    if queue is None:
        return
    if entry.unit is branch:
        _hold_again(state, branch, standing, turn)
    elif entry.place is Place.WAITING:
        entry.count -= 1
        entry.redelivered = entry.count > 0
        queue.take(entry)


def _hold_again(state: State, branch: Branch, standing: Standing, _turn: Turn) -> None:
    """Undo `_consume`."""
    entry, queue = standing.entry, _queue_of(state, standing)
    if queue.gone:
        return
    queue.enter(entry)
    queue.take(entry)
    if entry.unit is not branch:
        watch_expiry(state, entry)


def _queue_of(state: State, standing: Standing) -> Queue:
    """Return a copy's queue; one created on use that was forgotten meanwhile is restored."""
    queue = standing.queue
    if queue is None:
        raise TypeError("a copy that is to be staged stands on no queue")
    if queue.gone and queue.on_use:
        queue = standing.queue = state.queues.restored(queue)
    return queue


def _done(turn: Turn, entry: Entry, record: Record, undo: Callable[[Turn], None]) -> None:
    """Record a change of a copy if the store holds the copy; in any case the copy waits for the batch."""
    if entry.recorded:
        turn.record(record, nothing)
    turn.unrecorded(entry, undo)
