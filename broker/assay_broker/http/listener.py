"""The HTTP listener: uvicorn on our own sockets, on the queue manager's loop.

uvicorn parses and frames HTTP.  This module limits the number of connections and the time for a request's head and for
an exchange.  It keeps uvicorn from handling the process's signals.

"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, cast

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from assay_broker.http.app import application
from assay_broker.http.limits import HttpLimits
from assay_broker.http.requests.authentication import OPEN, HttpSecurity
from assay_broker.http.requests.request import Views
from assay_broker.security import is_loopback
from assay_broker.shell import QueueManager
from assay_sdk.time import Runner

_LIMITS = HttpLimits()
_BACKLOG = 128
_ADVICE = "; end the program that listens there, or name another address."

_PEERS = logging.getLogger("assay_broker.http.peers")
"""The logger of uvicorn's connections.  It shows no warnings: malformed requests are answered, not logged."""
_PEERS.setLevel(logging.ERROR)


class HttpListenError(Exception):
    """The HTTP listener cannot listen at the given address.

    Args:
        why: A sentence that names the problem, the address and a remedy.
    """


class HttpListener:
    """The HTTP listener of one queue manager.

    Args:
        queue_manager: The queue manager.
        runner: Runs the jobs on the current loop, and has the clock.
        security: Users and TLS; by default no users, for clients on this machine only.
        views: Returns the clients' connections, for the status page.
        limits: The limits of the listener.
        clear_passwords: Whether clients on other machines, too, may send passwords without TLS.
    """

    def __init__(
        self,
        queue_manager: QueueManager,
        runner: Runner,
        *,
        security: HttpSecurity = OPEN,
        views: Views = tuple,
        limits: HttpLimits = _LIMITS,
        clear_passwords: bool = False,
    ) -> None:
        self._security = security
        self._limits = limits
        self._draining = False
        self._closed = False
        app = application(
            queue_manager,
            runner,
            security=security,
            views=views,
            limits=limits,
            ready=lambda: not self._draining,
            clear_passwords=clear_passwords,
        )
        self._config = Config(
            app,
            http=_protocol(limits),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=max(limits.idle_ms // 1_000, 1),
            timeout_graceful_shutdown=None,
            h11_max_incomplete_event_size=limits.head,
        )
        self._server: Server | None = None
        self._address: tuple[str, int] | None = None
        self._dating: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Args:
            host: The name or IP address of this machine to listen on.
            port: The port; 0 for any free port.

        Raises:
            HttpListenError: The address is in use or unknown, or other machines can reach it and no users are defined.
        """
        if self._security.users is None and not is_loopback(host):
            raise HttpListenError(
                f"Without users only programs on this machine may connect, and other machines can reach {host}:"
                " listen on 127.0.0.1, or give a users' file."
            )
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, kind, proto, _, address = found[0]
            bound = socket.socket(family, kind, proto)
        except OSError as error:
            raise HttpListenError(f"HTTP cannot listen on {host}:{port}: {error.strerror or error}{_ADVICE}") from error
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(_BACKLOG)
            bound.setblocking(False)  # noqa: FBT003  the socket's own signature
        except OSError as error:
            bound.close()
            raise HttpListenError(f"HTTP cannot listen on {host}:{port}: {error.strerror or error}{_ADVICE}") from error
        name = bound.getsockname()
        self._address = str(name[0]), int(name[1])
        self._config.load()
        self._server = server = Server(self._config)
        server.lifespan = self._config.lifespan_class(self._config)
        await server.on_tick(0)
        server.servers = [await self._listening(server, bound)]
        server.started = True
        self._dating = loop.create_task(server.main_loop())

    async def _listening(self, server: Server, bound: socket.socket) -> asyncio.Server:
        """Create the asyncio server as uvicorn's own start does, but with a time limit for the TLS handshake."""
        config, tls = self._config, self._security.tls
        handshake_s = None if tls is None else self._limits.head_ms / 1_000
        return await asyncio.get_running_loop().create_server(
            lambda: _line_of(config, server), sock=bound, ssl=tls, ssl_handshake_timeout=handshake_s
        )

    @property
    def address(self) -> tuple[str, int]:
        """The IP address and port on which the listener listens, or listened before it was closed.

        Raises:
            RuntimeError: The listener has not been started.
        """
        if self._address is None:
            raise RuntimeError("the listener has not been started")
        return self._address

    @property
    def url(self) -> str:
        """The URL on which the listener listens."""
        host, port = self.address
        scheme = "http" if self._security.tls is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    async def drain(self) -> None:
        """Accept no more clients, wait for the requests under way up to ``drain_ms`` milliseconds, and close.

        Further calls do nothing.
        """
        self._draining = True
        server = self._server
        if server is None or self._closed:
            return
        for listening in server.servers:
            listening.close()
        for connection in tuple(server.server_state.connections):
            connection.shutdown()
        under_way = tuple(server.server_state.tasks)
        if under_way:
            await asyncio.wait(under_way, timeout=self._limits.drain_ms / 1_000)
        await self.close()

    async def close(self) -> None:
        """Close at once, and cancel the requests under way.  Further calls do nothing."""
        self._draining = True
        server = self._server
        if server is None or self._closed:
            return
        self._closed = True
        if self._dating is not None:
            self._dating.cancel()
        for listening in server.servers:
            listening.close()
        for connection in tuple(server.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # lets the connections handle their end
        under_way = tuple(server.server_state.tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, *filter(None, (self._dating,)), return_exceptions=True)


def _line_of(config: Config, server: Server) -> asyncio.Protocol:
    made: type[Any] = cast("type[Any]", config.http_protocol_class)
    protocol: asyncio.Protocol = made(config=config, server_state=server.server_state, app_state={})
    return protocol


def _protocol(limits: HttpLimits) -> type[asyncio.Protocol]:
    """Return a class for uvicorn's connections that enforces limits on their number and times."""
    open_lines: set[_Line] = set()

    class Line(_Line):
        def __init__(
            self,
            config: Config,
            server_state: ServerState,
            app_state: dict[str, Any],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            super().__init__(config, server_state, app_state, _loop)
            self.logger = _PEERS
            self.limits = limits
            self.open_lines = open_lines

    return Line


class _Line(H11Protocol):
    """A connection of uvicorn with a time limit: first for the request's head, then for the whole exchange."""

    limits: HttpLimits
    open_lines: set[_Line]
    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the time limit for the first head, or cut the connection if too many clients are connected."""
        if len(self.open_lines) >= self.limits.connections:
            transport.abort()
            return
        self.open_lines.add(self)
        super().connection_made(transport)
        self._set_alarm(self.limits.head_ms)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit, and no longer count the connection."""
        self._stop_alarm()
        if self in self.open_lines:
            self.open_lines.discard(self)
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass octets to uvicorn, and start the time limit of a new request's head or of its exchange."""
        if self not in self.open_lines:
            return
        before = self.cycle
        if self._alarm is None:
            self._set_alarm(self.limits.head_ms)
        super().data_received(data)
        if self.cycle is not before and not self.cycle.response_complete:
            self._set_alarm(self.limits.exchange_ms)

    def on_response_complete(self) -> None:
        """Stop the time limit, or start the limit of the next exchange if its request has arrived already."""
        before = self.cycle
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            return  # the time limit stays, because the client may never read the rest of the answer
        if self.cycle is not before:
            self._set_alarm(self.limits.exchange_ms)  # the next request has arrived already
        else:
            self._stop_alarm()

    def _set_alarm(self, after_ms: int) -> None:
        self._stop_alarm()
        self._alarm = self.loop.call_later(after_ms / 1_000, self._too_slow)

    def _stop_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _too_slow(self) -> None:
        self._alarm = None
        self.transport.abort()
