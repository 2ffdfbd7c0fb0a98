"""Encoded AMQP values as trees that the fuzzing can change, into values that no encoder writes."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay_sdk.amqp.values import skip

_DESCRIBED = 0x00
_SMALL = 256
"""The lowest size or count that needs the encoding with four octets."""
_WIDE = {0xC0: False, 0xC1: False, 0xD0: True, 0xD1: True}


class Node(Struct):
    """A value in a tree.

    Args:
        octets: The encoded bytes of a plain value; empty for a value with parts.
        code: The format code of a list or map; 0 for a described value.
        parts: The descriptor and the value, or the items.
        lie_size: The difference between the written and the true size.
        lie_count: The difference between the written and the true number of items.
    """

    octets: bytes = b""
    code: int = _DESCRIBED
    parts: list[Node] = []
    lie_size: int = 0
    lie_count: int = 0

    def encode(self) -> bytes:
        """Return the value as bytes."""
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
        """Return the value and all values in it."""
        yield self
        for part in self.parts:
            yield from part.every()


def parse(octets: bytes) -> Node:
    """Return the tree of a well-formed value."""
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
