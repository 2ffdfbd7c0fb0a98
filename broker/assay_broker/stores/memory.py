"""A store in memory, with a simulated disk that loses unflushed records at a crash.

The store encodes its records, so that a search for octets (PD-31) finds as much as a search in a file.
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
    """A store in memory, with a simulated disk.

    Args:
        capacity_bytes: The size of the simulated disk, in octets; None for no limit.
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
        """Call an observer with each written record, and at each flush and drop with all records of that step."""
        self._observers.append(observer)

    def fail(self, flushes: int = 1) -> None:
        """Make the next flushes fail, as a temporary disk error would (DD-65).

        Args:
            flushes: The number of flushes that fail.
        """
        self._failing = flushes

    def write(self, records: Sequence[Record]) -> None:
        """Write records to the buffer.

        Raises:
            StoreError: The simulated disk is full.
        """
        encoded = [(record, _ENCODER.encode(record)) for record in records]
        if self._capacity is not None:
            buffered = sum(len(octets) for _, octets in self._written)
            # Removals always succeed, so that consumers can empty a full disk.
            added = sum(len(octets) for record, octets in encoded if change_of(record).adds)
            if added and self._used + buffered + added > self._capacity:
                raise StoreError(f"the simulated disk of {self._capacity} bytes is full")
        for record, octets in encoded:
            self._written.append((record, octets))
            self._tell("write", (record,))

    def flush(self) -> None:
        """Make the buffer's records durable.

        Raises:
            StoreError: The simulated disk has an error; the buffer is dropped.
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
        """Drop the buffer's records."""
        written, self._written = self._written, []
        self._tell("drop", tuple(record for record, _ in written))

    def load(self) -> tuple[Record, ...]:
        """Return the durable records, decoded, and removal records that tell recovery which numbers are in use."""
        return (*map(_DECODER.decode, self._durable.values()), *self._numbers.removals())

    def holds(self, octets: bytes) -> bool:
        """Return whether these octets are anywhere on the simulated disk or in its buffer."""
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
