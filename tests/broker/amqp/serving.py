"""An AMQP server in a thread of its own, and a client that sends exactly the frames of a test."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar, cast

from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.listener import AmqpListener
from assay_broker.core.administration.changes import Change
from assay_broker.core.commands import Administer
from assay_broker.core.settings import Settings
from assay_broker.security import Security
from assay_broker.server.loops import new_loop
from assay_broker.shell import QueueManager
from assay_broker.stores import Store
from assay_broker.stores.memory import MemoryStore
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame
from assay_sdk.amqp.types import Described
from assay_sdk.runners.asynchronous import AsyncioRunner

LIMIT_S = 60.0
T = TypeVar("T")

OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
SOURCE, TARGET, COORDINATOR = 0x28, 0x29, 0x30
ACCEPTED, REJECTED, RELEASED, MODIFIED, DECLARED, TRANSACTIONAL = 0x24, 0x25, 0x26, 0x27, 0x33, 0x34
SENDER, RECEIVER = False, True


class Serving:
    """A running AMQP server in a thread, for tests of the reference broker."""

    def __init__(
        self,
        store: Callable[[AsyncioRunner], Store],
        settings: Settings | None,
        limits: AmqpLimits,
        security: Security,
        idle_timeout_ms: int,
    ) -> None:
        self.loop = new_loop(encrypted=security.tls is not None)
        self.errors: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.errors.append(context))
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

        async def start() -> None:
            self.runner = AsyncioRunner()
            self.queue_manager = QueueManager(self.runner, store(self.runner), settings)
            self.listener = AmqpListener(
                self.queue_manager, self.runner, security=security, limits=limits, idle_timeout_ms=idle_timeout_ms
            )
            await self.listener.start("127.0.0.1", 0)

        self.run(start())

    @property
    def port(self) -> int:
        return self.listener.address[1]

    @property
    def url(self) -> str:
        return f"amqp://127.0.0.1:{self.port}"

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the server's loop, and wait for its result."""
        return asyncio.run_coroutine_threadsafe(job, self.loop).result(LIMIT_S)

    def do(self, job: Callable[[], T]) -> T:
        """Call a function in the server's loop, and wait for its result."""

        async def call() -> T:
            return job()

        return self.run(call())

    def administer(self, change: Change) -> None:
        """Change an object as an administrator."""
        self.do(lambda: self._administer(change))

    def _administer(self, change: Change) -> None:
        peer = Quiet()
        number = self.queue_manager.connect(peer, 1, None)
        self.queue_manager.handle(Administer(number, 2, change))
        assert not peer.refused, peer.refused
        self.queue_manager.forget(number)

    def stop(self) -> None:
        self.run(self.listener.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(LIMIT_S)
        self.loop.close()


class Quiet:
    """A peer of the queue manager that remembers only refusals."""

    def __init__(self) -> None:
        self.refused: list[object] = []

    def answer(self, answer: Any, sent: Callable[[], None] | None) -> None:
        if answer.refused is not None:
            self.refused.append(answer.refused)
        if sent is not None:
            sent()

    def deliver(self, delivery: object) -> None:
        pass

    def close_link(self, closed: object) -> None:
        pass

    def lost(self, why: object) -> None:
        pass


@contextmanager
def serving(
    *,
    store: Callable[[AsyncioRunner], Store] = lambda _: MemoryStore(),
    settings: Settings | None = None,
    limits: AmqpLimits = AmqpLimits(),  # noqa: B008  a frozen value
    security: Security = Security(),  # noqa: B008  a frozen value
    idle_timeout_ms: int = 60_000,
) -> Iterator[Serving]:
    """Provide a server during the block; check at the end that it has logged no error."""
    server = Serving(store, settings, limits, security, idle_timeout_ms)
    try:
        yield server
    finally:
        server.stop()
    assert not server.errors, server.errors


def performative(code: int, *items: bytes) -> bytes:
    """Return a performative; an empty item is null."""
    return types.described(code, types.fields(item or types.null() for item in items))


def source(address: str | None, *items: bytes) -> bytes:
    return performative(SOURCE, types.string(address) if address is not None else b"", *items)


def target(address: str | None, *items: bytes) -> bytes:
    return performative(TARGET, types.string(address) if address is not None else b"", *items)


def message(text: str, *, to: str | None = None) -> bytes:
    properties = performative(0x73, b"", b"", types.string(to)) if to else b""
    return performative(0x70, types.boolean(value=True)) + properties + types.described(0x77, types.string(text))


class Seen:
    """A frame from the server."""

    def __init__(self, channel: int, code: int, fields: list[Any], payload: bytes) -> None:
        self.channel = channel
        self.code = code
        self.fields = fields
        self.payload = payload

    def at(self, position: int) -> Any:
        return self.fields[position] if position < len(self.fields) else None

    def error(self, position: int = 0) -> tuple[str, str]:
        """Return condition and description of an error field."""
        found = self.at(position)
        assert isinstance(found, Described), f"no error in {self}"
        fields = cast("list[Any]", found.value)
        return str(fields[0]), str(fields[1])

    def info(self, position: int = 0) -> dict[str, Any]:
        fields = cast("list[Any]", self.at(position).value)
        return {str(key): value for key, value in fields[2].items()}

    def __repr__(self) -> str:
        return f"{self.channel}: 0x{self.code:02x} {self.fields!r} +{len(self.payload)}"


class Raw:
    """A client that sends and receives single frames."""

    def __init__(self, port: int, *, header: bytes = PROTOCOL_HEADER) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
        self.socket.settimeout(LIMIT_S)
        self._rest = b""
        self._held: bytes | None = None
        self.longest = 0
        """The length of the longest frame from the server, in octets."""
        self.socket.sendall(header)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def say(self, code: int, *items: bytes, channel: int = 0, payload: bytes = b"") -> None:
        self.raw(frame(performative(code, *items) + payload, channel=channel))

    def raw(self, octets: bytes) -> None:
        if self._held is None:
            self.socket.sendall(octets)
        else:
            self._held += octets

    @contextmanager
    def in_one_piece(self) -> Iterator[None]:
        """Collect the frames of the block, and send them in one write."""
        self._held = b""
        yield
        octets, self._held = self._held, None
        self.raw(octets)

    def read(self) -> Seen | None:
        """Return the next frame; None at the end."""
        while True:
            part = self._take(8)
            if part is None:
                return None
            if part.startswith(b"AMQP"):
                continue
            size = int.from_bytes(part[:4])
            self.longest = max(self.longest, size)
            body = self._take(size - 8) if size > 8 else b""
            assert body is not None
            if not body:
                continue  # a heartbeat
            reader = types.Reader(body)
            found = cast("Described", reader.value())
            return Seen(
                int.from_bytes(part[6:8]),
                cast("int", found.descriptor),
                cast("list[Any]", found.value),
                body[reader.at :],
            )

    @property
    def more_has_come(self) -> bool:
        """Whether further bytes arrived together with the last frame."""
        return bool(self._rest)

    def _take(self, size: int) -> bytes | None:
        while len(self._rest) < size:
            try:
                octets = self.socket.recv(65536)
            except ConnectionResetError:
                octets = b""
            if not octets:
                assert not self._rest, "the line ends within a frame"
                return None
            self._rest += octets
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def wait(self, code: int, channel: int | None = None) -> Seen:
        """Return the next frame of this kind; drop the frames before it."""
        while (seen := self.read()) is not None:
            if seen.code == code and channel in {None, seen.channel}:
                return seen
            assert seen.code != CLOSE or code == CLOSE, f"closed instead: {seen}"
        raise AssertionError(f"the server hung up before 0x{code:02x}")

    # --- whole exchanges

    def open(self, container: str = "raw", *items: bytes) -> Seen:
        self.say(OPEN, types.string(container), *items)
        return self.wait(OPEN)

    def begin(self, channel: int = 0) -> Seen:
        self.say(BEGIN, b"", types.uint(0), types.uint(1000), types.uint(1000), channel=channel)
        return self.wait(BEGIN)

    def attach(
        self,
        name: str,
        role: bool,
        handle: int = 0,
        *,
        source: bytes = b"",
        target: bytes = b"",
        settled: bool = False,
        second: bool = False,
        desired: bytes = b"",
        channel: int = 0,
        wait: bool = True,
    ) -> Seen:
        self.say(
            ATTACH,
            types.string(name),
            types.uint(handle),
            types.boolean(role),
            types.ubyte(1 if settled else 0),
            types.ubyte(1 if second else 0),
            source,
            target,
            b"",
            b"",
            b"" if role else types.uint(0),
            b"",
            b"",
            desired,
            channel=channel,
        )
        return self.wait(ATTACH) if wait else Seen(0, 0, [], b"")

    def credit(self, handle: int, credit: int, *, count: int = 0, drain: bool = False, next_in: int = 0) -> None:
        self.say(
            FLOW,
            types.uint(next_in),
            types.uint(1000),
            types.uint(0),
            types.uint(1000),
            types.uint(handle),
            types.uint(count),
            types.uint(credit),
            b"",
            types.boolean(drain),
        )

    def transfer(
        self,
        number: int,
        octets: bytes,
        handle: int = 0,
        *,
        settled: bool = False,
        more: bool = False,
        state: bytes = b"",
        aborted: bool = False,
        channel: int = 0,
    ) -> None:
        self.say(
            TRANSFER,
            types.uint(handle),
            types.uint(number),
            types.binary(str(number).encode()),
            types.uint(0),
            types.boolean(settled),
            types.boolean(more),
            b"",
            state,
            b"",
            types.boolean(aborted),
            channel=channel,
            payload=octets,
        )

    def settle(self, number: int, state: bytes = b"", *, settled: bool = True, last: int | None = None) -> None:
        self.say(
            DISPOSITION,
            types.boolean(RECEIVER),
            types.uint(number),
            types.uint(number if last is None else last),
            types.boolean(settled),
            state or performative(ACCEPTED),
        )

    def close(self) -> None:
        self.say(CLOSE)
        self.wait(CLOSE)


@contextmanager
def raw(server: Serving, *, container: str = "raw", sessions: int = 1) -> Iterator[Raw]:
    """Provide a raw client with an open connection and a session or more."""
    with Raw(server.port) as client:
        client.open(container)
        for channel in range(sessions):
            client.begin(channel)
        yield client


def browse(server: Serving, queue: str) -> int:
    """Return the number of a queue's messages that other clients see."""
    with raw(server, container="browser") as other:
        other.attach("b", RECEIVER, source=source(queue, b"", b"", b"", b"", b"", types.symbol("copy")))
        other.credit(0, 100, drain=True)
        found = 0
        while (seen := other.read()) is not None and seen.code != FLOW:
            found += 1
        return found


def put(client: Raw, address: str, *texts: str, handle: int = 20) -> None:
    """Send messages to a queue, and close the link."""
    client.attach(f"put-{address}", SENDER, handle, target=target(address))
    for number, text in enumerate(texts):
        client.transfer(number, message(text), handle)
    done = 0
    while done < len(texts):
        seen = client.wait(DISPOSITION)
        done += (seen.at(1) if seen.at(2) is None else seen.at(2)) - seen.at(1) + 1
    client.say(DETACH, types.uint(handle), types.boolean(value=True))
    client.wait(DETACH)
