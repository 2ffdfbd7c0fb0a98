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
    """A store whose flush waits for the disk in a step of its own, which another thread can do.

    Between `begin_flush` and `end_flush` only `write` may be called.
    """

    def begin_flush(self) -> Callable[[], None] | None:
        """Give all written records to the disk; return the function that waits for it.

        Returns:
            A function for any thread. It returns when the records are on disk, and raises `StoreError` if they cannot
            be. None if there is nothing to wait for; then `end_flush` is not called.

        Raises:
            StoreError: The records cannot be made durable; they are dropped.
        """
        ...

    def end_flush(self, failed: StoreError | None = None) -> None:
        """Conclude the flush after the wait.

        Args:
            failed: The error that the wait raised; records written meanwhile are then dropped, too. None for success.
        """
        ...


@runtime_checkable
class FileStore(Store, Protocol):
    """A store in files that another program can take away."""

    def is_there(self) -> bool:
        """Whether its files are still those that it opened; reads none of them."""
        ...
