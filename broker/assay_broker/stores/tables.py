"""The tables of a store's database: functions that save the contents of slots as rows, and load them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

import apsw
import msgspec
from msgspec import Struct

from assay_broker.core.records import MessageRemoved, MessageStored, Record
from assay_broker.stores.chunks import Long, Shortened, complete, shorten
from assay_broker.stores.schema import COPIES, SUBSCRIPTIONS, checksum, meta_row
from assay_broker.stores.slots import GROWING, Kind, Newest, Numbers, Slot, change_of

_encode = msgspec.msgpack.Encoder().encode
_DECODER: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(Record)
_LONGS: msgspec.msgpack.Decoder[tuple[Long, ...]] = msgspec.msgpack.Decoder(tuple[Long, ...])

_AT_ONCE = 1_000
"""The number of message or subscription numbers that the store reserves with one write."""
_PIECE_BITS = 16
"""The number of low bits in a piece's number, which count the pieces of one record; enough for 4 GiB."""


class Row(Struct, frozen=True, eq=False, gc=False):
    """A record as a row of its table.

    Args:
        octets: The encoded record, without its long bodies.
        shortened: The record and its separate long bodies; None if it has no long body.
        growth: The approximate disk space that the record takes, in octets; 0 for the kinds of records that a full
            disk accepts.
    """

    octets: bytes
    shortened: Shortened | None
    growth: int

    def all_octets(self) -> Iterator[bytes | memoryview]:
        """Yield the encoded record and the pieces of its long bodies."""
        yield self.octets
        if self.shortened is not None:
            yield from self.shortened.pieces()

    @property
    def long(self) -> bytes | None:
        """The encoded descriptions of the record's long bodies; None for a record without long bodies."""
        return None if self.shortened is None else _encode(self.shortened.longs)


def row_of(record: Record) -> Row | None:
    """Return a record as a row, without copying its long bodies; None for a record that fills no slot."""
    if isinstance(record, MessageRemoved):  # a short cut: nearly all records store or remove a message
        return None
    shortened = shorten(record)
    if shortened is None and isinstance(record, MessageStored):
        octets = _encode(record)
        return Row(octets, None, len(octets))
    taken = change_of(record).takes
    if taken is None:
        return None
    octets = _encode(record if shortened is None else shortened.record)
    size = len(octets) + (0 if shortened is None else shortened.size)
    return Row(octets, shortened, size if taken.kind in GROWING else 0)


