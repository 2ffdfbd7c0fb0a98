"""The sections of an encoded message: their positions, and their simple values (OASIS AMQP 1.0, 3.2).

The reference broker uses this module for messages that it forwards.  The functions decode only the requested sections,
and skip other values by their encoded size.  They check that each list and map that they read has the length in its
size field.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct as Layout

from msgspec import Struct

from assay_sdk.amqp.types import MAX_DEPTH, DecodeError
from assay_sdk.amqp.values import (
    BINARIES,
    DESCRIBED,
    LISTS,
    LONG,
    MAPS,
    NULL,
    READERS,
    SHORT,
    STRING8,
    TIMESTAMP,
    WIDTHS,
    Simple,
    check,
    inside,
    simple,
    skip,
)

HEADER = 0x70
DELIVERY_ANNOTATIONS = 0x71
MESSAGE_ANNOTATIONS = 0x72
PROPERTIES = 0x73
APPLICATION_PROPERTIES = 0x74
DATA = 0x75
SEQUENCE = 0x76
VALUE = 0x77
FOOTER = 0x78

NAMES: Mapping[str, int] = {
    "amqp:header:list": HEADER,
    "amqp:delivery-annotations:map": DELIVERY_ANNOTATIONS,
    "amqp:message-annotations:map": MESSAGE_ANNOTATIONS,
    "amqp:properties:list": PROPERTIES,
    "amqp:application-properties:map": APPLICATION_PROPERTIES,
    "amqp:data:binary": DATA,
    "amqp:amqp-sequence:list": SEQUENCE,
    "amqp:amqp-value:*": VALUE,
    "amqp:footer:map": FOOTER,
}
"""Numeric code of each symbolic descriptor; peers usually send the numeric form."""

_FORMS: Mapping[int, frozenset[int]] = {
    HEADER: LISTS,
    DELIVERY_ANNOTATIONS: MAPS,
    MESSAGE_ANNOTATIONS: MAPS,
    PROPERTIES: LISTS,
    APPLICATION_PROPERTIES: MAPS,
    DATA: BINARIES,
    SEQUENCE: LISTS,
    VALUE: frozenset(range(256)),
    FOOTER: MAPS,
}
"""Format codes that the value of each section may have."""
_SMALL_ULONG = 0x53
_SIZE = Layout(">I").unpack_from
_REPEATED = frozenset((DATA, SEQUENCE))


class Span(Struct, frozen=True, gc=False):
    """The position of a section in an encoded message.

    Args:
        code: Code of the section.
        begin: Offset of the section's descriptor, in octets.
        value: Offset of the section's value.
        end: Offset of the next section.
    """

    code: int
    begin: int
    value: int
    end: int


def split(octets: bytes, max_depth: int = MAX_DEPTH) -> list[Span]:
    """Return the positions of a message's sections, without checking their contents.

    Args:
        octets: Encoded message.
        max_depth: The largest number of nested descriptors of a value.

    Raises:
        DecodeError: The sections are malformed or in the wrong order (AMQP 1.0, 3.2), or the body has two kinds of
            sections.
    """
    spans: list[Span] = []
    end, last, at = len(octets), 0, 0
    try:
        while at < end:
            begin = at
            # The usual form is read here: two calls would take 0.6 us of a message's 24 us (timeit, 2026-11-28).
            if octets[at] == DESCRIBED and octets[at + 1] == _SMALL_ULONG and octets[at + 2] in _FORMS:
                code, value = octets[at + 2], at + 3
            else:
                code, value = section_at(octets, at)
            if code <= last and (code != last or code not in _REPEATED):
                raise DecodeError(f"section 0x{code:02x} after section 0x{last:02x} (at octet {begin})")
            if DATA <= last < code < FOOTER:
                raise DecodeError(f"a body of two kinds (at octet {begin})")
            form = octets[value]
            if form not in _FORMS[code]:
                raise DecodeError(f"section 0x{code:02x} of format 0x{form:02x} (at octet {value})")
            width = WIDTHS[form]
            if width == SHORT:
                at = value + 2 + octets[value + 1]
            elif width == LONG and value + 5 <= end:
                at = value + 5 + _SIZE(octets, value + 1)[0]
            else:
                at = skip(octets, value, max_depth)
            spans.append(Span(code, begin, value, at))
            last = code
    except IndexError:
        raise DecodeError(f"a section is cut off at octet {end}") from None
    if at > end:
        raise DecodeError(f"{at - end} octets are missing at the end")
    return spans


def behind(octets: bytes, last: int) -> int:
    """Return the offset after the leading sections whose codes are at most `last`.

    Args:
        octets: A message that `split` has accepted.
        last: Largest code of a section to skip.
    """
    at, end = 0, len(octets)
    while at < end:
        if octets[at] == DESCRIBED and octets[at + 1] == _SMALL_ULONG:  # the fast path for a small code, as in `split`
            code, value = octets[at + 2], at + 3
        else:
            code, value = section_at(octets, at)
        if code > last:
            break
        at = value + 2 + octets[value + 1] if WIDTHS[octets[value]] == SHORT else skip(octets, value)
    return at


def section_at(octets: bytes, at: int) -> tuple[int, int]:
    """Return the code of the section at a position, and the offset of its value.

    Args:
        octets: Encoded message.
        at: Offset of the section's descriptor.

    Raises:
        DecodeError: The descriptor is missing, or does not belong to a section.
        IndexError: The octets end within the descriptor.
    """
    if octets[at] != DESCRIBED:
        raise DecodeError(f"a message section without a descriptor (at octet {at})")
    name, value = simple(octets, at + 1)
    code = NAMES.get(name) if isinstance(name, str) else name if isinstance(name, int) else None
    if code is None or code not in _FORMS:
        raise DecodeError(f"no message section has the descriptor at octet {at}")
    return code, value


def fields(octets: bytes, span: Span) -> list[Simple]:
    """Return the fields of a header or of properties, by position.

    Fields that the sender omitted at the end are missing from the list.

    Args:
        octets: Encoded message.
        span: Position of the section.

    Raises:
        DecodeError: A field is malformed or not a simple value, or the list does not have the length that its size
            field says.
    """
    at, count = inside(octets, span.value, span.end)
    values: list[Simple] = []
    add = values.append
    try:
        for _ in range(count):
            # The usual types are read here, without a function call.
            code = octets[at]
            if code == NULL:
                add(None)
                at += 1
            elif code == STRING8:
                begin = at + 2
                at = begin + octets[at + 1]
                add(octets[begin:at].decode())
            elif code == TIMESTAMP:
                add(int.from_bytes(octets[at + 1 : at + 9], signed=True))
                at += 9
            else:
                value, at = simple(octets, at)
                add(value)
    except IndexError:
        raise DecodeError(f"a field is cut off (in the section at octet {span.begin})") from None
    except UnicodeDecodeError as error:
        raise DecodeError(f"text that is no utf-8 (in the section at octet {span.begin})") from error
    if at != span.end:
        raise DecodeError(f"a list ends at octet {at}, and its size says {span.end}")
    return values


@lru_cache(1_024)
def _name(octets: bytes) -> str:
    """Decode a property's name; the result is cached, so that messages share one string for each name."""
    return octets.decode()


