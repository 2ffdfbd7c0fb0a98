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

from assay_adapters.suggestions import unknown
from assay_broker.stores import Observer, Store
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.watched import WatchedDisk

LOG_BYTES = 1 << 20
"""The initial size of the log: a scenario writes little, and each begins with a new log."""


class WatchedStore(Store, Protocol):
    """A store whose steps can be observed."""

    def observe(self, observer: Observer) -> None:
        """Tell an observer each write, flush and drop."""
        ...


class ScenarioStore(Struct, frozen=True, eq=False):
    """A store with the functions that a test needs.

    Args:
        store: The store.
        fail: Makes this many of its next flushes fail.
        close: Releases its disk or folder.
    """

    store: WatchedStore
    fail: Callable[[int], None]
    close: Callable[[], None]


def _in_memory(_name: str) -> ScenarioStore:
    store = MemoryStore()
    return ScenarioStore(store, store.fail, _nothing)


def _in_a_folder(name: str) -> ScenarioStore:
    """Return a store in a temporary folder, which is removed with it; the journal keeps what a scenario needs."""
    folder = Path(tempfile.mkdtemp(prefix="assay-store-"))
    disk = WatchedDisk(through=False)  # a kill takes back what was not flushed, so this machine's disk need not flush
    store = SqliteStore(folder / name, name, disk, log_bytes=LOG_BYTES)
    remove = weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)  # also after an interrupted scenario

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
        begin: Opens a new store for the queue manager of this name.
        disk: The journal's name of the disk below it.
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
        store: Its name; None for ``sqlite``, the store that a server has.

    Raises:
        LookupError: There is none of that name.
    """
    name = store or next(iter(KINDS))
    if name not in KINDS:
        raise LookupError(unknown("store", name, KINDS))
    return name, KINDS[name]
