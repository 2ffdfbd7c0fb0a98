"""The write-ahead log, read from outside: whether it breaks off where a crash would break it off.

Every transaction is flushed before the next one is written.  So a crash leaves at most the log's last transaction in
pieces; where one is broken and another is complete after it, somebody has altered the log.  And a log is never shorter
than it was made; where it is, somebody has cut it.  SQLite alone would drop what follows a broken frame without a word.

Source: SQLite file format, 4 (The Write-Ahead Log).
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""The checksums' words are little-endian; the number after it says big-endian."""
_FORMAT = 3_007_000
_WORD = 0xFFFFFFFF


def fault(path: Path, recovered: int, page_bytes: int, log_bytes: int) -> str | None:
    """What is wrong with a log; None when nothing is.

    Args:
        path: The log.
        recovered: How many of its frames SQLite takes as committed.
        page_bytes: The size of a page.
        log_bytes: How long the log is at least.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < log_bytes:
            return f"it has been cut to {size} bytes"
        head = file.read(_HEADER.size)
        if not any(head):
            return None
        if not _is_header(head):
            return "its header has been altered"
        salts = _HEADER.unpack(head)[4:6]
        commits = 0
        stride = _FRAME.size + page_bytes
        for index in range(recovered, (size - _HEADER.size) // stride):
            frame = os.pread(file.fileno(), _FRAME.size, _HEADER.size + index * stride)
            _, pages, *rest = _FRAME.unpack(frame)
            if tuple(rest[:2]) == salts and pages:
                commits += 1
            if commits > 1:
                return f"its frame {recovered + 1} or one soon after has been altered, and later ones follow it"
    return None


def _is_header(head: bytes) -> bool:
    """Whether a header is what SQLite has written: it is far too short to be written in part."""
    magic, version, _, _, _, _, first, second = _HEADER.unpack(head)
    if magic not in {_MAGIC, _MAGIC + 1} or version != _FORMAT:
        return False
    words = struct.unpack(f"{'<' if magic == _MAGIC else '>'}6I", head[:24])
    one = two = 0
    for here, there in zip(words[::2], words[1::2], strict=True):
        one = (one + here + two) & _WORD
        two = (two + there + one) & _WORD
    return (one, two) == (first, second)