def entries(octets: bytes, span: Span) -> dict[str, Simple]:
    """Return the entries of application properties: simple values by name (AMQP 1.0, 3.2.5).

    Args:
        octets: Encoded message.
        span: Position of the section.

    Raises:
        DecodeError: A key is not a string or is repeated, a value is malformed or not simple, or the map does not have
            the length that its size field says.
    """
    at, count = inside(octets, span.value, span.end)
    if count % 2:
        raise DecodeError(f"a map with a key that has no value (at octet {span.value})")
    found: dict[str, Simple] = {}
    try:
        for _ in range(count // 2):
            key: Simple
            if octets[at] == STRING8:
                begin = at + 2
                at = begin + octets[at + 1]
                key = _name(octets[begin:at])
            else:
                key, at = simple(octets, at)
                if not isinstance(key, str):
                    raise DecodeError(f"a name that is no text (in the section at octet {span.begin})")
            if octets[at] == STRING8:
                begin = at + 2
                at = begin + octets[at + 1]
                found[key] = octets[begin:at].decode()
            else:
                found[key], at = simple(octets, at)
    except IndexError:
        raise DecodeError(f"an entry is cut off (in the section at octet {span.begin})") from None
    except UnicodeDecodeError as error:
        raise DecodeError(f"text that is no utf-8 (in the section at octet {span.begin})") from error
    if at != span.end:
        raise DecodeError(f"a map ends at octet {at}, and its size says {span.end}")
    if 2 * len(found) != count:
        raise DecodeError(f"a map with the same key twice (at octet {span.value})")
    return found


def simple_entries(octets: bytes, span: Span, max_depth: int) -> dict[Simple, Simple]:
    """Return the entries of annotations whose values are simple; check other entries, and omit them (AMQP 1.0, 3.2.10).

    Args:
        octets: Encoded message.
        span: Position of the section.
        max_depth: The largest nesting depth of a value.

    Raises:
        DecodeError: A value is malformed or nested too deep, a key is not simple or is repeated, or the map does not
            have the length that its size field says.
    """
    at, count = inside(octets, span.value, span.end)
    if count % 2:
        raise DecodeError(f"a map with a key that has no value (at octet {span.value})")
    found: dict[Simple, Simple] = {}
    keys: set[tuple[type, Simple]] = set()
    try:
        for _ in range(count // 2):
            key, at = simple(octets, at)
            keys.add((type(key), key))
            if octets[at] == NULL or octets[at] in READERS:
                found[key], at = simple(octets, at)
            else:
                at = check(octets, at, max_depth)
    except IndexError:
        raise DecodeError(f"an entry is cut off (in the section at octet {span.begin})") from None
    if at != span.end:
        raise DecodeError(f"a map ends at octet {at}, and its size says {span.end}")
    if 2 * len(keys) != count:
        raise DecodeError(f"a map with the same key twice (at octet {span.value})")
    return found
