"""The records in the store. Replaying those flushed so far gives the state after a kill.

Only persistent messages on queues and durable subscriptions are recorded (PD-20, PD-23), and only durable
subscriptions. The objects and authority records of a new queue manager are recorded once they change.
"""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.messages.headers import DeadLetterHeader
from assay_broker.core.networks.parcels import Bulletin
from assay_broker.core.objects.model import Definition, Namespace
from assay_sdk.model.message import Address, Message


class ObjectDefined(Struct, frozen=True, tag=True):
    """An object was defined or redefined."""

    definition: Definition


class ObjectRemoved(Struct, frozen=True, tag=True):
    """An object was removed."""

    namespace: Namespace
    name: str


class AuthoritySet(Struct, frozen=True, tag=True):
    """An authority record was set."""

    record: AuthorityRecord


class SubscriptionDefined(Struct, frozen=True, tag=True, kw_only=True):
    """A durable subscription was created or changed.

    Args:
        number: The subscription's number, unique for ever.
        client_id: The client id that it belongs to; None for a shared one of clients without an id.
        name: Its name.
        topic: Its topic.
        selector: JMS selector; None for none.
        no_local: Whether it leaves out messages that its own client sends.
        shared: Whether it is shared.
        timeout_ms: How long it outlives its last receiver, in milliseconds; None for ever.
        left_ms: When its last receiver left, in milliseconds since the epoch, if it has a time to live; None while it
            has a receiver.
    """

    number: int
    client_id: str | None
    name: str
    topic: Address
    selector: str | None
    no_local: bool
    shared: bool
    timeout_ms: int | None = None
    left_ms: int | None = None


class SubscriptionRemoved(Struct, frozen=True, tag=True):
    """A durable subscription was removed; its messages are removed by records of their own."""

    number: int


class MessageStored(Struct, frozen=True, tag=True, kw_only=True, omit_defaults=True, gc=False):
    """One copy of a message, on a queue or staged.

    Args:
        key: The copy's number, unique for ever.
        home: The home of its queue; for a staged copy that of its target.
        message: The message.
        arrived_ms: When it arrived, in milliseconds since the epoch.
        expires_ms: When it expires; None never.
        due_ms: When its delay is over; None for a copy without delay.
        dead: Why it is on the dead-letter queue; None elsewhere.
        via: The queue managers that it has passed through.
        unit: The number of the prepared branch that put it. While that branch is in doubt, no receiver can get the
            copy; afterwards the number has no effect. None outside branches.
    """

    key: int
    home: str
    message: Message
    arrived_ms: int
    expires_ms: int | None = None
    due_ms: int | None = None
    dead: DeadLetterHeader | None = None
    via: tuple[str, ...] = ()
    unit: int | None = None


class MessageMarked(Struct, frozen=True, tag=True):
    """A delivery of a stored message failed; the message stays marked as redelivered, also after a restart.

    The record is written when a delivery comes back, an orderly shutdown included, not at each delivery. So a message
    that was held at a kill comes again without the mark. JMS 3.4.7 allows that: the mark means "likely". A mark after a
    kill would need a flush before each delivery.

    Args:
        count: The number of failed deliveries so far.
    """

    key: int
    count: int


class MessageRemoved(Struct, frozen=True, tag=True, gc=False):
    """A stored copy was removed: consumed, expired or cancelled, or its subscription ended."""

    key: int


class RetainedSet(Struct, frozen=True, tag=True, kw_only=True):
    """A topic's retained publication was replaced or removed.

    Args:
        topic: The topic.
        message: The publication; None if the topic no longer has a persistent one.
        expires_ms: When it expires; None never.
        client_id: The client id of its publisher; None for none.
    """

    topic: Address
    message: Message | None
    expires_ms: int | None = None
    client_id: str | None = None


class KeptForTopic(Struct, frozen=True):
    """A publication that a branch will retain at its commit; fields as in `RetainedSet`."""

    topic: Address
    message: Message
    expires_ms: int | None
    client_id: str | None


class UnitPrepared(Struct, frozen=True, tag=True, kw_only=True):
    """A branch of a global unit of work is in doubt.

    Its persistent messages have records of their own (`MessageStored.unit`).

    Args:
        number: Its number, unique for ever, among messages, too.
        xid: Its xid.
        prepared_ms: Since when, in milliseconds since the epoch.
        sent: The keys of the copies that it has put, in the order of the sends.
        got: The keys of the copies that it has accepted.
        kept: Its publications to retain.
    """

    number: int
    xid: bytes
    prepared_ms: int
    sent: tuple[int, ...] = ()
    got: tuple[int, ...] = ()
    kept: tuple[KeptForTopic, ...] = ()


class UnitCompleted(Struct, frozen=True, tag=True):
    """An operator resolved a branch in doubt; the outcome is kept for the transaction manager."""

    number: int
    xid: bytes
    committed: bool
    prepared_ms: int


class UnitResolved(Struct, frozen=True, tag=True):
    """A branch is no longer in doubt, and its outcome is forgotten.

    The copies that it had put can be received, unless the same batch removes them.
    """

    number: int


class MemberTold(Struct, frozen=True, tag=True):
    """The last bulletin of another queue manager in the network."""

    member: str
    bulletin: Bulletin


class ParcelTaken(Struct, frozen=True, tag=True):
    """A persistent message came from another queue manager, which may send it again under this number."""

    member: str
    number: int


class ParcelForgotten(Struct, frozen=True, tag=True):
    """The other queue manager will not send it again under this number."""

    member: str
    number: int


OwnRecord = (
    ObjectDefined
    | ObjectRemoved
    | AuthoritySet
    | SubscriptionDefined
    | SubscriptionRemoved
    | MessageStored
    | MessageMarked
    | MessageRemoved
    | RetainedSet
)
"""Records of a queue manager's own objects, subscriptions and messages."""

UnitRecord = UnitPrepared | UnitCompleted | UnitResolved
"""Records of branches of global units of work."""

Record = OwnRecord | UnitRecord | MemberTold | ParcelTaken | ParcelForgotten
