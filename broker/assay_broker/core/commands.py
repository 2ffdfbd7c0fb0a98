"""What can be asked of the core.

Connections, links, units and tokens are numbers that the asker chooses.  Every command with a token that is not None
gets exactly one `Answer`; a token of None says that nobody waits for one.
"""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.administration.changes import Change
from assay_broker.core.networks.parcels import Parcel
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, Message
from assay_sdk.model.xa import XaEnd, XaStart


class Connect(Struct, frozen=True, tag=True):
    """A client comes.

    Args:
        client_id: JMS client id; None for none.
        user: Whose authority counts; None for one who has not said who he is.
        alone: Whether no other connection may have the client id (JMS 6.1.2); AMQP lets a container have several
            connections unless it asks for this.
    """

    connection: int
    token: int | None
    client_id: str | None = None
    user: str | None = None
    alone: bool = True


class Disconnect(Struct, frozen=True, tag=True):
    """A client goes; its open units of work are backed out and what it holds goes back.

    Args:
        clean: Whether it said goodbye.  What follows is the same; only the reason told to others differs.
    """

    connection: int
    token: int | None
    clean: bool


class AttachSender(Struct, frozen=True, tag=True):
    """Open a sender.

    Args:
        address: The destination; None for one named in each message.
        adopt: Whether a temporary destination that is not there is made for the connection.
        named: Whether the answer's value is to be the destination's name.
    """

    connection: int
    token: int | None
    link: int
    address: Address | None
    adopt: bool = True
    named: bool = False


class Attach(Struct, frozen=True, tag=True, kw_only=True):
    """Open a receiver on a queue, or on a topic through a subscription (JMS 8.3).

    Args:
        selector: JMS selector; None for none.
        no_local: Leave out what the same connection, or client id, sent (topics only).
        durability: Kind of subscription.
        name: Subscription name; None for an unshared non-durable one or a queue.
        shared: Whether others may share the subscription.
        everybodys: Whether a shared subscription belongs to no client id, so that clients with any id share it.
        settled: Whether the receiver wants settled deliveries (at most once).
        session: Which of the connection's sessions it belongs to: it gets what a unit of work of the same session has
            put and not committed (DD-25); None when nobody says.
        timeout_ms: How long a durable subscription outlives its last receiver, in milliseconds; None for ever.
        adopt: Whether a temporary destination that is not there is made for the connection.
    """

    connection: int
    token: int | None
    link: int
    address: Address
    selector: str | None = None
    no_local: bool = False
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    everybodys: bool = False
    settled: bool = False
    session: int | None = None
    timeout_ms: int | None = None
    adopt: bool = True


class Detach(Struct, frozen=True, tag=True):
    """Close a link; what a receiver holds goes back as a failed delivery."""

    connection: int
    token: int | None
    link: int


class Flow(Struct, frozen=True, tag=True):
    """Allow more deliveries on a receiver.

    Args:
        credit: How many more; a negative number takes back what is not used of that many.
        drain: Send what is there and take the rest of the credit back; the answer says that it is done.
        settled: Whether deliveries are settled as they leave, from now on; None for as before.
    """

    connection: int
    token: int | None
    link: int
    credit: int
    drain: bool = False
    settled: bool | None = None


class Put(Struct, frozen=True, tag=True):
    """Send a message.

    Args:
        unit: The unit of work it belongs to; None for none.
    """

    connection: int
    token: int | None
    link: int
    message: Message
    unit: int | None = None


class Settle(Struct, frozen=True, tag=True):
    """Settle deliveries, or, with a unit, have the outcome hold from that unit's commit on.

    Until then they are the unit's, whether their link is still there or not (OASIS AMQP 1.0, 4.4.2).  A branch of a
    global unit of work accepts only.

    Args:
        leave_out: Whether what is given back is never to come to this link again (OASIS AMQP 1.0, 3.4.5,
            undeliverable-here).
        annotations: What is given back has these among its annotations from now on, in place of those of the same keys
            (3.4.5, message-annotations): an encoded map; empty for none.
    """

    connection: int
    token: int | None
    link: int
    deliveries: tuple[int, ...]
    outcome: Outcome
    unit: int | None = None
    leave_out: bool = False
    annotations: bytes = b""


class Begin(Struct, frozen=True, tag=True):
    """Begin a local unit of work, or work for a branch of a global one.

    Args:
        unit: Its number on the connection, from now on; a branch that is joined or resumed gets this one.
        session: Which of the connection's sessions it belongs to; None when nobody says.
        xid: The branch's name; None for a local unit.
        start: Whether the branch is new, joined, or resumed.
    """

    connection: int
    token: int | None
    unit: int
    session: int | None = None
    xid: bytes | None = None
    start: XaStart = XaStart.NEW


