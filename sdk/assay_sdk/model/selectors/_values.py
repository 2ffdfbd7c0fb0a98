"""The values to which a selector's names refer: header fields and properties (Jakarta Messaging 3.1, 3.8.1.1)."""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.model.message import DEFAULT_PRIORITY, Message, Property

Read = Callable[[Message], Property]


def _delivery_mode(message: Message) -> str | None:
    """Return JMSDeliveryMode; None for a message without a durable header.

    The broker sets the header before it matches a message (QS-33).
    """
    if message.durable is None:
        return None
    return "PERSISTENT" if message.durable else "NON_PERSISTENT"


def _priority(message: Message) -> int:
    return DEFAULT_PRIORITY if message.priority is None else message.priority


def _timestamp(message: Message) -> int:
    """Return the timestamp, or 0: JMSTimestamp is never NULL (Jakarta Messaging 3.1, 3.4.4, 3.8.1.1)."""
    return message.creation_ms or 0


HEADERS: dict[str, Read] = {
    "JMSDeliveryMode": _delivery_mode,
    "JMSPriority": _priority,
    "JMSMessageID": lambda message: message.message_id,
    "JMSTimestamp": _timestamp,
    "JMSCorrelationID": lambda message: message.correlation_id,
    "JMSType": lambda message: message.subject,
    "JMSXGroupID": lambda message: message.group_id,
    "JMSXGroupSeq": lambda message: message.group_sequence,
}
"""The functions that read the header fields to which a selector can refer, by name."""


def reader(name: str) -> Read:
    """Return the function that reads the value of a name from a message.

    The function returns None if the message has no such value.
    """
    header = HEADERS.get(name)
    if header is not None:
        return header

    def read(message: Message) -> Property:
        return message.properties.get(name)

    return read
