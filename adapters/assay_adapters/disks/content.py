"""The content that a file has after a loss of power: its former octets and its former size."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

BLOCK = 4096
"""The number of octets of a block; the content stores the former octets of each changed block once."""


class Piece(Struct, frozen=True):
    """Octets of a file, with their offset."""

    at: int
    octets: bytes


class Content:
    """The content that a file has after a loss of power, if the removals and truncations until now are durable.

    It is the file's present content, except for the blocks that unflushed writes have changed, and for its size. It
    takes as much memory as the changed blocks of the file, at most as much as the file had octets at its last flush.

    Args:
        descriptor: A descriptor of the file, open for reading and writing; the content makes a copy of it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)
        self.size = os.fstat(descriptor).st_size
        """The size after a loss of power, in octets."""
        self._is_open = True
        self._blocks: dict[int, bytes] = {}
        """The former octets of changed blocks, by the block's number; octets that are missing at the end are zeros."""

    def close(self) -> None:
        """End the record of a file that has been flushed or deleted; `restore` and `lengthen` then change nothing."""
        os.close(self._descriptor)
        self._is_open = False

    def keep(self, start: int, end: int) -> None:
        """Store the present octets of the blocks that a write is about to change for the first time.

        Args:
            start: The offset of the write's first octet.
            end: The offset after the write's last octet.
        """
        new = [block for block in range(start // BLOCK, -(-end // BLOCK)) if block not in self._blocks]
        if not new:
            return
        first = new[0] * BLOCK
        octets = self._read(first, min((new[-1] + 1) * BLOCK, self.size))
        for block in new:
            offset = block * BLOCK - first
            self._blocks[block] = octets[offset : offset + BLOCK]

    def resize(self, size: int) -> None:
        """Note a durable change of the size; octets after the former size are zeros.

        Args:
            size: The new size, in octets.
        """
        self._blocks = {
            block: octets[: size - block * BLOCK] for block, octets in self._blocks.items() if block * BLOCK < size
        }
        self.size = size

    def tail(self, size: int) -> tuple[Piece, ...]:
        """Return the octets that a truncation takes away, without blocks of zeros.

        Args:
            size: The size after the truncation, in octets.
        """
        return tuple(piece for piece in self._pieces(size) if piece.octets.count(0) < len(piece.octets))

    def restore(self) -> None:
        """Give the file this content."""
        if not self._is_open:
            return
        os.ftruncate(self._descriptor, self.size)
        for block, octets in self._blocks.items():
            at = block * BLOCK
            write_all(self._descriptor, octets.ljust(min(BLOCK, self.size - at), b"\0"), at)
        self._blocks.clear()

    def lengthen(self, size: int, tail: tuple[Piece, ...]) -> None:
        """Undo a truncation or an extension of the file, which must have this content.

        Args:
            size: The size before the truncation, in octets.
            tail: The octets that the truncation took away.
        """
        if not self._is_open:
            return
        os.ftruncate(self._descriptor, size)
        for piece in tail:
            write_all(self._descriptor, piece.octets, piece.at)
        self.size = size

    def _pieces(self, start: int) -> Iterator[Piece]:
        """Yield the content from an offset on, in blocks."""
        at = start
        while at < self.size:
            block = at // BLOCK
            end = min((block + 1) * BLOCK, self.size)
            former = self._blocks.get(block)
            yield Piece(at, self._read(at, end) if former is None else former[at - block * BLOCK :])
            at = end

    def _read(self, start: int, end: int) -> bytes:
        return os.pread(self._descriptor, end - start, start) if end > start else b""


def write_all(descriptor: int, octets: bytes, at: int) -> None:
    """Write all octets; `os.pwrite` may write fewer.

    Args:
        descriptor: The file's descriptor.
        octets: The octets.
        at: The offset of the first octet.
    """
    while octets:
        written = os.pwrite(descriptor, octets, at)
        octets, at = octets[written:], at + written
