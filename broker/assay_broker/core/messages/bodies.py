"""Bodies of messages that came over AMQP, decoded only on demand.

A decoded copy of a long body would double its memory, and most messages are delivered without decoding their bodies.
"""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.amqp import bodies
from assay_sdk.amqp.types import DecodeError
from assay_sdk.model.message import Body, Message


def body_of(message: Message) -> Body:
    """Return a message's body, decoded if necessary; None for no body, or one that is neither text nor octets."""
    if message.body is not None or message.encoded is None:
        return message.body
    try:
        return bodies.body(message.encoded)
    except DecodeError:  # at the message's arrival the broker checked only its sections, not its body
        return None


def opened(message: Message) -> Message:
    """Return a message with its body in `Message.body` instead of an AMQP encoding, for code that does not know AMQP.

    A message whose body is neither text nor octets stays unchanged.
    """
    if message.encoded is None:
        return message
    try:
        if bodies.is_plain(message.encoded):
            return replace(message, body=bodies.body(message.encoded), encoded=None)
    except DecodeError:  # the text is not valid, or the encoding was not checked before
        pass
    return message


def body_size(message: Message) -> int:
    """Return the size of a message's body in octets; for a malformed encoding, the size of the whole encoding."""
    if message.body is None and message.encoded is not None:
        try:
            return bodies.body_size(message.encoded)
        except DecodeError:
            return len(message.encoded)
    return octets_of(message.body)


_SLICE = 65_536
"""The number of characters that `octets_of` encodes at a time."""


def octets_of(value: str | bytes | None) -> int:
    """Return the number of octets of a text in UTF-8, or of a bytes object; 0 for None."""
    if value is None:
        return 0
    if isinstance(value, bytes) or value.isascii():
        return len(value)
    # Encoded slice by slice, so that no second copy of a long body is in memory.
    return sum(len(value[at : at + _SLICE].encode(errors="surrogatepass")) for at in range(0, len(value), _SLICE))
