"""The stores of a queue manager's records.

A queue manager writes records at once and flushes them later.  When the machine fails, written records that were not
flushed are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

from assay_broker.core.records import Record

Operation = Literal["write", "flush", "drop"]
"""The name of a store's operation on records, for observers."""
Observer = Callable[[Operation, tuple[Record, ...]], None]
"""A function that a store calls with each written record, and at each flush and drop with the records of that step."""


class StoreError(Exception):
    """A store cannot be opened, written to, flushed or read.

    Args:
        why: A sentence for the user that names the problem.
    """


class Store(Protocol):
    """A store of records, used by one queue manager."""

    def write(self, records: Sequence[Record]) -> None:
        """Write records in order, all or none of them; they are durable after the next `flush`.

        Raises:
            StoreError: The store cannot write them, for example because the disk is full.
        """
        ...

    def flush(self) -> None:
        """Make all written records durable.

        Raises:
            StoreError: The disk failed; the records that were not durable yet are dropped.
        """
        ...

    def drop(self) -> None:
        """Drop all records that were not flushed; a failure of the machine has the same effect."""
        ...

    def load(self) -> tuple[Record, ...]:
        """Return the durable records for recovery; the store may omit records that later ones replace."""
        ...

    def holds(self, octets: bytes) -> bool:
        """Return whether these octets are anywhere in the store, flushed or not (PD-31)."""
        ...


@runtime_checkable
class PartedStore(Store, Protocol):
    """A store whose flush is split into steps, so that a second thread can wait for the disk.

    Between `begin_flush` and `end_flush` only `write` may be called.
    """

    def begin_flush(self) -> Callable[[], None] | None:
        """Hand all written records to the disk, without waiting for it.

        Returns:
            A function that waits for the disk and may run on any thread.  It raises `StoreError` if the disk fails.
            None if no record was written since the last flush; then `end_flush` is not called.

        Raises:
            StoreError: The disk failed; the records are dropped.
        """
        ...

    def end_flush(self, failed: StoreError | None = None) -> None:
        """End a flush, after the function that `begin_flush` returned has run.

        Args:
            failed: The error that the function of `begin_flush` raised; None if it raised no error.  After an error the
                store also drops the records that were written during the flush.
        """
        ...


@runtime_checkable
class FileStore(Store, Protocol):
    """A store in files, which another program might delete or replace."""

    def is_there(self) -> bool:
        """Return whether the files are still those that the store opened, without reading their content."""
        ...
