"""Message and correlation ids as text, as in Qpid JMS (``AmqpMessageIdHelper``).

An id in AMQP has one of four types, and in JMS it is always a string.
"""

from __future__ import annotations

import uuid

from assay_sdk.amqp import types
from assay_sdk.amqp.types import DecodeError

_ULONG_ID, _UUID_ID, _BINARY_ID = "ID:AMQP_ULONG:", "ID:AMQP_UUID:", "ID:AMQP_BINARY:"


def identifier(text: str) -> bytes:
    """Encode a message or correlation id as the AMQP type that its prefix names; without such a prefix, as a string.

    Raises:
        UnicodeEncodeError: The text has an unpaired surrogate.
    """
    try:
        if text.startswith(_ULONG_ID):
            number = int(text.removeprefix(_ULONG_ID))
            if 0 <= number < 1 << 64:
                return types.ulong(number)
        elif text.startswith(_UUID_ID):
            return b"\x98" + uuid.UUID(text.removeprefix(_UUID_ID)).bytes
        elif text.startswith(_BINARY_ID):
            return types.binary(bytes.fromhex(text.removeprefix(_BINARY_ID)))
    except ValueError:
        pass  # the text has a prefix, but is no id of that type
    return types.string(text)


def identifier_text(value: object) -> str | None:
    """Convert a decoded message or correlation id to text (AMQP 1.0, 3.2.11 to 3.2.14); None stays None.

    Raises:
        DecodeError: The id is of none of AMQP's four types of ids.
    """
    match value:
        case None | str():
            return value
        case bool():
            raise DecodeError("an id that is a boolean")
        case int():
            return f"{_ULONG_ID}{value}"
        case uuid.UUID():
            return f"{_UUID_ID}{value}"
        case bytes():
            return f"{_BINARY_ID}{value.hex().upper()}"
        case _:
            raise DecodeError(f"an id of type {type(value).__name__}, which is not a type of ids")
