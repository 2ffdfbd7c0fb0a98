"""Changes of frames: of values, headers, bytes and order."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise

from tests.broker.amqp.fuzzing.frames import Frame
from tests.broker.amqp.fuzzing.trees import Node, parse

from assay_sdk.amqp import types


def nested(depth: int, kind: int) -> bytes:
    """Return a value with `depth` levels of nested values."""
    if kind == 0:
        return b"\x00\x53\x24" * depth + b"\x45"
    if kind == 1:
        return b"\x00" * depth + b"\x40" * (depth + 1)
    value = b"\x40"
    for _ in range(depth):
        value = types.compound((value,)) if kind == 2 else types.compound((types.symbol("k"), value), of_map=True)
    return value


INTERESTING = (
    types.null(),
    types.boolean(value=True),
    b"\x56\x01",
    b"\x56\x07",
    types.ubyte(0),
    types.ubyte(255),
    types.byte(-128),
    b"\x60\xff\xff",
    b"\x61\x80\x00",
    types.uint(0),
    types.uint(1),
    types.uint(255),
    types.uint(2**31 - 1),
    types.uint(2**31),
    types.uint(2**32 - 1),
    types.ulong(0),
    types.ulong(2**63),
    types.ulong(2**64 - 1),
    types.integer(-1),
    types.long(-(2**63)),
    b"\x54\xff",
    b"\x55\xff",
    b"\x72\x7f\xc0\x00\x00",
    types.double(float("nan")),
    types.double(1e300),
    b"\x73\x00\x00\x00a",
    b"\x73\x00\x11\x00\x00",
    b"\x73\x00\x00\xd8\x00",
    b"\x74" + b"\xff" * 4,
    b"\x84" + b"\xff" * 8,
    b"\x94" + b"\xff" * 16,
    b"\x98" + b"\x01" * 16,
    types.timestamp(-1),
    types.timestamp(2**63 - 1),
    types.binary(b""),
    types.binary(b"\0" * 8),
    types.binary(b"\xff" * 300),
    types.string(""),
    types.string("\0"),
    types.string("a\0b"),
    types.string("\N{GRINNING FACE}"),
    types.string("n" * 300),
    b"\xa1\x02\xff\xfe",
    b"\xa3\x02\xc3\xa4",
    types.symbol("amqp:accepted:list"),
    types.symbol("s" * 256),
    types.string("x" * 70_000),
    types.symbols(()),
    types.symbols(("a", "b")),
    b"\xe0\x03\x02\x40\x00"[:4],
    b"\xe0\x02\xff\x45",
    b"\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40",
    b"\xf0\x00\x00\x00\x06\x00\x00\x00\x01\x00\x40",
    b"\x45",
    types.mapping({}),
    types.compound((types.null(),) * 40),
    types.compound((types.uint(7),) * 3),
    types.described(0x24, b"\x45"),
    types.described(0x28, b"\x45"),
    types.described(0x30, b"\x45"),
    types.described(0x34, b"\x45"),
    types.described(0x1D, b"\x45"),
    types.described(2**64 - 1, b"\x45"),
    b"\x00\xa3\x13amqp:accepted:list!\x45",
    b"\x00\x40\x40",
    b"\x00\x00\x53\x01\x40\x40",
    nested(5, 0),
    nested(31, 2),
    nested(40, 0),
    nested(40, 1),
    nested(40, 2),
    nested(40, 3),
    nested(3_000, 0),
    nested(10_000, 1),
    nested(3_000, 2),
)
"""Values at the edges of their types, of a wrong type, deeply nested, long, and malformed."""


class Mutator:
    """A changer of frames.

    Args:
        chance: The source of randomness.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._share = chance.choice((0.0, 0.1, 0.3, 0.8))
        """The share of frames that are changed: a low share also reaches the code after the parser."""

    def stream(self, frames: Sequence[Frame]) -> bytes:
        """Return frames as bytes, some of them changed."""
        parts = [self._frame(frame) for frame in frames]
        chance = self._chance
        if len(parts) > 1 and chance.random() < 0.1:
            chance.shuffle(parts)
        if parts and chance.random() < 0.1:
            parts.insert(chance.randrange(len(parts) + 1), chance.choice(parts))
        octets = b"".join(parts)
        if chance.random() < 0.06:
            octets = self._spoiled(octets)
        return octets

    def pieces(self, octets: bytes) -> list[bytes]:
        """Return the pieces in which bytes are written: one piece, or several."""
        if self._chance.random() < 0.7 or len(octets) < 2:
            return [octets]
        cuts = sorted(self._chance.randrange(len(octets)) for _ in range(self._chance.choice((1, 2, 5))))
        return [octets[a:b] for a, b in pairwise((0, *cuts, len(octets)))]

    def _frame(self, frame: Frame) -> bytes:
        chance = self._chance
        performative, payload, channel = frame.performative, frame.payload, frame.channel
        what = chance.random() if chance.random() < self._share else 1.0
        if what < 0.7:
            tree = parse(performative)
            for _ in range(chance.choice((1, 1, 1, 2, 4))):
                self._change(tree)
            performative = tree.encode()
        elif what < 0.9 and payload:
            payload = self._payload(payload)
        elif what < 0.95:
            performative = self._spoiled(performative)
        offset, kind = 2, 0
        size = 8 + len(performative) + len(payload)
        if what < 1 and chance.random() < 0.05:
            size = max(0, size + chance.choice((-9, -1, 1, 4, 1_000)))
        if what < 1 and chance.random() < 0.03:
            offset = chance.choice((0, 1, 3, 255))
        if what < 1 and chance.random() < 0.02:
            kind = chance.choice((1, 2, 255))
        return struct.pack(">IBBH", size, offset, kind, channel) + performative + payload

    def _payload(self, payload: bytes) -> bytes:
        """Return changed sections of a message."""
        at, sections = 0, []
        while at < len(payload):
            tree = parse(payload[at:])
            octets = tree.encode()
            sections.append(tree)
            at += len(octets)
        self._change(self._chance.choice(sections))
        if self._chance.random() < 0.1:
            self._chance.shuffle(sections)
        return b"".join(section.encode() for section in sections)

    def _change(self, tree: Node) -> None:
        """Make one change at a random place of a tree."""
        chance = self._chance
        node = chance.choice(list(tree.every()))
        kinds: tuple[Callable[[Node], None], ...] = (
            self._replace,
            self._replace,
            self._replace,
            self._remove,
            self._double,
            self._insert,
            self._lie,
            self._fill,
        )
        chance.choice(kinds)(node)

    def _replace(self, node: Node) -> None:
        node.octets = self._chance.choice(INTERESTING)
        node.parts = []

    def _remove(self, node: Node) -> None:
        if node.parts:
            del node.parts[self._chance.randrange(len(node.parts))]

    def _double(self, node: Node) -> None:
        if node.parts:
            node.parts.insert(self._chance.randrange(len(node.parts)), self._chance.choice(node.parts))

    def _insert(self, node: Node) -> None:
        if node.parts:
            node.parts.insert(
                self._chance.randrange(len(node.parts) + 1), Node(octets=self._chance.choice(INTERESTING))
            )

    def _lie(self, node: Node) -> None:
        if self._chance.random() < 0.5:
            node.lie_size = self._chance.choice((-5, -1, 1, 2, 100, 2**31))
        else:
            node.lie_count = self._chance.choice((-1, 1, 2, 100, 2**31))

    def _fill(self, node: Node) -> None:
        """Replace a plain value by other bytes of the same length."""
        if node.octets:
            code, rest = node.octets[:1], node.octets[1:]
            node.octets = code + self._chance.choice(
                (bytes(len(rest)), b"\xff" * len(rest), self._chance.randbytes(len(rest)))
            )

    def _spoiled(self, octets: bytes) -> bytes:
        """Flip, remove or insert bytes, or cut off the end."""
        chance, data = self._chance, bytearray(octets)
        for _ in range(chance.choice((1, 1, 2, 8))):
            if not data:
                break
            at = chance.randrange(len(data))
            match chance.randrange(5):
                case 0:
                    data[at] ^= 1 << chance.randrange(8)
                case 1:
                    data[at] = chance.choice((0, 0x40, 0x45, 0x53, 0xC0, 0xD0, 0xFF, chance.randrange(256)))
                case 2:
                    del data[at : at + chance.choice((1, 4, 16))]
                case 3:
                    data[at:at] = chance.randbytes(chance.choice((1, 4, 16)))
                case _:
                    del data[at:]
        return bytes(data)
