"""Long message bodies: stored in pieces outside their records, so that no second copy of a body is in memory.

The store cuts off each piece just before it writes the piece, and joins the pieces one by one when it reads them.
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
"""The most octets of a piece, and of a body that is stored inside its record."""
_PIECE_CHARACTERS = PIECE_BYTES // 4
"""The most characters of a piece of text, because UTF-8 takes at most four octets for a character."""

Field = Literal["body", "encoded"]
_BRINGING = (MessageStored, RetainedSet)
"""The record types that contain one message."""
_ERRORS = "surrogatepass"
"""The error handler for encoding: allows lone surrogates, which a text may contain."""


class Long(Struct, frozen=True, array_like=True):
    """The description of a long body that is stored outside its record.

    Args:
        message: The index of the body's message among the record's messages, from 0.
        field: The message's field that held the body.
        text: Whether the body is a text, not octets.
        pieces: The number of pieces.
    """

    message: int
    field: Field
    text: bool
    pieces: int


class Shortened(Struct, frozen=True, eq=False):
    """A record without its long bodies.

    Args:
        record: The record, with None in place of each long body.
        longs: The descriptions of the long bodies, in the order of their pieces.
        messages: The record's original messages, with the long bodies.
    """

    record: Record
    longs: tuple[Long, ...]
    messages: tuple[Message, ...]

    @property
    def size(self) -> int:
        """The length of all long bodies together: octets of binary bodies and characters of texts."""
        return sum(len(self._value(long)) for long in self.longs)

    def pieces(self) -> Iterator[memoryview | bytes]:
        """Yield the pieces of all long bodies in order; each piece is created when it is needed."""
        for long in self.longs:
            yield from _cut(self._value(long))

    def _value(self, long: Long) -> str | bytes:
        message = self.messages[long.message]
        value = message.body if long.field == "body" else message.encoded
        if value is None:
            raise ValueError("a message has lost a long body that belongs to its record")
        return value


def shorten(record: Record) -> Shortened | None:
    """Separate a record from its long bodies.

    Args:
        record: The record, which is not changed.

    Returns:
        A copy of the record without its long bodies, and the bodies; None if the record has no long body.
    """
    if isinstance(record, MessageStored):  # a short cut for nearly all records
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
        record: The record without its long bodies.
        longs: The descriptions of the long bodies.
        pieces: The pieces of all long bodies, in order.

    Returns:
        The whole record.

    Raises:
        ValueError: A description names a message that the record does not have, a piece is missing, or the piece of a
            text is not UTF-8.
    """
    messages = list(_messages(record))
    for long in longs:
        if long.message >= len(messages):
            raise ValueError("a record has pieces of a message that it does not contain")
        messages[long.message] = _put_back(messages[long.message], long.field, _join(long, pieces))
    return _with(record, tuple(messages))


def _messages(record: Record) -> tuple[Message, ...]:
    """Return the messages that a record contains; empty for a record without messages."""
    if isinstance(record, UnitPrepared):
        return tuple(one.message for one in record.kept)
    if isinstance(record, _BRINGING) and record.message is not None:
        return (record.message,)
    return ()


def _with(record: Record, messages: tuple[Message, ...]) -> Record:
    """Return a copy of a record in which these messages replace the record's messages."""
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
    """Return whether a body is short in every encoding; the check is fast, because it does not look at the text."""
    return value is None or len(value) <= _PIECE_CHARACTERS


def _is_long(value: str | bytes) -> bool:
    """Return whether a body may need more than one piece."""
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
    """Join the pieces of one body, without holding the body twice in memory.

    CPython extends a text in place if only one variable refers to it, and `io.BytesIO` returns its octets without a
    copy.
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
