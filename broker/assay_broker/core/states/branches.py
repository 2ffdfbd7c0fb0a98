"""The state table of branches of global units of work (X/Open XA, C193, chapter 6).

A session works in a branch until the client ends the work. The transaction manager then prepares the branch and later
commits it or backs it out, or commits it in one phase. From `PREPARING` on, the state of the branch depends on the
store's answers, not on connections. An operator may complete a prepared branch; the core then keeps the outcome until
the transaction manager forgets the branch. If `BRANCHES` has no row for a state and an input, the input is a protocol
error of the client (XAER_PROTO). `docs/units.md` draws the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType

from assay_sdk.model.xa import XaCode


class BranchState(Enum):
    """The states of a branch."""

    ACTIVE = auto()
    """A session works in the branch."""
    SUSPENDED = auto()
    """The session has suspended its work, and may resume or end it."""
    IDLE = auto()
    """No session works in the branch, and the branch is not prepared."""
    DOOMED = auto()
    """The work has failed, so the branch can only be backed out."""
    PREPARING = auto()
    """The store has not confirmed the prepare yet."""
    PREPARED = auto()
    """The branch is in doubt: only the transaction manager or an operator ends it, even after a restart."""
    COMMITTING = auto()
    """The store has not confirmed the commit of the prepared branch yet."""
    COMMITTING_AT_ONCE = auto()
    """The store has not confirmed the commit in one phase yet."""
    BACKING_OUT = auto()
    """The store has not confirmed the backout of the prepared branch yet."""
    COMPLETING = auto()
    """An operator has committed the branch or backed it out, and the store has not confirmed that yet."""
    COMPLETED = auto()
    """An operator has completed the branch, and the transaction manager has not forgotten the heuristic outcome yet."""
    FORGETTING = auto()
    """The store has not confirmed yet that the heuristic outcome is forgotten."""
    ENDED = auto()


class BranchInput(Enum):
    """The events of a branch."""

    WORK = auto()
    SUSPEND = auto()
    RESUME = auto()
    JOIN = auto()
    END = auto()
    FAIL = auto()
    LOST = auto()
    PREPARE = auto()
    PREPARE_EMPTY = auto()
    """A prepare of a branch without sends and deliveries."""
    COMMIT = auto()
    COMMIT_AT_ONCE = auto()
    BACK_OUT = auto()
    RESOLVE_COMMIT = auto()
    RESOLVE_BACK_OUT = auto()
    FORGET = auto()
    STORED = auto()
    STORE_FAILED = auto()


class BranchAction(Enum):
    """The core's reactions to the events of a branch."""

    ENLIST = auto()
    """Add a send or delivery to the branch."""
    REST = auto()
    """Change the state, and do nothing else."""
    TAKE_UP = auto()
    """Let a session work in the branch."""
    DISCARD = auto()
    """Drop the messages that the branch has sent, and return its accepted messages to their queues."""
    BREAK = auto()
    """Do what `DISCARD` does, and refuse the request."""
    SECURE = auto()
    """Record the branch's messages so that commit and backout are both possible, even after a restart."""
    APPLY = auto()
    """Commit a branch that was not prepared."""
    CARRY_OUT = auto()
    """Commit a prepared branch."""
    GIVE_BACK = auto()
    """Back out a prepared branch."""
    TELL = auto()
    """Tell the transaction manager the heuristic outcome."""
    STRIKE = auto()
    """Remove the heuristic outcome from the store."""
    KEEP = auto()
    """Keep the branch, and do nothing else."""
    DROP = auto()
    """Remove the branch from the known branches."""


BranchTable = Mapping[tuple[BranchState, BranchInput], tuple[BranchState, BranchAction]]

_S, _I, _A = BranchState, BranchInput, BranchAction

