"""A TCP proxy between clients and a broker: what a fault needs in the middle of the wire.

It cuts connections, holds a direction up (half-open lines), and does something at an instant of the protocol: before or
after the broker's answer to a message, or once a consumer has been handed one.  It reads AMQP 1.0 frames and changes
nothing in them; a line that turns out to speak something else is passed on as it comes.

One asyncio loop in a thread of its own carries everything; the methods may be called from any other thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from assay_adapters.containers.container import LOOPBACK, pick_port
from assay_adapters.faults.sightings import Conversation, Direction, Passing, What
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.faults import AfterAnswer, BeforeAnswer, FirstSight
from assay_sdk.amqp.frames import Splitter
from assay_sdk.amqp.types import DecodeError

T = TypeVar("T")

_CHUNK = 1 << 16
_TLS_HEADER = b"AMQP\x02"
"""What follows the header of AMQP's own security layer (5.2) is encrypted."""
_STOP_LIMIT_S = 10
"""How long the proxy's own thread may take to end: what it waits for has been cut before."""

Strike = Callable[[], None]
"""Brings a fault about, on a thread of its own; nothing passes at the place of its trigger before it returns."""

Instant = BeforeAnswer | AfterAnswer | FirstSight


class _Armed:
    """A strike that waits for its instant; done once.

    Args:
        strike: What is done.
        instant: When.
        done: Told when it is over.
    """

    def __init__(self, strike: Strike, instant: Instant, done: Callable[[_Armed], None]) -> None:
        self.instant = instant
        self._strike = strike
        self._done = done
        self._struck: asyncio.Future[None] | None = None

    async def fire(self) -> None:
        """Do it; whoever comes second waits until it is done."""
        if self._struck is None:
            self._struck = asyncio.ensure_future(asyncio.to_thread(self._strike))
            self._struck.add_done_callback(lambda _: self._done(self))
        await asyncio.shield(self._struck)

    async def settle(self) -> None:
        """Wait until it is done, if it has begun."""
        if self._struck is not None:
            await self.fire()


class _Line:
    """One connection: a client's socket, and ours to the broker."""

    def __init__(self, client: asyncio.StreamWriter, broker: asyncio.StreamWriter) -> None:
        self.writers: Mapping[Direction, asyncio.StreamWriter] = {
            Direction.TO_BROKER: broker,
            Direction.TO_CLIENT: client,
        }
        self.conversation = Conversation()
        self.over = asyncio.Event()
        self.gone = asyncio.Event()
        for writer in self.writers.values():
            writer.transport.set_write_buffer_limits(0)  # `drain` then returns when the kernel has everything

    def cut(self) -> None:
        """End it: the client still gets what was written to it before, the broker gets nothing more."""
        self.over.set()
        self.writers[Direction.TO_BROKER].transport.abort()
        self.writers[Direction.TO_CLIENT].close()


