"""The functions of X/Open XA, which a transaction manager calls over a connection.

Before the prepare, a branch belongs to the connection that works or last worked in the branch. If that connection ends,
the core backs out the branch. After the prepare, a transaction manager may commit the branch or back it out over any
connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay_broker.core.clients.branches import Branch
from assay_broker.core.clients.connections import Connection
from assay_broker.core.clients.prepared_branches import carry_out, give_back, nothing, secure
from assay_broker.core.commands import (
    BackOutBranch,
    Begin,
    CommitBranch,
    EndBranch,
    ForgetBranch,
    PrepareBranch,
    RecoverBranches,
)
from assay_broker.core.queues.arrivals import back_out, commit
from assay_broker.core.queues.delivery import consume
from assay_broker.core.queues.delivery import give_back as return_delivery
from assay_broker.core.records import UnitCompleted, UnitResolved
from assay_broker.core.refusals import RefusalError
from assay_broker.core.state import State
from assay_broker.core.states.branches import BranchAction, BranchInput, BranchState
from assay_broker.core.turn import Turn
from assay_sdk.model.reasons import Refused
from assay_sdk.model.xa import XID_BYTES, XaCode, XaEnd, XaStart, XaVote, xa_refused

_ENDS: Mapping[XaEnd, BranchInput] = MappingProxyType(
    {XaEnd.SUCCESS: BranchInput.END, XaEnd.FAIL: BranchInput.FAIL, XaEnd.SUSPEND: BranchInput.SUSPEND}
)
_STARTS: Mapping[XaStart, BranchInput] = MappingProxyType(
    {XaStart.JOIN: BranchInput.JOIN, XaStart.RESUME: BranchInput.RESUME}
)
IN_DOUBT = frozenset({BranchState.PREPARED, BranchState.COMMITTING, BranchState.BACKING_OUT, BranchState.COMPLETING})
_STORING = frozenset({BranchAction.SECURE, BranchAction.APPLY, BranchAction.CARRY_OUT, BranchAction.GIVE_BACK})
REMEMBERED = frozenset({BranchState.COMPLETED, BranchState.FORGETTING})


def begin_branch(state: State, connection: Connection, command: Begin, xid: bytes) -> None:
    """xa_start: begin a branch, join a branch whose work was ended, or resume suspended work.

    Raises:
        RefusalError: The xid is not valid (XAER_INVAL) or already known (XAER_DUPID), or the queue manager has too many
            branches (XAER_RMERR). Or the branch to join or resume is unknown (XAER_NOTA), its state does not allow the
            request, or the work to resume belongs to another connection (XAER_PROTO).
    """
    if command.start is XaStart.NEW:
        branch = _new(state, command, xid)
    else:
        branch = state.branches.get(xid)
        if command.start is XaStart.RESUME:
            _check_worker(branch, connection)
        branch.step(_STARTS[command.start])
        _leave_connection(state, branch)
    branch.worker = (connection.number, command.unit)
    connection.units[command.unit] = branch


def _new(state: State, command: Begin, xid: bytes) -> Branch:
    if not 1 <= len(xid) <= XID_BYTES:
        raise _refusal(XaCode.XAER_INVAL, f"An xid has 1 to {XID_BYTES} bytes, not {len(xid)}.")
    if state.branches.find(xid) is not None:
        raise _refusal(
            XaCode.XAER_DUPID, f"The branch {xid.hex().upper()} exists already; join it, or choose another xid."
        )
    if len(state.branches) >= state.branches.limit:
        raise _refusal(
            XaCode.XAER_RMERR,
            f"{state.settings.name} has {state.branches.limit} branches already; end some, or have an operator resolve "
            "those whose transaction manager does not return.",
        )
    branch = Branch(xid, state.next_key(), state.tables.branches, (command.connection, command.session))
    state.branches.add(branch)
    return branch


def _check_worker(branch: Branch, connection: Connection) -> None:
    if branch.worker is None or branch.worker[0] != connection.number:
        raise _refusal(XaCode.XAER_PROTO, f"This connection does not work in the branch {branch.name}.")


def _leave_connection(state: State, branch: Branch) -> None:
    """Separate a branch from the connection that works or last worked in the branch."""
    if branch.worker is not None:
        number, unit = branch.worker
        connection = state.connections.find(number)
        if connection is not None:
            connection.units.pop(unit, None)
        branch.worker = None


def end_work(state: State, turn: Turn, command: EndBranch) -> None:
    """xa_end: end or suspend a connection's work in a branch, or mark the work as failed.

    Raises:
        RefusalError: No branch has the xid (XAER_NOTA). Or the connection does not work in the branch, or the state of
            the branch does not allow the request (XAER_PROTO).
    """
    connection = state.connections.get(command.connection)
    branch = state.branches.get(command.xid)
    _check_worker(branch, connection)
    branch.step(_ENDS[command.end])
    turn.answer(command.connection, command.token)


def prepare_branch(state: State, turn: Turn, command: PrepareBranch) -> None:
    """xa_prepare: prepare a branch, so that it can be committed or backed out even after a restart.

    A branch whose work has failed is backed out instead (XA_RBROLLBACK). A branch without sends and accepted deliveries
    ends at once (XA_RDONLY).

    Raises:
        RefusalError: No branch has the xid (XAER_NOTA), or the branch's state does not allow the request (XAER_PROTO).
    """
    state.connections.get(command.connection)
    branch = state.branches.get(command.xid)
    _decide(state, turn, command, branch, BranchInput.PREPARE if len(branch) else BranchInput.PREPARE_EMPTY)


def commit_branch(state: State, turn: Turn, command: CommitBranch) -> None:
    """xa_commit: commit a prepared branch, or an unprepared one in one phase.

    Raises:
        RefusalError: No branch has the xid (XAER_NOTA), or the branch's state does not allow the request (XAER_PROTO).
    """
    state.connections.get(command.connection)
    branch = state.branches.get(command.xid)
    _decide(state, turn, command, branch, BranchInput.COMMIT_AT_ONCE if command.one_phase else BranchInput.COMMIT)


def back_out_branch(state: State, turn: Turn, command: BackOutBranch) -> None:
    """xa_rollback: back out a branch, prepared or not.

    Raises:
        RefusalError: No branch has the xid (XAER_NOTA), or the branch's state does not allow the request (XAER_PROTO).
    """
    state.connections.get(command.connection)
    _decide(state, turn, command, state.branches.get(command.xid), BranchInput.BACK_OUT)


def _decide(
    state: State,
    turn: Turn,
    command: PrepareBranch | CommitBranch | BackOutBranch,
    branch: Branch,
    happened: BranchInput,
) -> None:
    """Prepare, commit or back out a branch by its state table, and answer the transaction manager."""
    action = branch.step(happened)
    _leave_connection(state, branch)
    refused, vote = None, None
    match action:
        case BranchAction.DROP:
            state.branches.drop(branch)
            vote = XaVote.READ_ONLY
        case BranchAction.SECURE:
            secure(state, turn, branch)
            vote = XaVote.PREPARED
        case BranchAction.APPLY:
            _apply(state, turn, branch)
        case BranchAction.CARRY_OUT:
            carry_out(state, turn, branch, UnitResolved(branch.number))
        case BranchAction.GIVE_BACK:
            give_back(state, turn, branch, UnitResolved(branch.number))
        case BranchAction.TELL:
            refused = _heuristic(branch)
        case BranchAction.BREAK:
            why = f"The work in the branch {branch.name} has failed, so it was backed out."
            refused = xa_refused(XaCode.XA_RBROLLBACK, why)
        case _:
            pass
    if action in _STORING:
        _await(state, turn, branch)
    turn.answer(command.connection, command.token, refused, vote)
    if action in {BranchAction.DISCARD, BranchAction.BREAK}:
        # `_discard` may record redelivery marks. The core calls it after the answer, so that the answer does not wait
        # for these records: the backout is valid even if the store refuses them.
        _discard(state, turn, branch)


def recover_branches(state: State, turn: Turn, command: RecoverBranches) -> None:
    """xa_recover: answer with the xids of the branches that are in doubt or completed by an operator."""
    state.connections.get(command.connection)
    names = tuple(branch.xid for branch in state.branches if branch.state in IN_DOUBT | REMEMBERED)
    turn.answer(command.connection, command.token, value=names)


def forget_branch(state: State, turn: Turn, command: ForgetBranch) -> None:
    """xa_forget: forget the heuristic outcome of a branch.

    Raises:
        RefusalError: No branch has the xid (XAER_NOTA), or no operator has completed the branch (XAER_PROTO).
    """
    state.connections.get(command.connection)
    branch = state.branches.get(command.xid)
    branch.step(BranchInput.FORGET)
    turn.record(UnitResolved(branch.number), nothing)
    _await(state, turn, branch)
    turn.answer(command.connection, command.token)


def resolve_branch(state: State, turn: Turn, branch: Branch, *, committed: bool) -> None:
    """Commit or back out a branch for an operator; the core keeps the outcome for the transaction manager.

    Args:
        state: The queue manager.
        turn: The present turn.
        branch: The branch.
        committed: True to commit the branch, False to back it out.

    Raises:
        RefusalError: The branch is not in doubt.
    """
    branch.step(BranchInput.RESOLVE_COMMIT if committed else BranchInput.RESOLVE_BACK_OUT)
    branch.committed = committed
    record = UnitCompleted(branch.number, branch.xid, committed, branch.prepared_ms or turn.now_ms)
    (carry_out if committed else give_back)(state, turn, branch, record)
    _await(state, turn, branch)


def lose_branch(state: State, turn: Turn, branch: Branch) -> None:
    """Back out an unprepared branch, because the connection or session that works or last worked in it ends."""
    branch.step(BranchInput.LOST)
    _leave_connection(state, branch)
    _discard(state, turn, branch)


def branch_over(state: State, branch: Branch, happened: BranchInput) -> None:
    """Handle the store's answer to the records about a branch.

    Args:
        state: The queue manager.
        branch: The branch.
        happened: `STORED` or `STORE_FAILED`.
    """
    action = branch.step(happened)
    if branch.state is BranchState.PREPARED:
        branch.committed = None
    elif branch.state is BranchState.COMPLETED:
        branch.sent.clear()
        branch.got.clear()
        branch.kept.clear()
    if action is BranchAction.DROP:
        state.branches.drop(branch)


def _await(state: State, turn: Turn, branch: Branch) -> None:
    """Make `branch_over` handle the store's answer to this turn's records; without records, call `branch_over` now."""
    if turn.recorded:
        turn.batch.unit = branch
    else:
        branch_over(state, branch, BranchInput.STORED)


def _apply(state: State, turn: Turn, branch: Branch) -> None:
    with turn.together():
        for delivery in branch.settled:
            delivery.link.unsettled.pop(delivery.number, None)
            consume(state, turn, delivery)
        for pending in branch.puts:
            commit(state, turn, branch, pending)


def _discard(state: State, turn: Turn, branch: Branch) -> None:
    """Back out an unprepared branch: drop its puts, and return its accepted messages to their queues."""
    state.branches.drop(branch)
    for pending in branch.puts:
        back_out(state, turn, branch, pending)
    for delivery in branch.settled:
        delivery.unit = delivery.settled_by = None
        delivery.link.unsettled.pop(delivery.number, None)
        return_delivery(state, turn, delivery, failed=True)


def _heuristic(branch: Branch) -> Refused:
    code, how = (XaCode.XA_HEURCOM, "committed") if branch.committed else (XaCode.XA_HEURRB, "backed out")
    return xa_refused(code, f"An operator has {how} the branch {branch.name}; forget it once you have noted that.")


def _refusal(code: XaCode, why: str) -> RefusalError:
    return RefusalError(xa_refused(code, why))
