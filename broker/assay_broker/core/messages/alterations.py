"""Changes that the queue manager makes to a message, in its fields and in its AMQP encoding.

AMQP forbids changes of the bare message (AMQP 1.0, 3.2). So the results are new messages, such as a retained
publication with its mark, or a staged message for a browser. In the original message only annotations may change,
because a receiver may add annotations with the outcome *modified* (AMQP 1.0, 3.4.5).
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
"""The highest number of octets to which receivers may extend a message's annotations section."""
_MESSAGE_ID, _CORRELATION_ID = 0, 5  # fields of the properties section (AMQP 1.0, 3.2.4)


def with_number(message: Message, name: str, value: int) -> Message:
    """Return a message with an application property set to a 32-bit number, which replaces a former value.

    Args:
        message: The message.
        name: The name of the property.
        value: The value of the property.
    """
    octets = message.encoded
    if octets is not None:
        added = {name: types.integer(value)}
        octets = with_entries(octets, APPLICATION_PROPERTIES, added, (), name=types.string)
    return replace(message, properties=message.properties | {name: value}, encoded=octets)


def without_property(message: Message, name: str) -> Message:
    """Return a message without the application property of this name."""
    octets = message.encoded
    if octets is not None:
        octets = with_entries(octets, APPLICATION_PROPERTIES, {}, (name,), name=types.string)
    properties = {key: value for key, value in message.properties.items() if key != name}
    return replace(message, properties=properties, encoded=octets)


def with_annotations(message: Message, annotations: bytes) -> Message:
    """Return a message with a receiver's annotations.

    Args:
        message: The message.
        annotations: An encoded map; its entries replace annotations with the same keys.

    Returns:
        The message with the annotations; the unchanged message if the annotations section would be longer than
        `MAX_ANNOTATIONS`, or if the message did not come over AMQP.
    """
    octets = message.encoded
    if octets is None:
        return message
    annotated = with_map(octets, MESSAGE_ANNOTATIONS, annotations)
    section = behind(annotated, MESSAGE_ANNOTATIONS) - behind(annotated, DELIVERY_ANNOTATIONS)
    return message if section > MAX_ANNOTATIONS else replace(message, encoded=annotated)


def with_ids(message: Message, message_id: str, correlation_id: str | None) -> Message:
    """Return a message with another message id and correlation id.

    Args:
        message: The message.
        message_id: The new message id.
        correlation_id: The new correlation id; None without a correlation id.
    """
    octets = message.encoded
    if octets is not None:
        other = types.null() if correlation_id is None else identifier(correlation_id)
        octets = with_fields(octets, PROPERTIES, {_MESSAGE_ID: identifier(message_id), _CORRELATION_ID: other})
    return replace(message, message_id=message_id, correlation_id=correlation_id, encoded=octets)
