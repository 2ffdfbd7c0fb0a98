"""Changes of single values in an encoded message.  Other values keep their octets, and so their types.

A broker uses these functions for messages that it otherwise forwards unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from assay_sdk.amqp import types
from assay_sdk.amqp.sections import Span, split
from assay_sdk.amqp.types import DecodeError
from assay_sdk.amqp.values import Simple, inside, simple, skip

_Entry = tuple[Simple, bytes, bytes]
"""A key, and the encoded key and value."""


def with_entries(
    octets: bytes, code: int, added: Mapping[str, bytes], dropped: Collection[str], *, name: Callable[[str], bytes]
) -> bytes:
    """Return a message with entries added to, and removed from, its annotations or application properties.

    Args:
        octets: Encoded message.
        code: Code of the section.
        added: Encoded values by name; they replace entries with these names.
        dropped: Names of entries to remove.
        name: Encodes a name, as a symbol or as a string.

    Raises:
        DecodeError: The message is malformed.
    """
    entries = [(key, name(key), value) for key, value in added.items()]
    return _with(octets, code, entries, {*added, *dropped})


def with_map(octets: bytes, code: int, added: bytes) -> bytes:
    """Return a message with a map's entries added to its annotations or application properties.

    The added entries replace entries with equal keys.

    Args:
        octets: Encoded message.
        code: Code of the section.
        added: Encoded map.

    Raises:
        DecodeError: The message or the map is malformed.
    """
    entries = {entry[0]: entry for entry in _entries(added, Span(code, 0, 0, len(added)))}
    return _with(octets, code, entries.values(), entries)


def _with(octets: bytes, code: int, added: Iterable[_Entry], dropped: Collection[Simple]) -> bytes:
    at, span = _find(octets, code)
    kept = [] if span is None else [entry for entry in _entries(octets, span) if entry[0] not in dropped]
    pieces = [piece for _, *pair in (*kept, *added) for piece in pair]
    section = types.described(code, types.compound(pieces, of_map=True)) if pieces else b""
    return b"".join((octets[:at], section, memoryview(octets)[at if span is None else span.end :]))


def parts(octets: bytes, at: int = 0) -> list[bytes]:
    """Return the encoded items of an encoded list.

    Args:
        octets: Octets with the list at their end.
        at: Position of the list.

    Raises:
        DecodeError: The list is malformed.
    """
    return _fields(octets, Span(0, at, at, len(octets)))


def with_fields(octets: bytes, code: int, changed: Mapping[int, bytes]) -> bytes:
    """Return a message with changed fields in its header or properties.

    Args:
        octets: Encoded message.
        code: Code of the section.
        changed: New encoded values by position.

    Raises:
        DecodeError: The message is malformed.
    """
    at, span = _find(octets, code)
    kept = [] if span is None else _fields(octets, span)
    kept += [types.null()] * (max(changed, default=-1) + 1 - len(kept))
    for position, value in changed.items():
        kept[position] = value
    section = types.described(code, types.fields(kept))
    return b"".join((octets[:at], section, memoryview(octets)[at if span is None else span.end :]))


def _find(octets: bytes, code: int) -> tuple[int, Span | None]:
    """Return the offset and the span of a section.

    For a missing section, return the offset at which it belongs, and None.
    """
    for span in split(octets):
        if span.code >= code:
            return span.begin, span if span.code == code else None
    return len(octets), None


def _entries(octets: bytes, span: Span) -> list[_Entry]:
    at, count = inside(octets, span.value, span.end)
    found: list[_Entry] = []
    try:
        for _ in range(count // 2):
            key, middle = simple(octets, at)
            end = skip(octets, middle)
            found.append((key, octets[at:middle], octets[middle:end]))
            at = end
    except IndexError:
        raise DecodeError(f"an entry is cut off (in the section at octet {span.begin})") from None
    _check_end(at, span)
    return found


def _fields(octets: bytes, span: Span) -> list[bytes]:
    at, count = inside(octets, span.value, span.end)
    found: list[bytes] = []
    try:
        for _ in range(count):
            end = skip(octets, at)
            found.append(octets[at:end])
            at = end
    except IndexError:
        raise DecodeError(f"a field is cut off (in the section at octet {span.begin})") from None
    _check_end(at, span)
    return found


def _check_end(at: int, span: Span) -> None:
    if at != span.end:
        raise DecodeError(f"a list or map ends at octet {at}, and its size says {span.end}")
