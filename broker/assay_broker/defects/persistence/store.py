"""Defects of the store: a flush that does not happen, or happens late and out of order."""

from __future__ import annotations

from collections.abc import Sequence

from assay_broker.core.records import Record
from assay_broker.defects.model import Defect
from assay_broker.seams import Seams
from assay_broker.stores import Store


class _Unflushed:
    """A store whose flushes do nothing.

    Args:
        store: The store behind it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, records: Sequence[Record]) -> None:
        self._store.write(records)

    def flush(self) -> None:
        """Do nothing."""

    def drop(self) -> None:
        self._store.drop()

    def load(self) -> tuple[Record, ...]:
        return self._store.load()

    def holds(self, octets: bytes) -> bool:
        return self._store.holds(octets)


class _Swapped(_Unflushed):
    """A store that flushes each batch after the one that follows it.

    Args:
        store: The store behind it.
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
        text="The store reports a flush that it has not done.",
        apply=lambda: Seams(store=_Unflushed),
    ),
    Defect(
        name="batches-swapped",
        rules=("PD-20", "PD-23"),
        text="Each batch of records reaches the disk after the one that follows it.",
        apply=lambda: Seams(store=_Swapped),
    ),
)
