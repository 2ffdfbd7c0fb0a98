"""The conversion of messages between STOMP and AMQP as one table, with a row for each part of a message.

`make pages` writes a part of ``docs/stomp.md`` from this table.  A test converts messages of every kind from AMQP to
STOMP and back, and checks that the conversion changes only the places that `loses`, `alters` and `adds` name.
"""

from __future__ import annotations

from msgspec import Struct

from assay_sdk.stomp.messages.conversion import RESERVED


class Row(Struct, frozen=True):
    """The conversion of one part of a message.

    Args:
        part: The part, in the words of JMS.
        send: The headers of SEND that set the part; if a frame has several of them, the first counts.
        amqp: The section and field of AMQP 1.0.
        message: The header of MESSAGE; empty for none.
        note: A remark on the part; empty for none.
        lost: The information that a conversion to STOMP and back loses; empty for none.
        loses: The places of an AMQP message that are absent after a conversion to STOMP and back.
        alters: The places that may have another type or value afterwards.
        adds: The places that may be absent before and present afterwards.

    A place is a section and a field, or a section and a key.  ``*`` stands for any characters.  The part after ``=`` is
    the value if the value is a text, otherwise the name of its type.
    """

    part: str
    send: tuple[str, ...]
    amqp: str
    message: str
    note: str = ""
    lost: str = ""
    loses: tuple[str, ...] = ()
    alters: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()


TABLE: tuple[Row, ...] = (
    Row(
        "destination",
        ("destination",),
        "properties.to",
        "destination",
        "MESSAGE repeats the words of the SUBSCRIBE; with wildcards it names the message's topic",
        alters=("properties.to", "message-annotations.x-opt-jms-dest"),
        adds=("properties.to", "message-annotations.x-opt-jms-dest"),
    ),
    Row(
        "message id",
        ("message-id",),
        "properties.message-id",
        "message-id",
        "the server makes one if SEND has none; an id that is no text in AMQP has a prefix, as in Qpid JMS: "
        "`ID:AMQP_ULONG:7`",
        adds=("properties.message-id",),
    ),
    Row(
        "correlation id",
        ("correlation-id", "JMSCorrelationID"),
        "properties.correlation-id",
        "correlation-id",
        "prefixes as in the message id",
    ),
    Row(
        "reply-to",
        ("reply-to", "JMSReplyTo"),
        "properties.reply-to",
        "reply-to",
        adds=("message-annotations.x-opt-jms-reply-to",),
    ),
    Row("type", ("type", "JMSType"), "properties.subject", "type"),
    Row("content type", ("content-type",), "properties.content-type", "content-type"),
    Row("persistence", ("persistent",), "header.durable", "persistent", "default: DEFPSIST of the queue"),
    Row(
        "priority",
        ("priority", "JMSPriority"),
        "header.priority",
        "priority",
        "default: 4; `as-defined` stands for the destination's DEFPRTY; the server treats priorities above 9 as 9",
        alters=("header.priority",),
    ),
    Row(
        "expiry, as a time",
        ("expires", "JMSExpiration"),
        "properties.absolute-expiry-time",
        "expires",
        "milliseconds since the epoch; 0 for never",
        adds=("header.ttl",),
    ),
    Row(
        "time to live",
        ("expiration", "ttl"),
        "header.ttl",
        "expires",
        "milliseconds from the send, as in RabbitMQ; 0 for never",
        lost="the time to live: MESSAGE has the time of expiry instead; over AMQP, the server computes the rest "
        "of the time to live from it",
        alters=("header.ttl",),
        adds=("properties.absolute-expiry-time",),
    ),
    Row(
        "delivery delay",
        ("AMQ_SCHEDULED_DELAY", "x-delay", "delivery-delay"),
        "annotation x-opt-delivery-delay",
        "AMQ_SCHEDULED_TIME",
        "milliseconds from the send; 0 for none",
        lost="the delay: MESSAGE has the delivery time instead",
        loses=("message-annotations.x-opt-delivery-delay",),
        adds=("message-annotations.x-opt-delivery-time",),
    ),
    Row(
        "delivery time",
        ("AMQ_SCHEDULED_TIME", "JMSDeliveryTime"),
        "annotation x-opt-delivery-time",
        "AMQ_SCHEDULED_TIME",
        "milliseconds since the epoch; 0 for none",
        lost="the delivery time, if it is over when a client sends the message on: the new message is due one "
        "millisecond after its SEND",
        alters=("message-annotations.x-opt-delivery-time",),
    ),
    Row(
        "timestamp",
        ("timestamp",),
        "properties.creation-time",
        "timestamp",
        "default: the time of the SEND",
        adds=("properties.creation-time",),
    ),
    Row("group", ("JMSXGroupID",), "properties.group-id", "JMSXGroupID"),
    Row("place in the group", ("JMSXGroupSeq",), "properties.group-sequence", "JMSXGroupSeq"),
    Row(
        "application properties",
        ("all other headers",),
        "application-properties",
        "the same",
        "property-types names the types of those that are no text",
        lost="the widths of numbers; the types timestamp, symbol, UUID, char and decimal, which become numbers, texts "
        "and octets; numbers from 2^63, which become texts; names that a header of this table has, and an empty name; "
        "with STOMP 1.0 also names with a colon or with blanks around them, and values with a line feed or "
        "with blanks around them; in every version, names and texts with NUL",
        loses=(
            "application-properties.",
            "application-properties.=*",
            "application-properties.*\0*",
            *(f"application-properties.{name}" for name in sorted(RESERVED)),
            "properties.*=*\0*",
        ),
        alters=tuple(
            f"application-properties.*={kind}"
            for kind in ("timestamp", "symbol", "uuid", "char", "decimal", "large number")
        ),
    ),
    Row(
        "kind of body",
        ("amq-msg-type",),
        "the body's section",
        "amq-msg-type",
        "text, bytes, map, list, empty or amqp; default: text for a body in UTF-8 that has a content type of text, "
        "or neither content-type nor content-length; otherwise bytes",
        lost="the widths of numbers in a map or list, which are JSON; the number of data sections; the difference "
        "between octets in an amqp-value and octets in data: all become data",
        adds=("message-annotations.x-opt-jms-msg-type", "body.data"),
        loses=("body.value=binary",),
    ),
    Row(
        "delivery count",
        (),
        "header.delivery-count",
        "redelivered, JMSXDeliveryCount",
        "only in redelivered messages",
        lost="the count, because it belongs to the delivery and not to the message",
        loses=("header.delivery-count",),
    ),
    Row(
        "other annotations",
        (),
        "delivery-annotations, message-annotations, footer",
        "",
        lost="all of them",
        loses=("delivery-annotations.*", "message-annotations.*", "footer.*"),
    ),
    Row(
        "other fields",
        (),
        "header.first-acquirer; properties.user-id, content-encoding and reply-to-group-id",
        "",
        lost="all of them",
        loses=(
            "header.first-acquirer",
            *(f"properties.{name}" for name in ("user-id", "content-encoding", "reply-to-group-id")),
        ),
    ),
)
"""The conversion of each part of a message."""
