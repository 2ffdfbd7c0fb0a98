"""The commands that the core takes.

The shell chooses the numbers of connections, links, units and tokens. Every command with a token gets exactly one
`Answer`; a token of None asks for none.
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
        client_id: JMS client id; None for none.
        user: The user whose authority counts; None for anonymous.
        alone: Whether no other connection may have the client id (JMS 6.1.2). AMQP allows a container several
            connections unless it asks for this.
    """

    connection: int
    token: int | None
    client_id: str | None = None
    user: str | None = None
    alone: bool = True


class Disconnect(Struct, frozen=True, tag=True):
    """Close a connection: its open units of work are backed out, and unsettled messages go back to their queues.

    Args:
        clean: Whether the client closed it. The effects are the same; only the reason in messages to others differs.
    """

    connection: int
    token: int | None
    clean: bool


class AttachSender(Struct, frozen=True, tag=True):
    """Open a sender.

    Args:
        address: The destination; None if each message names its own.
        adopt: Whether a temporary destination that does not exist is created for the connection.
        named: Whether the answer's value is the destination's name.
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
        no_local: Whether to leave out messages that the same connection or client id sent (topics only).
        durability: The kind of subscription.
        name: The subscription's name; None for an unshared non-durable one or a queue.
        shared: Whether others may share the subscription.
        everybodys: Whether a shared subscription belongs to no client id, so that clients with any id share it.
        settled: Whether the receiver wants settled deliveries (at most once).
        session: The receiver's session on the connection, which can get uncommitted messages of the session's own unit
            of work (DD-25); None if unknown.
        timeout_ms: How long a durable subscription outlives its last receiver, in milliseconds; None for ever.
        adopt: Whether a temporary destination that does not exist is created for the connection.
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
    """Close a link; a receiver's unsettled messages go back as failed deliveries."""

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
        unit: The unit of work of the send; None for none.
    """

    connection: int
    token: int | None
    link: int
    message: Message
    unit: int | None = None


class Settle(Struct, frozen=True, tag=True):
    """Settle deliveries; with a unit, at that unit's commit.

    Until the commit or backout the unit holds the deliveries, even if their link is closed (OASIS AMQP 1.0, 4.4.2). A
    branch of a global unit of work can only accept.

    Args:
        leave_out: Whether a returned message is never delivered to this link again (OASIS AMQP 1.0, 3.4.5,
            undeliverable-here).
        annotations: Annotations to add to a returned message or replace in it (3.4.5, message-annotations), as an
            encoded map; empty for none.
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
    """Begin a local unit of work, or work in a branch of a global one.

    Args:
        unit: Its number on the connection; a joined or resumed branch gets this number, too.
        session: Its session on the connection; None if unknown.
        xid: The branch's xid; None for a local unit.
        start: Whether the branch is new, joined, or resumed.
    """

    connection: int
    token: int | None
    unit: int
    session: int | None = None
    xid: bytes | None = None
    start: XaStart = XaStart.NEW


class EndBranch(Struct, frozen=True, tag=True):
    """End or suspend the connection's work in a branch."""

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
        one_phase: Whether the branch was not prepared.
    """

    connection: int
    token: int | None
    xid: bytes
    one_phase: bool = False


class BackOutBranch(Struct, frozen=True, tag=True):
    """Back out a branch, prepared or not; the messages that it accepted go back to their queues."""

    connection: int
    token: int | None
    xid: bytes


class RecoverBranches(Struct, frozen=True, tag=True):
    """List the branches in doubt and those completed heuristically; the answer's value is a tuple of xids."""

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
    """Back out a local unit of work; the deliveries accepted in it stay with their links, unsettled.

    If the number is a branch's, the branch is backed out as if its connection had ended, because its session ends.
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
    """Find a durable subscription of the connection's client id; the answer's value is a tuple with its `Terms`.

    Args:
        everybodys: Whether it belongs to no client id, as `Attach` says.
    """

    connection: int
    token: int | None
    name: str
    everybodys: bool = False


class DeleteTemporary(Struct, frozen=True, tag=True):
    """Delete a temporary destination of the connection, with all links to it."""

    connection: int
    token: int | None
    address: Address


class Browse(Struct, frozen=True, tag=True):
    """Browse a queue; the answer's value is a tuple of messages in the queue's order."""

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
        change: The command, which decides the type of the answer's value.
        checked: Whether the connection's user needs authority for it; otherwise the shell has admitted the user as an
            administrator.
    """

    connection: int
    token: int | None
    change: Change
    checked: bool = False


class FromMember(Struct, frozen=True, tag=True):
    """Handle a parcel of another queue manager in the network."""

    member: str
    parcel: Parcel


class WorkerDied(Struct, frozen=True, tag=True):
    """Handle the death of the delivery delay processor's worker (DD-65)."""


class Tick(Struct, frozen=True, tag=True):
    """Handle all that is due at `Core.next_due_ms`."""


class Stored(Struct, frozen=True, tag=True):
    """Note that a batch and every earlier one are durable."""

    batch: int


class StoreFailed(Struct, frozen=True, tag=True):
    """Undo batches that could not be made durable.

    Batches that failed together come in one command, so that no command between them builds on a failed one.

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
