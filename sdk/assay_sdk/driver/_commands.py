"""Commands: what the engine asks of a wire."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_sdk.model.message import Address, Message
from assay_sdk.model.xa import XaEnd, XaStart


class Durability(StrEnum):
    """Which kind of subscription a receiver on a topic has (JMS 8.3)."""

    NON_DURABLE = "non-durable"
    DURABLE = "durable"


class Outcome(StrEnum):
    """What became of a delivery (OASIS AMQP 1.0, 3.4)."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    RELEASED = "released"
    """Back to the queue as if it had never left: the delivery count stays."""
    MODIFIED = "modified"
    """Back to the queue, marked as a failed delivery: the delivery count grows."""


class OpenSession(Struct, frozen=True, tag=True):
    """Open a session."""

    token: int
    session: int


class CloseSession(Struct, frozen=True, tag=True):
    """Close a session with all its links; what they hold unsettled goes back as a failed delivery."""

    token: int
    session: int


class OpenSender(Struct, frozen=True, tag=True):
    """Attach a sender.

    Args:
        address: The destination; None for one named in each message (anonymous relay).
        settled: Whether the sender will send settled transfers (at most once).
        dynamic: Whether a temporary destination of the address's kind is made for it, whose name is the answer's value;
            it goes with the link.
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
        selector: JMS selector; None for none.
        no_local: Leave out what this connection sent.
        durability: Kind of subscription, on a topic.
        name: Subscription name; None for an unshared non-durable subscription or a queue.
        shared: Whether the subscription is shared.
        settled: Whether the broker shall send settled (at most once).
        everybodys: Whether a shared subscription belongs to no client id, so that clients with any id share it.
        timeout_ms: How long the subscription outlives the link; None for ever (durable) or not at all (non-durable).
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
    """Close a sender or receiver; a durable subscription stays.

    What the receiver holds unsettled goes back as a failed delivery, so the engine, which follows JMS 8.8 (closing a
    consumer does not touch what it has delivered), closes a receiver only once its deliveries are settled.
    """

    token: int
    link: int


class Send(Struct, frozen=True, tag=True):
    """Send a message; `Done` comes when the broker has answered, at once when `settled`.

    Args:
        unit: The unit of work it belongs to; None for none.
    """

    token: int
    link: int
    message: Message
    settled: bool = False
    unit: int | None = None


class Credit(Struct, frozen=True, tag=True):
    """Allow this many more deliveries on a receiver."""

    token: int
    link: int
    credit: int


class Drain(Struct, frozen=True, tag=True):
    """Send what is there within the credit, give the rest of the credit back, then say `Drained`."""

    token: int
    link: int


class Settle(Struct, frozen=True, tag=True):
    """Settle deliveries with one outcome."""

    token: int
    link: int
    deliveries: tuple[int, ...]
    outcome: Outcome


class Begin(Struct, frozen=True, tag=True):
    """Begin a local unit of work (``xid`` None), or work for a branch of a global one.

    Args:
        unit: The number under which sends and deliveries join it; a branch has a new one each time.
        xid: The branch, as `assay_sdk.model.xa.Xid.encoded` has it.
        start: Whether the branch is new, joined, or resumed.
    """

    token: int
    session: int
    unit: int
    xid: bytes | None = None
    start: XaStart = XaStart.NEW


class Enlist(Struct, frozen=True, tag=True):
    """Accept deliveries within a unit of work: gone at its commit, still with the link after its rollback."""

    token: int
    link: int
    deliveries: tuple[int, ...]
    unit: int


class Commit(Struct, frozen=True, tag=True):
    """Commit a local unit of work."""

    token: int
    unit: int


class Rollback(Struct, frozen=True, tag=True):
    """Back a local unit of work out."""

    token: int
    unit: int


class EndXa(Struct, frozen=True, tag=True):
    """End the connection's work for a branch, for good or for a while."""

    token: int
    xid: bytes
    end: XaEnd


class Prepare(Struct, frozen=True, tag=True):
    """Prepare a branch, whoever worked in it; `Done.value` is a `XaVote`.

    Once prepared it is bound to no connection, and no link holds what it has accepted.
    """

    token: int
    xid: bytes


class CommitXa(Struct, frozen=True, tag=True):
    """Commit a branch, whoever worked in it.

    Args:
        one_phase: Whether it has not been prepared.
    """

    token: int
    xid: bytes
    one_phase: bool = False


class RollbackXa(Struct, frozen=True, tag=True):
    """Back a branch out, whoever worked in it; what it has accepted comes again, without its link being asked."""

    token: int
    xid: bytes


class RecoverXa(Struct, frozen=True, tag=True):
    """List the branches that are in doubt or were completed heuristically; `Done.value` is a tuple of xids."""

    token: int


class ForgetXa(Struct, frozen=True, tag=True):
    """Forget how a branch was completed heuristically."""

    token: int
    xid: bytes


class Unsubscribe(Struct, frozen=True, tag=True):
    """Remove a durable subscription.

    Args:
        everybodys: Whether it belongs to no client id (`OpenReceiver`).
    """

    token: int
    session: int
    name: str
    shared: bool = False
    everybodys: bool = False


class Cancel(Struct, frozen=True, tag=True):
    """Take a delayed message back before it is delivered."""

    token: int
    session: int
    message_id: str


class Browse(Struct, frozen=True, tag=True):
    """Look at a queue; `Done.value` is a tuple of `Message`, in the queue's order."""

    token: int
    session: int
    address: Address
    selector: str | None = None


class Close(Struct, frozen=True, tag=True):
    """Close the connection in order."""

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
