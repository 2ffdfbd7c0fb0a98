"""Branches of global units of work (X/Open XA, C193).

A queue manager keeps a branch until the branch has ended or, if an operator completed it, until the transaction manager
forgets the heuristic outcome. `assay_broker.core.states.branches` has the state table.
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
    """A message copy that a prepared branch has put or accepted.

    Args:
        entry: The copy; its state is `UNCOMMITTED` if the branch put it, `HELD` if the branch accepted it.
        queue: The copy's queue; None for a delayed copy that the branch put.
    """

    entry: Entry
    queue: Queue | None


class KeptPublication(Struct, frozen=True):
    """A publication that its topic retains if the prepared branch that sent it is committed.

    Args:
        kept: The topic and the publisher.
        message: The publication.
        expires_ms: When the publication expires, in milliseconds since the epoch; None for never.
    """

    kept: Retention
    message: Message
    expires_ms: int | None


class Branch(Work, Stepper[BranchState, BranchInput, BranchAction]):
    """One branch of a global unit of work.

    Args:
        xid: The branch's xid, encoded.
        number: The branch's number, unique across restarts.
        table: The state table.
        owner: The connection and the session that began the branch.
        state: The branch's first state.
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
        """The last connection that worked in the branch, and the branch's unit number there; None after the prepare."""
        self.sent: list[Standing] = []
        """The copies that the branch has put; empty before the prepare."""
        self.got: list[Standing] = []
        """The copies that the branch has accepted; empty before the prepare."""
        self.kept: list[KeptPublication] = []
        """The publications to retain at the commit; empty before the prepare."""
        self.returned = False
        """Whether the branch's copies entered their queues again, after the store refused a commit or backout."""
        self.committed: bool | None = None
        """The decision of an operator: True for a commit, False for a backout, None for no decision."""
        self.prepared_ms: int | None = None
        """The time of the prepare, in milliseconds since the epoch; None before the prepare."""

    @property
    def name(self) -> str:
        """The xid in hexadecimal digits, for refusals and displays."""
        return self.xid.hex().upper()

    def grow(self) -> None:
        """Check that one more send or delivery can become part of the branch.

        Raises:
            RefusalError: No session works in the branch.
        """
        if not self.knows(BranchInput.WORK):
            raise illegal_state(f"The branch {self.name} does not allow work while it is {words(self.state)}.")
        self.step(BranchInput.WORK)

    def impossible(self, happened: BranchInput) -> RefusalError:
        """Return the refusal (XAER_PROTO) of a request that does not fit the branch's state."""
        hint = HINTS.get(self.state, "wait for the answer")
        why = f"The branch {self.name} does not allow {words(happened)} while it is {words(self.state)}; {hint}."
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
        """Iterate over all branches, in the order in which they began."""
        return iter(self._by_xid.values())

    def __len__(self) -> int:
        return len(self._by_xid)

    def find(self, xid: bytes) -> Branch | None:
        """Return a branch by its xid; None if no branch has it."""
        return self._by_xid.get(xid)

    def get(self, xid: bytes) -> Branch:
        """Return a branch by its xid.

        Raises:
            RefusalError: No branch has this xid (XAER_NOTA).
        """
        found = self._by_xid.get(xid)
        if found is None:
            why = f"Branch {xid.hex().upper()} is not known: it has not begun, or it has ended and was forgotten."
            raise RefusalError(xa_refused(XaCode.XAER_NOTA, why))
        return found

    def add(self, branch: Branch) -> None:
        """Add a branch that begins, or that is recovered at a start."""
        self._by_xid[branch.xid] = branch

    def drop(self, branch: Branch) -> None:
        """Remove a branch, unless its xid belongs to a newer branch."""
        if self._by_xid.get(branch.xid) is branch:
            del self._by_xid[branch.xid]
