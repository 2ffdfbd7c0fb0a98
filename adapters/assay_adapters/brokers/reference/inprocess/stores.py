"""What the reference broker in this process stands on: a simulated disk, or a folder on the machine's own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from assay_adapters.suggestions import unknown
from assay_broker.stores import Observer, Store
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.watched import WatchedDisk

LOG_BYTES = 1 << 20
"""A scenario writes little, and each begins with a fresh log."""


class WatchedStore(Store, Protocol):
    """A store whose every step can be seen."""

    def observe(self, observer: Observer) -> None:
        """Tell this observer each write, flush and drop."""
        ...


class Kept(Struct, frozen=True, eq=False):
    """A store in the hands of a test.

    Args:
        store: The store.
        fail: Makes its next so many flushes fail.
        close: Gives back what it stands on.
    """

    store: WatchedStore
    fail: Callable[[int], None]
    close: Callable[[], None]


def _in_memory(_name: str) -> Kept:
    store = MemoryStore()
    return Kept(store, store.fail, _nothing)


def _in_a_folder(name: str) -> Kept:
    """The folder is gone when the store is: what a scenario needs to know of it stands in the journal."""
    folder = tempfile.TemporaryDirectory(prefix="assay-store-")
    disk = WatchedDisk()
    store = SqliteStore(Path(folder.name) / name, name, disk, log_bytes=LOG_BYTES)

    def close() -> None:
        store.abandon()
        disk.close()
        folder.cleanup()

    return Kept(store, disk.fail_syncs, close)


def _nothing() -> None:
    """There is nothing to give back."""


class Kind(Struct, frozen=True, eq=False):
    """A kind of store.

    Args:
        begin: Opens a fresh store for the queue manager of this name.
        disk: What the journal calls what is below it.
        simulated: Whether that is simulated.
    """

    begin: Callable[[str], Kept]
    disk: str
    simulated: bool


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "memory": Kind(_in_memory, "simulated disk", simulated=True),
        "sqlite": Kind(_in_a_folder, "SQLite files whose flushes are watched", simulated=False),
    }
)


def kind_of(store: str | None) -> tuple[str, Kind]:
    """The kind of store that was asked for, by its name; the first where none was.

    Args:
        store: Its name; None for the usual one.

    Raises:
        LookupError: There is none of that name.
    """
    name = store or next(iter(KINDS))
    if name not in KINDS:
        raise LookupError(unknown("store", name, KINDS))
    return name, KINDS[name]
