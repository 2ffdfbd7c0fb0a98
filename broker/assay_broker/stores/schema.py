"""The database schema: tables, versions, and the checksum of each row."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from zlib import crc32

import apsw

APPLICATION_ID = 0x41737361
"""The application id in the file's header (SQLite file format, 1.3.15)."""
VERSION = 1
"""The current version of the schema; the header of the file holds it as the user version."""
MIGRATIONS: Mapping[int, tuple[str, ...]] = MappingProxyType({})
"""The statements that migrate each version to the next."""
PAGE_BYTES = 4096

OWNER = "queue manager"
LOG_BYTES = "log bytes"
COPIES = "numbers of copies"
SUBSCRIPTIONS = "numbers of subscriptions"
SAID = frozenset({OWNER, LOG_BYTES, COPIES, SUBSCRIPTIONS})
"""The names of the metadata that every database has."""

_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE message (number INTEGER PRIMARY KEY, record BLOB NOT NULL, long BLOB, checksum INTEGER NOT NULL)",
    "CREATE TABLE mark (number INTEGER PRIMARY KEY, record BLOB NOT NULL, checksum INTEGER NOT NULL)",
    """CREATE TABLE named (
        number INTEGER PRIMARY KEY, slot TEXT NOT NULL UNIQUE,
        record BLOB NOT NULL, long BLOB, checksum INTEGER NOT NULL
    )""",
    "CREATE TABLE piece (number INTEGER PRIMARY KEY, octets BLOB NOT NULL, checksum INTEGER NOT NULL)",
)
_WAL_VERSIONS = b"\x02\x02"
"""The header's versions for writing and reading of a file with a write-ahead log (SQLite file format, 1.3.3)."""
_WAL_VERSIONS_AT = 18


def checksum(place: str | int, record: bytes | memoryview, long: bytes | None = None) -> int:
    """Return the checksum of a row, computed over its key and its content.

    Args:
        place: The row's key: a number or a name.
        record: The octets of the row's record.
        long: The encoded descriptions of the record's long bodies; None for a record without long bodies.
    """
    seed = crc32(place.encode()) if isinstance(place, str) else place & 0xFFFFFFFF
    own = crc32(record, seed)
    return own if long is None else crc32(long, own)


def meta_row(name: str, value: str) -> tuple[str, str, int]:
    """Return a row of metadata: its name, its value and its checksum."""
    return name, value, checksum(name, value.encode())


def blank(owner: str, log_bytes: int) -> bytes:
    """Return the octets of an empty database file.

    Args:
        owner: The queue manager's name.
        log_bytes: The least length of the write-ahead log, in octets.
    """
    return _blank(owner, log_bytes, VERSION, APPLICATION_ID)


@lru_cache(maxsize=16)
def _blank(owner: str, log_bytes: int, version: int, application: int) -> bytes:
    """Create an empty database in memory, because this is faster than on disk, and cache it (`bench/suite.py`)."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}; PRAGMA auto_vacuum=INCREMENTAL; BEGIN")
        for statement in _TABLES:
            connection.execute(statement)
        for name, value in ((OWNER, owner), (LOG_BYTES, log_bytes), (COPIES, 0), (SUBSCRIPTIONS, 0)):
            connection.execute("INSERT INTO meta VALUES (?, ?, ?)", meta_row(name, str(value)))
        connection.execute(f"COMMIT; PRAGMA application_id={application}; PRAGMA user_version={version}")
        octets = bytearray(connection.serialize("main"))
    finally:
        connection.close()
    octets[_WAL_VERSIONS_AT : _WAL_VERSIONS_AT + len(_WAL_VERSIONS)] = _WAL_VERSIONS
    return bytes(octets)
