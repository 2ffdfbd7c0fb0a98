"""A relay between a client and a broker, which records the octets of both with the times of their arrival.

The relay passes octets on unchanged, unless it holds the server's octets back in the phase `silent`, or a defect
(`Breaker`) changes what the record shows or what an end gets.  One thread serves all connections of a relay, and
measures how late it is itself.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from contextlib import suppress
from typing import Protocol

from assay.liveness.record import Event, Mark, Record
from assay.liveness.rules import Side

_TICK_S = 0.005
_LIMIT_S = 10.0
_CHUNK = 65_536
_MS = 1_000.0


class Breaker(Protocol):
    """A defect of one end, which the relay simulates."""

    def passes(self, line: Line, side: Side, octets: bytes) -> tuple[bytes, bytes]:
        """Return what the record shows of an end's octets, and what the other end gets."""
        ...

    def tick(self, line: Line) -> None:
        """Send octets or end the connection if the defect does so now; called every few milliseconds per connection."""
        ...


class Faithful:
    """The breaker of a relay without a defect."""

    def passes(self, line: Line, side: Side, octets: bytes) -> tuple[bytes, bytes]:
        """Return the octets unchanged; in the phase `silent`, hold the server's octets back."""
        if side is Side.SERVER and line.phase == "silent":
            return b"", b""
        return octets, octets

    def tick(self, line: Line) -> None:
        """Do nothing."""


class Line:
    """One connection through a relay.

    Args:
        number: The number of the connection on its relay, from 1.
        client: The client's socket.
        server: The socket to the broker.
    """

    def __init__(self, number: int, client: socket.socket, server: socket.socket) -> None:
        self.number = number
        self.sockets = {Side.CLIENT: client, Side.SERVER: server}
        self.events: list[Event] = []
        self.phase = ""
        """The name of the current phase."""
        self.marks: dict[str, tuple[float, float | None]] = {}
        """The beginning and the end of each phase, in milliseconds since the beginning of the connection."""
        self.late_ms = 0.0
        self.over = threading.Event()
        """Set when an end has ended its stream."""
        self._began = time.monotonic()

    @property
    def now_ms(self) -> float:
        """The time since the beginning of the connection, in milliseconds."""
        return (time.monotonic() - self._began) * _MS

    def begin(self, phase: str) -> None:
        """Begin a phase, and end the phase before."""
        self.finish()
        self.marks[phase] = self.now_ms, None
        self.phase = phase

    def finish(self) -> None:
        """End the current phase."""
        if self.phase:
            begin, _ = self.marks[self.phase]
            self.marks[self.phase] = begin, self.now_ms
            self.phase = ""

    def record(self, scenario: str, phase: str) -> Record:
        """Return the record of a phase, with the connection's events up to the phase's end."""
        begin, end = self.marks.get(phase, (0.0, None))
        until = self.now_ms if end is None else end
        events = [event for event in tuple(self.events) if event.at_ms <= until]
        return Record(scenario, events, Mark(begin, until), self.late_ms)

    def note(self, side: Side, octets: bytes) -> None:
        """Note the octets of one side of the connection; no octets mean that the side has ended its stream."""
        self.events.append(Event(self.now_ms, side, octets))

    def last_ms(self, side: Side) -> float:
        """Return the time of an end's last octets; 0 before the first."""
        return next((event.at_ms for event in reversed(self.events) if event.side is side and event.octets), 0.0)

    def said(self, side: Side) -> bytes:
        """Return all octets of an end."""
        return b"".join(event.octets for event in tuple(self.events) if event.side is side)

    def give(self, side: Side, octets: bytes) -> None:
        """Send octets to an end; do nothing if the connection has ended."""
        with suppress(OSError):
            self.sockets[side].sendall(octets)

    def end(self, side: Side) -> None:
        """Note that an end has ended its stream, and close both sockets."""
        if not self.over.is_set():
            self.note(side, b"")
            self.over.set()
            for one in self.sockets.values():
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()


class Relay:
    """A relay for the connections of one scenario.

    Args:
        host: The broker's host.
        port: The broker's port.
        breaker: The defect to simulate; None for none.
    """

    def __init__(self, host: str, port: int, breaker: Breaker | None = None) -> None:
        self.lines: list[Line] = []
        self._to = host, port
        self._breaker = breaker or Faithful()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="assay-relay", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port for clients, on the loopback interface."""
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """End all connections, and the relay's thread."""
        self._stopped = True
        self._thread.join(_LIMIT_S)
        for line in self.lines:
            line.end(Side.CLIENT)
        self._listener.close()
        self._selector.close()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopped:
            ready = self._selector.select(_TICK_S)
            now = time.monotonic()
            late_ms = (now - due - _TICK_S) * _MS
            due = now
            for line in self.lines:
                if not line.over.is_set():
                    line.late_ms = max(line.late_ms, late_ms)
            for key, _ in ready:
                if key.data is None:
                    self._accept()
                else:
                    self._pass(*key.data)
            for line in self.lines:
                if not line.over.is_set():
                    self._breaker.tick(line)
            self._forget()

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        try:
            server = socket.create_connection(self._to, _LIMIT_S)
        except OSError:
            client.close()
            return
        self._forget()  # a new socket may get the file number of a socket that a defect has just closed
        line = Line(len(self.lines) + 1, client, server)
        for side, one in line.sockets.items():
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            one.settimeout(_LIMIT_S)
            self._selector.register(one, selectors.EVENT_READ, (line, side))
        self.lines.append(line)

    def _pass(self, line: Line, side: Side) -> None:
        if line.over.is_set():
            return
        try:
            octets = line.sockets[side].recv(_CHUNK)
        except OSError:
            octets = b""
        if not octets:
            self._drop(line)
            line.end(side)
            return
        seen, sent = self._breaker.passes(line, side, octets)
        if seen:
            line.note(side, seen)
        if sent:
            line.give(side.other, sent)

    def _drop(self, line: Line) -> None:
        for one in line.sockets.values():
            with suppress(KeyError, ValueError):
                self._selector.unregister(one)

    def _forget(self) -> None:
        """Unregister the sockets of connections that a defect has ended."""
        for key in tuple(self._selector.get_map().values()):
            if key.data is not None and key.data[0].over.is_set():
                self._selector.unregister(key.fileobj)
