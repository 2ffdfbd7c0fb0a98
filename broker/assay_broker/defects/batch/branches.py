"""Defects of branches of global units of work: prepare, commit and rollback, and recovery after a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.commands import (
    BackOutBranch,
    Command,
    CommitBranch,
    Disconnect,
    EndBranch,
    PrepareBranch,
    RecoverBranches,
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
    """The branches' table with one other cell."""

    def altered(tables: Tables) -> Tables:
        cells: BranchTable = MappingProxyType({**tables.branches, (state, happened): (following, action)})
        return replace(tables, branches=cells)

    return altered


# a kill


def _prepared(records: Sequence[Record]) -> dict[int, UnitPrepared]:
    return {record.number: record for record in records if isinstance(record, UnitPrepared)}


@defect(read_together, "prepared-lost-on-kill", "BT-13")
def _lost_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """A branch that was prepared is rolled back when the broker is killed.

    What was in doubt was never prepared.
    """
    doubtful = _prepared(records)
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.unit in doubtful)
    )


@defect(read_together, "prepared-committed-on-kill", "BT-13")
def _committed_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """A branch that was prepared is committed when the broker is killed."""
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.key in got)
    )


@defect(read_together, "taken-in-doubt-comes-back-on-kill", "BT-13")
def _got_forgotten(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a prepared branch has taken can be had again once the broker was killed.

    What a branch in doubt has accepted is on its queue again.
    """
    return tuple(replace(record, got=()) if isinstance(record, UnitPrepared) else record for record in records)


@defect(read_together, "taken-in-doubt-lost-on-kill", "BT-13")
def _got_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a prepared branch has taken does not come back with its rollback once the broker was killed.

    What a branch in doubt has accepted is gone, however it ends.
    """
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.key in got))


@defect(read_together, "sent-in-doubt-lost-on-kill", "BT-13")
def _sent_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a prepared branch has sent does not come with its commit once the broker was killed.

    What a branch in doubt has put is gone, however it ends.
    """
    doubtful = _prepared(records)
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.unit in doubtful))


@defect(read_together, "delayed-in-doubt-comes-on-kill", "BT-13")
def _delay_forgets_branch(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a prepared branch has sent with a delay comes before its commit once the broker was killed.

    What a branch in doubt has put with a delay is staged as anything is.
    """
    return tuple(
        replace(record, unit=None) if isinstance(record, MessageStored) and record.due_ms is not None else record
        for record in records
    )


def _outcome_unwritten(records: Sequence[Record]) -> tuple[Record, ...]:
    """How a branch that was in doubt has ended does not reach the disk."""
    resolving = any(isinstance(record, UnitResolved) for record in records)
    return tuple(record for record in records if not (resolving and isinstance(record, UnitResolved | MessageRemoved)))


# a connection


@defect(commands, "prepared-lost-with-connection", "BT-13")
def _lost_with_connection(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A prepared branch is rolled back with the connection that prepared it."""
    if not isinstance(command, Disconnect):
        return None
    return (*(BackOutBranch(command.connection, None, xid) for xid in view.prepared(command.connection)), command)


@defect(commands, "unprepared-committed-with-connection", "BT-13")
def _loss_commits(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A branch that was not prepared is committed when its connection goes."""
    if not isinstance(command, Disconnect):
        return None
    out: list[Command] = []
    for xid in (xid for xid, connection in view.working.items() if connection == command.connection):
        out += [
            EndBranch(command.connection, None, xid, XaEnd.SUCCESS),
            CommitBranch(command.connection, None, xid, one_phase=True),
        ]
    return (*out, command)


# prepare and what follows


@defect(made, "prepare-commits", "BT-13")
def _prepare_commits() -> Seams:
    """Preparing a branch commits it.

    A prepare is answered as one, and commits; what is asked for later is answered and not done.
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
    """What a branch has sent is handed out as soon as it is prepared."""
    if not isinstance(command, PrepareBranch):
        return None
    sent = (one for unit in view.ended(command) for one in unit.sent)
    return (command, *(put for one in sent for put in handed_in(view, one.target, one.message)))


@defect(commands, "rollback-of-prepared-ignored", "BT-13")
def _rollback_ignored(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Rolling a branch back is answered and not done."""
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
        text="How a prepared branch was ended is not on disk: when the broker is killed it is in doubt again.",
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
        text="Rolling a prepared branch back commits it.",
        apply=lambda: Seams(
            tables=_cell(BranchState.PREPARED, BranchInput.BACK_OUT, BranchState.BACKING_OUT, BranchAction.CARRY_OUT)
        ),
    ),
    Defect(
        name="commit-of-prepared-rolls-back",
        rules=("BT-13",),
        text="Committing a prepared branch rolls it back.",
        apply=lambda: Seams(
            tables=_cell(BranchState.PREPARED, BranchInput.COMMIT, BranchState.COMMITTING, BranchAction.GIVE_BACK)
        ),
    ),
    Defect(
        name="in-doubt-not-named",
        rules=("BT-13",),
        text="A transaction manager that asks for the branches in doubt is told of none.",
        apply=lambda: Seams(effects=_unnamed),
    ),
)
