"""The records in the store. At a start, a queue manager restores its state from the records that were flushed.

The core records persistent messages on queues and on durable subscriptions (PD-20, PD-23), and durable subscriptions
themselves. The objects and authority records that a new queue manager begins with are recorded only when an
administrator changes them.
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
        client_id: The client id to which the subscription belongs; None for a shared subscription that belongs to no
            client id.
        name: The subscription's name.
        topic: The subscription's topic.
        selector: JMS selector; None without a selector.
        no_local: Whether the subscription leaves out messages that its own client sends.
        shared: Whether several receivers may share the subscription.
        timeout_ms: How long the subscription outlives its last receiver, in milliseconds; None for ever.
        left_ms: When the last receiver left, in milliseconds since the epoch; None while the subscription has a
            receiver, and for a subscription without a time to live.
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
    """A durable subscription was removed; a `MessageRemoved` follows for each stored message on its queue."""

    number: int


class MessageStored(Struct, frozen=True, tag=True, kw_only=True, omit_defaults=True, gc=False):
    """One copy of a message was put on a queue or staged.

    Args:
        key: The copy's number, unique for ever.
        home: The home of the copy's queue; for a staged copy, the home of its target.
        message: The message.
        arrived_ms: When the copy arrived, in milliseconds since the epoch.
        expires_ms: When the copy expires, in milliseconds since the epoch; None for never.
        due_ms: When the copy's delay is over, in milliseconds since the epoch; None for a copy without delay.
        dead: The dead-letter header of a copy that the queue manager has put on the dead-letter queue; otherwise None.
        via: The names of the queue managers through which the copy has passed.
        unit: The number of the prepared branch that put the copy; None if no prepared branch put it. While that branch
            is in doubt, no receiver can get the copy; afterwards the number has no effect.
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

    The core writes the record when a delivery fails, also at a normal shutdown. After a kill, however, a message that
    a receiver held is delivered again without the mark. JMS 2.0, 3.4.7 allows this, because the mark means "likely
    delivered before". To mark such a message, the core would have to flush a record before each delivery.

    Args:
        key: The number of the message's copy.
        count: The number of the copy's failed deliveries so far.
    """

    key: int
    count: int


class MessageRemoved(Struct, frozen=True, tag=True, gc=False):
    """A stored copy was removed, for example because it was consumed or cancelled, or has expired."""

    key: int


class RetainedSet(Struct, frozen=True, tag=True, kw_only=True):
    """A topic's retained publication was set, replaced or removed.

    Args:
        topic: The topic.
        message: The publication; None if the topic no longer has a persistent retained publication.
        expires_ms: When the publication expires, in milliseconds since the epoch; None for never.
        client_id: The client id of the publisher; None without a client id.
    """

    topic: Address
    message: Message | None
    expires_ms: int | None = None
    client_id: str | None = None


class KeptForTopic(Struct, frozen=True):
    """A publication that its topic retains if the branch that sent it is committed; fields as in `RetainedSet`."""

    topic: Address
    message: Message
    expires_ms: int | None
    client_id: str | None


class UnitPrepared(Struct, frozen=True, tag=True, kw_only=True):
    """A branch of a global unit of work was prepared, and is in doubt.

    The branch's persistent messages have records of their own (`MessageStored.unit`).

    Args:
        number: The branch's number, unique for ever; no message copy has the same number as its key.
        xid: The branch's xid.
        prepared_ms: When the branch was prepared, in milliseconds since the epoch.
        sent: The keys of the copies that the branch has put, in the order of the sends.
        got: The keys of the copies that the branch has accepted.
        kept: The branch's persistent publications to retain at its commit.
    """

    number: int
    xid: bytes
    prepared_ms: int
    sent: tuple[int, ...] = ()
    got: tuple[int, ...] = ()
    kept: tuple[KeptForTopic, ...] = ()


class UnitCompleted(Struct, frozen=True, tag=True):
    """An operator resolved a branch in doubt; the outcome stays in the store for the transaction manager.

    Args:
        number: The branch's number.
        xid: The branch's xid.
        committed: Whether the operator committed the branch; False if the operator backed it out.
        prepared_ms: When the branch was prepared, in milliseconds since the epoch.
    """

    number: int
    xid: bytes
    committed: bool
    prepared_ms: int


class UnitResolved(Struct, frozen=True, tag=True):
    """A branch is no longer in doubt, and the store keeps no heuristic outcome for it.

    After a commit, receivers can get the copies that the branch put. After a backout, records of the same batch remove
    these copies.
    """

    number: int


class MemberTold(Struct, frozen=True, tag=True):
    """Another queue manager of the network has sent a new announcement about itself.

    Args:
        member: The name of the other queue manager.
        bulletin: The announcement, which replaces the last one.
    """

    member: str
    bulletin: Bulletin


class ParcelTaken(Struct, frozen=True, tag=True):
    """A persistent message arrived from another queue manager, which may send it again under this number.

    Args:
        member: The name of the other queue manager.
        number: The number that the other queue manager gave the message.
    """

    member: str
    number: int


class ParcelForgotten(Struct, frozen=True, tag=True):
    """Another queue manager will not send a message again under this number.

    Args:
        member: The name of the other queue manager.
        number: The number, as in `ParcelTaken`.
    """

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
