"""The conversion of messages to and from the headers and bodies of SEND and MESSAGE frames.

The server reads SEND and writes MESSAGE; a client writes SEND and reads MESSAGE.  Both use the same headers, which
`assay_sdk.stomp.messages.table` lists.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from assay_sdk.model.message import DEFAULT_PRIORITY, Address, Message, Property
from assay_sdk.model.reasons import Mqrc
from assay_sdk.stomp.errors import ContentError
from assay_sdk.stomp.extensions import AS_DEFINED
from assay_sdk.stomp.messages import bodies

_HOPS = frozenset(
    (
        *("destination", "receipt", "transaction", "content-length", "subscription", "ack", "redelivered"),
        *("JMSXDeliveryCount", "property-types", "amq-msg-type", "browser", "destination-type"),
    )
)
"""The headers of SEND and MESSAGE that belong to the frame, not to the message; they do not become properties."""

_LONG = 19
"""The most digits of a number; a longer number does not fit into 64 bits."""
_LAST = 2**63 - 1
_HIGHEST = 9


# --- from SEND


def _number(name: str, value: str) -> int:
    digits = value.strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _LONG or int(digits) > _LAST:
        raise ContentError(f"The header {name} is {value[:40]!r}: write a whole number from 0", Mqrc.EXPIRY_ERROR)
    return int(digits)


def _signed(name: str, value: str) -> int:
    """Return a header's number; 0 for a negative number, because ActiveMQ ignores negative delays."""
    return 0 if value.startswith("-") and value[1:].isdigit() else _number(name, value)


def _flag(name: str, value: str) -> bool:
    if value not in {"true", "false"}:
        raise ContentError(f"The header {name} is {value[:40]!r}: write true or false", Mqrc.PERSISTENCE_ERROR)
    return value == "true"


def _priority(name: str, value: str) -> int | None:
    if value == AS_DEFINED:
        return None
    if not (value.isascii() and value.isdigit()) or int(value[:_LONG]) > _HIGHEST:
        raise ContentError(f"The header {name} is {value[:40]!r}: write a priority from 0 to 9", Mqrc.PRIORITY_ERROR)
    return int(value)


def _text(_: str, value: str) -> str:
    return value


_SETTERS: Mapping[str, tuple[str, Callable[[str, str], Any]]] = {
    "message-id": ("message_id", _text),
    "correlation-id": ("correlation_id", _text),
    "JMSCorrelationID": ("correlation_id", _text),
    "reply-to": ("reply_to", _text),
    "JMSReplyTo": ("reply_to", _text),
    "type": ("subject", _text),
    "JMSType": ("subject", _text),
    "content-type": ("content_type", _text),
    "persistent": ("durable", _flag),
    "priority": ("priority", _priority),
    "JMSPriority": ("priority", _priority),
    "expires": ("expiry_ms", _signed),
    "JMSExpiration": ("expiry_ms", _signed),
    "expiration": ("ttl_ms", _signed),
    "ttl": ("ttl_ms", _signed),
    "AMQ_SCHEDULED_DELAY": ("delay_ms", _signed),
    "x-delay": ("delay_ms", _signed),
    "delivery-delay": ("delay_ms", _signed),
    "AMQ_SCHEDULED_TIME": ("delivery_time_ms", _signed),
    "JMSDeliveryTime": ("delivery_time_ms", _signed),
    "timestamp": ("creation_ms", _text),
    "JMSXGroupID": ("group_id", _text),
    "JMSXGroupSeq": ("group_sequence", _number),
}
"""For each header of SEND, the field of `Message` or ``delay_ms``, and the function that reads the value."""


RESERVED = frozenset((*_HOPS, *_SETTERS)) - {"timestamp"}
"""The names of headers that an application property cannot have."""


def read_message(  # noqa: PLR0917  the frame's parts, and the receiver's own values
    headers: Mapping[str, str], body: bytes, to: Address, reader: Callable[[str], Address], message_id: str, now_ms: int
) -> Message:
    """Return the message of a SEND or MESSAGE.

    Args:
        headers: The headers of the frame.
        body: The body of the frame.
        to: The destination of the message.
        reader: Converts the value of the header reply-to to a destination.
        message_id: The id for a message whose frame names no id.
        now_ms: The time of arrival, in milliseconds since the epoch.

    Raises:
        ContentError: A header or the body is not valid.
    """
    fields: dict[str, Any] = {}
    properties: dict[str, Property] = {}
    for name, value in headers.items():
        setter = _SETTERS.get(name)
        if setter is not None:
            field, read = setter
            if field not in fields:
                fields[field] = read(name, value)
        elif name not in _HOPS:
            properties[name] = value
    if "property-types" in headers:
        _set_types(properties, headers["property-types"])
    _set_times(fields, properties, now_ms)
    reply_to = fields.pop("reply_to", None)
    if reply_to:
        fields["reply_to"] = reader(reply_to)
    fields.setdefault("message_id", message_id)
    fields.setdefault("priority", DEFAULT_PRIORITY)
    kind = bodies.kind_of(headers, fields.get("content_type"), body)
    if kind is bodies.Kind.BYTES:
        return Message(to=to, properties=properties, body=body, **fields)
    return bodies.with_body(Message(to=to, properties=properties, **fields), kind, body)


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit()


