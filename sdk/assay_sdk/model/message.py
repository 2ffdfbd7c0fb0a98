"""Messages between the client and the broker, independent of the protocol.

`Message.durable` is None without a durable header, and False for an explicit false, because the broker treats the two
differently (QS-33).  Times of day are milliseconds since the epoch; durations are milliseconds.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    Property = str | int | float | bool | bytes | None
    Body = str | bytes | None
else:
    # `Any`, because msgspec refuses a union of text and bytes; MessagePack still distinguishes the two.
    Property = Body = Any

DEFAULT_PRIORITY = 4
"""Priority of a message whose sender sets none (JMS 2.0, 3.4.10)."""


class AddressKind(StrEnum):
    """Kind of a destination."""

    QUEUE = "queue"
    TOPIC = "topic"
    TEMPORARY_QUEUE = "temporary-queue"
    TEMPORARY_TOPIC = "temporary-topic"


class Address(Struct, frozen=True):
    """The address of a destination: kind and name."""

    kind: AddressKind
    name: str

    def __str__(self) -> str:
        """Return kind and name in the form of a URI, such as ``queue://NAME`` or ``temporary-topic://NAME``."""
        return f"{self.kind.value}://{self.name}"


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):  # no cycles, so no garbage collection
    """A message with its headers, properties and body.

    Args:
        message_id: JMSMessageID.
        correlation_id: JMSCorrelationID.
        to: Destination.
        reply_to: JMSReplyTo.
        subject: JMSType.
        durable: True for persistent, False for non-persistent, None for the destination's default.
        priority: 0 to 9; None for the destination's default.
        ttl_ms: Time to live from the send, in milliseconds; None or 0 for no expiry.
        creation_ms: JMSTimestamp: time of day of the send.
        expiry_ms: JMSExpiration: time of day at which the message expires; None for no expiry.
        delivery_time_ms: JMSDeliveryTime: earliest time of day of a delivery; None for no delay.
        group_id: JMSXGroupID.
        group_sequence: JMSXGroupSeq.
        properties: Application properties.
        content_type: Content type of the body.
        body: Text, bytes or None.
        encoded: The received message in AMQP's encoding, to forward it unchanged; None if the message is not encoded.
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
