"""The commands that the shell gives to the core. Each class says what the core does for its command.

The shell chooses the numbers of connections, links, units and tokens. A command with a token gets exactly one `Answer`
from the core; a command whose token is None gets none.
"""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.administration.changes import Change
from assay_broker.core.networks.parcels import Parcel
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, Message
from assay_sdk.model.xa import XaEnd, XaStart


class Connect(Struct, frozen=True, tag=True):
    """Open a connection.

    Args:
        client_id: JMS client id; None without a client id.
        user: The user whose authority the core checks; None for an anonymous client.
        alone: Whether no other connection may have the client id (JMS 2.0, 6.1.2). False for an AMQP client that does
            not ask for a sole connection, because a container may have several connections.
    """

    connection: int
    token: int | None
    client_id: str | None = None
    user: str | None = None
    alone: bool = True


class Disconnect(Struct, frozen=True, tag=True):
    """Close a connection: back out its open units of work, close its links, and delete its temporary destinations.

    Unsettled messages return to their queues.

    Args:
        clean: Whether the client closed the connection; False if the connection was lost. The core treats both alike;
            only defects and variants of the broker distinguish them.
    """

    connection: int
    token: int | None
    clean: bool


class AttachSender(Struct, frozen=True, tag=True):
    """Open a sender.

    Args:
        address: The destination; None if each message names its own destination.
        adopt: Whether the core creates the temporary destination for this connection if it does not exist.
        named: Whether the answer's value is the destination's name.
    """

    connection: int
    token: int | None
    link: int
    address: Address | None
    adopt: bool = True
    named: bool = False


class Attach(Struct, frozen=True, tag=True, kw_only=True):
    """Open a receiver on a queue, or on a topic through a subscription (JMS 2.0, 8.3).

    Args:
        selector: JMS selector; None without a selector.
        no_local: Whether to leave out messages sent by the same connection or under the same client id; without effect
            for a queue or a shared subscription.
        durability: Whether the subscription is durable; `NON_DURABLE` for a queue.
        name: The subscription's name; None for a queue. May be None for an unshared non-durable subscription.
        shared: Whether several receivers may share the subscription.
        is_global: Whether a shared subscription belongs to no client id, so that clients with any id share it.
        settled: Whether the queue manager sends deliveries settled (at most once).
        session: The session of the connection to which the receiver belongs; None if unknown. A session's receivers can
            get messages that the session's unit of work has not committed yet (DD-25).
        timeout_ms: How long a durable subscription outlives its last receiver, in milliseconds; None for ever.
        adopt: Whether the core creates the temporary destination for this connection if it does not exist.
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
    is_global: bool = False
    settled: bool = False
    session: int | None = None
    timeout_ms: int | None = None
    adopt: bool = True


class Detach(Struct, frozen=True, tag=True):
    """Close a link; a receiver's unsettled messages return to their queue, and their deliveries count as failed."""

    connection: int
    token: int | None
    link: int


class Flow(Struct, frozen=True, tag=True):
    """Allow more deliveries on a receiver.

    Args:
        credit: The number of deliveries to add to the credit; a negative number takes back unused credit.
        drain: Whether the core delivers the waiting messages, takes back the credit that is left, and then answers.
        settled: Whether the queue manager sends deliveries settled from now on; None leaves this unchanged.
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
        unit: The unit of work to which the send belongs; None without a unit of work.
    """

    connection: int
    token: int | None
    link: int
    message: Message
    unit: int | None = None


class Settle(Struct, frozen=True, tag=True):
    """Settle deliveries, at once or at the commit of a unit of work.

    A unit of work holds the deliveries until its commit or backout, even if their link is closed (OASIS AMQP 1.0,
    4.4.2). In a branch of a global unit of work, a client can only accept deliveries.

    Args:
        unit: The unit of work; None to settle at once.
        leave_out: Whether the queue manager never delivers a returned message to this link again (OASIS AMQP 1.0,
            3.4.5, undeliverable-here).
        annotations: Annotations that a returned message gets, as an encoded map; they replace annotations with the
            same keys (3.4.5, message-annotations). Empty for none.
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
    """Begin a local unit of work; or begin, join or resume work in a branch of a global unit of work.

    Args:
        unit: The number of the unit of work on the connection; a joined or resumed branch gets this number, too.
        session: The session of the connection that begins the unit of work; None if unknown.
        xid: The branch's xid; None for a local unit of work.
        start: The kind of start: to begin, join or resume the branch; without effect for a local unit of work.
    """

    connection: int
    token: int | None
    unit: int
    session: int | None = None
    xid: bytes | None = None
    start: XaStart = XaStart.NEW


class EndBranch(Struct, frozen=True, tag=True):
    """End or suspend the connection's work in a branch, or mark the work as failed."""

    connection: int
    token: int | None
    xid: bytes
    end: XaEnd


