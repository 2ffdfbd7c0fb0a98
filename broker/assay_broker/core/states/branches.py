"""Branches of global units of work: what may happen to one, and what the core then does (X/Open XA, C193, chapter 6).

A session works in a branch until the branch is ended.  The transaction manager then prepares it, and later commits it
or backs it out; or commits it in one phase.  From `PREPARING` on the store's answers decide, not the connections.
An operator may complete a prepared branch; its outcome is kept until the transaction manager forgets it.  A pair that
`BRANCHES` lacks is a protocol error of the client (XAER_PROTO).  `docs/units.md` draws the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType

from assay_sdk.model.xa import XaCode


class BranchState(Enum):
    """How far a branch is."""

    ACTIVE = auto()
    """A session works in it."""
    SUSPENDED = auto()
    """Its session works in it no longer, and will again."""
    IDLE = auto()
    """Its work is done."""
    DOOMED = auto()
    """Its work has failed: it can only be backed out."""
    PREPARING = auto()
    """The store has still to say that it is prepared."""
    PREPARED = auto()
    """In doubt: the transaction manager has the word, whatever becomes of connections and of us."""
    COMMITTING = auto()
    """It was prepared, and the store has still to say that it is committed."""
    COMMITTING_AT_ONCE = auto()
    """It was not prepared, and the store has still to say that it is committed."""
    BACKING_OUT = auto()
    """It was prepared, and the store has still to say that it is backed out."""
    COMPLETING = auto()
    """An operator has had the word, and the store has still to say so."""
    COMPLETED = auto()
    """Heuristically completed: the transaction manager has still to learn how."""
    FORGETTING = auto()
    """The store has still to say that the heuristic outcome is forgotten."""
    ENDED = auto()


class BranchInput(Enum):
    """What can happen to a branch."""

    WORK = auto()
    SUSPEND = auto()
    RESUME = auto()
    JOIN = auto()
    END = auto()
    FAIL = auto()
    LOST = auto()
    PREPARE = auto()
    PREPARE_EMPTY = auto()
    """It is to be prepared, and holds nothing."""
    COMMIT = auto()
    COMMIT_AT_ONCE = auto()
    BACK_OUT = auto()
    RESOLVE_COMMIT = auto()
    RESOLVE_BACK_OUT = auto()
    FORGET = auto()
    STORED = auto()
    STORE_FAILED = auto()


class BranchAction(Enum):
    """What then is to be done."""

    ENLIST = auto()
    """What is sent or accepted becomes part of it."""
    REST = auto()
    TAKE_UP = auto()
    """A session works in it from now on."""
    DISCARD = auto()
    """Nothing was sent, and what was accepted comes again."""
    BREAK = auto()
    """The same, and whoever asked for something else is told."""
    SECURE = auto()
    """Keep everything so that either end is possible, a restart later too."""
    APPLY = auto()
    """Everything that was not prepared happens."""
    CARRY_OUT = auto()
    """Everything that was prepared happens."""
    GIVE_BACK = auto()
    """Nothing that was prepared happens."""
    TELL = auto()
    """Say how it was completed."""
    STRIKE = auto()
    """Take the heuristic outcome off the record."""
    KEEP = auto()
    DROP = auto()
    """Forget it."""


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
        # From here on no connection matters, and the store decides: a batch that it refuses has not happened.
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
        BranchState.COMMITTING: XaCode.XA_RETRY,  # XA, xa_commit: stable storage is unavailable; still prepared
        BranchState.COMMITTING_AT_ONCE: XaCode.XA_RBOTHER,
        BranchState.BACKING_OUT: XaCode.XAER_RMFAIL,  # XA_RETRY is an answer to a commit only
        BranchState.FORGETTING: XaCode.XAER_RMFAIL,
    }
)
"""What whoever asked is told when the store refuses; an operator is told as any administrator is."""

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
