"""Control of a server from inside its process: faults that neither a client nor an administrator can cause.

The server is the usual one. `ServerControl` replaces the factory of its parts, keeps references to the queue manager
and the store, and carries out the controls that it reads from a pipe.
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
    Control,
    ControlEvent,
    Controlled,
    DiskSeen,
    EndWorker,
    FailStore,
    NumberedControl,
    SlowDisk,
    UnblockWrites,
    WatchDisk,
)
from assay_adapters.clients.keys import key_of
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageStored, Record
from assay_broker.server.options import ServerOptions
from assay_broker.server.parts import AmqpListenerPort, ListenerPort, Parts
from assay_broker.shell import QueueManager
from assay_broker.stores import Operation, StoreError
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from assay_broker.http.requests.request import ConnectionView

_READ_SIZE = 1 << 16
_KIDS_A_LINE = 16
"""Keeps a line of an event below PIPE_BUF, so that a pipe takes it whole."""


class FalteringStore(SqliteStore):
    """A store in a folder whose next flushes fail when the kit asks for it."""

    failing = 0
    """Number of the next flushes that fail."""

    def begin_flush(self) -> Callable[[], None] | None:
        """Flush everything that was written.

        Raises:
            StoreError: The flush failed; what was written is dropped.
        """
        if self.failing:
            self.failing -= 1
            self.drop()
            raise StoreError("The kit made the store fail.")
        return super().begin_flush()


class ServerControl:
    """Makes the parts of a server (`assay_broker.server.parts.Parts`), and keeps references to those that it controls.

    Args:
        parts: Makes them.
        control: The file descriptor from which it reads controls.
        tell: Called with each event.
    """

    def __init__(self, parts: Parts, control: int, tell: Callable[[ControlEvent], None]) -> None:
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
            raise ValueError("a server that the kit controls needs a data folder")
        self._store = FalteringStore(options.data, options.name)
        return self._store

    # Parts -----------------------------------------------------------------------------------------------------------

    def secure(self, options: ServerOptions) -> None:
        """Read users and certificates."""
        self._parts.secure(options)

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> AmqpListenerPort:
        """Make the AMQP listener, and begin to read controls."""
        self._queue_manager = queue_manager
        asyncio.get_running_loop().add_reader(self._control, self._listen)
        return self._parts.amqp(options, queue_manager, runner)

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> ListenerPort:
        """Make the HTTP listener for administrators."""
        return self._parts.http(options, queue_manager, runner, views)

    # inside ----------------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        octets = os.read(self._control, _READ_SIZE)
        if not octets:
            asyncio.get_running_loop().remove_reader(self._control)  # the kit has ended
        *lines, self._rest = (self._rest + octets).split(b"\n")
        for line in lines:
            asked = msgspec.json.decode(line, type=NumberedControl)
            self._do(asked.control)
            self._tell(Controlled(os.getpid(), asked.number))

    def _do(self, control: Control) -> None:
        if self._queue_manager is None or self._store is None:
            raise RuntimeError("a control came before the server was put together")
        match control:
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
        messages = [record.message for record in records if isinstance(record, MessageStored)]
        stored = (key_of(message if message.properties else opened(message)) for message in messages)
        keys = tuple(key for key in stored if key is not None)
        now_ns = time.monotonic_ns()
        for batch in _batched(keys, _KIDS_A_LINE):
            self._tell(DiskSeen(os.getpid(), operation, batch, now_ns))


def _batched(keys: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """Split into tuples of at most `size`."""
    return (keys[at : at + size] for at in range(0, len(keys), size))
