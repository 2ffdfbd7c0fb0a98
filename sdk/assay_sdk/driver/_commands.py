"""Commands from the engine to a driver."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_sdk.model.message import Address, Message
from assay_sdk.model.xa import XaEnd, XaStart


class Durability(StrEnum):
    """The durability of a receiver's subscription on a topic (JMS 2.0, 8.3)."""

    NON_DURABLE = "non-durable"
    DURABLE = "durable"


class Outcome(StrEnum):
    """Outcome of a delivery (OASIS AMQP 1.0, 3.4)."""

    ACCEPTED = "accepted"
    """The client has the message, and the broker removes it."""
    REJECTED = "rejected"
    """The client cannot process the message; most brokers move it to a dead-letter queue."""
    RELEASED = "released"
    """The message goes back to the queue; the broker does not count this delivery."""
    MODIFIED = "modified"
    """The message goes back to the queue; the broker counts this delivery as failed."""


class OpenSession(Struct, frozen=True, tag=True):
    """Command: open a session.

    Args:
        transacted: Whether the session will have units of work.
    """

    token: int
    session: int
    transacted: bool = False


class CloseSession(Struct, frozen=True, tag=True):
    """Command: close a session and all its links; the broker counts unsettled deliveries as failed."""

    token: int
    session: int


class OpenSender(Struct, frozen=True, tag=True):
    """Command: attach a sender.

    Args:
        address: Destination; None if each message names its destination (anonymous relay).
        settled: Whether the sender sends settled transfers (at most once).
        dynamic: Whether the broker creates a temporary destination of the address's kind, which lasts as long as the
            link.  `Done.value` is then the name of the destination.
    """

    token: int
    session: int
    link: int
    address: Address | None
    settled: bool = False
    dynamic: bool = False


class OpenReceiver(Struct, frozen=True, tag=True, kw_only=True):
    """Command: attach a receiver.

    Args:
        address: Queue or topic.
        selector: JMS message selector; None for all messages.
        no_local: Whether to exclude messages that this connection sent.
        durability: Durability of the subscription, for a topic.
        name: Name of the subscription, if it is shared, durable or from MQ Light; None for other subscriptions and for
            queues.
        shared: Whether the subscription is shared.
        settled: Whether the broker sends settled transfers (at most once).
        is_global: Whether the subscription belongs to no client id, so that clients with any client id can share it.
        timeout_ms: How long the subscription remains after the link has ended, in milliseconds.  With None a durable
            subscription remains without limit, and a non-durable one ends with the link.
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
    is_global: bool = False
    timeout_ms: int | None = None


class CloseLink(Struct, frozen=True, tag=True):
    """Command: close a sender or receiver; a durable subscription remains.

    The broker counts a receiver's unsettled deliveries as failed, except those in a unit of work.  In JMS, the close of
    a consumer does not affect messages that were delivered before (JMS 2.0, 8.8), so the engine closes a receiver only
    when its deliveries are settled.
    """

    token: int
    link: int


class Send(Struct, frozen=True, tag=True):
    """Command: send a message.

    The driver answers when the broker has answered.  In two cases the driver answers as soon as it has sent the
    message: if the message is settled, or if it is in a unit of work and the broker answers such messages only at the
    commit.

    Args:
        settled: Whether the message is sent settled (at most once).
        unit: Number of the unit of work; None outside a unit of work.
    """

    token: int
    link: int
    message: Message
    settled: bool = False
    unit: int | None = None


class Credit(Struct, frozen=True, tag=True):
    """Command: grant a receiver more credit, in addition to earlier credit."""

    token: int
    link: int
    credit: int


class Drain(Struct, frozen=True, tag=True):
    """Command: drain a receiver.

    The broker sends available messages within the credit, and takes back unused credit.  Then the driver emits
    `Drained`.
    """

    token: int
    link: int


class Settle(Struct, frozen=True, tag=True):
    """Command: settle deliveries with an outcome."""

    token: int
    link: int
    deliveries: tuple[int, ...]
    outcome: Outcome


class Begin(Struct, frozen=True, tag=True):
    """Command: begin a local unit of work, or start work in a branch of an XA transaction.

    Args:
        unit: Number by which later commands name this unit of work or branch.  Each `Begin` has a new number, even if
            it joins or resumes a branch.
        xid: Encoded xid of the branch (`assay_sdk.model.xa.Xid.encoded`); None for a local unit of work.
        start: Whether the branch is new, joined, or resumed.
    """

    token: int
    session: int
    unit: int
    xid: bytes | None = None
    start: XaStart = XaStart.NEW


class Enlist(Struct, frozen=True, tag=True):
    """Command: accept deliveries in a unit of work.

    A commit removes the messages from the queue.  After a rollback of a local unit of work, a `Settle` can still name
    the deliveries, because some brokers leave them on the link.
    """

    token: int
    link: int
    deliveries: tuple[int, ...]
    unit: int


class Commit(Struct, frozen=True, tag=True):
    """Command: commit a local unit of work."""

    token: int
    unit: int


class Rollback(Struct, frozen=True, tag=True):
    """Command: roll back a local unit of work."""

    token: int
    unit: int


class EndXa(Struct, frozen=True, tag=True):
    """Command: end or suspend the connection's work in a branch."""

    token: int
    xid: bytes
    end: XaEnd


class Prepare(Struct, frozen=True, tag=True):
    """Command: prepare a branch, in which this or another connection has worked; `Done.value` is an `XaVote`.

    A prepared branch belongs to no connection, and its accepted messages belong to no link.
    """

    token: int
    xid: bytes


class CommitXa(Struct, frozen=True, tag=True):
    """Command: commit a branch, in which this or another connection has worked.

    Args:
        one_phase: Whether to commit without an earlier prepare.
    """

    token: int
    xid: bytes
    one_phase: bool = False


class RollbackXa(Struct, frozen=True, tag=True):
    """Command: roll back a branch, in which this or another connection has worked.

    The broker redelivers the messages that were accepted in the branch.
    """

    token: int
    xid: bytes


class RecoverXa(Struct, frozen=True, tag=True):
    """Command: list the branches that are prepared, or were completed heuristically and are not forgotten.

    `Done.value` is a tuple of their encoded xids.
    """

    token: int


class ForgetXa(Struct, frozen=True, tag=True):
    """Command: forget a branch that was completed heuristically."""

    token: int
    xid: bytes


class Unsubscribe(Struct, frozen=True, tag=True):
    """Command: remove a durable subscription.

    Args:
        name: Name of the subscription.
        shared: Whether the subscription is shared.
        is_global: Whether the subscription belongs to no client id, as in `OpenReceiver`.
    """

    token: int
    session: int
    name: str
    shared: bool = False
    is_global: bool = False


class Cancel(Struct, frozen=True, tag=True):
    """Command: cancel a delayed message before the broker delivers it.

    If the message is not staged, the driver answers `Failed` with the reason code NO_MSG_AVAILABLE.
    """

    token: int
    session: int
    message_id: str


class Browse(Struct, frozen=True, tag=True):
    """Command: list the messages of a queue; `Done.value` is a tuple of `Message`, in the queue's order."""

    token: int
    session: int
    address: Address
    selector: str | None = None


class Close(Struct, frozen=True, tag=True):
    """Command: close the connection normally, after all earlier commands."""

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
