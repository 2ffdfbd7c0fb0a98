"""Encoded AMQP values as trees that can be changed: what comes out again may be wrong in ways no encoder writes."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay_sdk.amqp.values import skip

_DESCRIBED = 0x00
_SMALL = 256
"""Sizes and counts below this have one-octet forms."""
_WIDE = {0xC0: False, 0xC1: False, 0xD0: True, 0xD1: True}


class Node(Struct):
    """One value.

    Args:
        octets: A plain value as it is encoded; empty for those with parts.
        code: The format code of a list or map; 0 for a described value.
        parts: What is in it: a descriptor and a value, or items.
        lie_size: What is added to the size that it says.
        lie_count: What is added to the number of items that it says.
    """

    octets: bytes = b""
    code: int = _DESCRIBED
    parts: list[Node] = []
    lie_size: int = 0
    lie_count: int = 0

    def encode(self) -> bytes:
        """The value as octets."""
        if self.octets:
            return self.octets
        inner = b"".join(part.encode() for part in self.parts)
        if self.code == _DESCRIBED:
            return b"\0" + inner
        wide = _WIDE[self.code] or len(inner) + 1 >= _SMALL or len(self.parts) >= _SMALL
        width = 4 if wide else 1
        end = 1 << (8 * width)
        size, count = (len(inner) + width + self.lie_size) % end, (len(self.parts) + self.lie_count) % end
        return bytes((self.code | (0x10 if width > 1 else 0),)) + size.to_bytes(width) + count.to_bytes(width) + inner

    def every(self) -> Iterator[Node]:
        """It, and all in it."""
        yield self
        for part in self.parts:
            yield from part.every()


def parse(octets: bytes) -> Node:
    """The tree of one well-formed value."""
    node, _ = _parse(octets, 0)
    return node


def _parse(octets: bytes, at: int) -> tuple[Node, int]:
    code = octets[at]
    if code == _DESCRIBED:
        descriptor, at = _parse(octets, at + 1)
        value, at = _parse(octets, at)
        return Node(parts=[descriptor, value]), at
    end = skip(octets, at)
    if code not in _WIDE:
        return Node(octets=octets[at:end]), end
    width = 4 if _WIDE[code] else 1
    node = Node(code=code, parts=[])
    at += 1 + 2 * width
    while at < end:
        part, at = _parse(octets, at)
        node.parts.append(part)
    return node, end
