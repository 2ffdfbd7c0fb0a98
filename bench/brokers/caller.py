"""The client's side of a connection: login, Open, Begin and Attach."""

from __future__ import annotations

import itertools
import socket
from functools import cache
from typing import Final

from msgspec import Struct

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER
from brokers.frames import Role, WireError, attach_frame, begin_frame, fields_of, number_of, open_frame, sasl_frame
from brokers.wire import TIMEOUT_S, Line

HOST: Final = "127.0.0.1"
INIT: Final = 0x41
_SOURCES = itertools.count()


class Endpoint(Struct, frozen=True):
    """The address of a broker, and a login.

    Args:
        port: The port on 127.0.0.1.
        user: The user's name; None for SASL ANONYMOUS.
        password: The user's password.
        stomp: The port for STOMP; None for a broker without STOMP.
    """

    port: int
    user: str | None = None
    password: str = ""
    stomp: int | None = None


class Caller(Line):
    """A client's AMQP connection; the constructor connects the socket, and `wait` ends when the link is attached.

    Args:
        endpoint: The broker's address and a login.
        role: The link of the connection.
    """

    def __init__(self, endpoint: Endpoint, role: Role) -> None:
        connected = socket.socket()
        connected.settimeout(TIMEOUT_S)
        # Each connection has its own source address, because closed ports stay in use for a while and would run out.
        connected.bind((f"127.{1 + next(_SOURCES) % 250}.0.1", 0))
        connected.connect((HOST, endpoint.port))
        super().__init__(connected, f"{HOST}:{endpoint.port}", role)
        self._endpoint = endpoint
        self._next = self._sasl_header
        self._write(SASL_HEADER)

    def _sasl_header(self, _: bytes) -> None:
        self._next = self._mechanisms

    def _mechanisms(self, _: bytes) -> None:
        self._write(_login(self._endpoint))
        self._next = self._outcome

    def _outcome(self, body: bytes) -> None:
        code = number_of(fields_of(types.Reader(body).value()), 0)
        if code:
            raise WireError(f"{self._where} refuses the login: SASL code {code}")
        name = "bench-{}-{}".format(*self.socket.getsockname())
        opening = PROTOCOL_HEADER, open_frame(name), begin_frame(types.null()), attach_frame("bench", self.role)
        self._write(b"".join(opening))
        self._next = self._performative


@cache
def _login(endpoint: Endpoint) -> bytes:
    if endpoint.user is None:
        return sasl_frame(INIT, types.symbol("ANONYMOUS"), types.binary(b"bench"))
    answer = f"\0{endpoint.user}\0{endpoint.password}".encode()
    return sasl_frame(INIT, types.symbol("PLAIN"), types.binary(answer))
