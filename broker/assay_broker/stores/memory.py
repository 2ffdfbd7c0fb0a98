"""A simulated disk: everything is kept in memory, with a notion of what was flushed.

What stands on it stands there serialised, so that asking for an octet string (PD-31) is as honest as searching a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from assay_broker.core.records import (
    AuthoritySet,
    MemberTold,
    MessageMarked,
    MessageRemoved,
    MessageStored,
    ObjectDefined,
    OwnRecord,
    ParcelForgotten,
    ParcelTaken,
    Record,
    RetainedSet,
    SubscriptionDefined,
    SubscriptionRemoved,
)
from assay_broker.stores import StoreError

Operation = Literal["write", "flush", "drop"]
Observer = Callable[[Operation, tuple[Record, ...]], None]

_Slot = tuple[str, int | str]

_ADDING = (MessageStored, SubscriptionDefined)
_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(Record)


class MemoryStore:
    """A simulated disk.

    Args:
        capacity_bytes: How much it holds; None for no limit.
    """

    def __init__(self, capacity_bytes: int | None = None) -> None:
        self._capacity = capacity_bytes
        self._durable: dict[_Slot, bytes] = {}
        self._used = 0
        self._written: list[tuple[Record, bytes]] = []
        self._observers: list[Observer] = []
        self._failing = 0

    def observe(self, observer: Observer) -> None:
        """Tell this observer every write (one record each), flush and drop (all records covered), as it happens."""
        self._observers.append(observer)

    def fail(self, flushes: int = 1) -> None:
        """The next so many flushes cannot be done: the disk has an error, and is well again then (DD-65)."""
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
            added = sum(len(octets) for record, octets in encoded if _adds(record))
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
        """What is durable, decoded from what stands on the disk."""
        return tuple(_DECODER.decode(octets) for octets in self._durable.values())

    def holds(self, octets: bytes) -> bool:
        """Whether these octets stand anywhere on the disk or in its buffer."""
        return any(octets in stored for stored in self._durable.values()) or any(
            octets in stored for _, stored in self._written
        )

    def _apply(self, record: Record, octets: bytes) -> None:
        if isinstance(record, MemberTold | ParcelTaken | ParcelForgotten):
            self._apply_others(record, octets)
        else:
            self._apply_own(record, octets)

    def _apply_others(self, record: MemberTold | ParcelTaken | ParcelForgotten, octets: bytes) -> None:
        """What concerns other queue managers."""
        if isinstance(record, MemberTold):
            self._put(("told", record.member), octets)
        elif isinstance(record, ParcelTaken):
            self._put(("taken", f"{record.member}?{record.number}"), octets)
        else:
            self._delete(("taken", f"{record.member}?{record.number}"))

    def _apply_own(self, record: OwnRecord, octets: bytes) -> None:
        if isinstance(record, MessageStored):
            self._put(("message", record.key), octets)
        elif isinstance(record, SubscriptionDefined):
            self._put(("subscription", record.number), octets)
        elif isinstance(record, MessageMarked):
            self._put(("mark", record.key), octets)
        elif isinstance(record, MessageRemoved):
            self._delete(("message", record.key))
            self._delete(("mark", record.key))
        elif isinstance(record, SubscriptionRemoved):
            self._delete(("subscription", record.number))
        elif isinstance(record, RetainedSet):
            if record.message is None:
                self._delete(("retained", str(record.topic)))
            else:
                self._put(("retained", str(record.topic)), octets)
        elif isinstance(record, AuthoritySet):
            one = record.record
            self._put(("authority", f"{one.object_type}({one.profile}) {one.group}({one.entity})"), octets)
        elif isinstance(record, ObjectDefined):
            self._put(("object", f"{record.definition.namespace}({record.definition.name})"), octets)
        else:  # a queue manager begins with objects, so that one is gone has to be remembered
            self._put(("object", f"{record.namespace}({record.name})"), octets)

    def _put(self, slot: _Slot, octets: bytes) -> None:
        self._delete(slot)
        self._durable[slot] = octets
        self._used += len(octets)

    def _delete(self, slot: _Slot) -> None:
        self._used -= len(self._durable.pop(slot, b""))

    def _tell(self, operation: Operation, records: tuple[Record, ...]) -> None:
        for observer in self._observers:
            observer(operation, records)


def _adds(record: Record) -> bool:
    """Whether a record needs room that it does not free."""
    return isinstance(record, _ADDING) or (isinstance(record, RetainedSet) and record.message is not None)
