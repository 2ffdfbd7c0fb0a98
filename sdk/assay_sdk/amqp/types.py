"""Encoding and decoding of those AMQP 1.0 types that messages and SASL frames use (OASIS AMQP 1.0, part 1).

Each type has its own encoder, because one Python type may stand for several of AMQP's.  An encoder raises
`struct.error` for a number outside the type's range.  `decode` returns plain Python values; only symbols and described
values have classes of their own.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

MAX_DEPTH = 32
"""Largest nesting depth of values.  Messages need 3.  Qpid's decoders have similar limits.  Each level takes up to
three of the thousand stack frames that Python allows by default."""

_SMALL = 256
"""Sizes, counts and numbers below this limit have a form with one octet."""

_VOID = b"\x40"
_LIST0 = b"\x45"


class DecodeError(ValueError):
    """The error for octets that are not the expected AMQP value; the error's text names the fault."""


class Symbol(str):
    """A decoded AMQP symbol; AMQP distinguishes symbols from strings."""

    __slots__ = ()


class Described(Struct, frozen=True):
    """A decoded described value: a value with a descriptor."""

    descriptor: object
    value: object


def null() -> bytes:
    """Encode null."""
    return _VOID


def boolean(value: bool) -> bytes:
    """Encode a boolean."""
    return b"\x41" if value else b"\x42"


def ubyte(value: int) -> bytes:
    """Encode an integer from 0 to 255 as a ubyte."""
    return struct.pack(">BB", 0x50, value)


def byte(value: int) -> bytes:
    """Encode an integer from -128 to 127 as a byte."""
    return struct.pack(">Bb", 0x51, value)


def uint(value: int) -> bytes:
    """Encode an integer from 0 to 2^32 - 1 as a uint."""
    if value == 0:
        return b"\x43"
    return struct.pack(">BB", 0x52, value) if value < _SMALL else struct.pack(">BI", 0x70, value)


def ulong(value: int) -> bytes:
    """Encode an integer from 0 to 2^64 - 1 as a ulong."""
    if value == 0:
        return b"\x44"
    return struct.pack(">BB", 0x53, value) if value < _SMALL else struct.pack(">BQ", 0x80, value)


def integer(value: int) -> bytes:
    """Encode an integer from -2^31 to 2^31 - 1 as an int."""
    return struct.pack(">Bi", 0x71, value)


def long(value: int) -> bytes:
    """Encode an integer from -2^63 to 2^63 - 1 as a long."""
    return struct.pack(">Bq", 0x81, value)


def double(value: float) -> bytes:
    """Encode an IEEE 754 double."""
    return struct.pack(">Bd", 0x82, value)


def timestamp(value_ms: int) -> bytes:
    """Encode a time of day, in milliseconds since the epoch, as a timestamp."""
    return struct.pack(">Bq", 0x83, value_ms)


def _variable(short: int, wide: int, octets: bytes) -> bytes:
    size = len(octets)
    if size < _SMALL:
        return bytes((short, size)) + octets
    return struct.pack(">BI", wide, size) + octets


def binary(value: bytes) -> bytes:
    """Encode bytes as a binary value."""
    return _variable(0xA0, 0xB0, value)


def string(value: str) -> bytes:
    """Encode a string.

    Raises:
        UnicodeEncodeError: The string has an unpaired surrogate.
    """
    return _variable(0xA1, 0xB1, value.encode())


def symbol(value: str) -> bytes:
    """Encode a symbol.

    Raises:
        UnicodeEncodeError: The symbol is not ASCII.
    """
    return _variable(0xA3, 0xB3, value.encode("ascii"))


def compound(items: Iterable[bytes], *, of_map: bool = False) -> bytes:
    """Encode a list of encoded values, or a map of alternating encoded keys and values."""
    parts = tuple(items)
    if not parts and not of_map:
        return _LIST0
    octets = b"".join(parts)
    size, count = len(octets), len(parts)
    if size + 1 < _SMALL and count < _SMALL:
        return struct.pack(">BBB", 0xC1 if of_map else 0xC0, size + 1, count) + octets
    return struct.pack(">BII", 0xD1 if of_map else 0xD0, size + 4, count) + octets


def fields(items: Iterable[bytes]) -> bytes:
    """Encode a list without the nulls at its end, as composite types are encoded (AMQP 1.0, 1.4)."""
    parts = list(items)
    while parts and parts[-1] == _VOID:
        parts.pop()
    return compound(parts)


