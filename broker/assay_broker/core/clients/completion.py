"""The end of units of work and of connections, and the store's answers to batches of records."""

from __future__ import annotations

from functools import partial

from assay_broker.core.clients.branches import Branch
from assay_broker.core.clients.connections import Connection
from assay_broker.core.clients.links import close_link, drop_temporary
from assay_broker.core.clients.units import Unit, Work
from assay_broker.core.clients.xa_functions import branch_over, lose_branch
from assay_broker.core.queues.arrivals import back_out, commit
from assay_broker.core.queues.delivery import give_back, take_back_unsent
from assay_broker.core.queues.queue import Delivery, Receiver
from assay_broker.core.queues.settlement import settle
from assay_broker.core.state import State
from assay_broker.core.states.branches import FAILURES, BranchInput
from assay_broker.core.states.links import LinkInput, LinkState
from assay_broker.core.states.units import UnitAction, UnitInput
from assay_broker.core.turn import Turn
from assay_sdk.model.reasons import Mqrc, refused
from assay_sdk.model.xa import xa_refused


def end_unit(state: State, turn: Turn, connection: Connection, unit: Unit, happened: UnitInput) -> None:
    """Commit a unit of work or back it out.

    Args:
        state: The queue manager.
        turn: The present turn.
        connection: The connection of the unit of work.
        unit: The unit of work.
        happened: The reason, as an input of the unit's state table: `COMMIT`, `BACKOUT`, or `LOST` for the end of the
            connection.

    Raises:
        RefusalError: The state table does not allow the input in the unit's state.
    """
    action = unit.step(happened)
    if action is UnitAction.APPLY:
        _apply(state, turn, unit)
        if turn.recorded:
            turn.batch.unit = unit
        else:
            unit.step(UnitInput.STORED)
            del connection.units[unit.number]
    elif action is UnitAction.DISCARD:
        _discard(state, turn, unit)
        del connection.units[unit.number]


def _apply(state: State, turn: Turn, unit: Unit) -> None:
    """Carry out the settlements of a unit of work, then its sends in their order, in one batch (JMS 2.0, 6.2.7)."""
    with turn.together():
        for delivery in unit.settled:
            delivery.link.unsettled.pop(delivery.number, None)
            _settle(state, turn, delivery)
        for pending in unit.puts:
            commit(state, turn, unit, pending)


def _settle(state: State, turn: Turn, delivery: Delivery) -> None:
    """Settle a delivery with the outcome that the client gave it in the unit of work, even if its link is closed."""
    said = delivery.settled_by
    if said is None:
        raise RuntimeError("a unit of work holds a delivery without an outcome")
    settle(state, turn, delivery, said.outcome, said.leave_out, said.annotations)


def _discard(state: State, turn: Turn, unit: Unit) -> None:
    """Drop a unit's sends, and make its deliveries unsettled again; messages of closed links return to their queues."""
    for pending in unit.puts:
        back_out(state, turn, unit, pending)
    for delivery in unit.settled:
        delivery.unit = delivery.settled_by = None
        if delivery.link.state is LinkState.CLOSED:
            give_back(state, turn, delivery, failed=True)


def end_connection(state: State, turn: Turn, connection: Connection) -> None:
    """End a connection: back out its units of work, close its links, delete its temporary destinations."""
    for unit in tuple(connection.units.values()):
        if isinstance(unit, Unit):
            end_unit(state, turn, connection, unit, UnitInput.LOST)
        elif isinstance(unit, Branch):
            lose_branch(state, turn, unit)
    for link in tuple(connection.links.values()):
        close_link(state, turn, connection, link, LinkInput.LOST)
    drop_temporary(state, turn, connection)
    state.connections.close(connection)


def batch_stored(state: State, turn: Turn, number: int) -> None:
    """Note that a batch and all earlier batches that have not failed are durable.

    The core logs the first stored batch after a refused one.
    """
    ledger = state.ledger
    if ledger.refusal:
        turn.trace("The store takes records again.", state.settings.name)
        ledger.refusal = ""
    ledger.stored = max(ledger.stored, number)
    for done in [pending for pending in ledger.pending if pending <= number]:
        _unit_over(state, ledger.pending.pop(done).unit, stored=True)


def batch_failed(state: State, turn: Turn, number: int, why: str) -> None:
    """Undo a batch that the store refused, and refuse the commands that wait for the batch.

    The core also closes the receivers whose settled deliveries wait for the batch. If the store refuses several batches
    in a row, the core logs only the first refusal.

    Args:
        state: The queue manager.
        turn: The present turn.
        number: The number of the batch.
        why: The store's reason.
    """
    if not state.ledger.refusal:
        turn.trace(f"The store could not take a batch of records: {why}", state.settings.name)
    state.ledger.refusal = why
    batch = state.ledger.pending.pop(number, None)
    if batch is None:
        return
    for connection in state.connections.everywhere():
        for link in connection.links.values():
            if isinstance(link, Receiver):
                link.gate = min(link.gate, number - 1)
    for delivery in batch.deliveries:
        take_back_unsent(state, turn, delivery)
        if delivery.link.settled:
            turn.once_undone(partial(close_for_store, state, delivery.link))
    for undo in reversed(batch.undo):
        undo(turn)
    reason = Mqrc.BACKED_OUT if isinstance(batch.unit, Unit) else Mqrc.STORAGE_MEDIUM_FULL
    text = _not_taken(state, why)
    why_not = refused(reason, f"{reason.label}: {text}", state.settings.name)
    code = FAILURES.get(batch.unit.state) if isinstance(batch.unit, Branch) else None
    _unit_over(state, batch.unit, stored=False)
    for asker in batch.answers:
        turn.answer(*asker, xa_refused(code, f"{text}.") if code is not None and asker == batch.asker else why_not)


def _not_taken(state: State, why: str) -> str:
    return f"the store of {state.settings.name} could not take the records: {why}"


def close_for_store(state: State, receiver: Receiver, turn: Turn) -> None:
    """Close a receiver, because the store refused to record a settlement and no answer tells the client.

    If the receiver stayed open, it would receive the message again at once, and its next settlement would need the
    failing store again.

    Args:
        state: The queue manager.
        receiver: The receiver; its deliveries are sent settled, or its client did not ask for an answer to the
            settlement.
        turn: The turn that handles the store's refusal.
    """
    if receiver.state is LinkState.RECEIVING:
        why = f"{Mqrc.STORAGE_MEDIUM_FULL.label}: {_not_taken(state, state.ledger.refusal)}"
        full = refused(Mqrc.STORAGE_MEDIUM_FULL, why, state.settings.name)
        connection = state.connections.anywhere(receiver.connection)
        close_link(state, turn, connection, receiver, LinkInput.REVOKED, full)


def _unit_over(state: State, unit: Work | None, *, stored: bool) -> None:
    if isinstance(unit, Branch):
        branch_over(state, unit, BranchInput.STORED if stored else BranchInput.STORE_FAILED)
    if not isinstance(unit, Unit):
        return
    unit.step(UnitInput.STORED if stored else UnitInput.STORE_FAILED)
    connection = state.connections.find_anywhere(unit.connection)
    if connection is not None and connection.units.get(unit.number) is unit:
        del connection.units[unit.number]
