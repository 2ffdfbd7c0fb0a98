"""Stores: where a queue manager's records are kept.

Records are written at once and flushed later. Records that were written and not flushed are lost when the machine
fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

from assay_broker.core.records import Record

Operation = Literal["write", "flush", "drop"]
"""An operation of a disk on records."""
Observer = Callable[[Operation, tuple[Record, ...]], None]
"""Called with each write (one record), flush and drop (all records it covers), as it happens."""


class StoreError(Exception):
    """A store has failed.

    Args:
        why: One sentence for the user.
    """


class Store(Protocol):
    """Keeps records."""

    def write(self, records: Sequence[Record]) -> None:
        """Write records, all or none, in order; they are durable after the next `flush`.

        Raises:
            StoreError: They cannot be taken.
        """
        ...

    def flush(self) -> None:
        """Make everything written durable.

        Raises:
            StoreError: It cannot be made durable; it is dropped.
        """
        ...

    def drop(self) -> None:
        """Lose everything not flushed, as when the machine fails."""
        ...

    def load(self) -> tuple[Record, ...]:
        """Return the durable records for recovery; superseded ones may be left out."""
        ...

    def holds(self, octets: bytes) -> bool:
        """Whether these octets are anywhere in the store, flushed or not (PD-31)."""
        ...


@runtime_checkable
class PartedStore(Store, Protocol):
    """A store whose flush has a part that only waits for the disk, for another thread.

    Between `begin_flush` and `end_flush` nothing of the store is called but `write`.
    """

    def begin_flush(self) -> Callable[[], None] | None:
        """Give everything written to the disk; return the part that waits.

        Returns:
            Waits until the disk has it, on whatever thread, and raises `StoreError` when that cannot be; None when
            there is nothing to wait for, and so nothing to end.

        Raises:
            StoreError: It cannot be made durable; it is dropped.
        """
        ...

    def end_flush(self, failed: StoreError | None = None) -> None:
        """Conclude the flush after the wait.

        Args:
            failed: What it has raised: then what was written meanwhile is dropped, too.
        """
        ...


@runtime_checkable
class FileStore(Store, Protocol):
    """A store in files that another program can take away."""

    def is_there(self) -> bool:
        """Whether its files are still those that it opened; reads none of them."""
        ...
