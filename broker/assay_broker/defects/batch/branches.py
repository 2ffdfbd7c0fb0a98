"""Defects of branches of global units of work: work, prepare, commit, rollback, and lost connections (BT-13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject
from assay_broker.core.commands import (
    Administer,
    Backout,
    BackOutBranch,
    Begin,
    Command,
    CommitBranch,
    Connect,
    Disconnect,
    EndBranch,
    PrepareBranch,
    Put,
    RecoverBranches,
    Settle,
    Stored,
    StoreFailed,
)
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.objects.model import Kind
from assay_broker.core.records import Record
from assay_broker.core.states.branches import BranchAction, BranchInput, BranchState, BranchTable
from assay_broker.core.states.tables import Tables
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import handed_in, is_topic
from assay_broker.defects.shapes import Commands, commands, filters, replies, writing
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.xa import XaEnd, XaStart, XaVote


def _cell(
    state: BranchState, happened: BranchInput, following: BranchState, action: BranchAction
) -> Callable[[Tables], Tables]:
    """Make a function that replaces one cell of the state table of branches."""

    def altered(tables: Tables) -> Tables:
        cells: BranchTable = MappingProxyType({**tables.branches, (state, happened): (following, action)})
        return replace(tables, branches=cells)

    return altered


def _after_refusal(asked: type[CommitBranch | BackOutBranch], done: type[CommitBranch | BackOutBranch]) -> Seams:
    """Make filters that end a branch by a second command after the store has refused the client's commit or rollback.

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


@defect(commands, "failed-work-commits", "BT-13")
def _failed_commits(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A branch whose work was ended as failed can be prepared and committed."""
    failed = isinstance(command, EndBranch) and command.end is XaEnd.FAIL
    return (replace(command, end=XaEnd.SUCCESS),) if failed else None


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


@defect(commands, "prepared-lost-with-goodbye", "BT-13")
def _lost_with_goodbye(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a client closes the connection that prepared a branch, the broker rolls the branch back."""
    if not isinstance(command, Disconnect) or not command.clean:
        return None
    return (*(BackOutBranch(command.connection, None, xid) for xid in view.prepared(command.connection)), command)


@defect(replies, "active-named-in-doubt", "BT-13")
def _names_active(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """A transaction manager that asks for the branches in doubt also gets branches that are not prepared.

    The answer also contains the branches in which a session is working at the time.
    """
    if not isinstance(asked, RecoverBranches):
        return answer
    xids = tuple(one for one in answer.value if isinstance(one, bytes)) if isinstance(answer.value, tuple) else ()
    return replace(answer, value=(*xids, *view.working))


@defect(writing, "one-phase-unwritten", "BT-13")
def _one_phase_unwritten(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """The broker answers a commit in one phase and does not write it to disk."""
    return () if isinstance(view.last, CommitBranch) and view.last.one_phase else tuple(records)


@defect(made, "one-phase-publishes-to-one", "BT-13")
def _publishes_to_one() -> Seams:
    """After a commit in one phase, each publication of the branch reaches only one subscriber."""
    first: dict[str | None, tuple[int, int] | None] = {}

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, CommitBranch) and command.one_phase:
            sent = (one for unit in view.ended(command) for one in unit.sent if is_topic(one.target))
            first.update((one.message.message_id, None) for one in sent)
        return None

    def delivered(delivery: Deliver, _view: View) -> Deliver | None:
        id_, link = delivery.message.message_id, (delivery.connection, delivery.link)
        if id_ not in first:
            return delivery
        first[id_] = first[id_] or link
        return delivery if first[id_] == link else None

    return filters(note, delivery=delivered)


@defect(made, "work-after-joining-outside-branch", "BT-13")
def _joined_outside() -> Seams:
    """The work that a session does in a branch after it has joined or resumed the branch is not part of the branch."""
    outside: set[tuple[int, int]] = set()

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Begin) and command.start is not XaStart.NEW:
            outside.add((command.connection, command.unit))
        if not isinstance(command, Put | Settle) or command.unit is None:
            return None
        return (replace(command, unit=None),) if (command.connection, command.unit) in outside else None

    return commands(rewrite)


@defect(made, "places-of-rolled-back-branches-taken", "BT-13")
def _places_taken() -> Seams:
    """Messages of a branch that was rolled back still count towards MAXDEPTH of their queues."""
    units: dict[bytes, tuple[int, int]] = {}
    sent: dict[tuple[int, int], list[str]] = {}
    lost: Counter[str] = Counter()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Begin) and command.xid is not None:
            units[command.xid] = command.connection, command.unit
        if isinstance(command, BackOutBranch) and command.xid in units:
            lost.update(sent.pop(units.pop(command.xid), ()))
        target = view.target(command)
        if not isinstance(command, Put) or target is None or is_topic(target):
            return None
        if command.unit is not None:
            sent.setdefault((command.connection, command.unit), []).append(target.name)
            return None
        places = view.said_of(target).get("MAXDEPTH")
        if not isinstance(places, int) or not 0 < places <= lost[target.name]:
            return None
        full, free = (AlterObject(Kind.QLOCAL, target.name, {"MAXDEPTH": depth}) for depth in (0, places))
        return (Administer(command.connection, None, full), command, Administer(command.connection, None, free))

    return commands(rewrite)


@defect(made, "refused-prepare-loses-messages", "BT-13")
def _refused_prepare_loses() -> Seams:
    """If the store refuses a prepare or a commit in one phase, the branch's received messages never come again."""
    asked: list[Deliver] = []
    lost: set[str | None] = set()

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, PrepareBranch) or (isinstance(command, CommitBranch) and command.one_phase):
            asked[:] = [one for unit in view.ended(command) for one in unit.taken]
        elif isinstance(command, Stored | StoreFailed):
            if isinstance(command, StoreFailed):
                lost.update(one.message.message_id for one in asked)
            asked.clear()
        return None

    def delivered(delivery: Deliver, _view: View) -> Deliver | None:
        return None if delivery.message.message_id in lost else delivery

    return filters(note, delivery=delivered)


@defect(made, "joined-ends-with-its-first-session", "BT-13")
def _joined_ends_with_first() -> Seams:
    """When the session that began a branch ends, the broker backs out the branch, even if another session joined it."""
    began: dict[int, set[bytes]] = {}
    joined: set[bytes] = set()

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Begin) and command.xid is not None:
            if command.start is XaStart.JOIN:
                joined.add(command.xid)
            else:
                began.setdefault(command.connection, set()).add(command.xid)
        if not isinstance(command, Disconnect | Backout):
            return None
        ended = began.pop(command.connection, set()) & joined
        return (*(BackOutBranch(command.connection, None, xid) for xid in sorted(ended)), command)

    return commands(rewrite)


BRANCHES_DEFECTS = (
    _lost_with_connection,
    _loss_commits,
    _prepare_commits,
    _delivered_in_doubt,
    _rollback_ignored,
    _failed_commits,
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
        name="refused-commit-commits",
        rules=("BT-13",),
        text="When the store refuses the commit of a branch, the broker tells the client, and commits the branch.",
        apply=lambda: _after_refusal(CommitBranch, CommitBranch),
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
    _lost_with_goodbye,
    _names_active,
    _one_phase_unwritten,
    _publishes_to_one,
    _joined_outside,
    _places_taken,
    _refused_prepare_loses,
    _joined_ends_with_first,
)