class EndBranch(Struct, frozen=True, tag=True):
    """The connection's work for a branch ends, for good or for a while."""

    connection: int
    token: int | None
    xid: bytes
    end: XaEnd


class PrepareBranch(Struct, frozen=True, tag=True):
    """Prepare a branch; the answer's value is a `XaVote`."""

    connection: int
    token: int | None
    xid: bytes


class CommitBranch(Struct, frozen=True, tag=True):
    """Commit a branch.

    Args:
        one_phase: Whether it has not been prepared.
    """

    connection: int
    token: int | None
    xid: bytes
    one_phase: bool = False


class BackOutBranch(Struct, frozen=True, tag=True):
    """Back a branch out, prepared or not; what it has accepted goes back to its queues."""

    connection: int
    token: int | None
    xid: bytes


class RecoverBranches(Struct, frozen=True, tag=True):
    """Name the branches in doubt, and those completed heuristically; the answer's value is a tuple of xids."""

    connection: int
    token: int | None


class ForgetBranch(Struct, frozen=True, tag=True):
    """Forget how a branch was completed heuristically."""

    connection: int
    token: int | None
    xid: bytes


class Commit(Struct, frozen=True, tag=True):
    """Commit a local unit of work."""

    connection: int
    token: int | None
    unit: int


class Backout(Struct, frozen=True, tag=True):
    """Back a local unit of work out; the deliveries accepted in it stay with their links, unsettled.

    A branch under this number is backed out as if its connection had gone: the session that works in it goes.
    """

    connection: int
    token: int | None
    unit: int


class Unsubscribe(Struct, frozen=True, tag=True):
    """Remove a durable subscription of the connection's client id.

    Args:
        everybodys: Whether it belongs to no client id, as `Attach` says.
    """

    connection: int
    token: int | None
    name: str
    everybodys: bool = False


class FindSubscription(Struct, frozen=True, tag=True):
    """Look for a durable subscription of the connection's client id; the answer's value is its `Terms`, alone.

    Args:
        everybodys: Whether it belongs to no client id, as `Attach` says.
    """

    connection: int
    token: int | None
    name: str
    everybodys: bool = False


class DeleteTemporary(Struct, frozen=True, tag=True):
    """Delete a temporary destination of the connection, before the connection ends, with all links to it."""

    connection: int
    token: int | None
    address: Address


class Browse(Struct, frozen=True, tag=True):
    """Look at a queue; the answer's value is a tuple of messages in the queue's order."""

    connection: int
    token: int | None
    address: Address
    selector: str | None = None


class Cancel(Struct, frozen=True, tag=True):
    """Take a delayed message back, all copies of it, while it is staged."""

    connection: int
    token: int | None
    message_id: str


class Administer(Struct, frozen=True, tag=True):
    """Do what an administrator asks.

    Args:
        change: What; the answer's value depends on it.
        checked: Whether the connection's user must be granted what it needs; otherwise who asks has been let in as an
            administrator.
    """

    connection: int
    token: int | None
    change: Change
    checked: bool = False


class FromMember(Struct, frozen=True, tag=True):
    """Another queue manager of the network has sent something."""

    member: str
    parcel: Parcel


class WorkerDied(Struct, frozen=True, tag=True):
    """The delivery delay processor's worker has died (DD-65)."""


class Tick(Struct, frozen=True, tag=True):
    """Time has come to `Core.next_due_ms`."""


class Stored(Struct, frozen=True, tag=True):
    """A batch is durable, and every batch before it."""

    batch: int


class StoreFailed(Struct, frozen=True, tag=True):
    """Batches could not be made durable: nothing in them has happened.

    Those that have failed together are told together, so that nothing is built on one of them meanwhile.

    Args:
        batch: The newest of them.
        older: The others, the newest first.
    """

    batch: int
    why: str
    older: tuple[int, ...] = ()


Command = (
    Connect
    | Disconnect
    | AttachSender
    | Attach
    | Detach
    | Flow
    | Put
    | Settle
    | Begin
    | Commit
    | Backout
    | EndBranch
    | PrepareBranch
    | CommitBranch
    | BackOutBranch
    | RecoverBranches
    | ForgetBranch
    | Unsubscribe
    | FindSubscription
    | DeleteTemporary
    | Browse
    | Cancel
    | Administer
    | FromMember
    | WorkerDied
    | Tick
    | Stored
    | StoreFailed
)