BRANCHES: BranchTable = MappingProxyType(
    {
        (_S.ACTIVE, _I.WORK): (_S.ACTIVE, _A.ENLIST),
        (_S.ACTIVE, _I.SUSPEND): (_S.SUSPENDED, _A.REST),
        (_S.ACTIVE, _I.END): (_S.IDLE, _A.REST),
        (_S.ACTIVE, _I.FAIL): (_S.DOOMED, _A.REST),
        (_S.ACTIVE, _I.LOST): (_S.ENDED, _A.DISCARD),
        (_S.SUSPENDED, _I.RESUME): (_S.ACTIVE, _A.TAKE_UP),
        (_S.SUSPENDED, _I.END): (_S.IDLE, _A.REST),
        (_S.SUSPENDED, _I.FAIL): (_S.DOOMED, _A.REST),
        (_S.SUSPENDED, _I.LOST): (_S.ENDED, _A.DISCARD),
        (_S.IDLE, _I.JOIN): (_S.ACTIVE, _A.TAKE_UP),
        (_S.IDLE, _I.PREPARE): (_S.PREPARING, _A.SECURE),
        (_S.IDLE, _I.PREPARE_EMPTY): (_S.ENDED, _A.DROP),
        (_S.IDLE, _I.COMMIT_AT_ONCE): (_S.COMMITTING_AT_ONCE, _A.APPLY),
        (_S.IDLE, _I.BACK_OUT): (_S.ENDED, _A.DISCARD),
        (_S.IDLE, _I.LOST): (_S.ENDED, _A.DISCARD),
        (_S.DOOMED, _I.PREPARE): (_S.ENDED, _A.BREAK),
        (_S.DOOMED, _I.PREPARE_EMPTY): (_S.ENDED, _A.BREAK),
        (_S.DOOMED, _I.COMMIT_AT_ONCE): (_S.ENDED, _A.BREAK),
        (_S.DOOMED, _I.BACK_OUT): (_S.ENDED, _A.DISCARD),
        (_S.DOOMED, _I.LOST): (_S.ENDED, _A.DISCARD),
        # The end of a connection does not change the states below. A batch that the store refuses has no effect.
        (_S.PREPARING, _I.STORED): (_S.PREPARED, _A.KEEP),
        (_S.PREPARING, _I.STORE_FAILED): (_S.ENDED, _A.DROP),
        (_S.PREPARED, _I.COMMIT): (_S.COMMITTING, _A.CARRY_OUT),
        (_S.PREPARED, _I.BACK_OUT): (_S.BACKING_OUT, _A.GIVE_BACK),
        (_S.PREPARED, _I.RESOLVE_COMMIT): (_S.COMPLETING, _A.CARRY_OUT),
        (_S.PREPARED, _I.RESOLVE_BACK_OUT): (_S.COMPLETING, _A.GIVE_BACK),
        (_S.COMMITTING, _I.STORED): (_S.ENDED, _A.DROP),
        (_S.COMMITTING, _I.STORE_FAILED): (_S.PREPARED, _A.KEEP),
        (_S.COMMITTING_AT_ONCE, _I.STORED): (_S.ENDED, _A.DROP),
        (_S.COMMITTING_AT_ONCE, _I.STORE_FAILED): (_S.ENDED, _A.DROP),
        (_S.BACKING_OUT, _I.STORED): (_S.ENDED, _A.DROP),
        (_S.BACKING_OUT, _I.STORE_FAILED): (_S.PREPARED, _A.KEEP),
        (_S.COMPLETING, _I.STORED): (_S.COMPLETED, _A.KEEP),
        (_S.COMPLETING, _I.STORE_FAILED): (_S.PREPARED, _A.KEEP),
        (_S.COMPLETED, _I.COMMIT): (_S.COMPLETED, _A.TELL),
        (_S.COMPLETED, _I.BACK_OUT): (_S.COMPLETED, _A.TELL),
        (_S.COMPLETED, _I.FORGET): (_S.FORGETTING, _A.STRIKE),
        (_S.FORGETTING, _I.STORED): (_S.ENDED, _A.DROP),
        (_S.FORGETTING, _I.STORE_FAILED): (_S.COMPLETED, _A.KEEP),
    }
)

FAILURES: Mapping[BranchState, XaCode] = MappingProxyType(
    {
        BranchState.PREPARING: XaCode.XA_RBOTHER,
        BranchState.COMMITTING: XaCode.XA_RETRY,  # no stable storage now (C193, xa_commit); the branch stays prepared
        BranchState.COMMITTING_AT_ONCE: XaCode.XA_RBOTHER,
        BranchState.BACKING_OUT: XaCode.XAER_RMFAIL,  # XA_RETRY is an answer to a commit only
        BranchState.FORGETTING: XaCode.XAER_RMFAIL,
    }
)
"""For each state of a branch, the XA code of the answer if the store refuses the branch's batch.

A decision of an operator is refused with a reason code instead, like any administrator's command.
"""

HINTS: Mapping[BranchState, str] = MappingProxyType(
    {
        BranchState.ACTIVE: "end its work first",
        BranchState.SUSPENDED: "resume or end it first",
        BranchState.IDLE: "join it, prepare it, commit it in one phase, or back it out",
        BranchState.DOOMED: "back it out",
        BranchState.PREPARED: "commit it or back it out",
        BranchState.COMPLETED: "learn its outcome by commit or rollback, then forget it",
    }
)
