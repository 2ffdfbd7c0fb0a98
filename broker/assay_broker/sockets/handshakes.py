"""A TLS socket before its handshake is over.

asyncio reports a TLS connection only after the handshake.  This module does the handshake itself, so that the socket
counts against the connection limit from the start.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Protocol, cast

from assay_broker.sockets.client_socket import ClientSocket
from assay_broker.sockets.limits import SocketLimits

_LOG = logging.getLogger(__name__)
_MS = 1000


class HandshakeOwner(Protocol):
    """The interface through which a TLS handshake uses the listener."""

    def add(self, caller: ClientSocket | TlsHandshake, /) -> bool:
        """Add a new socket; return False if the listener has too many connections."""
        ...

    def remove(self, caller: ClientSocket | TlsHandshake, /) -> None:
        """Remove a handshake that has ended: the socket has closed, or a `ClientSocket` takes over the socket."""
        ...


class TlsHandshake(asyncio.Protocol):
    """The protocol of a client's socket during the TLS handshake.

    Args:
        owner: The listener.
        limits: The listener's limits.
        context: The TLS context.
        make_socket: Makes the protocol that takes over the socket after the handshake.
    """

    def __init__(
        self,
        owner: HandshakeOwner,
        limits: SocketLimits,
        context: ssl.SSLContext,
        make_socket: Callable[[], ClientSocket],
    ) -> None:
        self._owner = owner
        self._limits = limits
        self._context = context
        self._make_socket = make_socket
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake, or cut off the client if the listener has too many connections."""
        self._transport = cast("asyncio.Transport", transport)
        if self._owner.add(self):
            self._task = asyncio.get_running_loop().create_task(self._handshake(self._transport))
        else:
            _LOG.warning("a client was refused: too many connections")
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the socket before the handshake was over."""
        del exc
        self._owner.remove(self)

    def data_received(self, data: bytes) -> None:
        """Store data that arrived together with the handshake's end, for the protocol that takes over the socket."""
        self._early += data

    def drop(self) -> None:
        """Cut off the client."""
        if self._transport is not None:
            self._transport.abort()

    def expel(self, why: str) -> None:
        """Cut off the client, because the server stops."""
        del why
        self.drop()

    def freed(self) -> None:
        """Do nothing, because no message waits before the handshake is over."""

    async def _handshake(self, transport: asyncio.Transport) -> None:
        limits = self._limits
        try:
            secure = await asyncio.get_running_loop().start_tls(
                transport,
                self,
                self._context,
                server_side=True,
                ssl_handshake_timeout=limits.login_ms / _MS,
                ssl_shutdown_timeout=limits.close_ms / _MS,
            )
        except OSError as error:  # ssl.SSLError is an OSError
            _LOG.info("the TLS handshake of a client failed: %s", error)
            transport.abort()
            secure = None
        self._owner.remove(self)
        if secure is not None and not secure.is_closing():
            connected = self._make_socket()
            secure.set_protocol(connected)
            connected.connection_made(secure)
            if self._early:
                connected.received(self._early)
