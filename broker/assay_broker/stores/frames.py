"""A check of SQLite's write-ahead log: distinguishes a crash from an alteration by another program.

SQLite silently drops everything after a broken frame, so the store checks the log itself.  The store flushes each
transaction before it writes the next, so a crash leaves at most the last transaction incomplete.  If a complete
transaction follows a broken frame, or the log is shorter than at its creation, another program has altered the log.

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
"""The first number of a log whose checksums have little-endian words; this number plus one means big-endian."""
_FORMAT = 3_007_000
_WORD = 0xFFFFFFFF


class Finding(Struct, frozen=True):
    """The result of a check of the log.

    Args:
        fault: A clause that describes the alteration; None if the log was not altered.
        broken: Whether a crash has left the last transaction incomplete.  The log must then be restarted before the
            next write, because SQLite could read the old frames as part of a new transaction.
    """

    fault: str | None = None
    broken: bool = False


def examine(path: Path, recovered: int, page_bytes: int, log_bytes: int) -> Finding:
    """Check a write-ahead log: whether it was altered, and whether a crash has left it incomplete.

    Args:
        path: The log's path.
        recovered: The number of frames that SQLite has recognised as committed.
        page_bytes: The size of a database page, in octets.
        log_bytes: The length of the log at its creation, in octets.
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
                    f"its frame {recovered + 1} or one soon after has been altered, and later transactions follow"
                )
    return Finding(broken=frames > 0)


def _is_header(head: bytes) -> bool:
    """Return whether SQLite wrote this header.

    A crash cannot leave a part of a header, because a disk writes so few octets as a whole.
    """
    magic, version, _, _, _, _, first, second = _HEADER.unpack(head)
    if magic not in {_MAGIC, _MAGIC + 1} or version != _FORMAT:
        return False
    words = struct.unpack(f"{'<' if magic == _MAGIC else '>'}6I", head[:24])
    one = two = 0
    for here, there in zip(words[::2], words[1::2], strict=True):
        one = (one + here + two) & _WORD
        two = (two + there + one) & _WORD
    return (one, two) == (first, second)
