"""What the store holds.  Replaying the records flushed so far gives the state after a kill.

Messages are recorded only when they are persistent and stand on a queue or a durable subscription (PD-20, PD-23);
subscriptions only when they are durable.  Objects and authority records with which a queue
manager begins are recorded once they are changed.
"""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.messages.headers import DeadLetterHeader
from assay_broker.core.networks.parcels import Bulletin
from assay_broker.core.objects.model import Definition, Namespace
from assay_sdk.model.message import Address, Message


class ObjectDefined(Struct, frozen=True, tag=True):
    """An object is defined, or defined anew."""

    definition: Definition


class ObjectRemoved(Struct, frozen=True, tag=True):
    """An object is gone."""

    namespace: Namespace
    name: str


class AuthoritySet(Struct, frozen=True, tag=True):
    """What a user or a group may do is this from now on."""

    record: AuthorityRecord


class SubscriptionDefined(Struct, frozen=True, tag=True, kw_only=True):
    """A durable subscription exists, or is from now on as this says.

    Args:
        number: The subscription's number; never used again.
        client_id: Whose it is; None for a shared one of clients without an id.
        name: Its name.
        topic: What it subscribes to.
        selector: JMS selector; None for none.
        no_local: Whether it leaves out what its own client sends.
        shared: Whether it is shared.
        timeout_ms: How long it outlives its last receiver, in milliseconds; None for ever.
        left_ms: When that one left, in milliseconds since the epoch, where it has a time to live; None while it has a
            receiver.
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
    """A durable subscription is gone; its messages are removed by records of their own."""

    number: int


class MessageStored(Struct, frozen=True, tag=True, kw_only=True, omit_defaults=True, gc=False):
    """One copy of a message, on a queue or staged for one.

    Args:
        key: The copy's number; never used again.
        home: The queue it stands on, or what it is staged for.
        message: The message.
        arrived_ms: When it arrived, in milliseconds since the epoch.
        expires_ms: When it expires; None never.
        due_ms: When its delay is over; None for one that stands on its queue.
        dead: Why it is on the dead-letter queue; None elsewhere.
        via: The queue managers that it has come by.
        unit: The number of the branch that put it, and prepared it: nobody's, or nowhere's, as long as that one is in
            doubt, and like any other from then on; None outside branches.
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
    """A delivery of a stored message has failed: it is marked as redelivered from now on, also after a restart.

    Written when a delivery comes back, an orderly shutdown included, not at each delivery: what was out at the moment
    of a kill is therefore not known to have been, and comes again without the mark.  JMS 3.4.7 asks for no more: the
    mark says "likely"; to know it after a kill, each delivery would have to wait for a flush of its own.

    Args:
        count: Failed deliveries so far.
    """

    key: int
    count: int


class MessageRemoved(Struct, frozen=True, tag=True, gc=False):
    """A stored copy is gone: consumed, expired, cancelled, or its subscription has gone."""

    key: int


class RetainedSet(Struct, frozen=True, tag=True, kw_only=True):
    """A topic's retained publication is another one from now on.

    Args:
        topic: The topic.
        message: The publication; None when the topic has none any more that outlives a restart.
        expires_ms: When it expires; None never.
        client_id: Who published it; None for a client without an id.
    """

    topic: Address
    message: Message | None
    expires_ms: int | None = None
    client_id: str | None = None


class KeptForTopic(Struct, frozen=True):
    """A publication that is to become a topic's retained one, as `RetainedSet` has it."""

    topic: Address
    message: Message
    expires_ms: int | None
    client_id: str | None


class UnitPrepared(Struct, frozen=True, tag=True, kw_only=True):
    """A branch of a global unit of work is in doubt from now on.

    What it has put is in records of their own (`MessageStored.unit`), as far as it is persistent.

    Args:
        number: Its number; never used again, and none of a message either.
        xid: Its name.
        prepared_ms: Since when, in milliseconds since the epoch.
        sent: The copies that it has put, by their keys, in the order of the sends.
        got: The copies that it has accepted, by their keys.
        kept: What it has published to be retained.
    """

    number: int
    xid: bytes
    prepared_ms: int
    sent: tuple[int, ...] = ()
    got: tuple[int, ...] = ()
    kept: tuple[KeptForTopic, ...] = ()


class UnitCompleted(Struct, frozen=True, tag=True):
    """An operator has resolved a branch that was in doubt; how is remembered for its transaction manager."""

    number: int
    xid: bytes
    committed: bool
    prepared_ms: int


class UnitResolved(Struct, frozen=True, tag=True):
    """A branch is no longer in doubt, and nothing is to be remembered of it.

    What it had put is everybody's, unless the same batch removes it.
    """

    number: int


class MemberTold(Struct, frozen=True, tag=True):
    """What another queue manager of the network has said of itself."""

    member: str
    bulletin: Bulletin


class ParcelTaken(Struct, frozen=True, tag=True):
    """A persistent message of another queue manager has come, and may come again under this number."""

    member: str
    number: int


class ParcelForgotten(Struct, frozen=True, tag=True):
    """It will not come again under this number."""

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
"""What a queue manager keeps for itself."""

UnitRecord = UnitPrepared | UnitCompleted | UnitResolved
"""What becomes of branches of global units of work."""

Record = OwnRecord | UnitRecord | MemberTold | ParcelTaken | ParcelForgotten
