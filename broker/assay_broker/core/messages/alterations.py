"""What the queue manager itself changes of a message, where it came as octets: in these too.

AMQP's bare message is immutable (3.2); so these are other messages, made of the first: a retained publication with its
mark, and what a browser of the staging queue sees.  Everything else in them is octet for octet what was sent.  Only
annotations may change: a receiver adds to them by the outcome *modified* (3.4.5).
"""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.amqp import types
from assay_sdk.amqp.editing import with_entries, with_fields, with_map
from assay_sdk.amqp.identifiers import identifier
from assay_sdk.amqp.sections import (
    APPLICATION_PROPERTIES,
    DELIVERY_ANNOTATIONS,
    MESSAGE_ANNOTATIONS,
    PROPERTIES,
    behind,
)
from assay_sdk.model.message import Message

MAX_ANNOTATIONS = 4_096
"""How many octets of annotations a message may come to have by outcomes: each receiver may add to them."""
_MESSAGE_ID, _CORRELATION_ID = 0, 5  # fields of the properties section (3.2.4)


def with_number(message: Message, name: str, value: int) -> Message:
    """A message with an application property, a 32-bit number.

    Args:
        message: The message.
        name: The property.
        value: What it is.
    """
    octets = message.encoded
    if octets is not None:
        added = {name: types.integer(value)}
        octets = with_entries(octets, APPLICATION_PROPERTIES, added, (), name=types.string)
    return replace(message, properties=message.properties | {name: value}, encoded=octets)


def without_property(message: Message, name: str) -> Message:
    """A message without an application property."""
    octets = message.encoded
    if octets is not None:
        octets = with_entries(octets, APPLICATION_PROPERTIES, {}, (name,), name=types.string)
    properties = {key: value for key, value in message.properties.items() if key != name}
    return replace(message, properties=properties, encoded=octets)


def with_annotations(message: Message, annotations: bytes) -> Message:
    """A message of which a receiver has said something.

    Args:
        message: The message.
        annotations: What, as an encoded map; its entries take the place of those of the same keys.

    Returns:
        The message; as it was, where its annotations would be longer than `MAX_ANNOTATIONS`, or where it came by
        another way than AMQP.
    """
    octets = message.encoded
    if octets is None:
        return message
    annotated = with_map(octets, MESSAGE_ANNOTATIONS, annotations)
    section = behind(annotated, MESSAGE_ANNOTATIONS) - behind(annotated, DELIVERY_ANNOTATIONS)
    return message if section > MAX_ANNOTATIONS else replace(message, encoded=annotated)


def with_ids(message: Message, message_id: str, correlation_id: str | None) -> Message:
    """A message under other ids.

    Args:
        message: The message.
        message_id: Its new id.
        correlation_id: Its new correlation id; None for none.
    """
    octets = message.encoded
    if octets is not None:
        other = types.null() if correlation_id is None else identifier(correlation_id)
        octets = with_fields(octets, PROPERTIES, {_MESSAGE_ID: identifier(message_id), _CORRELATION_ID: other})
    return replace(message, message_id=message_id, correlation_id=correlation_id, encoded=octets)
