"""A scripted AMQP peer on proton's engine, which does only what a test tells it.

The peer listens on the loopback address and runs on the same runner as the driver under test.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import proton
from proton import Collector, Condition, Connection, Delivery, Endpoint, Event, Terminus, Transport

from assay_sdk.amqp import codec
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.amqp.frames import SASL_HEADER, Splitter, frame
from assay_sdk.amqp.types import binary, described, fields, symbols, ubyte
from assay_sdk.driver import Closed, Done, DriverCommand, DriverEvent, Failed, Login, Opened, Target
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.drivers.amqp.wire import AmqpWire
from assay_sdk.model.reasons import Refused
from assay_sdk.runners.real import READ, RealRunner

LIMIT_MS = 30_000

Handler = Callable[[Any], None]


class Peer:
    """A listener that accepts one connection at a time.

    Args:
        runner: The loop.
        sasl_outcome: The code of the SASL outcome.
        mechanisms: The offered SASL mechanisms.
        offered: The offered capabilities in the Open.
    """

    def __init__(
        self,
        runner: RealRunner,
        *,
        sasl_outcome: int = 0,
        mechanisms: tuple[str, ...] = ("ANONYMOUS", "PLAIN"),
        offered: tuple[str, ...] = (),
        properties: dict[str, object] | None = None,
    ) -> None:
        self.runner = runner
        self.sasl_outcome = sasl_outcome
        self.mechanisms = mechanisms
        self.offered = offered
        self.properties = properties or {}
        self.greeting = SASL_HEADER
        self.events: list[str] = []
        self.initial: list[bytes] = []
        self.handlers: dict[str, Handler] = {
            "CONNECTION_REMOTE_OPEN": self._accept_connection,
            "CONNECTION_REMOTE_CLOSE": lambda end: end.close(),
            "SESSION_REMOTE_OPEN": lambda end: end.open(),
            "SESSION_REMOTE_CLOSE": lambda end: end.close(),
            "LINK_REMOTE_OPEN": self.accept_link,
            "LINK_REMOTE_CLOSE": lambda end: end.close(),
            "LINK_REMOTE_DETACH": lambda end: end.detach(),
        }
        self.silent = False
        self.sent_to: Any = None
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(0)
        self._line: socket.socket | None = None
        self.do(lambda: runner.register(self._server, READ, self._accept))

    @property
    def url(self) -> str:
        return f"amqp://127.0.0.1:{self._server.getsockname()[1]}"

    def do(self, job: Callable[[], object]) -> None:
        """Run a job on the loop, send the peer's output, and wait until both are done."""
        ran: list[bool] = []

        def run() -> None:
            job()
            self.flush()
            ran.append(True)

        self.runner.call_soon(run)
        assert self.runner.run_until(lambda: bool(ran), self.runner.clock.monotonic_ns() + LIMIT_MS * 1_000_000)

    def close(self) -> None:
        def job() -> None:
            self.runner.unregister(self._server)
            self._server.close()
            self.drop()

        self.do(job)

    def drop(self) -> None:
        """Drop the connection."""
        if self._line is not None:
            self.runner.unregister(self._line)
            self._line.close()
            self._line = None

    def accept_link(self, link: Any) -> None:
        link.source.copy(link.remote_source)
        link.target.copy(link.remote_target)
        link.open()
        if link.is_receiver:
            link.flow(10)

    @staticmethod
    def refuse_link(condition: Condition) -> Handler:
        def refuse(link: Any) -> None:
            link.source.type = Terminus.UNSPECIFIED
            link.target.type = Terminus.UNSPECIFIED
            link.open()
            link.condition = condition
            link.close()

        return refuse

    def answer(self, outcome: Callable[[Any], None]) -> Handler:
        """Return a handler that reads transfers and settles them with an outcome."""

        def handle(delivery: Any) -> None:
            if delivery.readable and not delivery.partial:
                self.initial.append(bytes(delivery.link.recv(delivery.pending)))
                delivery.link.advance()
                outcome(delivery)

        return handle

    def flush(self) -> None:
        while self._line is not None:
            while (event := self._collector.peek()) is not None:
                self._collector.pop()
                self._handle(event)
            pending = self._transport.pending()
            if pending <= 0:
                return
            octets = bytes(self._transport.peek(pending) or b"")
            self._transport.pop(len(octets))
            if not self.silent:
                self._line.sendall(octets)

    def _handle(self, event: Event) -> None:
        name = event.type.name.removeprefix("PN_")
        self.events.append(name)
        context = event.context
        if name in self.handlers:
            self.handlers[name](context)

    def _accept(self, _mask: int) -> None:
        self._line, _ = self._server.accept()
        self._line.setblocking(True)  # noqa: FBT003  the socket's own signature
        self._line.settimeout(5)
        self._splitter = Splitter()
        self._phase = "header"
        self._transport = Transport(Transport.SERVER)
        self.connection = Connection()
        self._collector = Collector()
        self.connection.collect(self._collector)
        self.runner.register(self._line, READ, self._read)

    def _read(self, _mask: int) -> None:
        assert self._line is not None
        try:
            octets = self._line.recv(65536)
        except OSError:
            octets = b""
        if not octets:
            self.events.append("EOF")
            self.drop()
            return
        if self._phase == "amqp":
            self._feed(octets)
            return
        for part in self._splitter.feed(octets):
            self._sasl(part)

    def _feed(self, octets: bytes) -> None:
        while octets and (room := self._transport.capacity()) > 0:
            self._transport.push(octets[:room])
            octets = octets[room:]
            self.flush()

    def _sasl(self, part: bytes) -> None:
        assert self._line is not None
        if self._phase == "amqp":
            self._feed(part)
        elif part == SASL_HEADER:
            offer = described(0x40, fields((symbols(self.mechanisms),)))
            self._line.sendall(self.greeting + frame(offer, sasl=True))
        else:
            self.initial.append(part)
            outcome = described(0x44, fields((ubyte(self.sasl_outcome), binary(b""))))
            self._line.sendall(frame(outcome, sasl=True))
            self._phase = "amqp"
            self._transport.bind(self.connection)

    def _accept_connection(self, connection: Any) -> None:
        connection.container = "peer"
        connection.offered_capabilities = [proton.symbol(name) for name in self.offered]
        connection.properties = {proton.symbol(name): value for name, value in self.properties.items()}
        connection.open()


