"""The search for octets in a folder's files, including unused space and across page boundaries.

SQLite cuts a long record into parts (SQLite file format, 1.6 and 1.7).  After the first part, and at the start of each
later page except the last, SQLite writes the number of the page that continues the record.  Only the last part of a
record can be shorter than `LONGEST`, so a needle of that length is cut at most once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw

from assay_broker.stores.schema import PAGE_BYTES

LONGEST = 480
"""The most octets of a search in pages.

Each part of a long record, except the last, has at least this length (SQLite file format, 1.6).
"""
_POINTER = 4
_LOG_HEADER = 32
_FRAME_HEADER = 24
_PIECE = 1 << 20

Page = tuple[bytes, bytes]
"""A page's number in SQLite's encoding (4 octets, big-endian), and the page's octets."""


def pages_of_database(path: Path) -> Iterator[Page]:
    """Yield all pages of the database file at a path."""
    # Python's `open` is not used, because the close of such a file would release SQLite's lock (fcntl(2)).
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        for index in range(file.xFileSize() // PAGE_BYTES):
            yield (index + 1).to_bytes(_POINTER, "big"), file.xRead(PAGE_BYTES, index * PAGE_BYTES)
    finally:
        file.xClose()


def pages_of_log(path: Path) -> Iterator[Page]:
    """Yield all pages in the write-ahead log at a path, also those of transactions that were not committed."""
    with path.open("rb") as file:
        file.seek(_LOG_HEADER)
        while len(frame := file.read(_FRAME_HEADER + PAGE_BYTES)) > _FRAME_HEADER:
            yield frame[:_POINTER], frame[_FRAME_HEADER:]


def stands_in_pages(needle: bytes, pages: tuple[Page, ...]) -> bool:
    """Return whether octets are in one page, or cross from a page to the page that continues its record.

    Args:
        needle: The octets to find; only the first `LONGEST` of them count.
        pages: All pages of the database and its log.
    """
    sought = needle[:LONGEST]
    if any(sought in octets for _, octets in pages):
        return True
    for number, octets in pages:
        for end in range(1, len(sought)):
            if octets.startswith(sought[-end:], _POINTER):
                beginning = sought[:-end]
                pointed = beginning + number
                if any(pointed in other or _goes_on(other, beginning, number) for _, other in pages):
                    return True
    return False


def stands_in_file(needle: bytes, path: Path) -> bool:
    """Return whether a file contains octets.

    Args:
        needle: The octets to find.
        path: The file, of any format.
    """
    before = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            if needle in before + piece:
                return True
            before = piece[-len(needle) :]
    return False


def _goes_on(octets: bytes, beginning: bytes, number: bytes) -> bool:
    """Return whether a page ends with the beginning of the searched octets, and points to the page with this number."""
    return octets.startswith(number) and octets.endswith(beginning)
