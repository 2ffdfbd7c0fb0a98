"""The kit's ids (keys) in messages: in a property, or for a message without properties at the beginning of its body."""

from __future__ import annotations

from collections.abc import Mapping

from assay_adapters.ports.client import Draft
from assay_sdk.model.message import Body, Message, Property

KID = "assay_kid"
"""The property with the kit's id."""
_PROVIDERS = frozenset(
    {
        "JMSXAppID",
        "JMSXConsumerTXID",
        "JMSXDeliveryCount",
        "JMSXProducerTXID",
        "JMSXRcvTimestamp",
        "JMSXState",
        "JMSXUserID",
    }
)
"""The properties that a JMS provider itself may add to a message (JMS 2.0, 3.5.9)."""
_DATA_BEGINS = (b"\x00\x53\x77\xa1", b"\x00\x53\x75\xa0")
"""The octets that precede a short body in an encoded AMQP message: for a string, and for data (AMQP 1.0, 3.2)."""


def marked(draft: Draft) -> dict[str, Property]:
    """Return the properties for a draft: the draft's own, and the kit's id; empty for a bare draft."""
    return {} if draft.bare else {KID: draft.key, **draft.properties}


def key_in(body: Body) -> str:
    """Return the kit's id with which a body begins; empty if the kit did not write the body."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else body or ""
    head, space, _ = text.partition(" ")
    return head if space and "/" in head else ""


def key_in_encoded(encoded: bytes) -> str:
    """Return the kit's id at the beginning of the body of an encoded AMQP message; empty if the kit did not write it.

    Args:
        encoded: An encoded message without properties, or its first octets.
    """
    for begins in _DATA_BEGINS:
        _, found, body = encoded.partition(begins)
        if found and (key := key_in(body[1:])):  # the first octet is the length
            return key
    return ""


def key_among(properties: Mapping[str, Property], body: Body) -> str:
    """Return the kit's id of a message; an empty text if the kit did not send the message.

    The body of a message with properties of the application is not searched: the body of a report message may begin
    with the id of the message that the report is about.
    """
    if properties.keys() <= _PROVIDERS:
        return key_in(body)
    return str(properties.get(KID, ""))


def key_of(message: Message) -> str | None:
    """Return the kit's id of a message; None if the kit did not send the message."""
    return key_among(message.properties, message.body) or None
