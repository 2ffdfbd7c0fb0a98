"""Branches of global units of work, until the transaction manager has forgotten them.

`assay_broker.core.states.branches` has their state table (X/Open XA, C193, chapter 6 and the pages of the functions).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay_broker.core.clients.units import Work
from assay_broker.core.messages.entries import Entry, Owner
from assay_broker.core.queues.queue import Queue
from assay_broker.core.refusals import RefusalError, illegal_state
from assay_broker.core.states.branches import HINTS, BranchAction, BranchInput, BranchState, BranchTable
from assay_broker.core.topics.retained import Retention
from assay_sdk.model.message import Message
from assay_sdk.model.stepper import Stepper, words
from assay_sdk.model.xa import XaCode, xa_refused


class Standing(Struct, eq=False):
    """A message copy that a prepared branch has put or got.

    Args:
        entry: The copy: uncommitted on its queue if it was put, held if it was got.
        queue: Its queue; None for one that is to be staged.
    """

    entry: Entry
    queue: Queue | None


class KeptPublication(Struct, frozen=True):
    """A publication that becomes a topic's retained one if its prepared branch is committed."""

    kept: Retention
    message: Message
    expires_ms: int | None


class Branch(Work, Stepper[BranchState, BranchInput, BranchAction]):
    """One branch of a global unit of work.

    Args:
        xid: Its xid, encoded.
        number: Its number, unique across restarts.
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
        Work.__init__(self, number, owner)
        Stepper.__init__(self, table, state)
        self.xid = xid
        self.worker: tuple[int, int] | None = None
        """The connection that works in it, or did last, and the unit's number there; None once it is prepared."""
        self.sent: list[Standing] = []
        """The copies that it has put, once it is prepared."""
        self.got: list[Standing] = []
        """The copies that it has accepted, once it is prepared."""
        self.kept: list[KeptPublication] = []
        """The publications to retain, once it is prepared."""
        self.committed: bool | None = None
        """Whether an operator has committed it, or backed it out; None if no operator has completed it."""
        self.prepared_ms: int | None = None
        """Since when it is in doubt, in milliseconds since the epoch; None before its prepare."""

    @property
    def name(self) -> str:
        """The xid in hexadecimal digits, for refusals and displays."""
        return self.xid.hex().upper()

    def grow(self) -> None:
        """Check that one more send or delivery can become part of it.

        Raises:
            RefusalError: No session works in it.
        """
        if not self.knows(BranchInput.WORK):
            raise illegal_state(f"No work can be done in the branch {self.name}: it is {words(self.state)}.")
        self.step(BranchInput.WORK)

    def impossible(self, happened: BranchInput) -> RefusalError:
        """Return the refusal of a request that does not fit the state (XAER_PROTO)."""
        hint = HINTS.get(self.state, "wait for the answer")
        why = f"The branch {self.name} cannot do {words(happened)}: it is {words(self.state)}; {hint}."
        return RefusalError(xa_refused(XaCode.XAER_PROTO, why))


class Branches:
    """All known branches by xid, including those in doubt and those completed heuristically.

    Args:
        limit: The highest number of branches.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._by_xid: dict[bytes, Branch] = {}

    def __iter__(self) -> Iterator[Branch]:
        """All branches, in the order in which they began."""
        return iter(self._by_xid.values())

    def __len__(self) -> int:
        return len(self._by_xid)

    def find(self, xid: bytes) -> Branch | None:
        """Return a branch by its xid; None if it is not known."""
        return self._by_xid.get(xid)

    def get(self, xid: bytes) -> Branch:
        """Return a branch by its xid.

        Raises:
            RefusalError: It is not known (XAER_NOTA).
        """
        found = self._by_xid.get(xid)
        if found is None:
            why = f"There is no branch {xid.hex().upper()}: it has not begun, or it has ended and is forgotten."
            raise RefusalError(xa_refused(XaCode.XAER_NOTA, why))
        return found

    def add(self, branch: Branch) -> None:
        """Add a branch that begins, or that is in doubt at a start."""
        self._by_xid[branch.xid] = branch

    def drop(self, branch: Branch) -> None:
        """Remove a branch, unless a new branch has its xid by now."""
        if self._by_xid.get(branch.xid) is branch:
            del self._by_xid[branch.xid]
