"""One AMQP 1.0 connection with one session and one link, written by hand for speed.

The clients must cost less processor time than the broker.  Proton's engine costs 6 to 9 us a message even without its
Python classes, which is as much as a fast broker takes on two cores.  Here an outgoing transfer is one `struct.pack`,
and an incoming one is read at three fixed places.  The client counts the messages and adds up their numbers, and checks
no more.
"""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import Callable
from functools import cache
from typing import Final

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame
from assay_sdk.amqp.types import Described
from brokers.frames import (
    ACCEPTED,
    CLOSE,
    DISPOSITION,
    FLOW,
    READ,
    RECEIVER,
    TRANSFER,
    WINDOW,
    Role,
    WireError,
    field_of,
    fields_of,
    number_of,
)

BODY: Final = 256
"""The length of a message's body in octets."""

SERIAL: Final = 0xFFFFFFFF
"""The highest sequence number; the next number is 0 (RFC 1982)."""

TIMEOUT_S: Final = 30.0
_HEAD: Final = 8
_A: Final = ord("A")

_UINT = struct.Struct(">I").unpack_from
_NUMBER = struct.Struct(">Q").unpack_from
_BEFORE_ID = b"\x02\x00\x00\x00\x00\x53\x14\xc0\x0f\x05\x43\x70"
"""The octets of a transfer between its size and its delivery id.

They are the data offset, the type, the channel, the descriptor, the head of a list of five, handle 0, and the type of
the delivery id.
"""
_TAG = b"\xa0\x04"
_ACCEPTED_STATE = b"\x00\x53\x24"
FILLING: Final = bytes(itertools.islice(itertools.cycle(range(97, 123)), BODY - 8))
_DISPOSITION = b"\x00\x53\x15\xc0"
_UINT_0, _SMALL_UINT = 0x43, 0x52
_NULL, _YES = types.null(), types.boolean(value=True)


