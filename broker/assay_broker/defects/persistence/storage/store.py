"""Defects of the store: flushes that do nothing, and batches that reach the disk late and out of order."""

from __future__ import annotations

from collections.abc import Sequence

from assay_broker.core.records import Record
from assay_broker.defects.model import Defect
from assay_broker.seams import Seams
from assay_broker.stores import Store


class _Unflushed:
    """A store whose flushes do nothing.

    Args:
        store: The store that holds the records.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, records: Sequence[Record]) -> None:
        self._store.write(records)

    def flush(self) -> None:
        """Write nothing to disk."""

    def drop(self) -> None:
        self._store.drop()

    def load(self) -> tuple[Record, ...]:
        return self._store.load()

    def holds(self, octets: bytes) -> bool:
        return self._store.holds(octets)


class _Swapped(_Unflushed):
    """A store that writes each batch of records after the batch that follows it.

    Args:
        store: The store that holds the records.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._waiting: list[Sequence[Record]] = []
        self._late: Sequence[Record] = ()

    def write(self, records: Sequence[Record]) -> None:
        self._waiting.append(records)

    def flush(self) -> None:
        *early, last = self._waiting or [()]
        for batch in (*early, self._late):
            self._store.write(batch)
        self._waiting, self._late = [], last
        self._store.flush()

    def drop(self) -> None:
        self._waiting, self._late = [], ()
        self._store.drop()


STORE_DEFECTS = (
    Defect(
        name="flush-forgotten",
        rules=("PD-20", "PD-23"),
        text="The store reports a flush without writing anything to disk.",
        apply=lambda: Seams(store=_Unflushed),
    ),
    Defect(
        name="batches-swapped",
        rules=("PD-20", "PD-23"),
        text="Each batch of records reaches the disk after the next batch.",
        apply=lambda: Seams(store=_Swapped),
    ),
)