class Tables:
    """The tables of a store's database.

    Args:
        connection: The connection to the database.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        said = {str(name): str(value) for name, value in connection.execute("SELECT name, value FROM meta")}
        self._reserved = self._reserving = Numbers(int(said[COPIES]), int(said[SUBSCRIPTIONS]))
        found = connection.execute("SELECT DISTINCT number >> ? FROM piece", (_PIECE_BITS,))
        self._owners: set[int] = {int(number) for (number,) in found}
        self._marked = {int(number) for (number,) in connection.execute("SELECT number FROM mark")}
        """The numbers of the messages that may have a mark."""
        self._unmarked: list[tuple[int]] = []
        self._added: set[int] = set()
        self._removed: set[int] = set()

    # saving ------------------------------------------------------------------------------------------------------

    def save(self, newest: Newest[Row]) -> None:
        """Save the changed slots in the open transaction.

        Args:
            newest: The new contents of the changed slots.

        Raises:
            apsw.Error: SQLite cannot write.
        """
        self._added, self._removed, self._unmarked = set(), set(), []
        self._reserving = numbers = self._reserved
        for slot, row in newest.named.items():
            numbers = numbers.after(slot)
            self._save_named(f"{slot.kind.name} {slot.name}", row)
        if newest.messages:
            numbers = numbers.after(Slot(Kind.MESSAGE, max(newest.messages)))
            self._save_messages(newest.messages)
        self._save_marks(newest.marks)
        if numbers != self._reserved:
            self._reserve(numbers)

    def _save_messages(self, messages: dict[int, Row | None]) -> None:
        if self._owners:
            for number in messages:
                self._forget(_owner(number))
        gone = [number for number, row in messages.items() if row is None]
        self._connection.executemany("DELETE FROM message WHERE number BETWEEN ? AND ?", _spans(gone))
        rows: list[tuple[int, bytes, bytes | None, int]] = []
        for number, row in messages.items():
            if row is None:
                continue
            octets = row.octets
            if row.shortened is None:
                rows.append((number, octets, None, checksum(number, octets)))
            else:
                long = row.long
                rows.append((number, octets, long, checksum(number, octets, long)))
                self._save_pieces(_owner(number), row.shortened)
        self._connection.executemany("REPLACE INTO message VALUES (?, ?, ?, ?)", rows)

    def _save_marks(self, marks: dict[int, Row | None]) -> None:
        rows = [(number, row.octets, checksum(number, row.octets)) for number, row in marks.items() if row is not None]
        if self._marked:
            self._unmarked = [(number,) for number, row in marks.items() if row is None and number in self._marked]
            self._connection.executemany("DELETE FROM mark WHERE number = ?", self._unmarked)
        if rows:
            self._connection.executemany("REPLACE INTO mark VALUES (?, ?, ?)", rows)
            self._marked.update(number for number, _, _ in rows)

    def _reserve(self, needed: Numbers) -> None:
        """Record numbers up to 1,000 above the needed ones as in use, so that few transactions have to record numbers.

        After a crash, recovery continues after the recorded numbers.
        """
        before = self._reserved
        copies = before.copies if needed.copies == before.copies else needed.copies + _AT_ONCE
        subscriptions = before.subscriptions
        if needed.subscriptions != subscriptions:
            subscriptions = needed.subscriptions + _AT_ONCE
        self._reserving = Numbers(copies, subscriptions)
        rows = (meta_row(COPIES, str(copies)), meta_row(SUBSCRIPTIONS, str(subscriptions)))
        self._connection.executemany("REPLACE INTO meta VALUES (?, ?, ?)", rows)

    def saved(self) -> None:
        """Note that the changes of `save` are saved, because their transaction is committed."""
        self._reserved = self._reserving
        self._marked.difference_update(number for (number,) in self._unmarked)
        self._owners -= self._removed
        self._owners |= self._added

    def _save_named(self, slot: str, row: Row | None) -> None:
        for (number,) in self._connection.execute("DELETE FROM named WHERE slot = ? RETURNING number", (slot,)):
            self._forget(_named_owner(int(number)))
        if row is None:
            return
        self._connection.execute(
            "INSERT INTO named (slot, record, long, checksum) VALUES (?, ?, ?, ?)",
            (slot, row.octets, row.long, checksum(slot, row.octets, row.long)),
        )
        if row.shortened is not None:
            self._save_pieces(_named_owner(self._connection.last_insert_rowid()), row.shortened)

    def _save_pieces(self, owner: int, shortened: Shortened) -> None:
        self._added.add(owner)
        self._connection.executemany(
            "REPLACE INTO piece VALUES (?, ?, ?)",
            (
                (number, piece, checksum(number, piece))
                for number, piece in enumerate(shortened.pieces(), owner << _PIECE_BITS)
            ),
        )

    def _forget(self, owner: int) -> None:
        if owner in self._owners:
            self._removed.add(owner)
            self._connection.execute("DELETE FROM piece WHERE number BETWEEN ? AND ?", _range(owner))

    # loading -----------------------------------------------------------------------------------------------------

    def load(self) -> Iterator[Record]:
        """Yield the records of all slots: named slots in the order of filling, then messages, then marks.

        The last records are removals with the next free numbers, so that recovery learns the numbers that are in use.

        Raises:
            ValueError: A row was altered by another program.
            apsw.Error: SQLite cannot read.
        """
        named = "SELECT number, slot, record, long, checksum FROM named ORDER BY number"
        for number, slot, record, long, found in self._connection.execute(named):
            _check("record", slot, record, long, found)
            yield self._decode(_named_owner(number), record, long)
        messages = "SELECT number, record, long, checksum FROM message ORDER BY number"
        for number, record, long, found in self._connection.execute(messages):
            _check("message", number, record, long, found)
            yield self._decode(_owner(number), record, long)
        for number, record, found in self._connection.execute("SELECT number, record, checksum FROM mark"):
            _check("mark", number, record, None, found)
            yield _DECODER.decode(record)
        yield from self._reserved.removals()

    def _decode(self, owner: int, record: bytes, long: bytes | None) -> Record:
        shortened = _DECODER.decode(record)
        return shortened if long is None else complete(shortened, _LONGS.decode(long), self._pieces(owner))

    def _pieces(self, owner: int) -> Iterator[bytes]:
        pieces = "SELECT number, octets, checksum FROM piece WHERE number BETWEEN ? AND ? ORDER BY number"
        for number, octets, found in self._connection.execute(pieces, _range(owner)):
            _check("piece", number, octets, None, found)
            yield octets

    def seams(self, length: int) -> Iterator[bytes]:
        """Yield, for every two adjacent pieces, the end of the first joined with the beginning of the second.

        Args:
            length: The number of octets from each piece.
        """
        pairs = (
            "SELECT substr(a.octets, -?1), substr(b.octets, 1, ?1) FROM piece a JOIN piece b ON b.number = a.number + 1"
        )
        for end, beginning in self._connection.execute(pairs, (length,)):
            yield end + beginning


def _spans(numbers: Collection[int]) -> list[tuple[int, int]]:
    """Group numbers into ranges without gaps: one statement for a range is faster (`bench/broker.py durable`)."""
    ordered = sorted(numbers)
    if not ordered:
        return []
    ends = [(last, first) for last, first in pairwise(ordered) if first - last != 1]
    firsts = [ordered[0], *(first for _, first in ends)]
    lasts = [*(last for last, _ in ends), ordered[-1]]
    return list(zip(firsts, lasts, strict=True))


def _owner(number: int) -> int:
    """Return the high bits (see `_PIECE_BITS`) that the numbers of a message's pieces share: an even number."""
    return number << 1


def _named_owner(number: int) -> int:
    """Return the high bits that the numbers of a named slot's pieces share: an odd number."""
    return number << 1 | 1


def _range(owner: int) -> tuple[int, int]:
    first = owner << _PIECE_BITS
    return first, first + (1 << _PIECE_BITS) - 1


def _check(what: str, place: object, octets: object, long: object, found: object) -> None:
    """Check a row's checksum and the types of its values, because SQLite stores any type in any column.

    Raises:
        ValueError: The checksum or a type is wrong.
    """
    if not (
        isinstance(place, int | str)
        and isinstance(octets, bytes)
        and isinstance(long, bytes | None)
        and found == checksum(place, octets, long)
    ):
        raise ValueError(f"{what} {place} has been altered")
