"""Commands from the engine to a wire."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_sdk.model.message import Address, Message
from assay_sdk.model.xa import XaEnd, XaStart


class Durability(StrEnum):
    """Kind of subscription of a receiver on a topic (JMS 2.0, 8.3)."""

    NON_DURABLE = "non-durable"
    DURABLE = "durable"


class Outcome(StrEnum):
    """Outcome of a delivery (OASIS AMQP 1.0, 3.4)."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    RELEASED = "released"
    """The message goes back to the queue, and its delivery count stays."""
    MODIFIED = "modified"
    """The message goes back to the queue as a failed delivery, and its delivery count grows."""


class OpenSession(Struct, frozen=True, tag=True):
    """Open a session."""

    token: int
    session: int


class CloseSession(Struct, frozen=True, tag=True):
    """Close a session and all its links; their unsettled messages go back as failed deliveries."""

    token: int
    session: int


class OpenSender(Struct, frozen=True, tag=True):
    """Attach a sender.

    Args:
        address: Destination; None for a destination in each message (anonymous relay).
        settled: Whether the sender sends settled transfers (at most once).
        dynamic: Whether the broker creates a temporary destination of the address's kind.  `Done.value` is its name,
            and it ends with the link.
    """

    token: int
    session: int
    link: int
    address: Address | None
    settled: bool = False
    dynamic: bool = False


class OpenReceiver(Struct, frozen=True, tag=True, kw_only=True):
    """Attach a receiver.

    Args:
        address: Queue or topic.
        selector: JMS message selector; None for none.
        no_local: Exclude messages that this connection sent.
        durability: Kind of subscription, for a topic.
        name: Name of the subscription; None for an unshared non-durable subscription or a queue.
        shared: Whether the subscription is shared.
        settled: Whether the broker sends settled transfers (at most once).
        everybodys: Whether clients of any id share the subscription, because it belongs to no client id.
        timeout_ms: How long the subscription remains after the link; None without limit if durable, else not at all.
    """

    token: int
    session: int
    link: int
    address: Address
    selector: str | None = None
    no_local: bool = False
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    settled: bool = False
    everybodys: bool = False
    timeout_ms: int | None = None


class CloseLink(Struct, frozen=True, tag=True):
    """Close a sender or receiver; a durable subscription remains.

    Unsettled messages of a receiver go back as failed deliveries.  In JMS, closing a consumer leaves its delivered
    messages alone (JMS 2.0, 8.8), so the engine closes a receiver only when they are settled.
    """

    token: int
    link: int


class Send(Struct, frozen=True, tag=True):
    """Send a message; answered when the broker has answered, or at once if the link is settled.

    Args:
        unit: Number of the unit of work; None for none.
    """

    token: int
    link: int
    message: Message
    settled: bool = False
    unit: int | None = None


class Credit(Struct, frozen=True, tag=True):
    """Allow more deliveries on a receiver, in addition to earlier credit."""

    token: int
    link: int
    credit: int


class Drain(Struct, frozen=True, tag=True):
    """Have the broker send available messages within the credit and give back the rest, then report `Drained`."""

    token: int
    link: int


class Settle(Struct, frozen=True, tag=True):
    """Settle deliveries with an outcome."""

    token: int
    link: int
    deliveries: tuple[int, ...]
    outcome: Outcome


class Begin(Struct, frozen=True, tag=True):
    """Begin a local unit of work (``xid`` is None), or work in a branch of an XA transaction.

    Args:
        unit: Number that sends and deliveries refer to; each `Begin` of a branch has a new one.
        xid: Encoded xid of the branch (`assay_sdk.model.xa.Xid.encoded`).
        start: Whether the branch is new, joined, or resumed.
    """

    token: int
    session: int
    unit: int
    xid: bytes | None = None
    start: XaStart = XaStart.NEW


class Enlist(Struct, frozen=True, tag=True):
    """Accept deliveries in a unit of work: they end with its commit, and remain with the link after its rollback."""

    token: int
    link: int
    deliveries: tuple[int, ...]
    unit: int


class Commit(Struct, frozen=True, tag=True):
    """Commit a local unit of work."""

    token: int
    unit: int


class Rollback(Struct, frozen=True, tag=True):
    """Roll back a local unit of work."""

    token: int
    unit: int


class EndXa(Struct, frozen=True, tag=True):
    """End or suspend the connection's work in a branch."""

    token: int
    xid: bytes
    end: XaEnd


class Prepare(Struct, frozen=True, tag=True):
    """Prepare a branch, whichever connection worked in it; `Done.value` is an `XaVote`.

    A prepared branch belongs to no connection, and no link holds the messages that it has accepted.
    """

    token: int
    xid: bytes


class CommitXa(Struct, frozen=True, tag=True):
    """Commit a branch, whichever connection worked in it.

    Args:
        one_phase: Whether to commit without an earlier prepare.
    """

    token: int
    xid: bytes
    one_phase: bool = False


class RollbackXa(Struct, frozen=True, tag=True):
    """Roll back a branch, whichever connection worked in it; the messages that it accepted are delivered again."""

    token: int
    xid: bytes


class RecoverXa(Struct, frozen=True, tag=True):
    """List the branches that are prepared or were completed heuristically; `Done.value` is a tuple of xids."""

    token: int


class ForgetXa(Struct, frozen=True, tag=True):
    """Forget a branch that was completed heuristically."""

    token: int
    xid: bytes


class Unsubscribe(Struct, frozen=True, tag=True):
    """Remove a durable subscription.

    Args:
        everybodys: Whether the subscription belongs to no client id (`OpenReceiver`).
    """

    token: int
    session: int
    name: str
    shared: bool = False
    everybodys: bool = False


class Cancel(Struct, frozen=True, tag=True):
    """Cancel a delayed message before it is delivered; `Done.value` tells whether the broker did."""

    token: int
    session: int
    message_id: str


class Browse(Struct, frozen=True, tag=True):
    """List the messages of a queue; `Done.value` is a tuple of `Message`, in the queue's order."""

    token: int
    session: int
    address: Address
    selector: str | None = None


class Close(Struct, frozen=True, tag=True):
    """Close the connection normally."""

    token: int


DriverCommand = (
    OpenSession
    | CloseSession
    | OpenSender
    | OpenReceiver
    | CloseLink
    | Send
    | Credit
    | Drain
    | Settle
    | Begin
    | Enlist
    | Commit
    | Rollback
    | EndXa
    | Prepare
    | CommitXa
    | RollbackXa
    | RecoverXa
    | ForgetXa
    | Unsubscribe
    | Cancel
    | Browse
    | Close
)
