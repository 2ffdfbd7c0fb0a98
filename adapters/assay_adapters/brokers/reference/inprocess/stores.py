"""The stores of the reference broker in this process: on a simulated disk, or in a folder of this machine."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from assay_adapters.owners import folder_prefix
from assay_adapters.suggestions import unknown
from assay_broker.stores import Observer, Store
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.watched import WatchedDisk

LOG_BYTES = 1 << 20
"""The initial size of a store's log, in bytes: small, because each scenario has its own log and writes little to it."""


class WatchedStore(Store, Protocol):
    """A store that reports its writes and flushes, and the records that it loses."""

    def observe(self, observer: Observer) -> None:
        """Report to an observer, from now on, each write, each flush and each loss of records that were not flushed."""
        ...


class ScenarioStore(Struct, frozen=True, eq=False):
    """A store for one scenario, with a function that makes the store fail.

    Args:
        store: The store.
        fail: Makes the store's next flushes fail; takes the number of these flushes.
        close: Releases the store's disk or folder.
    """

    store: WatchedStore
    fail: Callable[[int], None]
    close: Callable[[], None]


def _in_memory(_name: str) -> ScenarioStore:
    store = MemoryStore()
    return ScenarioStore(store, store.fail, _nothing)


def _in_a_folder(name: str) -> ScenarioStore:
    """Return a store in a temporary folder; `close` removes the folder."""
    folder = Path(tempfile.mkdtemp(prefix=folder_prefix("store")))
    disk = WatchedDisk(through=False)  # at a kill, this object undoes unflushed writes, so no real flush is needed
    store = SqliteStore(folder / name, name, disk, log_bytes=LOG_BYTES)
    remove = weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)  # also after an interrupt

    def close() -> None:
        store.abandon()
        disk.close()
        remove()

    return ScenarioStore(store, disk.fail_syncs, close)


def _nothing() -> None:
    """Do nothing: the simulated disk needs no release."""


class Kind(Struct, frozen=True, eq=False):
    """A kind of store.

    Args:
        begin: Takes a queue manager's name, and opens a new store for it.
        disk: The name of the store's disk in the journal.
    """

    begin: Callable[[str], ScenarioStore]
    disk: str


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "sqlite": Kind(_in_a_folder, "SQLite files whose flushes are watched"),
        "memory": Kind(_in_memory, "simulated disk"),
    }
)


def kind_of(store: str | None) -> tuple[str, Kind]:
    """Return the name and the kind of a store.

    Args:
        store: The store's name; None for ``sqlite``, the store of the reference server.

    Raises:
        LookupError: No store has this name.
    """
    name = store or next(iter(KINDS))
    if name not in KINDS:
        raise LookupError(unknown("store", name, KINDS))
    return name, KINDS[name]