class Bench:
    """A peer, and one wire of the driver under test with the wire's events."""

    def __init__(self, runner: RealRunner, peer: Peer) -> None:
        self.runner = runner
        self.peer = peer
        self.said: list[DriverEvent] = []
        self._tokens = 0
        self.wire: AmqpWire | None = None

    def connect(
        self,
        *,
        client_id: str | None = None,
        login: Login | None = None,
        trace: bool = False,
        url: str | None = None,
        open_timeout_ms: int = LIMIT_MS,
        conventions: Conventions = Conventions(),  # noqa: B008  a frozen value
    ) -> DriverEvent:
        """Connect, and return the first event that is not a frame."""
        target = Target(
            url=url or self.peer.url, client_id=client_id, login=login, trace=trace, open_timeout_ms=open_timeout_ms
        )
        self.wire = AmqpDriver(conventions).connect(target, self.said.append, self.runner)
        return self.expect(Opened | Closed)

    def expect(self, kind: Any, number: int = 1) -> Any:
        """Wait for the n-th event of a kind (`number`, from 1), and return it."""

        def found() -> list[DriverEvent]:
            return [event for event in self.said if isinstance(event, kind)]

        self.until(lambda: len(found()) >= number, f"{kind} in {self.said}")
        return found()[number - 1]

    def until(self, done: Callable[[], bool], what: str = "") -> None:
        assert self.runner.run_until(done, self.runner.clock.monotonic_ns() + LIMIT_MS * 1_000_000), what

    def submit(self, make: Callable[..., DriverCommand], *args: object, **kwargs: object) -> int:
        """Submit a command with a new token, and return the token."""
        self._tokens += 1
        assert self.wire is not None
        self.wire.submit(make(token=self._tokens, **kwargs) if not args else make(self._tokens, *args, **kwargs))
        return self._tokens

    def answer(self, token: int) -> Done | Failed:
        """Wait for the answer to a token, and return it."""
        answers: list[Done | Failed] = []

        def look() -> bool:
            answers[:] = [event for event in self.said if isinstance(event, Done | Failed) and event.token == token]
            return bool(answers)

        self.until(look, f"an answer to {token} in {self.said}")
        return answers[0]

    def ask(self, make: Callable[..., DriverCommand], *args: object, **kwargs: object) -> Done | Failed:
        """Submit a command, wait for its answer, and return it."""
        return self.answer(self.submit(make, *args, **kwargs))

    def refused(self, make: Callable[..., DriverCommand], *args: object, **kwargs: object) -> Refused:
        """Submit a command that must be refused, and return the refusal."""
        answer = self.ask(make, *args, **kwargs)
        assert isinstance(answer, Failed), answer
        return answer.refused

    def done(self, make: Callable[..., DriverCommand], *args: object, **kwargs: object) -> Done:
        """Submit a command that must succeed, and return the answer."""
        answer = self.ask(make, *args, **kwargs)
        assert isinstance(answer, Done), answer
        return answer


@contextmanager
def bench(**peer: Any) -> Iterator[Bench]:
    """Provide a bench on a loop of its own; the driver's connection is closed at the end."""
    runner = RealRunner()
    made = Bench(runner, Peer(runner, **peer))
    try:
        yield made
    finally:
        if made.wire is not None:
            made.wire.abort()
            made.until(lambda: any(isinstance(event, Closed) for event in made.said))
        made.peer.close()
        runner.close()


ACTIVE = Endpoint.LOCAL_ACTIVE | Endpoint.REMOTE_ACTIVE


def settle(state: int) -> Callable[[Any], None]:
    """Return a function for `Peer.answer` that gives a delivery an outcome."""

    def outcome(delivery: Delivery) -> None:
        delivery.update(state)
        delivery.settle()

    return outcome


def received(delivery: Any) -> bytes | None:
    """Take a whole message from a link, and return it in octets; None if the event is not about a whole message."""
    if not delivery.readable or delivery.partial:
        return None
    octets = bytes(delivery.link.recv(delivery.pending))
    delivery.link.advance()
    return octets


def request_in(octets: bytes) -> Any:
    """Return the described value in the body of a message to the coordinator."""
    value = codec.types.Reader(octets)
    body: Any = value.value()
    while body.descriptor != codec.VALUE:
        body = value.value()
    return body.value
