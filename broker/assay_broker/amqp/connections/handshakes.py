"""A TLS socket before its handshake is over.

It counts against the connection limit from the first byte, because asyncio reports a TLS connection only after the
handshake.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Protocol, cast

from assay_broker.amqp.connections.sockets import AmqpSocket
from assay_broker.amqp.limits import AmqpLimits

_LOG = logging.getLogger(__name__)
_MS = 1000


class HandshakeOwner(Protocol):
    """What a handshake needs of the listener."""

    limits: AmqpLimits

    def add(self, caller: AmqpSocket | TlsHandshake, /) -> bool:
        """Add a new socket. Return False if the listener has no room for it."""
        ...

    def remove(self, caller: AmqpSocket | TlsHandshake, /) -> None:
        """Remove a handshake that has ended: the socket closed, or an `AmqpSocket` has taken it over."""
        ...


class TlsHandshake(asyncio.Protocol):
    """One socket during the TLS handshake.

    Args:
        owner: The listener.
        context: The TLS context.
        make_socket: Makes the protocol that takes over after the handshake.
    """

    connection = None
    """No AMQP connection exists before the handshake is over."""

    def __init__(self, owner: HandshakeOwner, context: ssl.SSLContext, make_socket: Callable[[], AmqpSocket]) -> None:
        self._owner = owner
        self._context = context
        self._make_socket = make_socket
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake, or refuse the client if the listener is full."""
        self._transport = cast("asyncio.Transport", transport)
        if self._owner.add(self):
            self._task = asyncio.get_running_loop().create_task(self._handshake(self._transport))
        else:
            _LOG.warning("a client was refused: too many connections")
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the socket, before or right after the handshake."""
        del exc
        self._owner.remove(self)

    def data_received(self, data: bytes) -> None:
        """Keep data that arrived together with the end of the handshake."""
        self._early += data

    def drop(self) -> None:
        """Cut the client off."""
        if self._transport is not None:
            self._transport.abort()

    async def _handshake(self, transport: asyncio.Transport) -> None:
        limits = self._owner.limits
        try:
            secure = await asyncio.get_running_loop().start_tls(
                transport,
                self,
                self._context,
                server_side=True,
                ssl_handshake_timeout=limits.login_ms / _MS,
                ssl_shutdown_timeout=limits.close_ms / _MS,
            )
        except OSError as error:  # TLS errors are OSErrors too
            _LOG.info("a client did not get through the TLS handshake: %s", error)
            transport.abort()
            secure = None
        self._owner.remove(self)
        if secure is not None and not secure.is_closing():
            connected = self._make_socket()
            secure.set_protocol(connected)
            connected.connection_made(secure)
            if self._early:
                connected.received(self._early)
