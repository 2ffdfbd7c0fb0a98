"""Defects of branches of global units of work: prepare, commit and rollback, and recovery after a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.commands import (
    BackOutBranch,
    Command,
    CommitBranch,
    Connect,
    Disconnect,
    EndBranch,
    PrepareBranch,
    RecoverBranches,
    Stored,
    StoreFailed,
)
from assay_broker.core.effects import Answer, Effect
from assay_broker.core.records import MessageRemoved, MessageStored, Record, UnitPrepared, UnitResolved
from assay_broker.core.states.branches import BranchAction, BranchInput, BranchState, BranchTable
from assay_broker.core.states.tables import Tables
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import handed_in
from assay_broker.defects.shapes import Commands, commands, filters, read_together
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.xa import XaEnd, XaVote


def _cell(
    state: BranchState, happened: BranchInput, following: BranchState, action: BranchAction
) -> Callable[[Tables], Tables]:
    """Make a function that replaces one cell of the state table of branches."""

    def altered(tables: Tables) -> Tables:
        cells: BranchTable = MappingProxyType({**tables.branches, (state, happened): (following, action)})
        return replace(tables, branches=cells)

    return altered


# when the store refuses


def _after_refusal(asked: type[CommitBranch | BackOutBranch], done: type[CommitBranch | BackOutBranch]) -> Seams:
    """Make filters that end a branch by another command after the store has refused its commit or rollback.

    Args:
        asked: The kind of the client's command, whose record the store refuses.
        done: The kind of the command that the broker executes after the refusal.
    """
    last: list[bytes] = []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, asked):
            last[:] = [command.xid]
        if not isinstance(command, Stored | StoreFailed) or not last:
            return None
        xid = last.pop()
        if isinstance(command, Stored):
            return None
        return (command, Connect(view.agent, None), done(view.agent, None, xid))

    return commands(rewrite)


# when the broker is killed


def _prepared(records: Sequence[Record]) -> dict[int, UnitPrepared]:
    return {record.number: record for record in records if isinstance(record, UnitPrepared)}


@defect(read_together, "prepared-lost-on-kill", "BT-13")
def _lost_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill, the broker rolls a prepared branch back.

    The start drops the record of the prepare and the messages that the branch has put.
    """
    doubtful = _prepared(records)
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.unit in doubtful)
    )


@defect(read_together, "prepared-committed-on-kill", "BT-13")
def _committed_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill, the broker commits a prepared branch."""
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.key in got)
    )


@defect(read_together, "taken-in-doubt-comes-back-on-kill", "BT-13")
def _got_forgotten(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, another consumer gets the messages that a prepared branch has taken.

    The defect puts back on its queue each message that a branch in doubt has accepted.
    """
    return tuple(replace(record, got=()) if isinstance(record, UnitPrepared) else record for record in records)


@defect(read_together, "taken-in-doubt-lost-on-kill", "BT-13")
def _got_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, the rollback of a prepared branch does not return the branch's received messages.

    The messages that a branch in doubt has accepted are gone, after a commit and after a rollback.
    """
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.key in got))


@defect(read_together, "sent-in-doubt-lost-on-kill", "BT-13")
def _sent_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, the commit of a prepared branch does not deliver the branch's sent messages.

    The messages that a branch in doubt has put are gone, after a commit and after a rollback.
    """
    doubtful = _prepared(records)
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.unit in doubtful))


