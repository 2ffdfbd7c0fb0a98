"""Poison messages: messages that a consumer gives back repeatedly.

In IBM MQ the clients handle poison messages.  A client reads BOTHRESH and BOQNAME of the queue.  It moves a message
that was backed out BOTHRESH times to the back-out queue BOQNAME, or else to the dead-letter queue.  This module does
the same.  For brokers that do not send these attributes, the application can give a limit and a destination:

| limit | targets, in order | if no target accepts the message |
|---|---|---|
| ``max_delivery_count`` with ``on_poison`` | ``on_poison`` | kept |
| ``max_delivery_count`` alone | none | rejected; the broker decides where the message goes |
| the queue's BOTHRESH | ``on_poison``, or BOQNAME and the dead-letter queue | kept; discarded if non-persistent |

A kept message stays on its queue, and the broker delivers it again and again.  Each time, the client calls the
exception listener (MQRC 2362).  From the second failure in a row on, it also pauses the consumer (`FailurePause`).

The client first moves a message and then acknowledges it, so a failure between the two steps can duplicate the message,
but not lose it.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_sdk.driver import BOQNAME_PROPERTY, BOTHRESH_PROPERTY, DEADQ_PROPERTY, PeerProperties
from assay_sdk.model.message import Address, AddressKind


class Unmoved(StrEnum):
    """The treatment of a poison message that no target accepts; see the table at the top of this module."""

    KEPT = "kept"
    REJECTED = "rejected"
    REJECTED_IF_NON_PERSISTENT = "rejected-if-non-persistent"


class PoisonPolicy(Struct, frozen=True):
    """The application's settings for poison messages.

    Args:
        max_delivery_count: The highest number of deliveries of a message; 0 for no limit, None for the queue's limit.
        move_to: Destination for poison messages.  With None, messages that exceed the queue's limit go to BOQNAME of
            the queue, or else to the dead-letter queue; messages that exceed `max_delivery_count` are rejected.
    """

    max_delivery_count: int | None = None
    move_to: Address | None = None


class PoisonLimit(Struct, frozen=True):
    """The delivery limit of one consumer, and the targets for its poison messages.

    Args:
        deliveries: The highest number of deliveries of a message; 0 for no limit.
        targets: Destinations for poison messages, in the order in which they are tried.
        unmoved: Treatment of a message that no target accepts.
    """

    deliveries: int = 0
    targets: tuple[Address, ...] = ()
    unmoved: Unmoved = Unmoved.KEPT

    def is_poison(self, count: int) -> bool:
        """Return whether a message has exceeded the limit.

        Args:
            count: Delivery count of the message (JMSXDeliveryCount): 1 at the first delivery.
        """
        return 0 < self.deliveries < count


NO_LIMIT = PoisonLimit()


def limit_of(policy: PoisonPolicy, source: PeerProperties) -> PoisonLimit:
    """Return the delivery limit of a consumer, and the targets for its poison messages.

    Args:
        policy: Settings of the application.
        source: Properties that the broker gave for the consumer's source; BOTHRESH may be a number or text.
    """
    own = () if policy.move_to is None else (policy.move_to,)
    if policy.max_delivery_count is not None:
        return PoisonLimit(policy.max_delivery_count, own, Unmoved.KEPT if own else Unmoved.REJECTED)
    threshold = str(source.get(BOTHRESH_PROPERTY, ""))
    if not threshold.isdecimal() or threshold == "0":
        return NO_LIMIT
    names = (source.get(BOQNAME_PROPERTY), source.get(DEADQ_PROPERTY))
    theirs = tuple(Address(AddressKind.QUEUE, str(name)) for name in names if name)
    return PoisonLimit(int(threshold), own or theirs, Unmoved.REJECTED_IF_NON_PERSISTENT)