class PrepareBranch(Struct, frozen=True, tag=True):
    """Prepare a branch; the answer's value is an `XaVote`."""

    connection: int
    token: int | None
    xid: bytes


class CommitBranch(Struct, frozen=True, tag=True):
    """Commit a branch.

    Args:
        one_phase: Whether to commit an unprepared branch in one phase.
    """

    connection: int
    token: int | None
    xid: bytes
    one_phase: bool = False


class BackOutBranch(Struct, frozen=True, tag=True):
    """Back out a branch, prepared or not; the messages that the branch accepted return to their queues."""

    connection: int
    token: int | None
    xid: bytes


class RecoverBranches(Struct, frozen=True, tag=True):
    """List the branches that are in doubt or completed heuristically; the answer's value is a tuple of their xids."""

    connection: int
    token: int | None


class ForgetBranch(Struct, frozen=True, tag=True):
    """Forget the heuristic outcome of a branch."""

    connection: int
    token: int | None
    xid: bytes


class Commit(Struct, frozen=True, tag=True):
    """Commit a local unit of work."""

    connection: int
    token: int | None
    unit: int


class Backout(Struct, frozen=True, tag=True):
    """Back out a local unit of work; the deliveries that it settled become unsettled again on their links.

    If a link is closed, the messages of its deliveries return to their queue.

    The shell gives the number of a branch when the session that works in the branch has ended. The core then backs out
    the branch, as at the end of the branch's connection.
    """

    connection: int
    token: int | None
    unit: int


class Unsubscribe(Struct, frozen=True, tag=True):
    """Remove a durable subscription of the connection's client id, or a shared one that belongs to no client id.

    Args:
        is_global: Whether the subscription is shared and belongs to no client id.
    """

    connection: int
    token: int | None
    name: str
    is_global: bool = False


class FindSubscription(Struct, frozen=True, tag=True):
    """Find a durable subscription of the connection's client id, or a shared one that belongs to no client id.

    The value of the answer is a tuple with the subscription's `Terms`.

    Args:
        is_global: Whether the subscription is shared and belongs to no client id.
    """

    connection: int
    token: int | None
    name: str
    is_global: bool = False


class DeleteTemporary(Struct, frozen=True, tag=True):
    """Delete a temporary destination of the connection, with all links to it."""

    connection: int
    token: int | None
    address: Address


class Browse(Struct, frozen=True, tag=True):
    """Browse a queue; the answer's value is a tuple of messages (`Browsed`) in the queue's order."""

    connection: int
    token: int | None
    address: Address
    selector: str | None = None


class Cancel(Struct, frozen=True, tag=True):
    """Cancel a delayed message: remove all its staged copies."""

    connection: int
    token: int | None
    message_id: str


class Administer(Struct, frozen=True, tag=True):
    """Carry out an administrator's command.

    Args:
        change: The administrator's command; its class decides the type of the answer's value.
        checked: Whether the connection's user needs authority for the command; False if the shell has admitted the user
            as an administrator.
    """

    connection: int
    token: int | None
    change: Change
    checked: bool = False


class FromMember(Struct, frozen=True, tag=True):
    """Handle a parcel from another queue manager of the network.

    Args:
        member: The name of the other queue manager.
        parcel: The parcel.
    """

    member: str
    parcel: Parcel


class WorkerDied(Struct, frozen=True, tag=True):
    """Set a running delivery delay processor to failed, because the worker that runs it has died (DD-65)."""


class Tick(Struct, frozen=True, tag=True):
    """Do all work that is due now: expiries, releases, retries, restarts and ends of subscriptions.

    The shell sends a `Tick` at `Core.next_due_ms`.
    """


class Stored(Struct, frozen=True, tag=True):
    """Note that a batch and all earlier batches that have not failed are durable."""

    batch: int


class StoreFailed(Struct, frozen=True, tag=True):
    """Undo batches that the store could not make durable.

    The shell reports batches that failed together in one command. If the shell reported them one by one, the core could
    handle a command between two reports, and build on a failed batch.

    Args:
        batch: The newest failed batch.
        why: The store's reason, for the log and the refusals.
        older: The other failed batches, the newest first.
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
