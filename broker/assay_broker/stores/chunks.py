"""Long bodies: they leave their records, and stand in pieces of their own, so that nothing holds them a second time.

A piece is cut from the body when it is written, and added to what is put together when it is read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.records import MessageStored, Record, RetainedSet
from assay_sdk.model.message import Message

PIECE_BYTES = 65_536
"""No piece is longer, and nothing that is longer stays in its record."""
_PIECE_CHARACTERS = PIECE_BYTES // 4
"""UTF-8 takes four octets for a character at most."""

Field = Literal["body", "encoded"]
_BURDENED = (MessageStored, RetainedSet)
"""The records that bring a message."""
_ERRORS = "surrogatepass"
"""What can be in a text can be in its pieces."""


class Long(Struct, frozen=True, array_like=True):
    """What has left a record.

    Args:
        field: Where it stood in the message.
        text: Whether it is a text.
        pieces: In how many pieces it stands.
    """

    field: Field
    text: bool
    pieces: int


class Light(Struct, frozen=True, eq=False):
    """A record without what is long in it.

    Args:
        record: The record.
        longs: What has left it, in the order of its pieces.
        message: Where that still stands.
    """

    record: Record
    longs: tuple[Long, ...]
    message: Message

    @property
    def size(self) -> int:
        """Octets or characters that have left the record."""
        return sum(len(getattr(self.message, long.field)) for long in self.longs)

    def pieces(self) -> Iterator[memoryview | bytes]:
        """What has left the record, piece by piece; each is made when it is asked for."""
        for long in self.longs:
            yield from _cut(getattr(self.message, long.field))


def lighten(record: Record) -> Light | None:
    """Take out of a record what is long.

    Args:
        record: The record; it stays as it is.

    Returns:
        The record without it; None when nothing is long.
    """
    if not isinstance(record, _BURDENED) or record.message is None:
        return None
    message = record.message
    if _is_short(message.body) and _is_short(message.encoded):
        return None
    values: tuple[tuple[Field, str | bytes | None], ...] = (("body", message.body), ("encoded", message.encoded))
    longs = tuple(
        Long(field, isinstance(value, str), _count(value))
        for field, value in values
        if value is not None and _is_long(value)
    )
    if not longs:
        return None
    rest = replace(message, **{long.field: None for long in longs})
    return Light(replace(record, message=rest), longs, message)


def complete(record: Record, longs: tuple[Long, ...], pieces: Iterator[bytes]) -> Record:
    """Put back into a record what had left it.

    Args:
        record: The record without it.
        longs: What had left.
        pieces: The pieces of all of it, in order.

    Raises:
        ValueError: The record has no place for it, or a piece is missing or no text.
    """
    if not isinstance(record, _BURDENED) or record.message is None:
        raise ValueError("a record without a message has pieces of one")
    values = {long.field: _join(long, pieces) for long in longs}
    return replace(record, message=replace(record.message, **values))


def _is_short(value: str | bytes | None) -> bool:
    """Whether it is short whatever it consists of, as most are."""
    return value is None or len(value) <= _PIECE_CHARACTERS


def _is_long(value: str | bytes) -> bool:
    """Whether it might need more room than a piece has."""
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
    """A text grows where it stands as long as nobody else has it, and a buffer hands out its octets uncopied."""
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
