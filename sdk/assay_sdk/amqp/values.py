"""Encoded values within octets: decoding a simple value, and skipping or checking any value.

`assay_sdk.amqp.types` decodes all values.  This module decodes only requested values, and skips compound values by
their encoded size.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Mapping

from assay_sdk.amqp.types import MAX_DEPTH, DecodeError

LIST0, LIST8, LIST32, MAP8, MAP32 = 0x45, 0xC0, 0xD0, 0xC1, 0xD1
LISTS = frozenset((LIST0, LIST8, LIST32))
MAPS = frozenset((MAP8, MAP32))
_BINARY8, _BINARY32, STRING8, _STRING32, _SYMBOL8, _SYMBOL32 = 0xA0, 0xB0, 0xA1, 0xB1, 0xA3, 0xB3
BINARIES = frozenset((_BINARY8, _BINARY32))
STRINGS = frozenset((STRING8, _STRING32))
NULL, DESCRIBED, TIMESTAMP = 0x40, 0x00, 0x83
PLAIN_VALUES = STRINGS | BINARIES | {NULL}

SHORT, LONG, _PAIR, _NONE = -1, -2, -3, -4
_CODES: Mapping[int, tuple[int, ...]] = {
    0: (0x40, 0x41, 0x42, 0x43, 0x44, 0x45),
    1: (0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56),
    2: (0x60, 0x61),
    4: (0x70, 0x71, 0x72, 0x73, 0x74),
    8: (0x80, 0x81, 0x82, 0x83, 0x84),
    16: (0x94, 0x98),
    SHORT: (0xA0, 0xA1, 0xA3, 0xC0, 0xC1, 0xE0),
    LONG: (0xB0, 0xB1, 0xB3, 0xD0, 0xD1, 0xF0),
    _PAIR: (DESCRIBED,),
}
"""Format codes (AMQP 1.0, 1.6) by the octets that follow them: a fixed number of octets (the key); a size of one octet
(SHORT) or four octets (LONG), and a value of this size; or a descriptor and a value (_PAIR)."""
WIDTHS = [next((width for width, codes in _CODES.items() if code in codes), _NONE) for code in range(256)]

Simple = str | int | float | bool | bytes | uuid.UUID | None
"""Python types of the simple AMQP types: symbols and chars are str, timestamps are int, decimals are their octets."""


def skip(octets: bytes, at: int, max_depth: int = MAX_DEPTH) -> int:
    """Return the offset after a value; if the value's content is cut off, the offset is beyond the end of the octets.

    Args:
        octets: Octets with the value.
        at: Offset of the value.
        max_depth: The largest number of nested descriptors.

    Raises:
        DecodeError: The format code is unknown, or too many descriptors are nested.
        IndexError: The octets end before the value's format code, or before the end of its size.
    """
    pending, depth = 1, 0
    while pending:
        width = WIDTHS[octets[at]]
        at += 1
        pending -= 1
        if width >= 0:
            at += width
        elif width == SHORT:
            at += 1 + octets[at]
        elif width == LONG:
            at += 4 + _long(octets, at)
        elif width == _PAIR:
            pending += 2
            depth += 1
            if depth > max_depth:
                raise DecodeError(f"values nested deeper than {max_depth} (at octet {at})")
        else:
            raise DecodeError(f"no AMQP type has the format code 0x{octets[at - 1]:02x} (at octet {at - 1})")
    return at


def _long(octets: bytes, at: int) -> int:
    if at + 4 > len(octets):
        raise IndexError
    return int.from_bytes(octets[at : at + 4])


def _character(octets: bytes) -> str:
    return octets.decode("utf-32-be")


READERS: Mapping[int, Callable[[bytes], Simple]] = {
    0x41: lambda _: True,
    0x42: lambda _: False,
    0x43: lambda _: 0,
    0x44: lambda _: 0,
    0x50: int.from_bytes,
    0x51: lambda o: int.from_bytes(o, signed=True),
    0x52: int.from_bytes,
    0x53: int.from_bytes,
    0x54: lambda o: int.from_bytes(o, signed=True),
    0x55: lambda o: int.from_bytes(o, signed=True),
    0x56: lambda o: o != b"\0",
    0x60: int.from_bytes,
    0x61: lambda o: int.from_bytes(o, signed=True),
    0x70: int.from_bytes,
    0x71: lambda o: int.from_bytes(o, signed=True),
    0x72: lambda o: struct.unpack(">f", o)[0],
    0x73: _character,
    0x74: bytes,
    0x80: int.from_bytes,
    0x81: lambda o: int.from_bytes(o, signed=True),
    0x82: lambda o: struct.unpack(">d", o)[0],
    0x83: lambda o: int.from_bytes(o, signed=True),
    0x84: bytes,
    0x94: bytes,
    0x98: lambda o: uuid.UUID(bytes=o),
    _BINARY8: bytes,
    STRING8: bytes.decode,
    _SYMBOL8: lambda o: o.decode("ascii"),
    _BINARY32: bytes,
    _STRING32: bytes.decode,
    _SYMBOL32: lambda o: o.decode("ascii"),
}
"""Decoder of each simple type, by format code."""


def simple(octets: bytes, at: int) -> tuple[Simple, int]:
    """Decode a simple value, and return it with the offset after it.

    Args:
        octets: Octets with the value.
        at: Offset of the value.

    Raises:
        DecodeError: The value is not simple, or is malformed.
        IndexError: The octets end within the value.
    """
    code = octets[at]
    if code == NULL:
        return None, at + 1
    read = READERS.get(code)
    if read is None:
        raise DecodeError(f"format code 0x{code:02x} in place of a simple value (at octet {at})")
    width = WIDTHS[code]
    begin = at + 1
    if width == SHORT:
        begin, width = at + 2, octets[at + 1]
    elif width == LONG:
        begin, width = at + 5, _long(octets, at + 1)
    end = begin + width
    if end > len(octets):
        raise IndexError
    try:
        return read(octets[begin:end]), end
    except UnicodeDecodeError as error:
        raise DecodeError(f"text that is no utf-8 (at octet {at})") from error


def inside(octets: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the offset of the first value in a list or map, and the number of its values.

    Args:
        octets: Octets with the list or map.
        at: Offset of the list or map.
        end: Offset after the list or map.

    Raises:
        DecodeError: The count is missing, or larger than the number of octets.
    """
    form = octets[at]
    if form == LIST0:
        return end, 0
    wide = form in (LIST32, MAP32)
    begin = at + (9 if wide else 3)
    if begin > end:
        raise DecodeError(f"a list or map without a count (at octet {at})")
    count = int.from_bytes(octets[begin - 4 : begin]) if wide else octets[begin - 1]
    if count > end - begin:
        raise DecodeError(f"{count} values in {end - begin} octets (at octet {at})")
    return begin, count


def check(octets: bytes, at: int, max_depth: int) -> int:
    """Check the sizes of a value and of all values in its lists and maps, and return the offset after the value.

    Args:
        octets: Octets with the value.
        at: Offset of the value.
        max_depth: The largest nesting depth of the value.

    Raises:
        DecodeError: A format code or a size is wrong, or the value is nested too deep.
        IndexError: The octets end within the value.
    """
    if max_depth < 0:
        raise DecodeError(f"values nested too deep (at octet {at})")
    code = octets[at]
    if code == DESCRIBED:
        return check(octets, check(octets, at + 1, max_depth - 1), max_depth - 1)
    end = skip(octets, at, 0)
    if end > len(octets):
        raise IndexError
    if code in (LIST8, LIST32, MAP8, MAP32):
        at, count = inside(octets, at, end)
        for _ in range(count):
            at = check(octets, at, max_depth - 1)
        if at != end:
            raise DecodeError(f"a list or map ends at octet {at}, and its size says {end}")
    return end
