"""Branches of global units of work: the state table, and what a branch holds until everybody has forgotten it.

Everything that a branch's state decides is in `BRANCHES`; a pair that is missing there is a protocol error of the asker
(X/Open XA, C193, chapter 6 and the pages of the functions).  `docs/units.md` draws it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from types import MappingProxyType

from msgspec import Struct

from assay_broker.core.clients.units import Work
from assay_broker.core.messages.entries import Entry, Owner
from assay_broker.core.queues.queue import Queue
from assay_broker.core.refusals import RefusalError, illegal_state
from assay_broker.core.topics.retained import Retention
from assay_sdk.model.message import Message
from assay_sdk.model.xa import XaCode, xa_refused


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

_HINTS: Mapping[BranchState, str] = MappingProxyType(
    {
        BranchState.ACTIVE: "end its work first",
        BranchState.SUSPENDED: "resume or end it first",
        BranchState.IDLE: "join it, prepare it, commit it in one phase, or back it out",
        BranchState.DOOMED: "back it out",
        BranchState.PREPARED: "commit it or back it out",
        BranchState.COMPLETED: "learn its outcome by commit or rollback, then forget it",
    }
)


class Standing(Struct, eq=False):
    """A copy that a prepared branch has put or got.

    Args:
        entry: The copy: uncommitted where it was put, held where it was got.
        queue: Where it stands; None for one that is to be staged.
    """

    entry: Entry
    queue: Queue | None


class KeptPublication(Struct, frozen=True):
    """A publication that becomes a topic's retained one when its prepared branch is committed."""

    kept: Retention
    message: Message
    expires_ms: int | None


class Branch(Work):
    """One branch of a global unit of work.

    Args:
        xid: Its name, encoded.
        number: Its number; never used again, a restart included.
        table: The transitions.
        owner: The connection and the session that began it.
        state: Its first state.
    """

    def __init__(
        self,
        xid: bytes,
        number: int,
        table: BranchTable,
        owner: Owner = (0, None),
        state: BranchState = BranchState.ACTIVE,
    ) -> None:
        super().__init__(number, owner)
        self.xid = xid
        self.state = state
        self.seat: tuple[int, int] | None = None
        """The connection that works in it, or did last, and the unit's number there; None once it is prepared."""
        self.sent: list[Standing] = []
        """What it has put, once it is prepared."""
        self.got: list[Standing] = []
        """What it has accepted, once it is prepared."""
        self.kept: list[KeptPublication] = []
        """What is to be retained, once it is prepared."""
        self.committed: bool | None = None
        """How an operator has completed it; None when none has."""
        self.prepared_ms: int | None = None
        """Since when it is in doubt, in milliseconds since the epoch; None before."""
        self._table = table

    @property
    def name(self) -> str:
        """Its xid, as refusals and displays show it."""
        return self.xid.hex().upper()

    def grow(self) -> None:
        """It is about to get one more send or delivery.

        Raises:
            RefusalError: No session works in it.
        """
        if (self.state, BranchInput.WORK) not in self._table:
            raise illegal_state(f"No work can be done in the branch {self.name}: it is {self.condition}.")
        self.step(BranchInput.WORK)

    def step(self, happened: BranchInput) -> BranchAction:
        """Go on to the next state.

        Returns:
            What is to be done.

        Raises:
            RefusalError: When the table knows no such transition (XAER_PROTO).
        """
        found = self._table.get((self.state, happened))
        if found is None:
            what = happened.name.lower().replace("_", " ")
            hint = _HINTS.get(self.state, "wait for the answer")
            why = f"The branch {self.name} cannot do {what}: it is {self.condition}; {hint}."
            raise RefusalError(xa_refused(XaCode.XAER_PROTO, why))
        self.state, action = found
        return action

    @property
    def condition(self) -> str:
        """How far it is, in words."""
        return self.state.name.lower().replace("_", " ")


class Branches:
    """All branches that are known, by xid, those in doubt and those completed heuristically included.

    Args:
        limit: How many there may be.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._by_xid: dict[bytes, Branch] = {}

    def __iter__(self) -> Iterator[Branch]:
        """All, in the order in which they began."""
        return iter(self._by_xid.values())

    def __len__(self) -> int:
        return len(self._by_xid)

    def find(self, xid: bytes) -> Branch | None:
        """A branch by its xid; None when it is not known."""
        return self._by_xid.get(xid)

    def get(self, xid: bytes) -> Branch:
        """A branch by its xid.

        Raises:
            RefusalError: It is not known (XAER_NOTA).
        """
        found = self._by_xid.get(xid)
        if found is None:
            why = f"There is no branch {xid.hex().upper()}: it has not begun, or it has ended and is forgotten."
            raise RefusalError(xa_refused(XaCode.XAER_NOTA, why))
        return found

    def add(self, branch: Branch) -> None:
        """A branch begins, or is in doubt at a start."""
        self._by_xid[branch.xid] = branch

    def drop(self, branch: Branch) -> None:
        """A branch is over; another may have its xid by now."""
        if self._by_xid.get(branch.xid) is branch:
            del self._by_xid[branch.xid]
