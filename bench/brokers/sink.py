"""A server that does nothing with messages, to measure the speed of the clients.

The server counts and answers each message that it receives, and sends a receiver as many messages as the receiver's
credit allows.
"""

from __future__ import annotations

import select
import socket
from multiprocessing.connection import Connection

from msgspec import Struct

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER
from brokers.caller import HOST
from brokers.clients import BATCH, Counters, Slot
from brokers.frames import CLOSE, Role, attach_frame, begin_frame, field_of, open_frame, sasl_frame
from brokers.wire import Line

MECHANISMS, OUTCOME = 0x40, 0x44
_SETTLED = 1


class Listen(Struct, frozen=True):
    """The address of a sink.

    Args:
        port: The port on 127.0.0.1.
    """

    port: int


class Sink(Line):
    """The server's side of a connection.

    Args:
        connected: The connection's socket.
    """

    def __init__(self, connected: socket.socket) -> None:
        super().__init__(connected, "a client", Role("", sends=False))
        self._next = self._sasl_header

    def turn(self) -> None:
        """Send messages if the client is a receiver; otherwise settle the client's messages and renew its credit."""
        if not self.ready:
            return
        if self.role.sends:
            count = min(self.room(1 << 30), BATCH)
            if count > 0:
                self.send(count)
            return
        if not self.role.settled:
            self.settle(self.received)
        self.top_up(self.received)

    def _sasl_header(self, _: bytes) -> None:
        self._write(SASL_HEADER + sasl_frame(MECHANISMS, types.symbols(["ANONYMOUS"])))
        self._next = self._init

    def _init(self, _: bytes) -> None:
        self._write(sasl_frame(OUTCOME, types.ubyte(0)))
        self._next = self._performative

    def _headed(self) -> None:
        self._write(PROTOCOL_HEADER)

    def _opened(self, _: list[object]) -> None:
        self._write(open_frame("sink"))

    def _begun(self) -> None:
        self._write(begin_frame(b"\x60\x00\x00"))

    def _attached(self, fields: list[object]) -> None:
        self._be(Role("sink", sends=field_of(fields, 2) is True, settled=field_of(fields, 3) == _SETTLED))
        self._write(attach_frame(str(field_of(fields, 0)), self.role))
        self.ready = True
        if not self.role.sends:
            self._grant(self.role.credit)

    def _closed(self) -> None:
        super()._closed()
        self._say(CLOSE)


def sink(job: Listen, counters: Counters, out: Connection) -> None:
    """Serve connections until `Slot.STOP` is set."""
    listener = socket.create_server((HOST, job.port))
    lines: dict[int, Sink] = {}
    counters[Slot.READY] += 1
    while not counters[Slot.STOP]:
        writing = [line for line in lines.values() if line.role.sends and line.ready]
        readable, _, _ = select.select([listener.fileno(), *lines], [], [], 0 if writing else 0.01)
        for number in readable:
            if number == listener.fileno():
                line = Sink(listener.accept()[0])
                line.socket.settimeout(0)
                lines[line.fileno()] = line
            else:
                lines[number].read()
        for number, line in tuple(lines.items()):
            line.turn()
            if line.closed and line.flush():
                line.socket.close()
                del lines[number]
    listener.close()
    out.send(None)
