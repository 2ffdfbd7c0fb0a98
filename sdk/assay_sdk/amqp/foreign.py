"""Bodies of types that only other clients send, such as Qpid's MapMessage; the SDK shows them as text or bytes.

| body | shown as |
|---|---|
| a symbol or a uuid | its text |
| a map, a list, sequences, a number, a boolean, a timestamp in milliseconds | JSON text, ``application/json`` |
| a body that JSON cannot represent: with NaN, or with keys other than text, integers and uuids | its sections' octets |

Within JSON, octets are base64, symbols and uuids are text, and several sequences are one list.
"""

from __future__ import annotations

import uuid
from typing import cast

from assay_sdk.amqp.sections import DATA, SEQUENCE, VALUE, Span, split
from assay_sdk.amqp.types import DecodeError, Described, Symbol, decode
from assay_sdk.model.converters import JSON, json_text
from assay_sdk.model.message import Body, Message


def shown_body(message: Message) -> tuple[Body, str | None]:
    """Return a received message's body as text, bytes or None, and its content type.

    Args:
        message: The received message.  If `Message.body` is None, the body is read from `Message.encoded`.
    """
    if message.body is not None or message.encoded is None:
        return message.body, message.content_type
    octets = bytes(message.encoded)  # Proton sometimes returns a bytearray
    try:
        spans = [span for span in split(octets) if DATA <= span.code <= VALUE]
    except DecodeError:
        return octets, None
    try:
        value = _value(octets, spans)
        if isinstance(value, str | bytes | None):
            return value, message.content_type
        return json_text(value), JSON
    except (ValueError, OverflowError, RecursionError, TypeError):
        return octets[spans[0].begin : spans[-1].end], None


def _value(octets: bytes, spans: list[Span]) -> object:
    values = [_plain(decode(octets[span.value : span.end])) for span in spans]
    if spans and spans[0].code == SEQUENCE:
        return [item for items in values for item in cast("list[object]", items)]
    return values[0] if values else None


def _plain(value: object) -> object:
    """Convert a decoded value to one that JSON can represent.

    Raises:
        ValueError: A key of a map is not text, an integer or a uuid, or two keys have the same text.
    """
    match value:
        case Symbol() | uuid.UUID():
            return str(value)
        case Described(descriptor=descriptor, value=inner):
            return {"descriptor": _plain(descriptor), "value": _plain(inner)}
        case list():
            return [_plain(item) for item in cast("list[object]", value)]
        case dict():
            entries = cast("dict[object, object]", value)
            found = {_key(key): _plain(item) for key, item in entries.items()}
            if len(found) != len(entries):
                raise ValueError("two keys are the same as text")
            return found
        case _:
            return value


def _key(key: object) -> str:
    if isinstance(key, str | int | uuid.UUID):
        return str(key)
    raise ValueError(f"a key of type {type(key).__name__}")
