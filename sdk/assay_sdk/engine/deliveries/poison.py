"""Poison messages: those that a consumer gives back again and again.

IBM MQ leaves them to its client, which reads BOTHRESH and BOQNAME of the queue: a message that was backed out that
often is moved to the back-out queue, or else to the dead-letter queue.  This module does the same, and for brokers that
tell nothing of it what the application says:

| limit | targets, in order | no target takes it |
|---|---|---|
| ``max_delivery_count`` with ``on_poison`` | that destination | kept |
| ``max_delivery_count`` alone | none | rejected: left to the broker |
| the queue's BOTHRESH | ``on_poison``, or BOQNAME and the dead-letter queue | kept; non-persistent ones are discarded |

A message that is kept comes again after a pause, for ever; the exception listener is told each time (MQRC 2362).  It is
moved before it is acknowledged, so that a failure in between leaves two copies and never none.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_sdk.driver import BOQNAME_PROPERTY, BOTHRESH_PROPERTY, DEADQ_PROPERTY, PeerProperties
from assay_sdk.model.message import Address, AddressKind

_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 100, 10_000


class Unmoved(StrEnum):
    """What becomes of a poison message that no target takes."""

    KEPT = "kept"
    REJECTED = "rejected"
    REJECTED_IF_NON_PERSISTENT = "rejected-if-non-persistent"


class PoisonPolicy(Struct, frozen=True):
    """What the application says of poison messages.

    Args:
        max_delivery_count: How often a message is delivered at most; 0 without limit, None as the broker says.
        move_to: Where it is moved then; None as the broker says.
    """

    max_delivery_count: int | None = None
    move_to: Address | None = None


class PoisonLimit(Struct, frozen=True):
    """What holds for one consumer.

    Args:
        deliveries: How often a message is delivered at most; 0 without limit.
        targets: Where it is moved then, in the order in which they are tried.
        unmoved: What becomes of it when none of them takes it.
    """

    deliveries: int = 0
    targets: tuple[Address, ...] = ()
    unmoved: Unmoved = Unmoved.KEPT

    def is_poison(self, count: int) -> bool:
        """Whether a message has been delivered often enough.

        Args:
            count: Its delivery count (JMSXDeliveryCount): 1 for the first delivery.
        """
        return 0 < self.deliveries < count


NO_LIMIT = PoisonLimit()


def limit_of(policy: PoisonPolicy, told: PeerProperties) -> PoisonLimit:
    """Work out what holds for a consumer.

    Args:
        policy: What the application says.
        told: What the broker says of the source (I-6); values may be numbers or their texts.
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
    """How long a consumer rests after its listener has raised.

    Args:
        failures: How often it has raised in a row, from 1.

    Returns:
        Milliseconds: none after the first time, then 100, doubled each time, 10 s at the most.
    """
    if failures <= 1:
        return 0
    return min(_FIRST_PAUSE_MS << min(failures - 2, 16), _LONGEST_PAUSE_MS)