@defect(read_together, "delayed-in-doubt-comes-on-kill", "BT-13")
def _delay_forgets_branch(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, delayed messages of a prepared branch are delivered before its commit.

    The delayed messages that a branch in doubt has put are staged as if no branch had put them.
    """
    return tuple(
        replace(record, unit=None) if isinstance(record, MessageStored) and record.due_ms is not None else record
        for record in records
    )


def _outcome_unwritten(records: Sequence[Record]) -> tuple[Record, ...]:
    """Remove the records that end branches, so the outcome of a branch in doubt does not reach the disk."""
    resolving = any(isinstance(record, UnitResolved) for record in records)
    return tuple(record for record in records if not (resolving and isinstance(record, UnitResolved | MessageRemoved)))


# when a connection ends


@defect(commands, "prepared-lost-with-connection", "BT-13")
def _lost_with_connection(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the connection that prepared a branch ends, the broker rolls the branch back."""
    if not isinstance(command, Disconnect):
        return None
    return (*(BackOutBranch(command.connection, None, xid) for xid in view.prepared(command.connection)), command)


@defect(commands, "unprepared-committed-with-connection", "BT-13")
def _loss_commits(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection ends, the broker commits the connection's branches that are not prepared."""
    if not isinstance(command, Disconnect):
        return None
    out: list[Command] = []
    for xid in (xid for xid, connection in view.working.items() if connection == command.connection):
        out += [
            EndBranch(command.connection, None, xid, XaEnd.SUCCESS),
            CommitBranch(command.connection, None, xid, one_phase=True),
        ]
    return (*out, command)


# prepare, commit and rollback


@defect(made, "prepare-commits", "BT-13")
def _prepare_commits() -> Seams:
    """Preparing a branch commits it.

    The broker answers the prepare as usual and commits the branch.  It answers a later commit or rollback and does
    nothing.
    """
    over: set[bytes] = set()

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, PrepareBranch):
            over.add(command.xid)
            return (CommitBranch(command.connection, command.token, command.xid, one_phase=True),)
        if isinstance(command, CommitBranch | BackOutBranch) and command.xid in over:
            return (RecoverBranches(command.connection, command.token),)
        return None

    def voted(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
        return replace(answer, value=XaVote.PREPARED) if isinstance(asked, PrepareBranch) else answer

    return filters(rewrite, answer=voted)


@defect(commands, "in-doubt-delivered", "BT-13")
def _delivered_in_doubt(command: Command, _now_ms: int, view: View) -> Commands | None:
    """As soon as a branch is prepared, consumers get the messages that the branch has sent."""
    if not isinstance(command, PrepareBranch):
        return None
    sent = (one for unit in view.ended(command) for one in unit.sent)
    return (command, *(put for one in sent for put in handed_in(view, one.target, one.message)))


@defect(commands, "rollback-of-prepared-ignored", "BT-13")
def _rollback_ignored(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker answers the rollback of a branch and does not roll it back."""
    if isinstance(command, BackOutBranch):
        return (RecoverBranches(command.connection, command.token),)
    return None


def _unnamed(effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
    return tuple(
        replace(effect, value=()) if isinstance(effect, Answer) and _are_xids(effect) else effect for effect in effects
    )


def _are_xids(answer: Answer) -> bool:
    return isinstance(answer.value, tuple) and any(isinstance(one, bytes) for one in answer.value)


BRANCH_DEFECTS = (
    _lost_on_kill,
    _committed_on_kill,
    _got_forgotten,
    _got_lost,
    _sent_lost,
    _delay_forgets_branch,
    Defect(
        name="outcome-of-prepared-unwritten",
        rules=("BT-13",),
        text="The end of a prepared branch does not reach the disk, so the branch is in doubt again after a kill.",
        apply=lambda: Seams(written=_outcome_unwritten),
    ),
    _lost_with_connection,
    _loss_commits,
    _prepare_commits,
    _delivered_in_doubt,
    _rollback_ignored,
    Defect(
        name="rollback-of-prepared-commits",
        rules=("BT-13",),
        text="A rollback commits a prepared branch.",
        apply=lambda: Seams(
            tables=_cell(BranchState.PREPARED, BranchInput.BACK_OUT, BranchState.BACKING_OUT, BranchAction.CARRY_OUT)
        ),
    ),
    Defect(
        name="commit-of-prepared-rolls-back",
        rules=("BT-13",),
        text="A commit rolls a prepared branch back.",
        apply=lambda: Seams(
            tables=_cell(BranchState.PREPARED, BranchInput.COMMIT, BranchState.COMMITTING, BranchAction.GIVE_BACK)
        ),
    ),
    Defect(
        name="refused-commit-backs-out",
        rules=("BT-13", "DD-26"),
        text="When the store refuses the commit of a branch, the broker backs the branch out.",
        apply=lambda: _after_refusal(CommitBranch, BackOutBranch),
    ),
    Defect(
        name="refused-rollback-commits",
        rules=("BT-13", "DD-26"),
        text="When the store refuses the rollback of a branch, the broker commits the branch.",
        apply=lambda: _after_refusal(BackOutBranch, CommitBranch),
    ),
    Defect(
        name="in-doubt-not-named",
        rules=("BT-13",),
        text="A transaction manager that asks for the branches in doubt gets an empty list.",
        apply=lambda: Seams(effects=_unnamed),
    ),
)
