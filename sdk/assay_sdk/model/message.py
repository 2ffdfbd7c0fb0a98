"""A message as it stands between client and broker, whatever the protocol.

Absent is not false: `Message.durable` tells "no durable header" (None) from an explicit false, because the broker's
answer differs (QS-33).  Times of day are milliseconds since the epoch; spans are milliseconds.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    Property = str | int | float | bool | bytes | None
    Body = str | bytes | None
else:
    # msgspec refuses a union of text and bytes, but keeps what MessagePack itself tells apart.
    Property = Body = Any


class AddressKind(StrEnum):
    """What a name names."""

    QUEUE = "queue"
    TOPIC = "topic"
    TEMPORARY_QUEUE = "temporary-queue"
    TEMPORARY_TOPIC = "temporary-topic"


class Address(Struct, frozen=True):
    """A queue's or a topic's name, with what it names."""

    kind: AddressKind
    name: str

    def __str__(self) -> str:
        """``queue://NAME`` or ``topic://NAME``."""
        return f"{self.kind.value}://{self.name}"


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):  # it cannot lead back to itself
    """One message.

    Args:
        message_id: JMSMessageID.
        correlation_id: JMSCorrelationID.
        to: Where it was sent.
        reply_to: JMSReplyTo.
        subject: JMSType.
        durable: True persistent, False non-persistent, None when the sender leaves it to the destination.
        priority: 0 to 9; None when the sender leaves it to the destination.
        ttl_ms: Time to live from the send, in milliseconds; None or 0 is for ever.
        creation_ms: JMSTimestamp.
        expiry_ms: JMSExpiration: time of day at which it expires; None never.
        delivery_time_ms: JMSDeliveryTime: earliest time of day of delivery; None at once.
        group_id: JMSXGroupID.
        group_sequence: JMSXGroupSeq.
        properties: Application properties.
        content_type: What the body is.
        body: A string, bytes, or nothing.
        encoded: The whole message as the wire had it, to be passed through untouched; None when there is none.
    """

    message_id: str | None = None
    correlation_id: str | None = None
    to: Address | None = None
    reply_to: Address | None = None
    subject: str | None = None
    durable: bool | None = None
    priority: int | None = None
    ttl_ms: int | None = None
    creation_ms: int | None = None
    expiry_ms: int | None = None
    delivery_time_ms: int | None = None
    group_id: str | None = None
    group_sequence: int | None = None
    properties: dict[str, Property] = {}
    content_type: str | None = None
    body: Body = None
    encoded: bytes | None = None
