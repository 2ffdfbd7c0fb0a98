"""Defects of stores that the campaign must find; each defect is a wrapper around the real store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from assay_broker.core.records import Record
from assay_broker.stores import Store
from assay_sdk.time import Runner

LATE_NS = 20_000_000
"""The nanoseconds between an answer and the late flush of its record."""

Plant = Callable[[Store, Runner], Store]


class StoreDefect(Struct, frozen=True):
    """A defect of a store.

    Args:
        text: The misbehaviour, as a predicate: "the store" plus this text is a sentence.
        plant: Takes a store and the broker's runner, and returns the store with the defect.
    """

    text: str
    plant: Plant


class _Around:
    """A wrapper that passes every call to the store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def write(self, records: Sequence[Record]) -> None:
        self.store.write(records)

    def flush(self) -> None:
        self.store.flush()

    def drop(self) -> None:
        self.store.drop()

    def load(self) -> tuple[Record, ...]:
        return self.store.load()

    def holds(self, octets: bytes) -> bool:
        return self.store.holds(octets)


class _NoFlush(_Around):
    """A store that ignores a flush if the broker has written fewer than `_ENOUGH` records since the last real flush."""

    _ENOUGH = 64

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._written = 0

    def write(self, records: Sequence[Record]) -> None:
        super().write(records)
        self._written += len(records)

    def flush(self) -> None:
        if self._written >= self._ENOUGH:
            self._written = 0
            super().flush()


class _AnswerFirst(_Around):
    """A store that reports a flush as done at once, and flushes a little later."""

    def __init__(self, store: Store, runner: Runner) -> None:
        super().__init__(store)
        self._runner = runner
        self._due = False

    def flush(self) -> None:
        if not self._due:
            self._due = True
            self._runner.call_at(self._runner.clock.monotonic_ns() + LATE_NS, self._flush)

    def _flush(self) -> None:
        self._due = False
        super().flush()


class _Swapped(_Around):
    """A store that flushes its records one by one, the newest first.

    A kill can leave a later record on disk without an earlier one.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._batches: list[tuple[Record, ...]] = []

    def write(self, records: Sequence[Record]) -> None:
        self._batches.extend((record,) for record in records)

    def flush(self) -> None:
        batches, self._batches = self._batches, []
        for batch in reversed(batches):
            self.store.write(batch)
            self.store.flush()

    def drop(self) -> None:
        self._batches.clear()
        super().drop()


STORE_DEFECTS: Mapping[str, StoreDefect] = {
    "no-flush": StoreDefect("answers as if it had flushed, but has not", lambda store, _: _NoFlush(store)),
    "answer-before-flush": StoreDefect("flushes, but only after the answer", _AnswerFirst),
    "records-swapped": StoreDefect(
        "puts records on disk in the wrong order, one by one", lambda store, _: _Swapped(store)
    ),
}
"""The defects by name."""
