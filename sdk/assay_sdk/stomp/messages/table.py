"""The conversion of messages between STOMP and AMQP as one table, with a row for each part of a message.

A test compares ``docs/stomp.md`` with it.  Other tests convert messages from AMQP to STOMP and back, and check that
only the parts change for which `lost` names a loss.
"""

from __future__ import annotations

from msgspec import Struct


class Row(Struct, frozen=True):
    """The conversion of one part of a message.

    Args:
        part: The part, in the words of JMS.
        send: The headers of SEND that set it; the first of them in the frame counts.
        amqp: The section and field of AMQP 1.0.
        message: The header of MESSAGE; empty for none.
        note: A remark on the part; empty for none.
        lost: The information that a conversion to STOMP and back loses; empty for none.
    """

    part: str
    send: tuple[str, ...]
    amqp: str
    message: str
    note: str = ""
    lost: str = ""


TABLE: tuple[Row, ...] = (
    Row("destination", ("destination",), "properties.to", "destination", "MESSAGE repeats the words of the SUBSCRIBE"),
    Row("message id", ("message-id",), "properties.message-id", "message-id", "the server makes one if SEND has none"),
    Row("correlation id", ("correlation-id", "JMSCorrelationID"), "properties.correlation-id", "correlation-id"),
    Row("reply-to", ("reply-to", "JMSReplyTo"), "properties.reply-to", "reply-to"),
    Row("type", ("type", "JMSType"), "properties.subject", "type"),
    Row("content type", ("content-type",), "properties.content-type", "content-type"),
    Row("persistence", ("persistent",), "header.durable", "persistent", "default: DEFPSIST of the queue"),
    Row(
        "priority",
        ("priority", "JMSPriority"),
        "header.priority",
        "priority",
        "default: 4; `as-defined` stands for the destination's DEFPRTY",
    ),
    Row(
        "expiry, as a time",
        ("expires", "JMSExpiration"),
        "properties.absolute-expiry-time",
        "expires",
        "milliseconds since the epoch; 0 for never",
        lost="header.ttl; the time of expiry remains",
    ),
    Row(
        "time to live",
        ("expiration", "ttl"),
        "header.ttl",
        "expires",
        "milliseconds from the send, as in RabbitMQ; 0 for never",
        lost="header.ttl; the time of expiry remains",
    ),
    Row(
        "delivery delay",
        ("AMQ_SCHEDULED_DELAY", "x-delay", "delivery-delay"),
        "annotation x-opt-delivery-delay",
        "AMQ_SCHEDULED_TIME",
        "milliseconds from the send; 0 for none",
    ),
    Row(
        "delivery time",
        ("AMQ_SCHEDULED_TIME", "JMSDeliveryTime"),
        "annotation x-opt-delivery-time",
        "AMQ_SCHEDULED_TIME",
        "milliseconds since the epoch; 0 for none",
    ),
    Row("timestamp", ("timestamp",), "properties.creation-time", "timestamp", "default: the time of the SEND"),
    Row("group", ("JMSXGroupID",), "properties.group-id", "JMSXGroupID"),
    Row("place in the group", ("JMSXGroupSeq",), "properties.group-sequence", "JMSXGroupSeq"),
    Row(
        "application properties",
        ("all other headers",),
        "application-properties",
        "the same",
        "property-types names the types of those that are no text",
        lost="the widths of numbers; names that a header of this table has; with STOMP 1.0 also names with a colon or "
        "with blanks around them, and values with a line feed or with blanks around them; NUL in every version",
    ),
    Row(
        "kind of body",
        ("amq-msg-type",),
        "the body's section",
        "amq-msg-type",
        "text, bytes, map, list, empty or amqp; default: text for a body in UTF-8 that has a content type of text, "
        "or neither content-type nor content-length; otherwise bytes",
        lost="the widths of numbers in a map or list, which are JSON",
    ),
    Row(
        "delivery count",
        (),
        "header.delivery-count",
        "redelivered, JMSXDeliveryCount",
        "only in redelivered messages",
        lost="the count, because it belongs to the delivery and not to the message",
    ),
    Row("other annotations", (), "message-annotations, footer", "", lost="all of them"),
    Row("other properties", (), "user-id, content-encoding, reply-to-group-id", "", lost="all of them"),
)
"""The conversion of each part of a message."""
