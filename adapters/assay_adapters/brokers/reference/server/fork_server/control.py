"""Control of a server from inside its process: faults that neither a client nor an administrator can cause.

The server runs the code of `assay broker`. `ServerControl` replaces only the factory of the server's parts: it keeps
references to the queue manager and the store, and carries out the controls that it reads from a pipe.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from assay_adapters.brokers.reference.server.fork_server.messages import (
    BlockWrites,
    Control,
    ControlEvent,
    Controlled,
    CutPower,
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
from assay_broker.server.parts import ClientListenerPort, ListenerPort, Parts
from assay_broker.shell import QueueManager
from assay_broker.stores import Operation, StoreError
from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.watched import WatchedDisk
from assay_sdk.time import NS_PER_MS, Runner

if TYPE_CHECKING:
    from assay_broker.http.requests.request import ConnectionView

_READ_SIZE = 1 << 16
_KEYS_PER_EVENT = 16
"""The largest number of message keys in one event.

An event's line must be shorter than PIPE_BUF, so that the lines of several servers do not mix in the pipe.
"""


class FalteringStore(SqliteStore):
    """A store in a folder, with flushes that the kit can make fail."""

    failing = 0
    """The number of flushes that still have to fail."""

    def begin_flush(self) -> Callable[[], None] | None:
        """Begin to flush all written records, or fail if the kit has asked for a failure.

        Returns:
            The function that waits for the disk, on any thread; None if the store has no written records.

        Raises:
            StoreError: The flush failed, and the store has dropped the records.
        """
        if self.failing:
            self.failing -= 1
            self.drop()
            raise StoreError("The kit made the store fail.")
        return super().begin_flush()


class ServerControl:
    """A factory of a server's parts (`assay_broker.server.parts.Parts`), which carries out the kit's controls on them.

    Args:
        parts: The factory that makes the parts.
        control: The file descriptor of the pipe with the controls.
        tell: Reports an event to the kit.
        disk: The disk whose power the kit can cut; None for the disk of this machine.
    """

    def __init__(
        self, parts: Parts, control: int, tell: Callable[[ControlEvent], None], disk: WatchedDisk | None = None
    ) -> None:
        self._disk = disk
        self._parts = parts
        self._control = control
        self._tell = tell
        self._rest = b""
        self._queue_manager: QueueManager | None = None
        self._store: FalteringStore | None = None
        self._blocked: dict[str, Callable[[], None]] = {}

    def open_store(self, options: ServerOptions) -> FalteringStore:
        """Open a store whose flushes the kit can make fail.

        Raises:
            StoreError: The store cannot be opened.
            ValueError: The options name no data folder.
        """
        if options.data is None:
            raise ValueError("a server that the kit controls needs a data folder")
        self._store = FalteringStore(options.data, options.name, self._disk)
        return self._store

    # Parts -----------------------------------------------------------------------------------------------------------

    def secure(self, options: ServerOptions) -> None:
        """Read the users and the certificates."""
        self._parts.secure(options)

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> ClientListenerPort:
        """Make the AMQP listener, and begin to read controls."""
        self._queue_manager = queue_manager
        asyncio.get_running_loop().add_reader(self._control, self._listen)
        return self._parts.amqp(options, queue_manager, runner)

    def stomp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> ClientListenerPort:
        """Make the STOMP listener."""
        return self._parts.stomp(options, queue_manager, runner)

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> ListenerPort:
        """Make the HTTP listener for administrators."""
        return self._parts.http(options, queue_manager, runner, views)

    # private methods -------------------------------------------------------------------------------------------------

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
            raise RuntimeError("the kit sent a control before the server had its queue manager and store")
        match control:
            case FailStore(times=times):
                self._store.failing = times
            case SlowDisk(ms=ms):
                self._queue_manager.slow_disk(ms * NS_PER_MS)
            case EndWorker():
                self._queue_manager.worker_dies()
            case BlockWrites(queue=queue):
                self._blocked[queue] = self._queue_manager.block_writes(queue)
            case UnblockWrites(queue=queue):
                self._blocked.pop(queue, _nothing)()
            case WatchDisk():
                self._store.observe(self._seen)
            case CutPower():
                self._lose_power()

    def _lose_power(self) -> None:
        if self._disk is None:
            raise RuntimeError("the kit cut the power of a server whose disk cannot lose its power")
        self._disk.lose_power()
        os.kill(os.getpid(), signal.SIGKILL)

    def _seen(self, operation: Operation, records: tuple[Record, ...]) -> None:
        messages = [record.message for record in records if isinstance(record, MessageStored)]
        stored = (key_of(message if message.properties else opened(message)) for message in messages)
        keys = tuple(key for key in stored if key is not None)
        now_ns = time.monotonic_ns()
        for batch in _batched(keys, _KEYS_PER_EVENT):
            self._tell(DiskSeen(os.getpid(), operation, batch, now_ns))


def _nothing() -> None:
    """Do nothing: the server has no blocked writes for the queue."""


def _batched(keys: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """Split the keys into tuples of at most `size` keys."""
    return (keys[at : at + size] for at in range(0, len(keys), size))
