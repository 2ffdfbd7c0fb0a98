"""A TCP proxy between clients and a broker, for faults of connections.

The proxy can cut connections, delay their data, and stop one direction of all connections (half-open connections). It
also causes faults at an instant of the protocol: before or after the broker's answer to a message, or when a consumer
receives a message.

The proxy reads AMQP 1.0 frames and changes nothing in them; it passes other protocols on unread. One asyncio loop on
its own thread does all the work. Any other thread may call the methods.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from assay_adapters.containers.host_ports import LOOPBACK, hold_port, port_of
from assay_adapters.faults.sightings import Conversation, Direction, Passing, What
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.faults import AfterAnswer, Arrival, BeforeAnswer, FirstSight
from assay_sdk.amqp.frames import Splitter
from assay_sdk.amqp.types import DecodeError

T = TypeVar("T")

_CHUNK = 1 << 16
_AMQP = b"AMQP"
"""The octets with which each direction of an AMQP connection begins (AMQP 1.0, 2.2)."""
_TLS_HEADER = b"AMQP\x02"
"""The protocol header of AMQP's TLS layer (AMQP 1.0, 5.2), after which all octets are encrypted."""
_STOP_LIMIT_S = 10
"""The time within which the proxy's thread must end, in seconds, after all connections have been cut."""

Strike = Callable[[], None]
"""A function that causes a fault, on its own thread; later frames in the same direction wait until it returns."""

Instant = Arrival | BeforeAnswer | AfterAnswer | FirstSight


class _Armed:
    """A fault that waits for its trigger, and happens once.

    Args:
        strike: Causes the fault.
        instant: The trigger.
        done: Called after the fault.
    """

    def __init__(self, strike: Strike, instant: Instant, done: Callable[[_Armed], None]) -> None:
        self.instant = instant
        self._strike = strike
        self._done = done
        self._struck: asyncio.Future[None] | None = None

    async def fire(self) -> None:
        """Cause the fault, and wait until it has happened; later calls only wait."""
        if self._struck is None:
            self._struck = asyncio.ensure_future(asyncio.to_thread(self._strike))
            self._struck.add_done_callback(lambda _: self._done(self))
        await asyncio.shield(self._struck)

    async def settle(self) -> None:
        """Wait until the fault has happened, if it has begun."""
        if self._struck is not None:
            await self.fire()


class _Line:
    """One proxied connection: a client's socket, and the proxy's socket to the broker."""

    def __init__(self, client: asyncio.StreamWriter, broker: asyncio.StreamWriter) -> None:
        self.writers: Mapping[Direction, asyncio.StreamWriter] = {
            Direction.TO_BROKER: broker,
            Direction.TO_CLIENT: client,
        }
        self.conversation = Conversation()
        self.over = asyncio.Event()
        self.gone = asyncio.Event()
        for writer in self.writers.values():
            # With this limit, `drain` waits until the kernel has all octets. With 0, asyncio's TLS stays paused.
            is_tls = writer.get_extra_info("sslcontext") is not None
            writer.transport.set_write_buffer_limits(high=int(is_tls), low=0)

    def cut(self) -> None:
        """End the connection: the client still gets all octets written to it, but the broker gets no more."""
        self.over.set()
        self.writers[Direction.TO_BROKER].transport.abort()
        self.writers[Direction.TO_CLIENT].close()


