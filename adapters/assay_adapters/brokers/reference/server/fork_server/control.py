"""The kit's hand inside a server process: what no client and no administrator can bring about.

The server is the same; only what it is put together from is handed out by somebody who keeps hold of the queue manager
and of its store, and does what he is told over a pipe.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay_adapters.brokers.reference.server.fork_server.messages import (
    BlockWrites,
    DiskSeen,
    EndWorker,
    FailStore,
    HandNews,
    Numbered,
    SlowDisk,
    Touch,
    Touched,
    UnblockWrites,
    WatchDisk,
)
from assay_adapters.clients.events import KID
from assay_broker.core.records import MessageStored, Record
from assay_broker.server.options import ServerOptions
from assay_broker.server.parts import AmqpGate, Gate, Parts
from assay_broker.shell import QueueManager
from assay_broker.stores import Operation, StoreError
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from assay_broker.http.requests import ConnectionView

_READ_SIZE = 1 << 16
_KIDS_A_LINE = 16
"""A line of news is not longer than what a pipe takes whole."""


class FalteringStore(SqliteStore):
    """A store in a folder whose next flushes fail when the kit says so."""

    failing = 0
    """How many of the next flushes fail."""

    def begin_flush(self) -> Callable[[], None] | None:
        """Give the disk everything written.

        Raises:
            StoreError: It cannot be made durable; it is dropped.
        """
        if self.failing:
            self.failing -= 1
            self.drop()
            raise StoreError("The kit has had the store fail.")
        return super().begin_flush()


class Hand:
    """Holds what the server is put together from (`assay_broker.server.parts.Parts`).

    Args:
        parts: Makes it.
        control: File descriptor from which touches are read.
        tell: Takes what there is to tell.
    """

    def __init__(self, parts: Parts, control: int, tell: Callable[[HandNews], None]) -> None:
        self._parts = parts
        self._control = control
        self._tell = tell
        self._rest = b""
        self._queue_manager: QueueManager | None = None
        self._store: FalteringStore | None = None
        self._blocked: dict[str, Callable[[], None]] = {}

    def open_store(self, options: ServerOptions) -> FalteringStore:
        """Open the store as one whose flushes can be made to fail.

        Raises:
            StoreError: It cannot be opened.
            ValueError: The server was asked to keep everything in memory.
        """
        if options.data is None:
            raise ValueError("a server that the kit hurts keeps its data in a folder")
        self._store = FalteringStore(options.data, options.name)
        return self._store

    # Parts -----------------------------------------------------------------------------------------------------------

    def secure(self, options: ServerOptions) -> None:
        """Read users and certificates."""
        self._parts.secure(options)

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> AmqpGate:
        """Make the gate for AMQP clients, and begin to listen to the kit."""
        self._queue_manager = queue_manager
        asyncio.get_running_loop().add_reader(self._control, self._listen)
        return self._parts.amqp(options, queue_manager, runner)

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> Gate:
        """Make the gate for administrators."""
        return self._parts.http(options, queue_manager, runner, views)

    # inside ----------------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        octets = os.read(self._control, _READ_SIZE)
        if not octets:
            asyncio.get_running_loop().remove_reader(self._control)  # the kit is no more
        *lines, self._rest = (self._rest + octets).split(b"\n")
        for line in lines:
            asked = msgspec.json.decode(line, type=Numbered)
            self._do(asked.touch)
            self._tell(Touched(os.getpid(), asked.number))

    def _do(self, touch: Touch) -> None:
        if self._queue_manager is None or self._store is None:
            raise RuntimeError("a server was touched before it was there")
        match touch:
            case FailStore(times=times):
                self._store.failing = times
            case SlowDisk(ms=ms):
                self._queue_manager.slow_disk(ms * 1_000_000)
            case EndWorker():
                self._queue_manager.worker_dies()
            case BlockWrites(queue=queue):
                self._blocked[queue] = self._queue_manager.block_writes(queue)
            case UnblockWrites(queue=queue):
                unblock = self._blocked.pop(queue, None)
                if unblock is not None:
                    unblock()
            case WatchDisk():
                self._store.observe(self._seen)

    def _seen(self, operation: Operation, records: tuple[Record, ...]) -> None:
        stored = (record.message.properties.get(KID) for record in records if isinstance(record, MessageStored))
        kids = tuple(kid for kid in stored if isinstance(kid, str))
        now_ns = time.monotonic_ns()
        for some in _batched(kids, _KIDS_A_LINE):
            self._tell(DiskSeen(os.getpid(), operation, some, now_ns))


def _batched(kids: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """The same, so many at a time."""
    return (kids[at : at + size] for at in range(0, len(kids), size))
