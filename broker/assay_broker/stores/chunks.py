"""Long message bodies: they are taken out of their records and stored in pieces, so that memory holds them once.

A piece is cut from the body when it is written, and appended to the body when it is read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.records import MessageStored, Record, RetainedSet, UnitPrepared
from assay_sdk.model.message import Message

PIECE_BYTES = 65_536
"""The longest piece, and the longest body that stays in its record, in octets."""
_PIECE_CHARACTERS = PIECE_BYTES // 4
"""UTF-8 takes at most four octets for a character."""

Field = Literal["body", "encoded"]
_BRINGING = (MessageStored, RetainedSet)
"""Record types that contain one message."""
_ERRORS = "surrogatepass"
"""Lone surrogates are allowed, since a text may be cut between pieces anywhere."""


class Long(Struct, frozen=True, array_like=True):
    """A body that was taken out of its record.

    Args:
        message: In which of the record's messages it stood, counted from 0.
        field: Where it stood in the message.
        text: Whether it is a text.
        pieces: In how many pieces it stands.
    """

    message: int
    field: Field
    text: bool
    pieces: int


class Shortened(Struct, frozen=True, eq=False):
    """A record without its long bodies.

    Args:
        record: The record.
        longs: The long bodies, in the order of their pieces.
        messages: The messages that still have these bodies.
    """

    record: Record
    longs: tuple[Long, ...]
    messages: tuple[Message, ...]

    @property
    def size(self) -> int:
        """Octets or characters that were taken out of the record."""
        return sum(len(self._value(long)) for long in self.longs)

    def pieces(self) -> Iterator[memoryview | bytes]:
        """Iterate over the pieces; each is created on demand."""
        for long in self.longs:
            yield from _cut(self._value(long))

    def _value(self, long: Long) -> str | bytes:
        message = self.messages[long.message]
        value = message.body if long.field == "body" else message.encoded
        if value is None:
            raise ValueError("what has left a record is not where it was")
        return value


def shorten(record: Record) -> Shortened | None:
    """Take long bodies out of a record.

    Args:
        record: The record; it stays as it is.

    Returns:
        The record without it; None when nothing is long.
    """
    if isinstance(record, MessageStored):  # nearly all are, and nearly all of these are short
        message = record.message
        if _is_short(message.body) and _is_short(message.encoded):
            return None
    messages = _messages(record)
    longs = tuple(long for number, message in enumerate(messages) for long in _longs(number, message))
    if not longs:
        return None
    rest = list(messages)
    for long in longs:
        rest[long.message] = _put_back(rest[long.message], long.field, None)
    return Shortened(_with(record, tuple(rest)), longs, messages)


def complete(record: Record, longs: tuple[Long, ...], pieces: Iterator[bytes]) -> Record:
    """Put long bodies back into a record.

    Args:
        record: The record without it.
        longs: What had left.
        pieces: The pieces of all of it, in order.

    Raises:
        ValueError: The record has no place for it, or a piece is missing or no text.
    """
    messages = list(_messages(record))
    for long in longs:
        if long.message >= len(messages):
            raise ValueError("a record has pieces of a message that it has not")
        messages[long.message] = _put_back(messages[long.message], long.field, _join(long, pieces))
    return _with(record, tuple(messages))


def _messages(record: Record) -> tuple[Message, ...]:
    """Return the messages in a record."""
    if isinstance(record, UnitPrepared):
        return tuple(one.message for one in record.kept)
    if isinstance(record, _BRINGING) and record.message is not None:
        return (record.message,)
    return ()


def _with(record: Record, messages: tuple[Message, ...]) -> Record:
    """Return a record with other messages."""
    if isinstance(record, UnitPrepared):
        kept = zip(record.kept, messages, strict=True)
        return replace(record, kept=tuple(replace(one, message=message) for one, message in kept))
    return replace(record, message=messages[0]) if isinstance(record, _BRINGING) else record


def _longs(number: int, message: Message) -> Iterator[Long]:
    values: tuple[tuple[Field, str | bytes | None], ...] = (("body", message.body), ("encoded", message.encoded))
    for field, value in values:
        if value is not None and _is_long(value):
            yield Long(number, field, isinstance(value, str), _count(value))


def _put_back(message: Message, field: Field, value: str | bytes | None) -> Message:
    return replace(message, body=value) if field == "body" else replace(message, encoded=value)


def _is_short(value: str | bytes | None) -> bool:
    """Whether a body is certainly short, as most are."""
    return value is None or len(value) <= _PIECE_CHARACTERS


def _is_long(value: str | bytes) -> bool:
    """Whether a body might need more than one piece."""
    return len(value) > (PIECE_BYTES if isinstance(value, bytes) or value.isascii() else _PIECE_CHARACTERS)


def _step(value: str | bytes) -> int:
    return _PIECE_CHARACTERS if isinstance(value, str) and not value.isascii() else PIECE_BYTES


def _count(value: str | bytes) -> int:
    return -(-len(value) // _step(value))


def _cut(value: str | bytes) -> Iterator[memoryview | bytes]:
    step = _step(value)
    if isinstance(value, str):
        for start in range(0, len(value), step):
            yield value[start : start + step].encode(errors=_ERRORS)
    else:
        view = memoryview(value)
        for start in range(0, len(value), step):
            yield view[start : start + step]


def _join(long: Long, pieces: Iterator[bytes]) -> str | bytes:
    """Join pieces.

    A text grows in place while nothing else refers to it, and a buffer gives its octets without a copy.
    """
    if long.text:
        text = ""
        for _ in range(long.pieces):
            text += _next(pieces).decode(errors=_ERRORS)
        return text
    octets = io.BytesIO()
    for _ in range(long.pieces):
        octets.write(_next(pieces))
    return octets.getvalue()


def _next(pieces: Iterator[bytes]) -> bytes:
    piece = next(pieces, None)
    if piece is None:
        raise ValueError("a piece is missing")
    return piece
