"""Poison messages: messages that a consumer gives back repeatedly.

IBM MQ leaves them to its clients.  A client reads BOTHRESH and BOQNAME of the queue, and moves a message that was
backed out that often to the back-out queue, or else to the dead-letter queue.  This module does the same.  For brokers
that do not send these attributes, the application can give a limit and a destination:

| limit | targets, in order | if no target accepts |
|---|---|---|
| ``max_delivery_count`` with ``on_poison`` | that destination | kept |
| ``max_delivery_count`` alone | none | rejected: left to the broker |
| the queue's BOTHRESH | ``on_poison``, or BOQNAME and the dead-letter queue | kept; non-persistent ones are discarded |

A message that is kept is delivered again after a pause, without limit, and the exception listener is called each time
(MQRC 2362).  A message is moved before it is acknowledged, so a failure between the two can duplicate but not lose it.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_sdk.driver import BOQNAME_PROPERTY, BOTHRESH_PROPERTY, DEADQ_PROPERTY, PeerProperties
from assay_sdk.model.message import Address, AddressKind

_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 100, 10_000


class Unmoved(StrEnum):
    """The fate of a poison message that no target accepts."""

    KEPT = "kept"
    REJECTED = "rejected"
    REJECTED_IF_NON_PERSISTENT = "rejected-if-non-persistent"


class PoisonPolicy(Struct, frozen=True):
    """The application's settings for poison messages.

    Args:
        max_delivery_count: Most deliveries of a message; 0 for no limit, None for the broker's limit.
        move_to: Destination for poison messages; None for the broker's.
    """

    max_delivery_count: int | None = None
    move_to: Address | None = None


class PoisonLimit(Struct, frozen=True):
    """Limit and targets of one consumer.

    Args:
        deliveries: Most deliveries of a message; 0 for no limit.
        targets: Destinations for poison messages, in the order in which they are tried.
        unmoved: Treatment of a message that no target accepts.
    """

    deliveries: int = 0
    targets: tuple[Address, ...] = ()
    unmoved: Unmoved = Unmoved.KEPT

    def is_poison(self, count: int) -> bool:
        """Whether a message has exceeded the limit.

        Args:
            count: Delivery count of the message (JMSXDeliveryCount): 1 for the first delivery.
        """
        return 0 < self.deliveries < count


NO_LIMIT = PoisonLimit()


def limit_of(policy: PoisonPolicy, told: PeerProperties) -> PoisonLimit:
    """Return the limit and the targets of a consumer.

    Args:
        policy: Settings of the application.
        told: Properties of the source; the broker may send numbers as text.
    """
    own = () if policy.move_to is None else (policy.move_to,)
    if policy.max_delivery_count is not None:
        return PoisonLimit(policy.max_delivery_count, own, Unmoved.KEPT if own else Unmoved.REJECTED)
    threshold = str(told.get(BOTHRESH_PROPERTY, ""))
    if not threshold.isdecimal() or threshold == "0":
        return NO_LIMIT
    names = (told.get(BOQNAME_PROPERTY), told.get(DEADQ_PROPERTY))
    theirs = tuple(Address(AddressKind.QUEUE, str(name)) for name in names if name)
    return PoisonLimit(int(threshold), own or theirs, Unmoved.REJECTED_IF_NON_PERSISTENT)


def pause_ms(failures: int) -> int:
    """Return the pause of a consumer after its listener raised.

    Args:
        failures: Failures in a row, from 1.

    Returns:
        Milliseconds: 0 after the first failure, then 100, doubled with each failure up to 10 s.
    """
    if failures <= 1:
        return 0
    return min(_FIRST_PAUSE_MS << min(failures - 2, 16), _LONGEST_PAUSE_MS)
