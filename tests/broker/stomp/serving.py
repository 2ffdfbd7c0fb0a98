"""A STOMP server in a thread of its own, and a client that sends exactly the octets of a test."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from assay_broker.core.administration.changes import Change
from assay_broker.core.commands import Administer
from assay_broker.core.effects import Answer
from assay_broker.core.settings import Settings
from assay_broker.security import Security
from assay_broker.server.loops import new_loop
from assay_broker.shell import QueueManager
from assay_broker.stomp.limits import StompLimits
from assay_broker.stomp.listener import StompListener
from assay_broker.stores import Store
from assay_broker.stores.memory import MemoryStore
from assay_sdk.runners.asynchronous import AsyncioRunner
from assay_sdk.stomp import SERVER_COMMANDS, Frame, FrameReader, Version, encode_frame

LIMIT_S = 60.0
T = TypeVar("T")


class Quiet:
    """A peer of the queue manager that remembers its answers."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        self.answers.append(answer)
        if sent is not None:
            sent()

    def deliver(self, delivery: object) -> None:
        pass

    def close_link(self, closed: object) -> None:
        pass

    def lost(self, why: object) -> None:
        pass


class StompServing:
    """A running STOMP server in a thread."""

    def __init__(
        self,
        store: Callable[[AsyncioRunner], Store],
        settings: Settings | None,
        limits: StompLimits,
        security: Security,
    ) -> None:
        self.loop = new_loop(encrypted=security.tls is not None)
        self.errors: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.errors.append(context))
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

        async def start() -> None:
            self.runner = AsyncioRunner()
            self.queue_manager = QueueManager(self.runner, store(self.runner), settings)
            self.listener = StompListener(self.queue_manager, self.runner, security=security, limits=limits)
            await self.listener.start("127.0.0.1", 0)

        self.run(start())

    @property
    def port(self) -> int:
        return self.listener.address[1]

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the server's loop, and wait for its result."""
        return asyncio.run_coroutine_threadsafe(job, self.loop).result(LIMIT_S)

    def do(self, job: Callable[[], T]) -> T:
        """Call a function in the server's loop, and wait for its result."""

        async def call() -> T:
            return job()

        return self.run(call())

    def administer(self, change: Change) -> Answer:
        """Carry out an administrator's command."""

        def job() -> Answer:
            peer = Quiet()
            number = self.queue_manager.connect(peer, 1, None)
            self.queue_manager.handle(Administer(number, 2, change))
            self.queue_manager.forget(number)
            return peer.answers[-1]

        answer = self.do(job)
        assert answer.refused is None, answer.refused
        return answer

    def stop(self) -> None:
        self.run(self.listener.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(LIMIT_S)
        self.loop.close()


@contextmanager
def serving(
    *,
    store: Callable[[AsyncioRunner], Store] = lambda _: MemoryStore(),
    settings: Settings | None = None,
    limits: StompLimits = StompLimits(),  # noqa: B008  a frozen value
    security: Security = Security(),  # noqa: B008  a frozen value
) -> Iterator[StompServing]:
    """Run a server during a ``with`` block; no exception may reach its loop."""
    server = StompServing(store, settings, limits, security)
    try:
        yield server
    finally:
        server.stop()
    assert not server.errors, server.errors


class Raw:
    """A client that sends the octets of a test, and reads frames."""

    def __init__(
        self, server: StompServing, version: Version = Version.V1_2, tls: ssl.SSLContext | None = None
    ) -> None:
        self.version = version
        plain = socket.create_connection(("127.0.0.1", server.port), LIMIT_S)
        self.socket = plain if tls is None else tls.wrap_socket(plain, server_hostname="localhost")
        self._reader = FrameReader(SERVER_COMMANDS)
        self._reader.version = version
        self.heard = 0
        """The octets that the client has received."""
        self.connected = Frame("")

    def open(self, **headers: str) -> Self:
        """Connect with the client's version."""
        accepted = {} if self.version is Version.V1_0 else {"accept-version": self.version.value, "host": "h"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.write(encode_frame(Frame("CONNECT", {**accepted, **named}), None))
        self.connected = self.read("CONNECTED")
        return self

    def write(self, octets: bytes) -> None:
        self.socket.sendall(octets)

    def send(self, command: str, body: bytes = b"", **headers: str) -> None:
        """Send a frame; underscores in names of headers stand for hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.write(encode_frame(Frame(command, named, body), self.version))

    def frame(self, command: str, headers: dict[str, str], body: bytes = b"") -> None:
        """Send a frame with headers of any names."""
        self.write(encode_frame(Frame(command, headers, body), self.version))

    def next(self) -> Frame | None:
        """Return the next frame; None at the end of the server's side."""
        while (frame := self._reader.next()) is None:
            try:
                octets = self.socket.recv(65_536)
            except ConnectionResetError:
                return None
            if not octets:
                return None
            self.heard += len(octets)
            self._reader.feed(octets)
        return frame

    def read(self, command: str) -> Frame:
        """Return the next frame, which must have this command."""
        frame = self.next()
        assert frame is not None, f"the server closed instead of {command}"
        assert frame.command == command, frame
        return frame

    def receipt(self, receipt: str) -> None:
        """Read a RECEIPT."""
        assert self.read("RECEIPT").headers["receipt-id"] == receipt

    def error(self) -> Frame:
        """Read an ERROR, behind which the server closes the connection."""
        frame = self.read("ERROR")
        assert self.next() is None
        return frame

    def sync(self) -> None:
        """Wait until the server has handled all frames, by a transaction without frames."""
        self.send("BEGIN", transaction="sync")
        self.send("ABORT", transaction="sync", receipt="sync")
        self.receipt("sync")

    def leave(self) -> None:
        """Disconnect in order, so that the server delivers nothing more to this client."""
        self.send("DISCONNECT", receipt="bye")
        self.receipt("bye")

    def nothing(self) -> None:
        """Check that no further frame comes before the answer to a new frame."""
        self.sync()

    def close(self) -> None:
        self.socket.close()


@contextmanager
def raw(
    server: StompServing, version: Version = Version.V1_2, tls: ssl.SSLContext | None = None, **headers: str
) -> Iterator[Raw]:
    """Provide a connected client during a ``with`` block."""
    client = Raw(server, version, tls)
    try:
        yield client.open(**headers)
    finally:
        client.close()
