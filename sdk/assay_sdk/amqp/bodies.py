"""The body of an encoded message, read without decoding the other sections (OASIS AMQP 1.0, 3.2.6 to 3.2.8)."""

from __future__ import annotations

from assay_sdk.amqp.sections import DATA, SEQUENCE, VALUE, split
from assay_sdk.amqp.values import BINARIES, NULL, PLAIN_VALUES, STRINGS, simple
from assay_sdk.model.message import Body


def body(octets: bytes) -> Body:
    """Return the body of an encoded message: text, bytes, or None for no body and for a body of another type.

    Raises:
        DecodeError: The message is malformed.
    """
    parts = [span for span in split(octets) if DATA <= span.code <= VALUE]
    if not parts:
        return None
    first = parts[0]
    if first.code == DATA:
        # Views of several sections are joined without copying each section first.
        view = octets if len(parts) == 1 else memoryview(octets)
        pieces = [view[_content(octets, span.value) : span.end] for span in parts]
        return bytes(pieces[0]) if len(pieces) == 1 else b"".join(pieces)
    if octets[first.value] not in STRINGS | BINARIES:
        return None
    value, _ = simple(octets, first.value)
    return value if isinstance(value, str | bytes) else None


def is_plain(octets: bytes) -> bool:
    """Return whether `Message.body` can represent an encoded message's body: no body, a text, or bytes.

    Raises:
        DecodeError: The message is malformed.
    """
    kinds = {(span.code, octets[span.value] if span.code == VALUE else None) for span in split(octets)}
    return not any(code == SEQUENCE or (code == VALUE and form not in PLAIN_VALUES) for code, form in kinds)


def body_size(octets: bytes) -> int:
    """Return the size of an encoded message's body, in octets.

    For text and bytes it is the size of the content, for a body of another type the size of its sections, and without
    a body 0.

    Raises:
        DecodeError: The message is malformed.
    """
    total = 0
    for span in split(octets):
        if span.code == DATA or (span.code == VALUE and octets[span.value] in STRINGS | BINARIES):
            total += span.end - _content(octets, span.value)
        elif span.code in (SEQUENCE, VALUE) and octets[span.value] != NULL:
            total += span.end - span.begin
    return total


def _content(octets: bytes, at: int) -> int:
    """Return the position of the first octet of content in an encoded string or binary value."""
    return at + (5 if octets[at] & 0x10 else 2)