def mapping(items: Mapping[bytes, bytes]) -> bytes:
    """Encode a map of encoded keys and values."""
    return compound((part for pair in items.items() for part in pair), of_map=True)


def symbols(values: Iterable[str]) -> bytes:
    """Encode an array of symbols.

    Raises:
        UnicodeEncodeError: A symbol is not ASCII.
    """
    octets = [value.encode("ascii") for value in values]
    body = b"".join(struct.pack(">I", len(item)) + item for item in octets)
    return struct.pack(">BIIB", 0xF0, len(body) + 5, len(octets), 0xB3) + body


def described(descriptor: int, value: bytes) -> bytes:
    """Encode a described value with a numeric descriptor."""
    return b"\x00" + ulong(descriptor) + value


def _character(octets: bytes) -> str:
    try:
        return octets.decode("utf-32-be")
    except UnicodeDecodeError as error:
        raise DecodeError(f"a char that is no Unicode code point: {octets.hex()}") from error


_SMALL_ULONG = b"\x53"
_CONSTANTS: Mapping[int, object] = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0}
"""Value of each format code that has no further octets."""
_FIXED: Mapping[int, tuple[int, Callable[[bytes], object]]] = {
    0x50: (1, lambda o: o[0]),
    0x51: (1, lambda o: int.from_bytes(o, signed=True)),
    0x52: (1, lambda o: o[0]),
    0x53: (1, lambda o: o[0]),
    0x54: (1, lambda o: int.from_bytes(o, signed=True)),
    0x55: (1, lambda o: int.from_bytes(o, signed=True)),
    0x56: (1, lambda o: o != b"\0"),
    0x60: (2, int.from_bytes),
    0x61: (2, lambda o: int.from_bytes(o, signed=True)),
    0x70: (4, int.from_bytes),
    0x71: (4, lambda o: int.from_bytes(o, signed=True)),
    0x72: (4, lambda o: struct.unpack(">f", o)[0]),
    0x73: (4, _character),
    0x74: (4, bytes),
    0x80: (8, int.from_bytes),
    0x81: (8, lambda o: int.from_bytes(o, signed=True)),
    0x82: (8, lambda o: struct.unpack(">d", o)[0]),
    0x83: (8, lambda o: int.from_bytes(o, signed=True)),
    0x84: (8, bytes),
    0x94: (16, bytes),
    0x98: (16, lambda o: uuid.UUID(bytes=o)),
}
"""Width in octets and decoder of fixed-width values, by format code (AMQP 1.0, 1.6)."""


def _symbol(octets: bytes) -> Symbol:
    return Symbol(octets.decode("ascii"))


_string: Callable[[bytes], str] = bytes.decode
_BRIEF: Mapping[int, Callable[[bytes], object]] = {0xA0: bytes, 0xA1: _string, 0xA3: _symbol}
"""Decoder of short binary values, strings and symbols (up to 255 octets), by format code."""


