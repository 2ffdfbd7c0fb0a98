"""A scripted STOMP broker, which sends only what a test tells it, and records the client's frames."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from assay_sdk.driver import Closed, Done, DriverCommand, DriverEvent, Failed, Opened, Target
from assay_sdk.drivers.stomp import StompDriver
from assay_sdk.drivers.stomp.wire import StompWire
from assay_sdk.runners.real import RealRunner
from assay_sdk.stomp import CLIENT_COMMANDS, Frame, FrameReader, HeartBeat, Version, encode_frame
from assay_sdk.stomp.conventions import Conventions

LIMIT_S = 60.0
EventT = TypeVar("EventT", bound=DriverEvent)


class Peer:
    """A listener that accepts connections one after the other, and the latest of them.

    Args:
        listener: The listener of another peer, for further connections of the same client; None for a new one.
    """

    def __init__(self, listener: socket.socket | None = None) -> None:
        self.listener = listener or socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(LIMIT_S)
        self._owns_listener = listener is None
        self.frames: queue.Queue[Frame | None] = queue.Queue()
        self.beats = 0
        """The ends of lines that arrived between frames."""
        self.beaten = threading.Event()
        self.asked: Frame | None = None
        """The latest CONNECT."""
        self._line: socket.socket | None = None

    @property
    def url(self) -> str:
        return f"stomp://127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self, server: str = "test/1", version: str = "1.2", **headers: str) -> Frame:
        """Accept a connection and answer its CONNECT; return the CONNECT."""
        if self._line is not None:
            self._line.close()
        self._line, _ = self.listener.accept()
        threading.Thread(target=self._read, args=(self._line,), daemon=True).start()
        self.asked = asked = self.next("CONNECT")
        self.say("CONNECTED", version=version, server=server, **headers)
        return asked

    def say(self, command: str, body: bytes = b"", **headers: str) -> None:
        """Send a frame; an underscore in a header's name is a hyphen, and one at its end has no meaning."""
        named = {name.rstrip("_").replace("_", "-"): value for name, value in headers.items()}
        self.raw(encode_frame(Frame(command, named, body), Version.V1_2))

    def raw(self, octets: bytes) -> None:
        assert self._line is not None
        self._line.sendall(octets)

    def next(self, command: str) -> Frame:
        """Return the client's next frame, which has this command."""
        frame = self.frames.get(timeout=LIMIT_S)
        assert frame is not None, f"the client closed instead of {command}"
        assert frame.command == command, frame
        return frame

    def receipt(self, frame: Frame) -> None:
        """Send the receipt that a frame asks for."""
        assert frame.receipt is not None, frame
        self.say("RECEIPT", receipt_id=frame.receipt)

    def closed(self) -> bool:
        """Wait until the client closes; return False if it sends a frame instead."""
        return self.frames.get(timeout=LIMIT_S) is None

    def hang_up(self) -> None:
        """End the connection."""
        assert self._line is not None
        self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._owns_listener:
            self.listener.close()

    def _read(self, line: socket.socket) -> None:
        reader = FrameReader(CLIENT_COMMANDS, version=Version.V1_2)
        inside = False
        while True:
            try:
                octets = line.recv(65_536)
            except OSError:
                octets = b""
            if not octets:
                self.frames.put(None)
                return
            if octets.strip(b"\n") == b"" and not inside:
                self.beats += len(octets)
                self.beaten.set()
            reader.feed(octets)
            while (frame := reader.next()) is not None:
                self.frames.put(frame)
            inside = reader.kept > 0


class Client:
    """A connection of the driver, and its events."""

    def __init__(self, runner: RealRunner, target: Target, driver: StompDriver) -> None:
        self.runner = runner
        self.events: list[DriverEvent] = []
        self.wire: StompWire = driver.connect(target, self.events.append, runner)

    def submit(self, *commands: DriverCommand) -> None:
        for command in commands:
            self.wire.submit(command)

    def until(self, kind: type[EventT], count: int = 1) -> EventT:
        """Wait for an event of this kind, and return it; with a count, for the last of so many."""

        def found() -> list[EventT]:
            return [event for event in self.events if isinstance(event, kind)]

        due_ns = self.runner.clock.monotonic_ns() + int(LIMIT_S * 1e9)
        assert self.runner.run_until(lambda: len(found()) >= count, due_ns), self.events
        return found()[count - 1]

    def answer(self, token: int) -> Done | Failed:
        """Wait for the answer to a command."""

        def found() -> list[Done | Failed]:
            return [event for event in self.events if isinstance(event, Done | Failed) and event.token == token]

        due_ns = self.runner.clock.monotonic_ns() + int(LIMIT_S * 1e9)
        assert self.runner.run_until(lambda: bool(found()), due_ns), self.events
        return found()[0]


@contextmanager
def connected(
    peer: Peer,
    *,
    server: str = "test/1",
    conventions: Conventions | None = None,
    heart_beat: HeartBeat = HeartBeat(0, 0),  # noqa: B008  a tuple does not change
    client_id: str | None = None,
    **headers: str,
) -> Iterator[Client]:
    """Provide a client with an open connection."""
    runner = RealRunner()
    target = Target(url=peer.url, client_id=client_id)
    client = Client(runner, target, StompDriver(conventions, heart_beat))
    try:
        peer.accept(server, **headers)
        client.until(Opened)
        yield client
        client.wire.abort()
        client.until(Closed)
    finally:
        runner.close()
