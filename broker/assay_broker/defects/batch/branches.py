"""Defects of branches of global units of work: what prepare promises, and who is believed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.commands import (
    BackOutBranch,
    Begin,
    Command,
    CommitBranch,
    Disconnect,
    EndBranch,
    PrepareBranch,
    Put,
    RecoverBranches,
)
from assay_broker.core.effects import Answer, Effect
from assay_broker.core.records import (
    MessageRemoved,
    MessageStored,
    Record,
    UnitPrepared,
    UnitResolved,
)
from assay_broker.core.states.branches import BranchAction, BranchInput, BranchState, BranchTable
from assay_broker.core.states.tables import Tables
from assay_broker.defects.model import Defect, Watch, commands, handed_in
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.xa import XaEnd, XaVote

_AGENT = -13


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


def _lost_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """What was in doubt was never prepared."""
    doubtful = _prepared(records)
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.unit in doubtful)
    )


def _committed_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """What was in doubt is committed."""
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.key in got)
    )


def _got_forgotten(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a branch in doubt has accepted is on its queue again."""
    return tuple(replace(record, got=()) if isinstance(record, UnitPrepared) else record for record in records)


def _got_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a branch in doubt has accepted is gone, however it ends."""
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.key in got))


def _sent_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a branch in doubt has put is gone, however it ends."""
    doubtful = _prepared(records)
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.unit in doubtful))


def _delay_forgets_branch(records: Sequence[Record]) -> tuple[Record, ...]:
    """What a branch in doubt has put with a delay is staged as anything is."""
    return tuple(
        replace(record, unit=None) if isinstance(record, MessageStored) and record.due_ms is not None else record
        for record in records
    )


def _outcome_unwritten(records: Sequence[Record]) -> tuple[Record, ...]:
    """How a branch that was in doubt has ended does not reach the disk."""
    resolving = any(isinstance(record, UnitResolved) for record in records)
    return tuple(record for record in records if not (resolving and isinstance(record, UnitResolved | MessageRemoved)))


# a connection


def _lost_with_connection() -> Seams:
    """What a connection has prepared is rolled back when it goes."""
    prepared: dict[int, list[bytes]] = {}

    def rewrite(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, PrepareBranch):
            prepared.setdefault(command.connection, []).append(command.xid)
        elif isinstance(command, Disconnect):
            xids = prepared.pop(command.connection, [])
            return (*(BackOutBranch(command.connection, None, xid) for xid in xids), command)
        return None

    return commands(rewrite)


def _loss_commits() -> Seams:
    """What was never prepared is committed when its connection goes."""
    working: dict[bytes, int] = {}

    def rewrite(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Begin) and command.xid is not None:
            working[command.xid] = command.connection
        elif isinstance(command, PrepareBranch | CommitBranch | BackOutBranch):
            working.pop(command.xid, None)
        elif isinstance(command, Disconnect):
            gone = [xid for xid, connection in working.items() if connection == command.connection]
            out: list[Command] = []
            for xid in gone:
                del working[xid]
                out += [
                    EndBranch(command.connection, None, xid, XaEnd.SUCCESS),
                    CommitBranch(command.connection, None, xid, one_phase=True),
                ]
            return (*out, command)
        return None

    return commands(rewrite)


# prepare and what follows


def _prepare_commits() -> Seams:
    """A prepare is answered as one, and commits; what is asked for later is answered and not done."""
    over: set[bytes] = set()
    votes: set[tuple[int, int | None]] = set()

    def rewrite(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, PrepareBranch):
            over.add(command.xid)
            votes.add((command.connection, command.token))
            return (CommitBranch(command.connection, command.token, command.xid, one_phase=True),)
        if isinstance(command, CommitBranch | BackOutBranch) and command.xid in over:
            return (RecoverBranches(command.connection, command.token),)
        return None

    def voted(effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
        return tuple(
            replace(effect, value=XaVote.PREPARED)
            if isinstance(effect, Answer) and (effect.connection, effect.token) in votes
            else effect
            for effect in effects
        )

    return replace(commands(rewrite), effects=voted)


def _delivered_in_doubt() -> Seams:
    """What a branch has sent to queues is handed out at its prepare, and again at its commit."""
    branches: dict[tuple[int, int], bytes] = {}
    sent: dict[bytes, list[tuple[Address, Message]]] = {}

    def rewrite(command: Command, _now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Begin) and command.xid is not None:
            branches[command.connection, command.unit] = command.xid
        elif isinstance(command, Put) and command.unit is not None:
            xid, to = branches.get((command.connection, command.unit)), watch.target(command)
            if xid is not None and to is not None:
                sent.setdefault(xid, []).append((to, command.message))
        elif isinstance(command, PrepareBranch):
            copies = sent.pop(command.xid, [])
            return (command, *(one for to, message in copies for one in handed_in(_AGENT, to, message)))
        return None

    return commands(rewrite)


def _rollback_ignored(command: Command, _now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
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
    Defect(
        name="prepared-lost-on-kill",
        rules=("BT-13",),
        text="A branch that was prepared is rolled back when the broker is killed.",
        apply=lambda: Seams(read=_lost_on_kill),
    ),
    Defect(
        name="prepared-committed-on-kill",
        rules=("BT-13",),
        text="A branch that was prepared is committed when the broker is killed.",
        apply=lambda: Seams(read=_committed_on_kill),
    ),
    Defect(
        name="taken-in-doubt-comes-back-on-kill",
        rules=("BT-13",),
        text="What a prepared branch has taken can be had again once the broker was killed.",
        apply=lambda: Seams(read=_got_forgotten),
    ),
    Defect(
        name="taken-in-doubt-lost-on-kill",
        rules=("BT-13",),
        text="What a prepared branch has taken does not come back with its rollback once the broker was killed.",
        apply=lambda: Seams(read=_got_lost),
    ),
    Defect(
        name="sent-in-doubt-lost-on-kill",
        rules=("BT-13",),
        text="What a prepared branch has sent does not come with its commit once the broker was killed.",
        apply=lambda: Seams(read=_sent_lost),
    ),
    Defect(
        name="delayed-in-doubt-comes-on-kill",
        rules=("BT-13",),
        text="What a prepared branch has sent with a delay comes before its commit once the broker was killed.",
        apply=lambda: Seams(read=_delay_forgets_branch),
    ),
    Defect(
        name="outcome-of-prepared-unwritten",
        rules=("BT-13",),
        text="How a prepared branch was ended is not on disk: when the broker is killed it is in doubt again.",
        apply=lambda: Seams(written=_outcome_unwritten),
    ),
    Defect(
        name="prepared-lost-with-connection",
        rules=("BT-13",),
        text="A prepared branch is rolled back with the connection that prepared it.",
        apply=_lost_with_connection,
    ),
    Defect(
        name="unprepared-committed-with-connection",
        rules=("BT-13",),
        text="A branch that was not prepared is committed when its connection goes.",
        apply=_loss_commits,
    ),
    Defect(
        name="prepare-commits",
        rules=("BT-13",),
        text="Preparing a branch commits it.",
        apply=_prepare_commits,
    ),
    Defect(
        name="in-doubt-delivered",
        rules=("BT-13",),
        text="What a branch has sent is handed out as soon as it is prepared.",
        apply=_delivered_in_doubt,
    ),
    Defect(
        name="rollback-of-prepared-ignored",
        rules=("BT-13",),
        text="Rolling a branch back is answered and not done.",
        apply=lambda: commands(_rollback_ignored),
    ),
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
