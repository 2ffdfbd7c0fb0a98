"""The sections of an encoded message: where they lie, and what plainly stands in them (OASIS AMQP 1.0, 3.2).

For whoever passes messages on: nothing is decoded that nobody asks for, and what is compound and nobody's business is
stepped over by the size it says.  Every list and map that is read has to end exactly where it says it does.
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
"""Descriptors in their symbolic form; the numeric one is what everybody sends."""

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
"""What each section may be."""
_SMALL_ULONG = 0x53
_SIZE = Layout(">I").unpack_from
_REPEATED = frozenset((DATA, SEQUENCE))


class Span(Struct, frozen=True, gc=False):
    """Where a section lies.

    Args:
        code: Which section it is.
        begin: Where its descriptor begins.
        value: Where its value begins.
        end: Where the next section begins.
    """

    code: int
    begin: int
    value: int
    end: int


def split(octets: bytes, max_depth: int = MAX_DEPTH) -> list[Span]:
    """Where the sections of a message lie; what is in them is not looked at.

    Args:
        octets: The whole message.
        max_depth: How many descriptors one value may have, one behind the other.

    Raises:
        DecodeError: They are no sections, or not in their order (3.2), or the body is of two kinds.
    """
    spans: list[Span] = []
    end, last, at = len(octets), 0, 0
    try:
        while at < end:
            begin = at
            # What everybody sends, without a call: each message comes through here.
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
    """Where what is behind certain sections begins.

    Args:
        octets: A message that `split` has taken.
        last: The last of the sections that are passed over, if they are there.
    """
    at, end = 0, len(octets)
    while at < end:
        if octets[at] == DESCRIBED and octets[at + 1] == _SMALL_ULONG:  # as in `split`
            code, value = octets[at + 2], at + 3
        else:
            code, value = section_at(octets, at)
        if code > last:
            break
        at = value + 2 + octets[value + 1] if WIDTHS[octets[value]] == SHORT else skip(octets, value)
    return at


def section_at(octets: bytes, at: int) -> tuple[int, int]:
    """Which section begins here, and where its value begins.

    Raises:
        DecodeError: None does.
        IndexError: The octets end here.
    """
    if octets[at] != DESCRIBED:
        raise DecodeError(f"a message section without a descriptor (at octet {at})")
    name, value = simple(octets, at + 1)
    code = NAMES.get(name) if isinstance(name, str) else name if isinstance(name, int) else None
    if code is None or code not in _FORMS:
        raise DecodeError(f"no message section has the descriptor at octet {at}")
    return code, value


def fields(octets: bytes, span: Span) -> list[Simple]:
    """The fields of a header or of properties, by position; those left out at the end are missing.

    Raises:
        DecodeError: One is no simple value, or they end elsewhere than they say.
    """
    at, count = inside(octets, span.value, span.end)
    values: list[Simple] = []
    add = values.append
    try:
        for _ in range(count):
            # What nearly all fields are, without a call.
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
        raise DecodeError(f"a list ends at octet {at} and says {span.end}")
    return values


@lru_cache(1_024)
def _name(octets: bytes) -> str:
    """Names come again with each message: they are decoded once, and there once."""
    return octets.decode()


def entries(octets: bytes, span: Span) -> dict[str, Simple]:
    """The entries of application properties: texts to simple values (3.2.5).

    Raises:
        DecodeError: A key is no text, or comes twice, a value is no simple one, or they end elsewhere than they say.
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
        raise DecodeError(f"a map ends at octet {at} and says {span.end}")
    if 2 * len(found) != count:
        raise DecodeError(f"a map with the same key twice (at octet {span.value})")
    return found


def simple_entries(octets: bytes, span: Span, max_depth: int) -> dict[Simple, Simple]:
    """The entries of annotations whose values are simple; the others are checked and left out (3.2.10).

    Raises:
        DecodeError: A value is malformed or nested too deep, a key is no simple one or comes twice, or they end
            elsewhere than they say.
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
        raise DecodeError(f"a map ends at octet {at} and says {span.end}")
    if 2 * len(keys) != count:
        raise DecodeError(f"a map with the same key twice (at octet {span.value})")
    return found
