"""A simulated disk: records in memory, flushed or not.

It keeps records serialised, so that a search for octets (PD-31) is as valid as a search in a file.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay_broker.core.records import Record
from assay_broker.stores import Observer, Operation, StoreError
from assay_broker.stores.slots import Numbers, Slot, change_of

_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(Record)


class MemoryStore:
    """A simulated disk.

    Args:
        capacity_bytes: How much it holds; None for no limit.
    """

    def __init__(self, capacity_bytes: int | None = None) -> None:
        self._capacity = capacity_bytes
        self._durable: dict[Slot, bytes] = {}
        self._numbers = Numbers()
        self._used = 0
        self._written: list[tuple[Record, bytes]] = []
        self._observers: list[Observer] = []
        self._failing = 0

    def observe(self, observer: Observer) -> None:
        """Call this observer with each write (one record), flush and drop (all records it covers)."""
        self._observers.append(observer)

    def fail(self, flushes: int = 1) -> None:
        """Make this many flushes fail, as with a temporary disk error (DD-65)."""
        self._failing = flushes

    def write(self, records: Sequence[Record]) -> None:
        """Take records into the buffer.

        Raises:
            StoreError: The disk is full.
        """
        encoded = [(record, _ENCODER.encode(record)) for record in records]
        if self._capacity is not None:
            buffered = sum(len(octets) for _, octets in self._written)
            # Removing needs no room, so that a full disk can be emptied.
            added = sum(len(octets) for record, octets in encoded if change_of(record).adds)
            if added and self._used + buffered + added > self._capacity:
                raise StoreError(f"the simulated disk of {self._capacity} bytes is full")
        for record, octets in encoded:
            self._written.append((record, octets))
            self._tell("write", (record,))

    def flush(self) -> None:
        """Make the buffer durable.

        Raises:
            StoreError: The disk has an error; the buffer is dropped.
        """
        if self._failing:
            self._failing -= 1
            self.drop()
            raise StoreError("the simulated disk has an error")
        written, self._written = self._written, []
        for record, octets in written:
            self._apply(record, octets)
        self._tell("flush", tuple(record for record, _ in written))

    def drop(self) -> None:
        """Lose the buffer."""
        written, self._written = self._written, []
        self._tell("drop", tuple(record for record, _ in written))

    def load(self) -> tuple[Record, ...]:
        """Return the durable records, decoded, and the numbers that were given."""
        return (*map(_DECODER.decode, self._durable.values()), *self._numbers.removals())

    def holds(self, octets: bytes) -> bool:
        """Whether these octets are anywhere on the disk or in its buffer."""
        return any(octets in stored for stored in self._durable.values()) or any(
            octets in stored for _, stored in self._written
        )

    def _apply(self, record: Record, octets: bytes) -> None:
        change = change_of(record)
        for slot in change.empties:
            self._delete(slot)
        if change.takes is not None:
            self._put(change.takes, octets)
            self._numbers = self._numbers.after(change.takes)

    def _put(self, slot: Slot, octets: bytes) -> None:
        self._delete(slot)
        self._durable[slot] = octets
        self._used += len(octets)

    def _delete(self, slot: Slot) -> None:
        self._used -= len(self._durable.pop(slot, b""))

    def _tell(self, operation: Operation, records: tuple[Record, ...]) -> None:
        for observer in self._observers:
            observer(operation, records)
