"""Where records are kept.

A store is written to at once and flushed later; what was written and not flushed is lost when the machine dies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

from assay_broker.core.records import Record

Operation = Literal["write", "flush", "drop"]
"""What a disk does with records."""
Observer = Callable[[Operation, tuple[Record, ...]], None]
"""Told each write (one record each), flush and drop (all records covered), as it happens."""


class StoreError(Exception):
    """A store could not do its work.

    Args:
        why: One sentence for whoever waits for the store.
    """


class Store(Protocol):
    """A place for records."""

    def write(self, records: Sequence[Record]) -> None:
        """Take records, all of them or none, after those taken before; they are durable after the next `flush`.

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
        """Lose everything that was written and not flushed: the machine dies."""
        ...

    def load(self) -> tuple[Record, ...]:
        """What is durable, fit to be replayed: records that others have made void may be left out."""
        ...

    def holds(self, octets: bytes) -> bool:
        """Whether these octets are anywhere in what is stored, flushed or not (PD-31)."""
        ...


@runtime_checkable
class PartedStore(Store, Protocol):
    """A store whose flush has a part that only waits for the disk: another thread can do that.

    Between `begin_flush` and `end_flush` nothing of the store is called but `write`.
    """

    def begin_flush(self) -> Callable[[], None] | None:
        """Give the disk everything written.

        Returns:
            Waits until the disk has it, on whatever thread, and raises `StoreError` when that cannot be; None when
            there is nothing to wait for, and so nothing to end.

        Raises:
            StoreError: It cannot be made durable; it is dropped.
        """
        ...

    def end_flush(self, failed: StoreError | None = None) -> None:
        """The wait is over.

        Args:
            failed: What it has raised: then what was written meanwhile is dropped, too.
        """
        ...