class Proxy:
    """Stands before one broker, on a port of the loopback address that stays the same until it is closed.

    Args:
        broker: The port of the loopback address at which the broker listens; may change while no client is let in.
    """

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="assay-proxy", daemon=True)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._lines: set[_Line] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._gates = {direction: asyncio.Event() for direction in Direction}
        self._armed: list[_Armed] = []
        self._sighted: set[str] = set()
        for gate in self._gates.values():
            gate.set()

    def start(self) -> None:
        """Begin to listen, on a port that no outgoing connection takes while nobody is let in.

        Raises:
            BackendError: No port can be had.
        """
        self._port = pick_port()
        self._thread.start()
        self.open()

    @property
    def port(self) -> int:
        """Where clients connect, on the loopback address."""
        return self._port

    @property
    def connections(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def open(self) -> None:
        """Let clients in again; on the port that it had.

        Raises:
            BackendError: The port cannot be had.
        """
        self._do(self._open())

    def shut(self) -> None:
        """Let nobody in: whoever connects is refused, as by a machine on which no broker runs."""
        self._do(self._shut())

    def cut(self) -> None:
        """Cut every connection; the broker goes on, and clients may come again."""
        self._do(self._cut())

    def pause(self, *directions: Direction) -> None:
        """Let nothing through, in these directions or in both: the lines stay, and whoever waits for the peer waits."""
        self._do(self._set_gates(directions or tuple(Direction), is_open=False))

    def resume(self, *directions: Direction) -> None:
        """Let everything through again, in these directions or in both, in order."""
        self._do(self._set_gates(directions or tuple(Direction), is_open=True))

    def arm(self, instant: Instant, strike: Strike) -> None:
        """Do something, once, at an instant of the protocol.

        - `BeforeAnswer`: when the broker's answer to the message has come here; it goes no further, its line is cut.
        - `AfterAnswer`: when that answer has been handed to the client's machine, before anything behind it.
        - `FirstSight`: when `seen` is told, or at a settlement of the message by the client once `sighted` was told,
          whichever is first; no such settlement goes further from here, and the line on which one comes is cut.  What
          is settled before it is sighted, as by a client that confirms by itself, passes.
        """
        self._do(self._arm(_Armed(strike, instant, self._armed.remove)))

    def sighted(self, kid: str) -> None:
        """A consumer is being handed this message: no settlement of it passes any more.  Returns at once.

        To be told before the consumer can settle it; `seen`, when everybody else has noted the sighting.
        """
        self._sighted.add(kid)

    def seen(self, kid: str) -> None:
        """A consumer has been handed this message: for whoever waits for its first sight.  Returns at once."""
        self._sighted.add(kid)
        self._loop.call_soon_threadsafe(self._seen, kid)

    def close(self) -> None:
        """Cut everything and end."""
        if not self._thread.is_alive():
            return
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_LIMIT_S)
        self._loop.close()

    # --- on the loop

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

    def _seen(self, kid: str) -> None:
        self._run(self._strike(FirstSight, kid))

    def _run(self, job: Coroutine[Any, Any, object]) -> None:
        task = self._loop.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- lines

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._run(self._carry(reader, writer))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_broker, to_broker = await asyncio.open_connection(LOOPBACK, self.broker)
        except OSError:
            writer.transport.abort()  # it went away between the client's knock and ours
            return
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
        """Pass one direction on, until its end.

        When the broker has ended, so has the line; a client that has said all it had to say still gets answers.
        """
        splitter: Splitter | None = Splitter()
        try:
            while octets := await reader.read(_CHUNK):
                if splitter is None:
                    await self._write(line, direction, octets)
                elif not await self._pass_on(line, direction, splitter, octets):
                    splitter = None
            await self._write(line, direction, b"" if splitter is None else splitter.rest)
            if direction is Direction.TO_BROKER:
                line.writers[direction].write_eof()
        except OSError:
            line.cut()
        except BaseException:  # cancelled, too: whoever closes the line waits for this
            line.over.set()
            raise
        if direction is Direction.TO_CLIENT:
            line.over.set()

    async def _pass_on(self, line: _Line, direction: Direction, splitter: Splitter, octets: bytes) -> bool:
        """Pass frames on as they get complete.

        Returns:
            Whether these are frames: what is none, and all behind it, is nobody's to read.
        """
        try:
            for frame in splitter.feed(octets):
                passings = line.conversation.look(direction, frame)
                if await self._holds(passings):
                    line.cut()
                    return True
                await self._write(line, direction, frame)
                await self._fire(passings, What.ANSWERED, AfterAnswer)
                if frame.startswith(_TLS_HEADER):
                    break
            else:
                return True
        except DecodeError:
            pass  # nobody's to read
        await self._write(line, direction, splitter.rest)
        return False

    async def _write(self, line: _Line, direction: Direction, octets: bytes) -> None:
        await self._gates[direction].wait()
        writer = line.writers[direction]
        writer.write(octets)
        await writer.drain()

    async def _holds(self, passings: tuple[Passing, ...]) -> bool:
        """Do what is to be done before this passes; whether it must not pass any more."""
        answered = await self._fire(passings, What.ANSWERED, BeforeAnswer)
        sighted = tuple(passing for passing in passings if passing.kid in self._sighted)
        settled = await self._fire(sighted, What.SETTLED, FirstSight)
        return answered or settled

    async def _fire(self, passings: tuple[Passing, ...], what: What, kind: type[Instant]) -> bool:
        """Do what has been armed for this, and wait for what is being done."""
        fired = False
        for passing in passings:
            if passing.what is what:
                fired |= await self._strike(kind, passing.kid)
        return fired

    async def _strike(self, kind: type[Instant], kid: str) -> bool:
        due = [one for one in self._armed if isinstance(one.instant, kind) and one.instant.kid == kid]
        for armed in due:
            await armed.fire()
        return bool(due)
