"""The messages of prepared branches: what the prepare, the commit, the backout and the recovery do with them.

After the prepare, the copies that the branch has put are uncommitted on their queues, or have a reserved place on the
staging queue. The copies that the branch has accepted are held. None of these copies belongs to a connection or link.

The store has a `UnitPrepared` record of the branch. For each persistent copy that the branch has put, the store has a
`MessageStored` record with the branch's number. The number has no effect when the branch is no longer in doubt.

A copy arrives on its queue at the commit, behind all messages that arrived earlier. After a restart, the records' times
and keys give the order. So the commit gives a copy a new key, and stores it again, if another message arrived on its
queue after the prepare.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import zip_longest

from assay_broker.core.clients.branches import Branch, KeptPublication, Standing
from assay_broker.core.clients.units import Pending
from assay_broker.core.messages.entries import CopyState, Entry
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
    """Prepare a branch: hold its messages until the commit or backout, and record them in one batch."""
    own = {delivery.entry.key for delivery in branch.settled}
    for delivery in branch.settled:
        delivery.link.unsettled.pop(delivery.number, None)
        if delivery.entry.state is CopyState.HELD:  # otherwise the copy's queue was removed
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
    """Put the copies of a message on their queues, uncommitted; or reserve their places on the staging queue.

    Args:
        state: The queue manager.
        turn: The present turn.
        branch: The branch.
        pending: The message.
        own: The keys of the copies that the branch has accepted.
    """
    if pending.entry is not None:
        (queue,) = pending.queues
        queue.disown(pending.entry, branch.owner)
        if pending.entry.state is CopyState.HELD and pending.entry.key not in own:
            _take_back_from_session(state, queue, pending.entry)
        if pending.entry.state is CopyState.UNCOMMITTED:  # otherwise the branch itself has accepted the copy
            _move(state, turn, queue, pending.entry)
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


def _move(state: State, turn: Turn, queue: Queue, entry: Entry) -> None:
    """Remove a copy from its queue, and let it arrive now, with a new key; the caller adds it to the queue again."""
    queue.renumber(entry, state.next_key())
    entry.arrived_ms = turn.now_ms


def _stand(branch: Branch, queue: Queue, entry: Entry) -> None:
    settle_persistence(queue, entry)
    stand_uncommitted(branch, queue, entry)


def stand_uncommitted(branch: Branch, queue: Queue, entry: Entry) -> None:
    """Add a branch's copy to its queue, where no receiver can get it before the branch is committed."""
    entry.unit = branch
    queue.enter_unseen(entry)
    branch.sent.append(Standing(entry, queue))


def stand_by_for_staging(state: State, branch: Branch, entry: Entry) -> None:
    """Reserve a place on the staging queue for a branch's delayed copy, because the commit stages the copy."""
    entry.unit = branch
    entry.state = CopyState.UNCOMMITTED
    state.staging.reserved += 1
    branch.sent.append(Standing(entry, None))


def hold(branch: Branch, queue: Queue, entry: Entry) -> None:
    """Hold a waiting copy for the branch that accepted it before the restart."""
    queue.take(entry)
    branch.got.append(Standing(entry, queue))


def _take_back_from_session(state: State, queue: Queue, entry: Entry) -> None:
    """Take back a copy that the branch has put, and that the branch's own session has received and not accepted."""
    for connection in state.connections.everywhere():
        for link in connection.links.values():
            if isinstance(link, Receiver) and link.queue is queue:
                for number in [number for number, one in link.unsettled.items() if one.entry is entry]:
                    del link.unsettled[number]
    entry.state = CopyState.UNCOMMITTED


def nothing(_turn: Turn) -> None:
    """Undo nothing: another undo function of the batch, or `branch_over` by the state table, undoes the change."""


def _unprepare(state: State, branch: Branch, turn: Turn) -> None:
    """Undo `secure` by backing out the branch."""
    for standing in branch.sent:
        _remove_put(state, turn, standing)
    for standing in branch.got:
        _return(state, turn, branch, standing)