class Line:
    """One end of a connection: `Caller` is the client's end, and `Sink` the server's.

    Args:
        connected: The connection's socket.
        where: The connection's name in errors.
        role: The connection's link.
    """

    def __init__(self, connected: socket.socket, where: str, role: Role) -> None:
        self.socket = connected
        self.socket.settimeout(TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.role = role
        self._where = where
        self._rest = b""
        self._out = b""
        self._next: Callable[[bytes], None] = self._performative
        self.ready = False
        self.closed = False
        self.properties: dict[object, object] = {}
        self.sent = self.confirmed = self.received = self.total = 0
        self.credit = 0
        self.on_message: Callable[[int], None] | None = None
        self.on_confirmed: Callable[[int, int], None] | None = None
        self._remote_window = 0
        self._granted = 0
        self._unsettled_from = 0
        self._first_delivery = 0
        self._incoming_from = 0
        self._delivery_count = 0
        self._be(role)

    def _be(self, role: Role) -> None:
        """Set the role, and prepare the octets of its transfers."""
        self.role = role
        self._transfer, self._transfer_size, self._before = _layout(role.settled, role.durable)

    # --- octets

    def fileno(self) -> int:
        """Return the socket's file descriptor, for `select`."""
        return self.socket.fileno()

    def wait(self) -> None:
        """Read until the link is attached.

        Raises:
            WireError: The broker sends no bytes for `TIMEOUT_S` seconds, or refuses.
        """
        while not self.ready:
            self.read()
        self.socket.settimeout(0)

    def read(self) -> None:
        """Read and handle the bytes that have arrived.

        Raises:
            WireError: The broker has closed the connection, or refuses.
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
        """Write the bytes that wait for the socket.

        Returns:
            Whether all bytes are written.
        """
        if self._out:
            self._write(b"")
        return not self._out

    def close(self) -> None:
        """Send Close, and wait for the broker's Close."""
        self.socket.settimeout(TIMEOUT_S)
        self._say(CLOSE)
        try:
            while not self.closed:
                self.read()
        finally:
            self.socket.close()

    def say_close(self) -> None:
        """Send Close."""
        self._say(CLOSE)

    def _write(self, octets: bytes) -> None:
        out = self._out + octets if self._out else octets
        try:
            written = self.socket.send(out)
        except BlockingIOError:
            written = 0
        self._out = out[written:] if written < len(out) else b""

    def _say(self, descriptor: int, *fields: bytes) -> None:
        self._write(frame(types.described(descriptor, types.fields(fields))))

    # --- frames

    def _take(self, data: bytes) -> None:
        at, end = 0, len(data)
        while end - at >= _HEAD:
            if data[at] == _A:  # a protocol header begins with A; a frame whose size begins with this byte is too large
                size = _HEAD
            else:
                (size,) = _UINT(data, at)
                if end - at < size:
                    break
                if size > BODY and data[at + 10] == TRANSFER:
                    at = self._take_transfers(data, at, end)
                    continue
            if data[at] == _A:
                self._next(b"")
            elif size > _HEAD:  # a frame without a body is a heartbeat
                self._frame(data, at, size)
            at += size
        self._rest = data[at:]

    def _take_transfers(self, data: bytes, at: int, end: int) -> int:
        """Read all consecutive transfers, and return the index of the first byte after them."""
        before = self.received
        if not before:
            self._first_delivery = self._delivery_id(data, at)
        total = self.total
        hear = self.on_message
        count = 0
        while end - at >= _HEAD:
            (size,) = _UINT(data, at)
            if size <= BODY or end - at < size or data[at + 10] != TRANSFER:
                break
            (number,) = _NUMBER(data, at + size - BODY)
            total += number
            count += 1
            if hear is not None:
                hear(number)
            at += size
        self.received = before + count
        self.total = total
        return at

    @staticmethod
    def _delivery_id(data: bytes, at: int) -> int:
        fields = fields_of(types.Reader(data[at + data[at + 4] * 4 :]).value())
        return number_of(fields, 1)

    def _frame(self, data: bytes, at: int, size: int) -> None:
        if data[at + 10] == DISPOSITION and self.role.sends:
            self._disposition(data[at + _HEAD : at + size])
            return
        self._next(data[at + data[at + 4] * 4 : at + size])

    def _disposition(self, body: bytes) -> None:
        """Handle a Disposition; the usual forms are read without the decoder."""
        if body[:4] == _DISPOSITION and body[6:7] == RECEIVER:
            first, at = _uint(body, 7)
            last, at = _uint(body, at) if body[at : at + 1] != _NULL else (first, at + 1)
            settled = body[at : at + 1] == _YES
            accepted = body.startswith(_ACCEPTED_STATE, at + 1)
        else:
            fields = fields_of(types.Reader(body).value())
            first = number_of(fields, 1)
            last = number_of(fields, 2, first)
            settled = fields[3] is True
            state = fields[4]
            accepted = isinstance(state, Described) and state.descriptor == ACCEPTED
        if not settled:
            return  # the broker sends another Disposition when it has settled
        if not accepted:
            raise WireError(f"a transfer to {self.role.address} was not accepted: {types.Reader(body).value()!r}")
        self.confirmed += (last - first & SERIAL) + 1
        if self.on_confirmed is not None:
            self.on_confirmed(first, last)

    # --- performatives

    def _performative(self, body: bytes) -> None:
        if not body:
            self._headed()
            return
        performative = types.Reader(body).value()
        fields = fields_of(performative)
        match getattr(performative, "descriptor", None):
            case 0x10:
                self._opened(fields)
            case 0x11:
                self._incoming_from = number_of(fields, 1)
                self._remote_window = number_of(fields, 2)
                self._begun()
            case 0x12:
                self._attached(fields)
            case 0x13:
                self._flow(fields)
            case 0x18 if field_of(fields, 0) is None:
                self._closed()
            case _:
                raise WireError(f"{self._where} refuses {self.role.address}: {performative!r}")

    def _headed(self) -> None:
        """Handle the other side's protocol header."""

    def _opened(self, fields: list[object], /) -> None:
        properties = field_of(fields, 9)
        self.properties = properties if isinstance(properties, dict) else {}

    def _begun(self) -> None:
        """Handle the other side's Begin."""

    def _attached(self, fields: list[object]) -> None:
        if field_of(fields, 6 if self.role.sends else 5) is None:
            return  # a refusal; the Detach that follows has the reason
        self.ready = True
        if not self.role.sends:
            self._delivery_count = number_of(fields, 9, 0)
            self._grant(self.role.credit)

    def _closed(self) -> None:
        self.closed = True

    def _flow(self, fields: list[object]) -> None:
        self._remote_window = number_of(fields, 0, 0) + number_of(fields, 1) - self.sent  # our ids begin with 0
        if self.role.sends and field_of(fields, 6) is not None:
            self.credit = number_of(fields, 5, 0) + number_of(fields, 6) - self.sent
        if field_of(fields, 9):
            self._session_flow()

    # --- messages

    @property
    def unconfirmed(self) -> int:
        """The number of messages that wait for the broker's answer."""
        return 0 if self.role.settled else self.sent - self.confirmed

    def room(self, window: int) -> int:
        """Return the number of messages that can be sent now.

        Args:
            window: The largest number of messages that wait for an answer.
        """
        if self._out and not self.flush():
            return 0
        free = min(self.credit, self._remote_window)
        return free if self.role.settled else min(free, window - self.sent + self.confirmed)

    def send(self, count: int) -> None:
        """Send messages, whose numbers continue from the last sent message.

        Args:
            count: How many messages to send.
        """
        pack, before, body = self._transfer, self._before, FILLING
        size, first = self._transfer_size, self.sent
        numbers = range(first, first + count)
        self._write(b"".join([pack(size, _BEFORE_ID, one, _TAG, one, before, one, body) for one in numbers]))
        self.sent = first + count
        self.credit -= count
        self._remote_window -= count

    def settle(self, upto: int) -> None:
        """Accept received messages.

        Args:
            upto: The number of messages, from the connection's first, that are settled after this call.
        """
        if upto <= self._unsettled_from:
            return
        first = self._first_delivery + self._unsettled_from & SERIAL
        last = self._first_delivery + upto - 1 & SERIAL
        self._unsettled_from = upto
        accepted = types.described(ACCEPTED, types.fields([]))
        self._say(DISPOSITION, RECEIVER, types.uint(first), types.uint(last), RECEIVER, accepted)

    def top_up(self, taken: int) -> None:
        """Renew the credit when half of it is used.

        Args:
            taken: The number of received messages that are done; the other messages still use credit.
        """
        if taken + self.role.credit - self._granted >= self.role.credit // 2:
            self._grant(taken + self.role.credit - self.received)

    def _grant(self, credit: int) -> None:
        self._granted = self.received + credit
        self._session_flow(types.uint(0), types.uint(self._delivery_count + self.received & SERIAL), types.uint(credit))

    def _session_flow(self, *link: bytes) -> None:
        incoming, outgoing = types.uint(self._incoming_from + self.received & SERIAL), types.uint(self.sent)
        self._say(FLOW, incoming, types.uint(WINDOW), outgoing, types.uint(WINDOW), *link)


@cache
def _layout(settled: bool, durable: bool) -> tuple[Callable[..., bytes], int, bytes]:
    """Return the packing function of a transfer, its size, and the bytes between its tag and its body."""
    fields = b"\x43" + types.boolean(settled)
    header = b"\x00\x53\x70" + types.fields([types.boolean(durable)])
    before = fields + header + b"\x00\x53\x75\xb0" + struct.pack(">I", BODY)
    layout = struct.Struct(f">I{len(_BEFORE_ID)}sI2sI{len(before)}sQ{len(FILLING)}s")
    return layout.pack, layout.size, before


def _uint(body: bytes, at: int) -> tuple[int, int]:
    code = body[at]
    if code == _UINT_0:
        return 0, at + 1
    if code == _SMALL_UINT:
        return body[at + 1], at + 2
    return int.from_bytes(body[at + 1 : at + 5]), at + 5
