"""One STOMP 1.2 connection with one destination, written by hand for speed, with the interface of `brokers.wire.Line`.

Outgoing frames differ only in their receipt and their number.  The client reads only parts of incoming frames: the
command, the header `ack`, and the number with which the body begins.  It counts the messages and adds up their numbers,
and checks no more.
"""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import Callable
from typing import Final

from brokers.frames import READ, Role, WireError
from brokers.wire import BODY, FILLING, TIMEOUT_S

HOST: Final = "127.0.0.1"
_SOURCES = itertools.count()
_NUMBER = struct.Struct(">Q")
_END: Final = b"\n\n"
_EOLS: Final = b"\r\n"


class StompCaller:
    """A client's STOMP connection.

    Args:
        port: The broker's port for STOMP.
        login: User and password; None for an anonymous login.
        role: The destination, and what the connection does there.
    """

    def __init__(self, port: int, login: tuple[str, str] | None, role: Role) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(TIMEOUT_S)
        self.socket.bind((f"127.{1 + next(_SOURCES) % 250}.0.1", 0))  # as in `brokers.caller`
        self.socket.connect((HOST, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.role = role
        self.ready = self.closed = False
        self.sent = self.confirmed = self.received = self.total = 0
        self.server = ""
        """The value of the header ``server`` in the broker's CONNECTED frame; empty before that frame."""
        self.on_message: Callable[[int], None] | None = None
        self._where = f"{HOST}:{port}"
        self._rest = self._out = b""
        self._keys: list[bytes] = []
        """The values of the header ``ack`` of the received messages that are not acknowledged."""
        self._settled = 0
        headers = f"login:{login[0]}\npasscode:{login[1]}\n" if login is not None else ""
        self._write(f"CONNECT\naccept-version:1.2\nhost:/\nheart-beat:0,0\n{headers}\n\0".encode())
        persistent = "true" if role.durable else "false"
        receipt = "" if role.settled else "receipt:%d\n"
        self._head = (
            f"SEND\ndestination:{role.address}\ndestination-type:ANYCAST\npersistent:{persistent}\n{receipt}"
            f"content-length:{BODY}\n\n"
        ).encode()

    # --- as `Line`

    def fileno(self) -> int:
        """Return the socket's file descriptor, for `select`."""
        return self.socket.fileno()

    def wait(self) -> None:
        """Read until the broker has accepted the connection, and the subscription of a consumer.

        Raises:
            WireError: The broker sends no bytes for `TIMEOUT_S` seconds, or refuses.
        """
        while not self.ready:
            self.read()
        self.socket.settimeout(0)

    def read(self) -> None:
        """Read and handle the octets that have arrived.

        Raises:
            WireError: The broker has closed the connection, or has sent an ERROR.
        """
        try:
            octets = self.socket.recv(READ)
        except BlockingIOError:
            return
        except TimeoutError as error:
            raise WireError(f"{self._where} has sent no bytes for {TIMEOUT_S:.0f} s") from error
        if not octets:
            if self.closed:
                return
            raise WireError(f"{self._where} has closed the connection of {self.role.address}")
        self._take(self._rest + octets if self._rest else octets)

    def flush(self) -> bool:
        """Write the octets that wait for the socket; return whether all are written."""
        if self._out:
            self._write(b"")
        return not self._out

    def close(self) -> None:
        """Disconnect, and wait for the receipt."""
        self.socket.settimeout(TIMEOUT_S)
        self._write(b"DISCONNECT\nreceipt:bye\n\n\0")
        try:
            while not self.closed:
                self.read()
        finally:
            self.socket.close()

    @property
    def unconfirmed(self) -> int:
        """The number of messages that wait for the broker's receipt."""
        return 0 if self.role.settled else self.sent - self.confirmed

    def room(self, window: int) -> int:
        """Return the number of messages that can be sent now.

        Args:
            window: The largest number of messages that wait for a receipt.
        """
        if self._out and not self.flush():
            return 0
        return window if self.role.settled else window - self.sent + self.confirmed

    def send(self, count: int) -> None:
        """Send messages, whose numbers continue from the last sent message.

        Args:
            count: How many messages to send.
        """
        first, pack = self.sent, _NUMBER.pack
        head, numbers = self._head, range(first, first + count)
        if self.role.settled:
            frames = [b"%b%b%b\0" % (head, pack(one), FILLING) for one in numbers]
        else:
            frames = [b"%b%b%b\0" % (head % one, pack(one), FILLING) for one in numbers]
        self.sent = first + count
        self._write(b"".join(frames))

    def settle(self, upto: int) -> None:
        """Acknowledge received messages one by one.

        Args:
            upto: The number of messages, from the connection's first, that are settled after this call.
        """
        count = upto - self._settled
        keys, self._keys = self._keys[:count], self._keys[count:]
        self._settled = upto
        self._write(b"".join([b"ACK\nid:%b\n\n\0" % key for key in keys]))

    def top_up(self, taken: int) -> None:
        """Do nothing: STOMP has no credit."""

    # --- inside

    def _write(self, octets: bytes) -> None:
        out = self._out + octets if self._out else octets
        try:
            written = self.socket.send(out)
        except BlockingIOError:
            written = 0
        self._out = out[written:] if written < len(out) else b""

    def _take(self, data: bytes) -> None:
        at, end = 0, len(data)
        while at < end:
            if data[at] in _EOLS:  # a heart-beat, or the end of line after a frame
                at += 1
                continue
            body = data.find(_END, at)
            if body < 0:
                break
            if data.startswith(b"MESSAGE", at):
                after = body + len(_END) + BODY
                if after >= end:
                    break
                self._message(data, at, body)
            else:
                after = data.find(b"\0", body)
                if after < 0:
                    break
                self._frame(data[at:body])
            at = after + 1
        self._rest = data[at:]

    def _message(self, data: bytes, at: int, body: int) -> None:
        (number,) = _NUMBER.unpack_from(data, body + len(_END))
        self.received += 1
        self.total += number
        if not self.role.settled:
            begin = data.index(b"\nack:", at, body) + 5
            stop = data.find(b"\n", begin, body)
            self._keys.append(data[begin : body if stop < 0 else stop])
        if self.on_message is not None:
            self.on_message(number)

    def _frame(self, head: bytes) -> None:
        if head.startswith(b"RECEIPT"):
            if b"receipt-id:bye" in head:
                self.closed = True
            elif b"receipt-id:sub" in head:
                self.ready = True
            else:
                self.confirmed += 1
        elif head.startswith(b"CONNECTED"):
            self._connected(head)
        else:
            raise WireError(f"{self._where} refuses {self.role.address}: {head!r}")

    def _connected(self, head: bytes) -> None:
        for line in head.decode().split("\n"):
            if line.startswith("server:"):
                self.server = line.removeprefix("server:")
        if self.role.sends:
            self.ready = True
            return
        ack = "auto" if self.role.settled else "client-individual"
        # prefetch-count is for RabbitMQ, and consumer-window-size (octets, -1 for no limit) for Artemis
        self._write(
            f"SUBSCRIBE\nid:0\ndestination:{self.role.address}\nsubscription-type:ANYCAST\nack:{ack}\n"
            f"prefetch-count:{self.role.credit}\nconsumer-window-size:-1\nreceipt:sub\n\n\0".encode()
        )