# commit -----------------------------------------------------------------------------------------------------------


def carry_out(state: State, turn: Turn, branch: Branch, record: Record) -> None:
    """Commit a prepared branch: its messages arrive in the order of the sends, recorded in one batch (JMS 2.0, 6.2.7).

    Args:
        state: The queue manager.
        turn: The present turn.
        branch: The branch.
        record: The record by which the branch is no longer in doubt: `UnitResolved` or `UnitCompleted`.
    """
    overtaken = _overtaken(branch)
    with turn.together():
        turn.record(record, nothing)
        for standing in branch.got:
            _consume(state, turn, branch, standing)
        for one in branch.kept:
            retain(state, turn, one.kept, one.message, one.expires_ms)
        for standing in branch.sent:
            _arrive(state, turn, branch, standing, overtaken)


def _overtaken(branch: Branch) -> set[str]:
    """Return the homes of the queues on which other messages have arrived since the branch put its copies there.

    After a refused commit or backout, the result has all queues of the branch's copies, because the copies have entered
    these queues anew.
    """
    newest: dict[str, tuple[Queue, int]] = {}
    for standing in branch.sent:
        if standing.queue is not None:
            _, key = newest.get(standing.queue.home, (standing.queue, 0))
            newest[standing.queue.home] = standing.queue, max(key, standing.entry.key)
    return {home for home, (queue, key) in newest.items() if branch.returned or _has_newer(queue, branch, key)}


def _has_newer(queue: Queue, branch: Branch, key: int) -> bool:
    """Return whether a copy with a higher key entered a queue after the branch's copies.

    Args:
        queue: The queue, whose entries are in the order in which they entered it.
        branch: The branch.
        key: The highest key of the branch's copies on the queue.
    """
    for entry in reversed(queue.entries.values()):
        if entry.unit is branch:
            return False
        if entry.key > key:
            return True
    return False


def _consume(state: State, turn: Turn, branch: Branch, standing: Standing) -> None:
    entry, queue = standing.entry, standing.queue
    if queue is None or entry.state is not CopyState.HELD:
        return  # the copy's queue was removed
    send_report(state, turn, entry, Mqro.COD)
    queue.remove(entry)
    state.expiry.discard(entry.key)
    _done(turn, entry, MessageRemoved(entry.key), partial(_hold_again, state, branch, standing))
    turn.touch(queue)


def _arrive(state: State, turn: Turn, branch: Branch, standing: Standing, overtaken: set[str]) -> None:
    entry, queue = standing.entry, standing.queue
    if entry.state is not CopyState.UNCOMMITTED:
        return  # the copy's subscription has ended
    entry.unit = None
    key, arrived_ms = entry.key, entry.arrived_ms
    turn.unrecorded(entry, partial(_withdraw, state, branch, standing, key, arrived_ms))
    if queue is None:
        state.staging.reserved -= 1
        stage_again(state, entry, entry.due_ms or 0)
        return
    if queue.home in overtaken:
        _move(state, turn, queue, entry)
        if entry.recorded:
            turn.record(MessageRemoved(key), nothing)
            turn.record(stored(entry), nothing)
    entry.order = state.next_order()
    queue.enter(entry)
    watch_expiry(state, entry)
    turn.touch(queue)
    if queue.onward is None:
        send_report(state, turn, entry, Mqro.COA)


def _withdraw(state: State, branch: Branch, standing: Standing, key: int, arrived_ms: int, _turn: Turn) -> None:
    """Undo `_arrive`: make a committed copy uncommitted again, with its former key and time of arrival."""
    entry, queue = standing.entry, standing.queue
    state.expiry.discard(entry.key)
    if queue is None:
        state.staging.unstage(entry)
    else:
        queue.remove(entry)
        queue.renumber(entry, key)
        entry.arrived_ms = arrived_ms
    _stand_again(state, branch, standing)


