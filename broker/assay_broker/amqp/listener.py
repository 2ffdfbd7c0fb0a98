"""The AMQP listener: accepts sockets, and creates an `AmqpSocket` for each."""

from __future__ import annotations

import asyncio
import logging
import os
import socket

from msgspec import Struct

from assay_broker.amqp.conditions import FORCED, Condition
from assay_broker.amqp.connections.connection import AmqpConnection
from assay_broker.amqp.connections.deadlines import Deadlines
from assay_broker.amqp.connections.handshakes import TlsHandshake
from assay_broker.amqp.connections.sockets import READ, AmqpSocket
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.security import PasswordChecks, Security
from assay_broker.shell import QueueManager
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)
_BACKLOG = 512
_IN_A_ROW = 16
"""The most connections that asyncio accepts without a pause: few, because each needs a file descriptor."""
_MS = 1000
_NS_PER_MS = 1_000_000
_MEASURE_NS = 50_000_000
"""The time for which a measurement of memory stays valid, in nanoseconds."""


class AmqpListenError(Exception):
    """The AMQP listener cannot listen at the given address.

    Args:
        why: A sentence that names the problem, the address and a remedy.
    """


class AmqpConnectionView(Struct, frozen=True):
    """The description of a connection for the status page.

    Args:
        container_id: The client's container id; empty before the client's open.
        user: The user's name; None for an anonymous client.
        peer: The client's address, ``host:port``.
        links: The number of open links.
        since_ms: The time at which the client logged in, in milliseconds since the epoch.
    """

    container_id: str
    user: str | None
    peer: str
    links: int
    since_ms: int


class AmqpListener:
    """The listener for AMQP 1.0 clients of one queue manager.

    Args:
        queue_manager: The queue manager.
        runner: Runs jobs on the listener's asyncio loop, and has the clock.
        security: Users and TLS.
        limits: The limits of the listener.
        idle_timeout_ms: The time after which the server closes the connection of a silent client, in milliseconds; 0
            for no limit.
    """

    def __init__(
        self,
        queue_manager: QueueManager,
        runner: Runner,
        *,
        security: Security,
        limits: AmqpLimits = AmqpLimits(),  # noqa: B008  a frozen value
        idle_timeout_ms: int = 60_000,
    ) -> None:
        self.queue_manager = queue_manager
        self.runner = runner
        self.security = security
        self.limits = limits
        self.login = Deadlines(runner, limits.login_ms)
        self.closing = Deadlines(runner, limits.close_ms)
        self.passwords = (
            None if security.users is None else PasswordChecks(security.users, limits.logins, runner.call_soon)
        )
        self.buffer = memoryview(bytearray(READ))
        self.idle_timeout_ms = idle_timeout_ms
        self._clients: dict[AmqpSocket | TlsHandshake, None] = {}
        self.containers: dict[str, dict[AmqpConnection, None]] = {}
        self._server: asyncio.Server | None = None
        self._address = ("", 0)
        self._draining = False
        self._empty: asyncio.Event | None = None
        self._measured_ns = 0
        self._short = False

    @property
    def address(self) -> tuple[str, int]:
        """The host and port on which the listener listens."""
        return self._address

    @property
    def connections(self) -> tuple[AmqpConnectionView, ...]:
        """The connections that have logged in, the oldest first."""
        views: list[AmqpConnectionView] = []
        for client in self._clients:
            one = client.connection
            if one is not None and isinstance(client, AmqpSocket):
                views.append(
                    AmqpConnectionView(
                        one.container, client.user, client.peer, len(one.context.links), one.since_ns // _NS_PER_MS
                    )
                )
        return tuple(views)

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Args:
            host: The name or IP address of this machine to listen on.
            port: The port; 0 for any free port.

        Raises:
            AmqpListenError: The address is in use or unknown.
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
            # The system's text for the error, because asyncio's own text repeats the address in Python's notation.
            number = None if isinstance(error, socket.gaierror) else error.errno
            why = error.strerror or error if number is None else os.strerror(number)
            raise AmqpListenError(
                f"AMQP cannot listen on {host}:{port} ({why}): "
                "end the program that listens there, or name another port."
            ) from error
        name = self._server.sockets[0].getsockname()
        self._address = (str(name[0]), int(name[1]))
        _LOG.info("AMQP listens on %s:%s", *self._address)

    def _make_protocol(self) -> AmqpSocket | TlsHandshake:
        """Create the asyncio protocol for a new socket."""
        tls = self.security.tls
        return AmqpSocket(self) if tls is None else TlsHandshake(self, tls, lambda: AmqpSocket(self))

    async def drain(self) -> None:
        """Accept no more clients, close every connection, and cut off clients that do not close in time."""
        self._accept_no_more()
        for client in tuple(self._clients):
            if client.connection is None:
                client.drop()
            else:
                client.connection.expel(Condition(FORCED, f"{self.queue_manager.name} is being stopped."))
        if self._clients and self._empty is not None:
            try:
                await asyncio.wait_for(self._empty.wait(), self.limits.close_ms / _MS)
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

    def add(self, caller: AmqpSocket | TlsHandshake) -> bool:
        """Add a new socket; return False if the listener has too many connections or is closing."""
        self._clients[caller] = None
        if self._empty is not None:
            self._empty.clear()
        return not self._draining and len(self._clients) <= self.limits.connections

    def remove(self, caller: AmqpSocket | TlsHandshake) -> None:
        """Remove a socket that has closed, or a TLS handshake that has ended."""
        self._clients.pop(caller, None)
        if not self._clients and self._empty is not None:
            self._empty.set()

    def memory_is_short(self) -> bool:
        """Return whether messages take more memory than the limit.

        If so, senders get no credit until enough memory is free; the listener then calls `AmqpConnection.freed`.
        """
        now_ns = self.runner.clock.monotonic_ns()
        if now_ns >= self._measured_ns + _MEASURE_NS:
            self._measured_ns = now_ns
            short = self.queue_manager.octets > self.limits.memory
            was_short, self._short = self._short, short
            if short and not was_short:
                _LOG.warning("messages take more than %s octets: senders get no credit", self.limits.memory)
                self.runner.call_at(now_ns + _MEASURE_NS, self._look_again)
        return self._short

    def _look_again(self) -> None:
        """Measure the memory again, and resume all connections if enough is free; otherwise, measure again later."""
        if self.memory_is_short():
            self.runner.call_at(self.runner.clock.monotonic_ns() + _MEASURE_NS, self._look_again)
            return
        for client in tuple(self._clients):
            if client.connection is not None:
                client.connection.freed()
