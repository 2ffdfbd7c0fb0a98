"""A client's socket: handles the login, and then passes octets between the client and the engine.

`AmqpConnection` handles sessions, links and messages.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from assay_broker.amqp.conditions import FORCED, Condition
from assay_broker.amqp.connections.connection import AmqpConnection, ConnectionOwner
from assay_broker.amqp.connections.sasl import Phase, SaslServer
from assay_broker.amqp.connections.states import ConnectionState
from assay_broker.sockets.client_socket import ClientSocket, SocketOwner
from assay_sdk.time import NS_PER_MS, CancelJob

_LOG = logging.getLogger(__name__)


class AmqpSocketOwner(ConnectionOwner, SocketOwner, Protocol):
    """The interface through which a socket and its connection use the listener."""


class AmqpSocket(ClientSocket):
    """The asyncio protocol of a client's socket.

    Args:
        owner: The listener.
    """

    def __init__(self, owner: AmqpSocketOwner) -> None:
        super().__init__(owner, owner.limits)
        self.connection: AmqpConnection | None = None
        self._owner = owner
        self._limits = owner.limits
        self._runner = owner.runner
        self._sasl: SaslServer | None = None
        self._tick: CancelJob | None = None
        self._beats = False
        self._checking: CancelJob | None = None
        self._answer = b""
        """The login's last output, which the socket writes together with the engine's first output."""

    # --- `SocketPort`, for the connection

    def flush(self) -> None:
        """Write the engine's output, and close the socket if the connection has ended."""
        transport, connection = self._transport, self.connection
        if transport is None or connection is None:
            return
        octets = self._answer + connection.pull()
        self._answer = b""
        if octets and not transport.is_closing():
            transport.write(octets)
            self._pause_if_stuck(transport)
        if connection.engine.mute and connection.is_open:
            _LOG.error("the engine of the connection of %s has failed; the connection is cut off", self.peer)
            transport.abort()
        elif connection.ended and not self._finished:
            self._finish(transport, parted=connection.state is ConnectionState.PARTED)

    # --- asyncio's protocol

    def begin(self, transport: asyncio.Transport, host: str) -> None:
        """Begin the login of a client."""
        encrypted = transport.get_extra_info("ssl_object") is not None
        security = self._owner.security
        private = security.anonymous or security.is_private(host, encrypted=encrypted)
        self._sasl = SaslServer(security, private=private)
        self._limit_to(self._owner.login, self._too_late)

    def ended(self) -> None:
        """Handle the end of the socket."""
        if self._tick is not None:
            self._tick()
        self._tick = None
        self._forget_check()
        connection, self.connection = self.connection, None  # breaks a cycle, so that memory is freed at once
        if connection is not None:
            connection.gone()

    def expel(self, why: str) -> None:
        """Close the connection, because the server stops."""
        if self.connection is None:
            self.drop()
        else:
            self.connection.expel(Condition(FORCED, why))

    def freed(self) -> None:
        """Resume all links, because the client has read output or memory is free again."""
        if self.connection is not None:
            self.connection.freed()

    def resume_writing(self) -> None:
        """Resume reading and all links, because the client has read enough output."""
        if self.connection is not None:
            self.connection.context.congested = False
        super().resume_writing()

    def pause_writing(self) -> None:
        """Make the links pause, because the client does not read the server's output fast enough."""
        if self.connection is not None:
            self.connection.context.congested = True

    def received(self, data: bytes) -> None:
        """Pass octets from the client to the login or, after it, to the connection."""
        sasl = self._sasl
        if self._finished or sasl is None:
            return
        if self.connection is not None:
            self._feed(self.connection, data)
        else:
            self._log_in(sasl, sasl.receive(data))

    def _log_in(self, sasl: SaslServer, answer: bytes) -> None:
        """Act on the phase that the login has reached.

        Args:
            sasl: The negotiation.
            answer: The negotiation's octets for the client.
        """
        if sasl.phase is Phase.DONE:
            self._answer = answer  # written together with the server's protocol header
            self.user = sasl.user
            self.connection = AmqpConnection(self, self._owner)
            self._feed(self.connection, sasl.rest)
            return
        if answer and self._transport is not None:
            self._transport.write(answer)
        if sasl.phase is Phase.REFUSED:
            self._forget_check()
            _LOG.warning("%s was refused: %s", self.peer, sasl.refusal)
            if self._transport is not None:
                self._finish(self._transport, parted=False)
        elif sasl.asked is not None and self._checking is None and self._owner.passwords is not None:
            self._checking = self._owner.passwords.start(sasl.asked.user, sasl.asked.password, self._checked)

    def _checked(self, right: bool) -> None:
        """Pass the result of the password check to the login."""
        self._checking = None
        if self._sasl is not None and self._transport is not None and not self._transport.is_closing():
            self._log_in(self._sasl, self._sasl.checked(right))

    def _forget_check(self) -> None:
        if self._checking is not None:
            self._checking()
            self._checking = None

    # --- AMQP

    def _feed(self, connection: AmqpConnection, data: bytes) -> None:
        connection.receive(data)
        if not self._beats and connection.is_open:
            self._beats = True  # only from the open on, because the open contains the client's idle time-out
            self._beat()
        self.flush()

    def _beat(self) -> None:
        """Let the engine send heartbeats and detect a silent client, and schedule the next call.

        The login's deadline stays set after the login, and also calls this method when it is due.  So the method sets a
        timer of its own only if the next call is due before that deadline.
        """
        if self._tick is not None:
            self._tick()
            self._tick = None
        connection = self.connection
        if connection is None or self._finished:
            return
        now_ns = self._runner.clock.monotonic_ns()
        due_ns = connection.engine.tick(now_ns // NS_PER_MS) * NS_PER_MS
        if self._limit is not None and connection.is_open:
            if not 0 < due_ns < self._limit.due_ns:
                return  # the login's deadline comes first, and most connections end before it
            self._forget_limit()
        if due_ns:
            self._tick = self._runner.call_at(max(due_ns, now_ns + NS_PER_MS), self._time_passed)

    def _time_passed(self) -> None:
        self._beat()
        if self.connection is not None:
            self.connection.fed()
            self.flush()

    def _too_late(self) -> None:
        self._limit = None
        if self._beats:
            self._time_passed()
            return
        _LOG.info("%s did not open a connection within %s ms", self.peer, self._limits.login_ms)
        if self.connection is None:
            self.drop()
        else:
            self.connection.broken(Condition(FORCED, "The connection was not opened in time."))

    def ending(self) -> None:
        """Start the time limit for the client's close, because the server has sent its close."""
        self._limit_to(self._owner.closing, self.drop)
