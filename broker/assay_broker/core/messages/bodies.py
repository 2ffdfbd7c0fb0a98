"""Bodies of messages that came over AMQP: they stay in the octets that came until somebody asks.

Most messages are handed on without anybody looking at their bodies, and a second copy of a long one would cost as much
as the first.
"""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.amqp import bodies
from assay_sdk.amqp.types import DecodeError
from assay_sdk.model.message import Body, Message


def body_of(message: Message) -> Body:
    """A message's body, wherever it stands; None for one that is neither text nor octets."""
    if message.body is not None or message.encoded is None:
        return message.body
    try:
        return bodies.body(message.encoded)
    except DecodeError:  # its sections were looked at when it came, what is in its body was not
        return None


def opened(message: Message) -> Message:
    """A message with its body in place, for those who know nothing of AMQP.

    It has no octets of its own any more, so that what is changed of it is what goes out, unless its body is neither
    text nor octets: then it stays as it is.
    """
    if message.encoded is None:
        return message
    try:
        if bodies.is_plain(message.encoded):
            return replace(message, body=bodies.body(message.encoded), encoded=None)
    except DecodeError:  # a text that is none, or what came another way than over AMQP and nobody has looked at
        pass
    return message


def body_size(message: Message) -> int:
    """Octets of a message's body; of all of it where nobody can tell which are its body's."""
    if message.body is None and message.encoded is not None:
        try:
            return bodies.body_size(message.encoded)
        except DecodeError:
            return len(message.encoded)
    return octets_of(message.body)


_SLICE = 65_536
"""Characters that are measured at once."""


def octets_of(value: str | bytes | None) -> int:
    """Octets of a text or of octets."""
    if value is None:
        return 0
    if isinstance(value, bytes) or value.isascii():
        return len(value)
    # Slice by slice: a long body is never there a second time.
    return sum(len(value[at : at + _SLICE].encode(errors="surrogatepass")) for at in range(0, len(value), _SLICE))
