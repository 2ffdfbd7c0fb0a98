"""The server on a Unix socket, through which other processes of this machine use a driver.

Only the owner of the socket file can open it (mode 0600), because a program that opens it gets all rights of the
driver.  The server cuts off a client that breaks the protocol or a limit; other clients are not affected.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from assay_sdk.driver import Closed, Done, Driver, DriverEvent, Failed, Target, Wire
from assay_sdk.local.frames import (
    VERSION,
    FrameError,
    FrameTooLongError,
    Hello,
    decode_command,
    encode_event,
)
from assay_sdk.local.local_socket import MAX_UNSENT, LocalSocket
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.runners.real import READ, LoopRunner

_MODE = 0o600
_BACKLOG = 128
_REST_NS = 100_000_000
"""The time in nanoseconds for which the server accepts no client after an accept has failed."""
_LOG = logging.getLogger(__name__)


class LocalError(Exception):
    """The server cannot listen on the socket.

    Args:
        why: A sentence that names the problem, the socket and a remedy.
    """


class Limits(Struct, frozen=True, kw_only=True):
    """Limits on the resources that clients can use.

    Args:
        callers: The highest number of connected clients.
        unsent: The highest number of octets that may wait for a client that does not read.
    """

    callers: int = 1_000
    unsent: int = MAX_UNSENT


LIMITS = Limits()
"""The default limits."""


class LocalServer:
    """A listener on a Unix socket; connects each client through a driver.

    Args:
        path: The path of the socket file.  A socket file on which no program listens is replaced.
        driver: The driver that connects to the broker behind the socket.
        runner: The broker's runner, which must be able to watch sockets.
        limits: The limits on clients and on data that waits for them.

    Raises:
        LocalError: The socket cannot be created, or another program listens on it.
    """

    def __init__(self, path: Path, driver: Driver, runner: LoopRunner, limits: Limits = LIMITS) -> None:
        self._path = path
        self._driver = driver
        self._runner = runner
        self._limits = limits
        self._callers: set[_Caller] = set()
        self._listener = _listen(path)
        self._closed = False
        runner.call_soon(self._watch)

    @property
    def url(self) -> str:
        """The URL with which clients connect."""
        return f"local://{self._path.absolute()}"

    @property
    def callers(self) -> int:
        """The number of connected clients."""
        return len(self._callers)

    @property
    def closed(self) -> bool:
        """Whether the listener and all connections are closed."""
        return self._closed

    def close(self) -> None:
        """Remove the socket file and cut off all clients, in a job on the runner.  Further calls do nothing."""
        self._runner.call_soon(self._close)

    def _close(self) -> None:
        if self._closed:
            return
        self._runner.unregister(self._listener)
        self._listener.close()
        with suppress(FileNotFoundError):
            self._path.unlink()
        for caller in tuple(self._callers):
            caller.cut("the broker has ended")
        self._closed = True  # last, because another thread may wait for this

    def _watch(self) -> None:
        if not self._closed:
            self._runner.register(self._listener, READ, self._accept)

    def _accept(self, _mask: int) -> None:
        while not self._closed:
            try:
                end, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:  # no descriptor is free, or the client has closed; a later try may succeed
                _LOG.warning("a client at %s could not be accepted: %s", self._path, error)
                self._runner.unregister(self._listener)
                self._runner.call_at(self._runner.clock.monotonic_ns() + _REST_NS, self._watch)
                return
            if len(self._callers) >= self._limits.callers:
                _LOG.warning("a client at %s was refused: %s clients are connected", self._path, len(self._callers))
                end.close()
                continue
            self._callers.add(_Caller(end, self._driver, self._runner, self._limits, self._callers.discard))


class _Caller:
    """The connection of one client to a wire of the driver: carries commands to the wire, and events to the client."""

    def __init__(
        self,
        end: socket.socket,
        driver: Driver,
        runner: LoopRunner,
        limits: Limits,
        forget: Callable[[_Caller], None],
    ) -> None:
        self._driver = driver
        self._runner = runner
        self._forget = forget
        self._wire: Wire | None = None
        self._line = LocalSocket(end, self, runner, limits.unsent)

    def cut(self, why: str) -> None:
        """Cut the client's connection for the reason given."""
        self._line.drop(why)

    def line_heard(self, body: bytes) -> None:
        """Handle a frame from the client.

        Raises:
            FrameError: The frame is not valid, or the client may not send it at this point.
        """
        said = decode_command(body)
        if self._wire is None:
            self._greeted(said)
        elif isinstance(said, Hello):
            raise FrameError("The client sent a second hello.")
        else:
            try:
                self._wire.submit(said)
            except ValueError as error:  # an earlier command with the same token is not answered yet
                raise FrameError(f"{error}.") from error

    def line_gone(self, why: str) -> None:
        """Handle the end of the client's connection: forget the client and abort its wire."""
        _LOG.debug("a client has disconnected: %s", why)
        self._forget(self)
        if self._wire is not None:
            self._wire.abort()

    def _greeted(self, said: object) -> None:
        if not isinstance(said, Hello):
            raise FrameError("The client's first frame was no hello.")
        if said.version != VERSION:
            text = f"the client speaks version {said.version} of the local protocol, and this broker {VERSION}"
            self._tell(Closed(0, refused(Mqrc.Q_MGR_NOT_AVAILABLE, f"{text}: install the same release on both sides")))
            return
        target = Target(url=f"{self._driver.name}://", client_id=said.client_id, login=said.login)
        self._wire = self._driver.connect(target, self._tell, self._runner)

    def _tell(self, event: DriverEvent) -> None:
        try:
            self._line.send(encode_event(event))
        except FrameTooLongError as error:
            self._line.send(encode_event(_instead_of(event, refused(Mqrc.MSG_TOO_BIG_FOR_CHANNEL, str(error)))))
        if isinstance(event, Closed):
            self._line.finish()


def _instead_of(event: DriverEvent, why: Refused) -> DriverEvent:
    """Return the event to send instead of an event that is too long for a frame.

    The answer to a browse becomes a refusal.  Any other long event closes the connection.
    """
    return Failed(event.token, why) if isinstance(event, Done) else Closed(0, why)


def _listen(path: Path) -> socket.socket:
    """Return a listening socket whose file only the owner can open, from its creation on.

    Raises:
        LocalError: The socket cannot be created, or another program listens on it.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.setblocking(False)  # noqa: FBT003  the standard library takes it by position
        os.fchmod(listener.fileno(), _MODE)  # on Linux the file that bind creates gets this mode
        _take_away_stale(path)
        listener.bind(str(path))
        path.chmod(_MODE)  # for systems on which bind ignores the socket's mode
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise LocalError(
            f"No socket can be created at {path} ({error.strerror or error}): name another path."
        ) from error
    except LocalError:
        listener.close()
        raise
    return listener


def _take_away_stale(path: Path) -> None:
    """Remove the socket file of a broker that was killed.

    Raises:
        LocalError: Another program listens at the path, or the file is not a socket.
    """
    if not path.exists():
        return
    if not path.is_socket():
        raise LocalError(f"{path} is not a socket, so it is not replaced: name another path, or remove it.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(str(path)) != errno.ECONNREFUSED:
            raise LocalError(f"A broker listens at {path} already: stop that broker, or name another path.")
    path.unlink()