def _stand_again(state: State, branch: Branch, standing: Standing) -> None:
    branch.returned = True
    standing.entry.unit = branch
    if standing.queue is None:
        standing.entry.state = CopyState.UNCOMMITTED
        state.staging.reserved += 1
    elif not _queue_of(state, standing).gone:
        _queue_of(state, standing).enter_unseen(standing.entry)


# backout ----------------------------------------------------------------------------------------------------------


def give_back(state: State, turn: Turn, branch: Branch, record: Record) -> None:
    """Back out a prepared branch: drop its puts, and return the messages that it accepted, marked as redelivered.

    Args:
        state: The queue manager.
        turn: The present turn.
        branch: The branch.
        record: The record by which the branch is no longer in doubt: `UnitResolved` or `UnitCompleted`.
    """
    with turn.together():
        turn.record(record, nothing)
        for standing in branch.sent:
            if standing.entry.state is CopyState.UNCOMMITTED:
                _remove_put(state, turn, standing)
                undo = partial(_restore_put, state, branch, standing)
                _done(turn, standing.entry, MessageRemoved(standing.entry.key), undo)
        for standing in branch.got:
            if standing.entry.state is CopyState.HELD:
                _return(state, turn, branch, standing)
                mark = MessageMarked(standing.entry.key, standing.entry.count)
                _done(turn, standing.entry, mark, partial(_take_again, state, branch, standing))


def _remove_put(state: State, turn: Turn, standing: Standing) -> None:
    entry, queue = standing.entry, standing.queue
    if entry.state is not CopyState.UNCOMMITTED:
        return
    if queue is None:
        state.staging.reserved -= 1
        entry.state = CopyState.GONE
    else:
        queue.remove(entry)
        turn.touch(queue)


def _restore_put(state: State, branch: Branch, standing: Standing, _turn: Turn) -> None:
    """Undo `_remove_put`: add the branch's copy to its queue again, uncommitted."""
    _stand_again(state, branch, standing)


def _return(state: State, turn: Turn, branch: Branch, standing: Standing) -> None:
    """Return an accepted copy to its original position on its queue; remove the copy if the same branch put it."""
    entry, queue = standing.entry, standing.queue
    if queue is None or entry.state is not CopyState.HELD:
        return
    if entry.unit is branch:
        queue.remove(entry)
    else:
        entry.count += 1
        entry.redelivered = True
        queue.put_back(entry)
        watch_expiry(state, entry)  # if the copy expired while it was held, its expiry is no longer scheduled (DD-56)
    turn.touch(queue)


def _take_again(state: State, branch: Branch, standing: Standing, turn: Turn) -> None:
    """Undo `_return`: hold the copy for the branch again."""
    entry, queue = standing.entry, standing.queue
    if queue is None:
        return
    if entry.unit is branch:
        _hold_again(state, branch, standing, turn)
    elif entry.state is CopyState.WAITING:
        entry.count -= 1
        entry.redelivered = entry.count > 0
        queue.take(entry)


def _hold_again(state: State, branch: Branch, standing: Standing, _turn: Turn) -> None:
    """Undo `_consume`: add the copy to its queue again, held for the branch."""
    entry, queue = standing.entry, _queue_of(state, standing)
    if queue.gone:
        return
    queue.enter(entry)
    queue.take(entry)
    if entry.unit is not branch:
        watch_expiry(state, entry)


def _queue_of(state: State, standing: Standing) -> Queue:
    """Return a copy's queue; if it was dropped as unused, restore it, unless a new queue has taken its place."""
    queue = standing.queue
    if queue is None:
        raise TypeError("a copy that is to be staged has no queue")
    if queue.gone and queue.on_use:
        queue = standing.queue = state.queues.restored(queue)
    return queue


def _done(turn: Turn, entry: Entry, record: Record, undo: Callable[[Turn], None]) -> None:
    """Note a change of a copy, and record it if the store holds the copy.

    Args:
        turn: The present turn, inside a `together` block.
        entry: The copy.
        record: The record of the change.
        undo: A function that undoes the change if the store refuses the batch.
    """
    if entry.recorded:
        turn.record(record, nothing)
    turn.unrecorded(entry, undo)
