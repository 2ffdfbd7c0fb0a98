"""What stands at the door of a listener under TLS: a socket that is counted from its first octet on.

asyncio's own TLS servers tell of nobody before the handshake is over, so that half-open ones would be beyond every
limit.
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
    """What a door needs of the listener."""

    limits: AmqpLimits

    def add(self, caller: AmqpSocket | TlsHandshake, /) -> bool:
        """Somebody has connected; whether there is room for him."""
        ...

    def remove(self, caller: AmqpSocket | TlsHandshake, /) -> None:
        """He is gone, or another stands for him."""
        ...


class TlsHandshake(asyncio.Protocol):
    """One socket, until it speaks TLS.

    Args:
        owner: The listener.
        context: The TLS context.
        make_socket: Makes who goes on behind the handshake.
    """

    connection = None
    """Nobody has logged in here."""

    def __init__(self, owner: HandshakeOwner, context: ssl.SSLContext, make_socket: Callable[[], AmqpSocket]) -> None:
        self._owner = owner
        self._context = context
        self._make_socket = make_socket
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has connected."""
        self._transport = cast("asyncio.Transport", transport)
        if self._owner.add(self):
            self._task = asyncio.get_running_loop().create_task(self._handshake(self._transport))
        else:
            _LOG.warning("a client was turned away: there are too many connections")
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed, before or right after the handshake."""
        del exc
        self._owner.remove(self)

    def data_received(self, data: bytes) -> None:
        """Octets that came in one piece with the end of the handshake."""
        self._early += data

    def drop(self) -> None:
        """Cut the peer off at once."""
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
        except OSError as error:  # whatever the peer did instead: TLS's own errors are among them
            _LOG.info("a client did not get through the TLS handshake: %s", error)
            transport.abort()
            secure = None
        self._owner.remove(self)
        if secure is not None and not secure.is_closing():
            line = self._make_socket()
            secure.set_protocol(line)
            line.connection_made(secure)
            if self._early:
                line.received(self._early)
