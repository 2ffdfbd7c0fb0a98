"""Sorts the rows of logs on disk, so that the import of a long log needs little memory.

A log has its lines in the order in which they were written.  A journal needs the events of one client in the order of
their times, and one row can make two events, such as a send and its answer.  So each row is stored in a temporary
SQLite database once for each event (a *fact*), and read again in the order of client and time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from assay.importing.columns import Kind, Row

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA temp_store = FILE;
PRAGMA cache_size = -32768;
CREATE TABLE fact (client TEXT, at INTEGER, number INTEGER, part TEXT, row BLOB);
CREATE TABLE sent (message TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE got (message TEXT, log TEXT, line INTEGER);
CREATE TABLE destination (name TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_BATCH = 2_000
"""The number of facts that wait in memory before they are written together."""
BROKER = ""
"""The client's name in facts about faults and commands, which belong to no client."""


class Part(StrEnum):
    """The part of a row that a fact is about."""

    WHOLE = "whole"
    ANSWER = "answer"
    ACKNOWLEDGEMENT = "acknowledgement"
    END = "end"


class Fact(Struct, frozen=True, gc=False):
    """A part of a row, with the time of this part in nanoseconds since the epoch.

    `number` is the number of the row, which is unique in the import.
    """

    at: int
    number: int
    part: Part
    row: Row


class Orphan(Struct, frozen=True):
    """A receive without a send in the logs: its message id, file and line."""

    message: str
    log: str
    line: int


class Staging:
    """The temporary database of facts, as a context manager that closes it.

    Args:
        file: The database's file; it must not exist.
    """

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, isolation_level=None)
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Row)
        self._rows = 0
        self._facts: list[tuple[str, int, int, str, bytes]] = []
        self._sent: list[tuple[str]] = []
        self._got: list[tuple[str, str, int]] = []
        self._known: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._db.close()

    def add(self, row: Row, log: str, line: int) -> None:
        """Store the row of a line of a log.

        Raises:
            sqlite3.Error: The disk is full.
        """
        self._rows += 1
        octets = self._encoder.encode(row)
        for part, at in _parts(row):
            self._facts.append((row.client or BROKER, at, self._rows, part.value, octets))
        if row.event is Kind.SEND:
            self._sent.append((row.message,))
        elif row.event is Kind.RECEIVE:
            self._got.append((row.message, log, line))
        if row.destination and row.destination not in self._known:
            self._known.add(row.destination)
            self._db.execute("INSERT OR IGNORE INTO destination VALUES (?)", (row.destination,))
        if len(self._facts) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the facts that wait in memory."""
        self._db.executemany("INSERT INTO fact VALUES (?, ?, ?, ?, ?)", self._facts)
        self._db.executemany("INSERT OR IGNORE INTO sent VALUES (?)", self._sent)
        self._db.executemany("INSERT INTO got VALUES (?, ?, ?)", self._got)
        self._facts, self._sent, self._got = [], [], []

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last time, in nanoseconds since the epoch; zeros without rows."""
        first, last = self._db.execute("SELECT min(at), max(at) FROM fact").fetchone()
        return first or 0, last or 0

    @property
    def destinations(self) -> list[str]:
        """All destinations, sorted."""
        return [name for (name,) in self._db.execute("SELECT name FROM destination ORDER BY name")]

    def orphans(self, shown: int) -> tuple[int, list[Orphan]]:
        """Return the number of receives without a send, and the first of them.

        Args:
            shown: The largest number of orphans to return.
        """
        among = "FROM got WHERE message NOT IN (SELECT message FROM sent)"
        (count,) = self._db.execute(f"SELECT count(*) {among}").fetchone()
        first = self._db.execute(f"SELECT message, log, line {among} ORDER BY rowid LIMIT ?", (shown,))
        return count, [Orphan(*one) for one in first]

    def clients(self) -> Iterator[tuple[str, Iterator[Fact]]]:
        """Yield each client with its facts in the order of their times; `BROKER` comes first, if it has facts."""
        rows = self._db.execute("SELECT client, at, number, part, row FROM fact ORDER BY client, at, number, rowid")
        for client, group in groupby(rows, key=lambda row: str(row[0])):
            facts = (Fact(at, number, Part(part), self._decoder.decode(row)) for _, at, number, part, row in group)
            yield client, facts


def _parts(row: Row) -> Iterator[tuple[Part, int]]:
    yield Part.WHOLE, row.time
    if row.answered is not None or row.refused:
        yield Part.ANSWER, row.time if row.answered is None else row.answered
    if row.acknowledged is not None:
        yield Part.ACKNOWLEDGEMENT, row.acknowledged
    if row.end is not None:
        yield Part.END, row.end