class Proxy:
    """A proxy for one broker, on a loopback port that stays the same until the proxy is closed.

    Args:
        broker: The port of the broker, which the caller may change while the proxy is shut.
        host: The broker's host.
        tls: The context of TLS between the proxy and the broker; clients connect without TLS. None for no TLS.
    """

    def __init__(self, broker: int, host: str = LOOPBACK, tls: ssl.SSLContext | None = None) -> None:
        self.broker = broker
        self._host = host
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="assay-proxy", daemon=True)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._held: socket.socket | None = None
        """Holds the port while the proxy is shut."""
        self._lines: set[_Line] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._latency_s = 0.0
        self._gates = {direction: asyncio.Event() for direction in Direction}
        self._armed: list[_Armed] = []
        self._sighted: set[str] = set()
        for gate in self._gates.values():
            gate.set()

    def start(self) -> None:
        """Begin to listen on a free port, and hold it until `close`.

        Raises:
            BackendError: No port is free.
        """
        self._held = hold_port()
        self._port = port_of(self._held)
        self._thread.start()
        self.open()

    @property
    def port(self) -> int:
        """The proxy's loopback port, for clients."""
        return self._port

    @property
    def connections(self) -> int:
        """The number of connections that the proxy carries now."""
        return len(self._lines)

    @property
    def is_open(self) -> bool:
        """Whether the proxy accepts clients."""
        return self._server is not None

    def open(self) -> None:
        """Accept clients again, on the same port.

        Raises:
            BackendError: Another program uses the port.
        """
        self._do(self._open())

    def shut(self) -> None:
        """Refuse new connections, as a machine without a broker does; existing connections stay."""
        self._do(self._shut())

    def cut(self) -> None:
        """Cut every connection; clients may connect again."""
        self._do(self._cut())

    def pause(self, *directions: Direction) -> None:
        """Stop forwarding octets in these directions; without arguments, in both. The connections stay open."""
        self._do(self._set_gates(directions or tuple(Direction), is_open=False))

    def resume(self, *directions: Direction) -> None:
        """Forward octets again, in order, in these directions; without arguments, in both."""
        self._do(self._set_gates(directions or tuple(Direction), is_open=True))

    def slow(self, latency_ms: int) -> None:
        """Delay each piece of data in both directions by `latency_ms` milliseconds; 0 ends the delay."""
        self._do(self._set_latency(latency_ms / 1_000))

    def arm(self, instant: Instant, strike: Strike) -> None:
        """Cause a fault, once, at an instant of the protocol.

        - `Arrival`: when the proxy has passed the message on to the broker, before it passes on anything later.
        - `BeforeAnswer`: when the broker's answer to the message reaches the proxy. The proxy does not forward the
          answer, and cuts its connection.
        - `AfterAnswer`: when the proxy has forwarded the answer to the client, before it forwards anything later.
        - `FirstSight`: when `seen` is called, or when the client settles the message after a call of `sighted`,
          whichever is first. The proxy does not forward such a settlement, and cuts its connection. The proxy forwards
          a settlement that comes before the call of `sighted`, for example from a client that confirms messages by
          itself.

        Args:
            instant: The instant, with the message's key.
            strike: Causes the fault; the proxy calls it on another thread.
        """
        self._do(self._arm(_Armed(strike, instant, self._armed.remove)))

    def sighted(self, key: str) -> None:
        """Note that a consumer has received this message; its settlement then causes the fault armed with `FirstSight`.

        Call this method before the consumer can settle the message. Then call `seen` when all observers have noted
        the sighting.
        """
        self._sighted.add(key)

    def seen(self, key: str) -> None:
        """Start the faults that wait for a consumer's first reception of this message, without waiting for them."""
        self._sighted.add(key)
        self._loop.call_soon_threadsafe(self._seen, key)

    def close(self) -> None:
        """Cut all connections, and end the proxy's thread."""
        if not self._thread.is_alive():
            return
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_LIMIT_S)
        self._loop.close()
        if self._held is not None:
            self._held.close()

    # --- methods that run on the proxy's loop

    def _do(self, job: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(job, self._loop).result()

    async def _open(self) -> None:
        if self._server is not None:
            return
        try:
            self._server = await asyncio.start_server(self._accept, LOOPBACK, self._port)
        except OSError as error:
            raise BackendError(f"the proxy cannot listen on {LOOPBACK}:{self._port}: {error}") from error

    async def _shut(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            for listener in server.sockets:
                self._loop.remove_reader(listener.fileno())
            await asyncio.sleep(0)  # Python 3.11 loses a connection if the server closes while accepting it
            server.close()

    async def _cut(self) -> None:
        lines = tuple(self._lines)
        for line in lines:
            line.cut()
        for line in lines:
            await line.gone.wait()

    async def _set_gates(self, directions: Iterable[Direction], *, is_open: bool) -> None:
        for direction in directions:
            gate = self._gates[direction]
            gate.set() if is_open else gate.clear()

    async def _set_latency(self, latency_s: float) -> None:
        self._latency_s = latency_s

    async def _arm(self, armed: _Armed) -> None:
        self._armed.append(armed)

    async def _end(self) -> None:
        await self._shut()
        await self._cut()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for armed in tuple(self._armed):
            await armed.settle()

    def _seen(self, key: str) -> None:
        self._run(self._strike(FirstSight, key))

    def _run(self, job: Coroutine[Any, Any, object]) -> None:
        task = self._loop.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- connections

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._run(self._carry(reader, writer))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_broker, to_broker = await asyncio.open_connection(self._host, self.broker, ssl=self._tls)
        except OSError:
            writer.transport.abort()  # the broker ended before the proxy could connect to it
            return
        except asyncio.CancelledError:
            writer.transport.abort()  # the proxy was closed before it could connect
            raise
        line = _Line(writer, to_broker)
        self._lines.add(line)
        pumps = (
            asyncio.ensure_future(self._pump(line, Direction.TO_BROKER, reader)),
            asyncio.ensure_future(self._pump(line, Direction.TO_CLIENT, from_broker)),
        )
        try:
            await line.over.wait()
        finally:
            line.cut()
            for pump in pumps:
                pump.cancel()
            ends = await asyncio.gather(*pumps, return_exceptions=True)
            self._lines.discard(line)
            line.gone.set()
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _pump(self, line: _Line, direction: Direction, reader: asyncio.StreamReader) -> None:
        """Pass the octets of one direction on, until the sender ends its stream.

        When the broker ends its stream, the connection ends. When the client ends its stream, it still gets the
        broker's answers.
        """
        splitter: Splitter | None = Splitter()
        begun = False
        try:
            while octets := await reader.read(_CHUNK):
                if not begun and not _AMQP.startswith(octets[: len(_AMQP)]):
                    splitter = None  # another protocol, whose first octets are not the length of a frame
                begun = True
                if splitter is None:
                    await self._write(line, direction, octets)
                elif not await self._pass_on(line, direction, splitter, octets):
                    splitter = None
            await self._write(line, direction, b"" if splitter is None else splitter.rest)
            if direction is Direction.TO_BROKER and line.writers[direction].can_write_eof():  # TLS has no half-close
                line.writers[direction].write_eof()
        except OSError:
            line.cut()
        except BaseException:  # a cancellation, too: `_carry` waits for `over`
            line.over.set()
            raise
        if direction is Direction.TO_CLIENT:
            line.over.set()

    async def _pass_on(self, line: _Line, direction: Direction, splitter: Splitter, octets: bytes) -> bool:
        """Pass complete frames on, and cause the faults that wait for them.

        Returns:
            False if the octets are not AMQP frames, or if TLS begins after them; then the proxy passes all later octets
            on unread.
        """
        try:
            for frame in splitter.feed(octets):
                passings = line.conversation.read(direction, frame)
                if await self._holds(passings):
                    line.cut()
                    return True
                await self._write(line, direction, frame)
                await self._fire(passings, What.SENT, Arrival)
                await self._fire(passings, What.ANSWERED, AfterAnswer)
                if frame.startswith(_TLS_HEADER):
                    break
            else:
                return True
        except DecodeError:
            pass  # the octets belong to another protocol
        await self._write(line, direction, splitter.rest)
        return False

    async def _write(self, line: _Line, direction: Direction, octets: bytes) -> None:
        await self._gates[direction].wait()
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        writer = line.writers[direction]
        writer.write(octets)
        await writer.drain()

    async def _holds(self, passings: tuple[Passing, ...]) -> bool:
        """Cause the faults that are due before a frame; return whether any was due.

        If any was due, the proxy does not forward the frame.
        """
        answered = await self._fire(passings, What.ANSWERED, BeforeAnswer)
        sighted = tuple(passing for passing in passings if passing.key in self._sighted)
        settled = await self._fire(sighted, What.SETTLED, FirstSight)
        return answered or settled

    async def _fire(self, passings: tuple[Passing, ...], what: What, kind: type[Instant]) -> bool:
        """Cause the faults that wait for this kind of event of these messages; return whether any happened."""
        fired = False
        for passing in passings:
            if passing.what is what:
                fired |= await self._strike(kind, passing.key)
        return fired

    async def _strike(self, kind: type[Instant], key: str) -> bool:
        due = [one for one in self._armed if isinstance(one.instant, kind) and one.instant.key == key]
        for armed in due:
            await armed.fire()
        return bool(due)
