"""The AMQP listener: server sockets, and a line for each connection."""

from __future__ import annotations

import asyncio
import logging
import os
import socket

from msgspec import Struct

from assay_broker.amqp.conditions import FORCED, Condition
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
"""Connections that asyncio takes before it tells of them: whoever is too many has a file open until then."""
_MS = 1000
_NS_PER_MS = 1_000_000
_MEASURE_NS = 50_000_000
"""How long a measurement of memory holds."""


class AmqpListenError(Exception):
    """Nobody can be listened to there.

    Args:
        why: One sentence: what is wrong, where, what to do.
    """


class AmqpConnectionView(Struct, frozen=True):
    """One connection, as the status page shows it.

    Args:
        container_id: The client's container id; empty before the client has opened the connection.
        user: The user that has logged in; None for anonymous.
        peer: The client's address, ``host:port``.
        links: The number of open links.
        since_ms: When the client connected, in milliseconds since the epoch.
    """

    container_id: str
    user: str | None
    peer: str
    links: int
    since_ms: int


class AmqpListener:
    """Listens for AMQP 1.0 clients of one queue manager.

    Args:
        queue_manager: Who serves them.
        runner: Jobs on the asyncio loop in which the listener is started.
        security: Who is let in, and how.
        limits: What peers can make grow.
        idle_timeout_ms: How long a peer may be silent; 0 for ever.
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
        self._lines: dict[AmqpSocket | TlsHandshake, None] = {}
        self._containers: dict[str, dict[AmqpSocket, None]] = {}
        self._server: asyncio.Server | None = None
        self._address = ("", 0)
        self._draining = False
        self._empty: asyncio.Event | None = None
        self._measured_ns = 0
        self._short = False

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens: host and port."""
        return self._address

    @property
    def connections(self) -> tuple[AmqpConnectionView, ...]:
        """The connections that have logged in, the oldest first."""
        views: list[AmqpConnectionView] = []
        for line in self._lines:
            one = line.connection
            if one is not None and isinstance(line, AmqpSocket):
                views.append(
                    AmqpConnectionView(one.container, line.user, line.peer, one.links, one.since_ns // _NS_PER_MS)
                )
        return tuple(views)

    async def start(self, host: str, port: int) -> None:
        """Begin to listen.

        Args:
            host: A numeric address, or a name of this machine.
            port: 0 for any that is free.

        Raises:
            AmqpListenError: It cannot be listened to there.
            ExposedError: Without users, others than this machine could connect.
        """
        self.security.check_place(host)
        loop = asyncio.get_running_loop()
        self._empty = asyncio.Event()
        try:
            self._server = await loop.create_server(self._make_protocol, host, port, backlog=_IN_A_ROW)
            for one in self._server.sockets:
                with one.dup() as same:  # to asyncio what waits in the system and what is taken in a row are one figure
                    same.listen(_BACKLOG)
        except OSError as error:
            # asyncio's own text names the address once more, in Python's words
            number = None if isinstance(error, socket.gaierror) else error.errno
            why = error.strerror or error if number is None else os.strerror(number)
            raise AmqpListenError(
                f"AMQP clients cannot be listened to at {host}:{port} ({why}): "
                "end whoever listens there, or name another port."
            ) from error
        name = self._server.sockets[0].getsockname()
        self._address = (str(name[0]), int(name[1]))
        _LOG.info("AMQP clients are listened to at %s:%s", *self._address)

    def _make_protocol(self) -> AmqpSocket | TlsHandshake:
        """Who hears of a new socket."""
        tls = self.security.tls
        return AmqpSocket(self) if tls is None else TlsHandshake(self, tls, lambda: AmqpSocket(self))

    async def drain(self) -> None:
        """Take nobody in any more, and end every connection in order; who does not answer in time is cut off."""
        self._draining = True
        if self._server is not None:
            self._server.close()
        for line in tuple(self._lines):
            if line.connection is None:
                line.drop()
            else:
                line.connection.expel(Condition(FORCED, f"{self.queue_manager.name} is being stopped."))
        if self._lines and self._empty is not None:
            try:
                await asyncio.wait_for(self._empty.wait(), self.limits.close_ms / _MS)
            except TimeoutError:
                _LOG.info("%s connections did not end in time", len(self._lines))
        await self.close()

    async def close(self) -> None:
        """Cut everybody off."""
        self._draining = True
        if self._server is not None:
            self._server.close()
        for line in tuple(self._lines):
            line.drop()
        if self._lines and self._empty is not None:
            await self._empty.wait()
        if self.passwords is not None:
            self.passwords.close()
        if self._server is not None:
            server, self._server = self._server, None
            await server.wait_closed()

    # --- what lines and doors need (`SocketOwner`, `HandshakeOwner`)

    def add(self, caller: AmqpSocket | TlsHandshake) -> bool:
        """Somebody has connected; whether there is room for him."""
        self._lines[caller] = None
        if self._empty is not None:
            self._empty.clear()
        return not self._draining and len(self._lines) <= self.limits.connections

    def remove(self, caller: AmqpSocket | TlsHandshake) -> None:
        """A line is gone, or has come through its door."""
        self._lines.pop(caller, None)
        if not self._lines and self._empty is not None:
            self._empty.set()

    def same_container(self, container: str) -> dict[AmqpSocket, None]:
        """The lines of one container, for the line to enter itself; without a name each has a container of its own."""
        return self._containers.setdefault(container, {}) if container else {}

    def forget_container(self, container: str) -> None:
        """The last line of a container is gone."""
        self._containers.pop(container, None)

    def memory_is_short(self) -> bool:
        """Whether messages take so much memory that senders get no new credit; they are told when that is over."""
        now_ns = self.runner.clock.monotonic_ns()
        if now_ns >= self._measured_ns + _MEASURE_NS:
            self._measured_ns = now_ns
            short = self.queue_manager.octets > self.limits.memory
            was_short, self._short = self._short, short
            if short and not was_short:
                _LOG.warning("messages take more than %s octets: senders wait", self.limits.memory)
                self.runner.call_at(now_ns + _MEASURE_NS, self._look_again)
        return self._short

    def _look_again(self) -> None:
        """Measure until there is memory again."""
        if self.memory_is_short():
            self.runner.call_at(self.runner.clock.monotonic_ns() + _MEASURE_NS, self._look_again)
            return
        for line in tuple(self._lines):
            if line.connection is not None:
                line.connection.freed()