def _set_times(fields: dict[str, Any], properties: dict[str, Property], now_ms: int) -> None:
    created = fields.get("creation_ms")
    fields["creation_ms"] = now_ms
    if created is not None:
        if _is_number(created.removeprefix("-")) and len(created) < _LONG:
            fields["creation_ms"] = int(created)
        else:
            properties["timestamp"] = created  # an application's own header
            del fields["creation_ms"]
    delay_ms = fields.pop("delay_ms", 0)
    if delay_ms:
        if now_ms + delay_ms > _LAST:
            raise ContentError(f"The delay of {delay_ms} ms is too long", Mqrc.EXPIRY_ERROR)
        fields.setdefault("delivery_time_ms", now_ms + delay_ms)
    for name in ("delivery_time_ms", "expiry_ms", "ttl_ms"):
        if name in fields and not fields[name]:
            del fields[name]


def _base64(value: str) -> bytes:
    return base64.b64decode(value, validate=True)


_READERS: Mapping[str, Callable[[str], Property]] = {
    "boolean": {"true": True, "false": False}.__getitem__,
    "integer": int,
    "double": float,
    "bytes": _base64,
    "null": {"": None}.__getitem__,
}
"""The types in the header property-types, with the functions that read a value."""


def _set_types(properties: dict[str, Property], written_types: str) -> None:
    """Give properties the types that the header property-types names.

    Raises:
        ContentError: The header is not valid, or a value does not have the type that the header names.
    """
    try:
        types = msgspec.json.decode(written_types, type=dict[str, str])
    except msgspec.DecodeError as error:
        raise ContentError('The header property-types is not valid: write JSON, as in {"count":"integer"}') from error
    for name, kind in types.items():
        value = properties.get(name)
        if not isinstance(value, str):
            continue
        try:
            properties[name] = _READERS[kind](value)
        except (KeyError, ValueError, binascii.Error) as error:
            raise ContentError(
                f"The header {name[:40]!r} is not of the type {kind[:20]!r} that property-types names"
            ) from error
        number = properties[name]
        if isinstance(number, int) and not -_LAST - 1 <= number <= _LAST:
            raise ContentError(f"The header {name[:40]!r} does not fit into 64 bits", Mqrc.OPTIONS_ERROR)


# --- to MESSAGE

_TYPES: Mapping[type, tuple[str, Callable[[Any], str]]] = {
    bool: ("boolean", lambda value: "true" if value else "false"),
    int: ("integer", str),
    float: ("double", repr),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode()),
    type(None): ("null", lambda _: ""),
}


def write_message(message: Message, writer: Callable[[Address], str]) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the SEND or MESSAGE for a message.

    The caller adds the headers destination, message-id and content-length, and the headers of the delivery.

    Args:
        message: The message.
        writer: Converts a destination to the value of the header reply-to.
    """
    headers = {"priority": str(DEFAULT_PRIORITY if message.priority is None else message.priority)}
    if message.durable:
        headers["persistent"] = "true"
    if message.creation_ms is not None:
        headers["timestamp"] = str(message.creation_ms)
    if message.expiry_ms is not None:
        headers["expires"] = str(message.expiry_ms)
    if message.correlation_id is not None:
        headers["correlation-id"] = message.correlation_id
    if message.reply_to is not None:
        headers["reply-to"] = writer(message.reply_to)
    if message.subject is not None:
        headers["type"] = message.subject
    if message.content_type is not None:
        headers["content-type"] = message.content_type
    _add_rare(headers, message)
    if message.properties:
        _add_properties(headers, message.properties)
    kind, body = bodies.body_of(message)
    if kind is not bodies.default_kind(message.content_type):
        headers["amq-msg-type"] = kind.value
    return headers, body


def _add_rare(headers: dict[str, str], message: Message) -> None:
    if message.delivery_time_ms is not None:
        headers["AMQ_SCHEDULED_TIME"] = str(message.delivery_time_ms)
    if message.group_id is not None:
        headers["JMSXGroupID"] = message.group_id
    if message.group_sequence is not None:
        headers["JMSXGroupSeq"] = str(message.group_sequence)


def _add_properties(headers: dict[str, str], properties: Mapping[str, Property]) -> None:
    types: dict[str, str] = {}
    for name, value in properties.items():
        if name in headers or name in _HOPS or not name:
            continue
        if name in _SETTERS and (name != "timestamp" or not isinstance(value, str) or _is_number(value.lstrip("-"))):
            continue
        if isinstance(value, str):
            headers[name] = value
        elif isinstance(value, int) and value > _LAST:  # only AMQP has numbers that do not fit into 64 bits with a sign
            headers[name] = str(value)
        else:
            types[name], shown = _TYPES[type(value)]
            headers[name] = shown(value)
    if types:
        headers["property-types"] = msgspec.json.encode(types).decode()
