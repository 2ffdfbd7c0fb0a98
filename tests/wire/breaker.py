"""A proxy between a correct broker and the kit, which breaks the frames that pass.

Broker and proxy together are a broken broker: the kit's own proxy, with its faults, stands on the client's side of this
one.  `breaks` has the ways to break frames.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.faults.sightings import Direction
from assay_sdk.amqp.frames import Splitter

_CHUNK = 1 << 16
_STOP_S = 10


class Connection:
    """One connection through the proxy, on which the frames of both directions pass `passes`.

    Subclasses override `passes`.  This class changes nothing.
    """

    def __init__(self, writers: dict[Direction, asyncio.StreamWriter]) -> None:
        self._writers = writers
        self.tasks: set[asyncio.Task[None]] = set()

    async def passes(self, direction: Direction, frame: bytes) -> None:
        """Pass on a frame or protocol header; the next one of this direction waits until this method returns."""
        await self.send(direction, frame)

    async def send(self, direction: Direction, octets: bytes) -> None:
        """Send octets in a direction."""
        writer = self._writers[direction]
        writer.write(octets)
        await writer.drain()

    def later(self, job: Coroutine[Any, Any, None]) -> None:
        """Run a job beside the frames; the end of the connection cancels it."""
        task = asyncio.ensure_future(job)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


class Breaker:
    """A proxy in front of one broker, on a port of its own.

    Args:
        kind: Makes the object through which the frames of a connection pass.
    """

    def __init__(self, kind: Callable[[dict[Direction, asyncio.StreamWriter]], Connection]) -> None:
        self.kind = kind
        self._target = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="breaker", daemon=True)
        self._thread.start()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = self._do(self._listen())

    def before(self, port: int) -> int:
        """Stand before the broker at this port, for new connections; return the proxy's own port."""
        self._target = port
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    def close(self) -> None:
        """Cut all connections, and end the proxy's thread."""
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)
        self._loop.close()

    def _do(self, job: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(job, self._loop).result()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accept, LOOPBACK, 0)

    async def _end(self) -> None:
        self._server.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_broker, to_broker = await asyncio.open_connection(LOOPBACK, self._target)
        except OSError:
            writer.transport.abort()
            return
        writers = {Direction.TO_BROKER: to_broker, Direction.TO_CLIENT: writer}
        connection = self.kind(writers)
        pumps = {
            asyncio.ensure_future(_pump(connection, Direction.TO_BROKER, reader)),
            asyncio.ensure_future(_pump(connection, Direction.TO_CLIENT, from_broker)),
        }
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending = (*pumps, *connection.tasks)
            for task in ending:
                task.cancel()
            ends = await asyncio.gather(*ending, return_exceptions=True)
            to_broker.transport.abort()
            writer.close()
        for end in ends:
            if isinstance(end, Exception):
                raise end


async def _pump(connection: Connection, direction: Direction, reader: asyncio.StreamReader) -> None:
    splitter = Splitter()
    try:
        while octets := await reader.read(_CHUNK):
            for frame in splitter.feed(octets):
                await connection.passes(direction, frame)
    except OSError:
        return