class Reader:
    """A decoder of consecutive encoded values.

    Args:
        octets: Octets to read.
    """

    def __init__(self, octets: bytes) -> None:
        self._octets = bytes(octets)  # Proton sometimes returns a bytearray
        self._end = len(octets)
        self.at = 0
        """Offset of the next value, in octets."""

    @property
    def more(self) -> bool:
        """Whether octets are left."""
        return self.at < self._end

    def value(self, depth: int = 0) -> object:
        """Decode the next value.

        Args:
            depth: Nesting depth of the value.

        Raises:
            DecodeError: No octets are left, or the value is malformed or nested deeper than `MAX_DEPTH`.
        """
        at = self.at
        if at >= self._end:
            raise DecodeError("a value is missing at the end")
        code = self._octets[at]
        self.at = at + 1
        if code:
            return self._of(code, depth)
        if depth >= MAX_DEPTH:
            raise DecodeError(f"values nested deeper than {MAX_DEPTH}")
        descriptor = self._descriptor(depth)
        return Described(descriptor, self.value(depth + 1))

    def _descriptor(self, depth: int) -> object:
        """Decode a descriptor, which is a number or a symbol; other descriptors are reserved (AMQP 1.0, 1.3)."""
        at = self.at
        if self._octets.startswith(_SMALL_ULONG, at) and at + 1 < self._end:  # the usual case
            self.at = at + 2
            return self._octets[at + 1]
        descriptor = self.value(depth + 1)
        if isinstance(descriptor, bool) or not isinstance(descriptor, int | str):
            raise DecodeError(f"a descriptor that is neither a number nor a symbol (at octet {at})")
        return descriptor

    def _of(self, code: int, depth: int) -> object:  # noqa: PLR0911  one return for each type
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        fixed = _FIXED.get(code)
        if fixed is not None:
            width, read = fixed
            return read(self._take(width))
        wide = code & 0x10
        match code & 0xEF:
            case 0xA0:
                return self._take(self._number(wide))
            case 0xA1:
                return self._text(self._take(self._number(wide)), _string)
            case 0xA3:
                return self._text(self._take(self._number(wide)), _symbol)
            case 0xC0:
                return self._items(wide, depth)
            case 0xC1:
                return self._map(wide, depth)
            case 0xE0:
                return self._array(wide, depth)
            case _:
                if code == 0x45:  # noqa: PLR2004  list0, the one fixed-width compound
                    return []
                raise DecodeError(f"no AMQP type has the format code 0x{code:02x} (at octet {self.at - 1})")

    def _take(self, size: int) -> bytes:
        begin, end = self.at, self.at + size
        if end > self._end:
            raise DecodeError(f"{end - self._end} octets are missing at the end")
        self.at = end
        return self._octets[begin:end]

    def _number(self, wide: int) -> int:
        if wide or self.at >= self._end:
            return int.from_bytes(self._take(4 if wide else 1))
        self.at += 1
        return self._octets[self.at - 1]

    def _text(self, octets: bytes, read: Callable[[bytes], object]) -> object:
        try:
            return read(octets)
        except UnicodeDecodeError as error:
            raise DecodeError(f"text that is no {error.encoding} (before octet {self.at})") from error

    def _items(self, wide: int, depth: int) -> list[object]:
        if depth >= MAX_DEPTH:
            raise DecodeError(f"values nested deeper than {MAX_DEPTH}")
        size = self._number(wide)
        end = self.at + size
        if end > self._end:
            raise DecodeError(f"{end - self._end} octets are missing at the end")
        count = self._number(wide)
        if count > size:
            raise DecodeError(f"{count} values in {size} octets")
        octets = self._octets
        items: list[object] = []
        for _ in range(count):
            at = self.at
            code = octets[at] if at < end else 0
            if code in _CONSTANTS:  # first, because nearly half of the values in performatives are constants
                self.at = at + 1
                items.append(_CONSTANTS[code])
            elif code in _BRIEF and at + 1 < end and (behind := at + 2 + octets[at + 1]) <= end:  # short values
                self.at = behind
                items.append(self._text(octets[at + 2 : behind], _BRIEF[code]))
            else:
                items.append(self.value(depth + 1))
        if self.at != end:
            raise DecodeError(f"a list or map ends at octet {self.at}, and its size says {end}")
        return items

    def _map(self, wide: int, depth: int) -> dict[object, object]:
        items = self._items(wide, depth)
        if len(items) % 2:
            raise DecodeError("a map with a key that has no value")
        try:
            return dict(zip(items[::2], items[1::2], strict=True))
        except TypeError as error:
            raise DecodeError("a map with a list or map as its key") from error

    def _array(self, wide: int, depth: int) -> list[object]:
        if depth >= MAX_DEPTH:
            raise DecodeError(f"values nested deeper than {MAX_DEPTH}")
        size = self._number(wide)
        end = self.at + size
        if end > self._end:
            raise DecodeError(f"{end - self._end} octets are missing at the end")
        count = self._number(wide)
        if count > size:
            raise DecodeError(f"{count} values in {size} octets")
        code = self._take(1)[0]
        if code == 0:
            descriptor = self._descriptor(depth)
            code = self._take(1)[0]
            items: list[object] = [Described(descriptor, self._of(code, depth + 1)) for _ in range(count)]
        else:
            items = [self._of(code, depth + 1) for _ in range(count)]
        if self.at != end:
            raise DecodeError(f"an array ends at octet {self.at}, and its size says {end}")
        return items


def decode(octets: bytes) -> object:
    """Decode octets that are exactly one value.

    Raises:
        DecodeError: The octets are not exactly one value.
    """
    reader = Reader(octets)
    value = reader.value()
    if reader.more:
        raise DecodeError(f"{len(octets) - reader.at} octets too many")
    return value
