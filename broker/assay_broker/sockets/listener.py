"""A listener: accepts sockets, counts them, and closes them when the server stops."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from abc import ABC, abstractmethod
from typing import ClassVar

from assay_broker.security import PasswordChecks, Security
from assay_broker.shell import QueueManager
from assay_broker.sockets.client_socket import READ, ClientSocket
from assay_broker.sockets.deadlines import Deadlines
from assay_broker.sockets.handshakes import TlsHandshake
from assay_broker.sockets.limits import SocketLimits
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)
_BACKLOG = 512
_IN_A_ROW = 16
"""The most connections that asyncio accepts without a pause: few, because each needs a file descriptor."""
_MS = 1000
_MEASURE_NS = 50_000_000
"""The time for which a measurement of memory stays valid, in nanoseconds."""


class ListenError(Exception):
    """A listener cannot listen at the given address.

    Args:
        why: A sentence that names the problem, the address and a remedy.
    """


class ClientListener(ABC):
    """The listener for clients of one queue manager: the base for each protocol's listener.

    Args:
        queue_manager: The queue manager.
        runner: Runs jobs on the listener's asyncio loop, and has the clock.
        security: Users and TLS.
        limits: The limits of the listener.
    """

    protocol: ClassVar[str]
    """The protocol's name, for logs and errors."""
    listen_error: ClassVar[type[ListenError]] = ListenError

    def __init__(
        self, queue_manager: QueueManager, runner: Runner, *, security: Security, limits: SocketLimits
    ) -> None:
        self.queue_manager = queue_manager
        self.runner = runner
        self.security = security
        self.login = Deadlines(runner, limits.login_ms)
        self.closing = Deadlines(runner, limits.close_ms)
        self.passwords = (
            None if security.users is None else PasswordChecks(security.users, limits.logins, runner.call_soon)
        )
        self.buffer = memoryview(bytearray(READ))
        self._limits = limits
        self._clients: dict[ClientSocket | TlsHandshake, None] = {}
        self._server: asyncio.Server | None = None
        self._address = ("", 0)
        self._draining = False
        self._empty: asyncio.Event | None = None
        self._measured_ns = 0
        self._short = False

    @abstractmethod
    def make_socket(self) -> ClientSocket:
        """Create the asyncio protocol for a client's socket; with TLS, for use after the handshake."""

    @property
    def address(self) -> tuple[str, int]:
        """The host and port on which the listener listens."""
        return self._address

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Args:
            host: The name or IP address of this machine to listen on.
            port: The port; 0 for any free port.

        Raises:
            ListenError: The address is in use or unknown; the listener raises its own subclass.
            ExposedError: Other machines can reach the address, and no users are defined.
        """
        self.security.check_place(host)
        loop = asyncio.get_running_loop()
        self._empty = asyncio.Event()
        try:
            self._server = await loop.create_server(self._make_protocol, host, port, backlog=_IN_A_ROW)
            for one in self._server.sockets:
                with one.dup() as same:  # asyncio takes one number for both the backlog and `_IN_A_ROW`
                    same.listen(_BACKLOG)
        except OSError as error:
            # The error uses the system's text, because asyncio's text repeats the address in Python's notation.
            number = None if isinstance(error, socket.gaierror) else error.errno
            why = error.strerror or error if number is None else os.strerror(number)
            raise self.listen_error(
                f"{self.protocol} cannot listen on {host}:{port} ({why}): "
                "end the program that listens there, or name another port."
            ) from error
        name = self._server.sockets[0].getsockname()
        self._address = (str(name[0]), int(name[1]))
        _LOG.info("%s listens on %s:%s", self.protocol, *self._address)

    def _make_protocol(self) -> ClientSocket | TlsHandshake:
        """Create the asyncio protocol for a new socket."""
        tls = self.security.tls
        return self.make_socket() if tls is None else TlsHandshake(self, self._limits, tls, self.make_socket)

    async def drain(self) -> None:
        """Accept no more clients, close every connection, and cut off clients that do not close in time."""
        self._accept_no_more()
        for client in tuple(self._clients):
            client.expel(f"{self.queue_manager.name} is being stopped.")
        if self._clients and self._empty is not None:
            try:
                await asyncio.wait_for(self._empty.wait(), self._limits.close_ms / _MS)
            except TimeoutError:
                _LOG.info("%s connections did not close in time", len(self._clients))
        await self.close()

    async def close(self) -> None:
        """Accept no more clients, cut off all clients, and wait until all sockets are closed."""
        self._accept_no_more()
        for client in tuple(self._clients):
            client.drop()
        if self._clients and self._empty is not None:
            await self._empty.wait()
        if self.passwords is not None:
            self.passwords.close()
        if self._server is not None:
            server, self._server = self._server, None
            await server.wait_closed()

    def _accept_no_more(self) -> None:
        self._draining = True
        if self._server is not None:
            self._server.close()

    # --- `SocketOwner`, `HandshakeOwner`

    def add(self, caller: ClientSocket | TlsHandshake) -> bool:
        """Add a new socket; return False if the listener has too many connections or is closing."""
        self._clients[caller] = None
        if self._empty is not None:
            self._empty.clear()
        return not self._draining and len(self._clients) <= self._limits.connections

    def remove(self, caller: ClientSocket | TlsHandshake) -> None:
        """Remove a socket that has closed, or a TLS handshake that has ended."""
        self._clients.pop(caller, None)
        if not self._clients and self._empty is not None:
            self._empty.set()

    def memory_is_short(self) -> bool:
        """Return whether messages take more memory than the limit.

        If so, senders must wait until enough memory is free; the listener then calls `ClientSocket.freed`.
        """
        now_ns = self.runner.clock.monotonic_ns()
        if now_ns >= self._measured_ns + _MEASURE_NS:
            self._measured_ns = now_ns
            short = self.queue_manager.octets > self._limits.memory
            was_short, self._short = self._short, short
            if short and not was_short:
                _LOG.warning("messages take more than %s octets: senders must wait", self._limits.memory)
                self.runner.call_at(now_ns + _MEASURE_NS, self._look_again)
        return self._short

    def _look_again(self) -> None:
        """Measure the memory again, and resume all connections if enough is free; otherwise, measure again later."""
        if self.memory_is_short():
            self.runner.call_at(self.runner.clock.monotonic_ns() + _MEASURE_NS, self._look_again)
            return
        for client in tuple(self._clients):
            client.freed()
