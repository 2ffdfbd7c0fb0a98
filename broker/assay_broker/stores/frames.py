"""Check SQLite's write-ahead log: it may end only where a crash would end it.

Every transaction is flushed before the next is written, so a crash leaves at most the last transaction incomplete. A
broken frame with a complete transaction after it was altered, and a log shorter than it was created was cut. SQLite
alone would silently drop everything after a broken frame.

Source: SQLite file format, 4 (The Write-Ahead Log).
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from msgspec import Struct

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""The checksums' words are little-endian; this number plus one says big-endian."""
_FORMAT = 3_007_000
_WORD = 0xFFFFFFFF


class Finding(Struct, frozen=True):
    """The result of a check.

    Args:
        fault: What is wrong with the log; None for nothing.
        broken: Whether a crash has left its last transaction incomplete.  Its frames would count as following new ones,
            so the log must be restarted before the next write.
    """

    fault: str | None = None
    broken: bool = False


def examine(path: Path, recovered: int, page_bytes: int, log_bytes: int) -> Finding:
    """Check a log.

    Args:
        path: The log.
        recovered: How many of its frames SQLite takes as committed.
        page_bytes: The size of a page.
        log_bytes: How long the log is at least.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < log_bytes:
            return Finding(f"it has been cut to {size} bytes")
        head = file.read(_HEADER.size)
        if not any(head):
            return Finding()
        if not _is_header(head):
            return Finding("its header has been altered")
        salts = _HEADER.unpack(head)[4:6]
        frames = commits = 0
        stride = _FRAME.size + page_bytes
        for index in range(recovered, (size - _HEADER.size) // stride):
            frame = os.pread(file.fileno(), _FRAME.size, _HEADER.size + index * stride)
            _, pages, *rest = _FRAME.unpack(frame)
            if tuple(rest[:2]) == salts:
                frames += 1
                commits += pages > 0
            if commits > 1:
                return Finding(
                    f"its frame {recovered + 1} or one soon after has been altered, and later ones follow it"
                )
    return Finding(broken=frames > 0)


def _is_header(head: bytes) -> bool:
    """Whether a header is one that SQLite has written; it is too short to be written in part."""
    magic, version, _, _, _, _, first, second = _HEADER.unpack(head)
    if magic not in {_MAGIC, _MAGIC + 1} or version != _FORMAT:
        return False
    words = struct.unpack(f"{'<' if magic == _MAGIC else '>'}6I", head[:24])
    one = two = 0
    for here, there in zip(words[::2], words[1::2], strict=True):
        one = (one + here + two) & _WORD
        two = (two + there + one) & _WORD
    return (one, two) == (first, second)
