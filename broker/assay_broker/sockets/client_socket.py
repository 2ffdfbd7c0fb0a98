"""A client's socket: reading in pieces of 32 KiB, back-pressure, time limits and the orderly close.

A subclass for each protocol handles the login and the messages.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol, cast

from assay_broker.security import PasswordChecks, Security
from assay_broker.shell import QueueManager
from assay_broker.sockets.deadlines import Deadline, Deadlines
from assay_broker.sockets.limits import SocketLimits
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)

READ = 32_768
"""The most octets that are read from one client before others are served: about a hundred messages."""


class SocketOwner(Protocol):
    """The interface through which a socket uses its listener."""

    queue_manager: QueueManager
    runner: Runner
    security: Security
    passwords: PasswordChecks | None
    """Checks passwords; None if clients connect without a login."""
    login: Deadlines
    """The deadlines for the clients' logins."""
    closing: Deadlines
    """The deadlines for the clients' closes."""
    buffer: memoryview
    """The buffer into which all sockets of the loop read, one after the other.

    It is a memoryview, because asyncio's TLS fills it through slices, and slices of other types are copies.
    """

    def add(self, caller: ClientSocket, /) -> bool:
        """Add a new socket; return False if the listener has too many connections."""
        ...

    def remove(self, caller: ClientSocket, /) -> None:
        """Remove a socket that has closed."""
        ...

    def memory_is_short(self) -> bool:
        """Return whether messages take so much memory that senders must wait."""
        ...


class ClientSocket(asyncio.BufferedProtocol):
    """The asyncio protocol of a client's socket: the base for each server's sockets.

    Args:
        owner: The listener.
        limits: The listener's limits.
    """

    def __init__(self, owner: SocketOwner, limits: SocketLimits) -> None:
        self.peer = "no client"
        self.user: str | None = None
        """The user that has logged in; None for an anonymous client, or before the login."""
        self._socket_owner = owner
        self._socket_limits = limits
        self._loop_runner = owner.runner
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._limit: Deadline | None = None
        self._finished = False

    # --- for subclasses

    @abstractmethod
    def begin(self, transport: asyncio.Transport, host: str) -> None:
        """Begin the login of a client.

        Args:
            transport: The socket's transport.
            host: The client's numeric address; empty if it has none.
        """

    @abstractmethod
    def received(self, data: bytes) -> None:
        """Handle octets from the client."""

    @abstractmethod
    def ended(self) -> None:
        """Handle the end of the socket."""

    @abstractmethod
    def freed(self) -> None:
        """Resume the work for the client, because it has read output or memory is free again."""

    @abstractmethod
    def expel(self, why: str) -> None:
        """Ask the client to disconnect, because the server stops."""

    @property
    def _may_read(self) -> bool:
        """Whether the socket may read from the client."""
        return not self._paused

    # --- closing

    def drop(self) -> None:
        """Cut off the client at once, without a reason."""
        if self._transport is not None:
            self._transport.abort()

    def _finish(self, transport: asyncio.Transport, *, parted: bool) -> None:
        """Close the socket so that the client can still read the reason; after a time limit, cut off the client.

        Args:
            transport: The socket's transport.
            parted: True if the client sends no more.  If False, only the server's side is closed, because a close
                with unread input would reset the TCP connection.
        """
        self._finished = True
        if transport.is_closing():
            return
        if parted or not transport.can_write_eof():
            transport.close()
            if transport.get_write_buffer_size():
                self._limit_to(self._socket_owner.closing, self.drop)
            return
        try:
            transport.write_eof()
        except OSError:  # the client has reset the connection, which asyncio has not noticed yet
            transport.abort()
        else:
            self._limit_to(self._socket_owner.closing, self.drop)

    def _limit_to(self, deadlines: Deadlines, job: Callable[[], None]) -> None:
        self._forget_limit()
        self._limit = deadlines.set(job)

    def _forget_limit(self) -> None:
        if self._limit is not None:
            self._limit()
            self._limit = None

    # --- asyncio's protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the login, or cut off the client if the listener has too many connections."""
        stream = cast("asyncio.Transport", transport)
        self._transport = stream
        place = cast("tuple[object, ...] | str | None", stream.get_extra_info("peername"))
        host = str(place[0]) if isinstance(place, tuple) else ""
        self.peer = f"{host}:{place[1]}" if isinstance(place, tuple) else "a client"
        if not self._socket_owner.add(self):
            _LOG.warning("%s was refused: too many connections", self.peer)
            stream.abort()
            return
        stream.set_write_buffer_limits(high=self._socket_limits.unsent)
        self.begin(stream, host)

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the socket."""
        del exc
        self._socket_owner.remove(self)
        self._forget_limit()
        self.ended()

    def eof_received(self) -> bool:
        """Return False, so that asyncio closes the socket, because the client has closed its side."""
        return False

    def resume_writing(self) -> None:
        """Resume reading, and call `freed`, because the client has read enough output."""
        if self._paused:
            self._paused = False
            self._read_on()
        self.freed()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer of `READ` octets into which asyncio reads."""
        del sizehint
        return self._socket_owner.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Handle the octets that asyncio has read into the buffer."""
        self.received(bytes(self._socket_owner.buffer[:nbytes]))
        transport = self._transport
        if nbytes == READ and transport is not None and self._may_read and not transport.is_closing():
            transport.pause_reading()  # uvloop would read on and starve other connections
            self._loop_runner.call_soon(self._read_on)

    def _read_on(self) -> None:
        transport = self._transport
        if transport is not None and self._may_read and not transport.is_closing():
            transport.resume_reading()

    def _pause_if_stuck(self, transport: asyncio.Transport) -> None:
        """Stop reading from the client if it leaves too much output unread."""
        if not self._paused and transport.get_write_buffer_size() > self._socket_limits.stuck:
            self._paused = True
            transport.pause_reading()
