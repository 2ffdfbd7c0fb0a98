"""Search for octets in all of a folder's files, including unused space and across page boundaries.

SQLite keeps the beginning of a long record in one page, after the number of the page where it continues from the
fifth octet (SQLite file format, 1.6). A record shorter than a page is never cut, and no part but the last is shorter
than `LONGEST`, so a needle of that length is cut once at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw

from assay_broker.stores.schema import PAGE_BYTES

LONGEST = 480
"""Octets of a needle; of a longer one only the beginning is searched. Least local payload: file format, 1.6."""
_POINTER = 4
_LOG_HEADER = 32
_FRAME_HEADER = 24
_PIECE = 1 << 20

Page = tuple[bytes, bytes]
"""A page's number, as pointers encode it, and its octets."""


def pages_of_database(path: Path) -> Iterator[Page]:
    """Iterate over all pages of a database file.

    Args:
        path: The file.
    """
    # Python's `open` is not used: closing its file would release SQLite's lock (fcntl(2)).
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        for index in range(file.xFileSize() // PAGE_BYTES):
            yield (index + 1).to_bytes(_POINTER, "big"), file.xRead(PAGE_BYTES, index * PAGE_BYTES)
    finally:
        file.xClose()


def pages_of_log(path: Path) -> Iterator[Page]:
    """Iterate over all pages in a write-ahead log, whether their transactions were committed or not.

    Args:
        path: The log.
    """
    with path.open("rb") as file:
        file.seek(_LOG_HEADER)
        while len(frame := file.read(_FRAME_HEADER + PAGE_BYTES)) > _FRAME_HEADER:
            yield frame[:_POINTER], frame[_FRAME_HEADER:]


def stands_in_pages(needle: bytes, pages: tuple[Page, ...]) -> bool:
    """Whether octets are in some page, or across the end of one and the page that continues it.

    Args:
        needle: The octets looked for.
        pages: All pages.
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
    """Whether octets are in a file of any kind.

    Args:
        needle: The octets looked for.
        path: The file.
    """
    before = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            if needle in before + piece:
                return True
            before = piece[-len(needle) :]
    return False


def _goes_on(octets: bytes, beginning: bytes, number: bytes) -> bool:
    """Whether octets begin with this page number and end with this beginning."""
    return octets.startswith(number) and octets.endswith(beginning)
