"""The driver for a reference broker in another process of this machine, over a Unix socket.

The socket carries the commands and events of `assay_sdk.driver` unchanged.  If the socket breaks, the connection is
lost.  A client needs the file system's permission for the socket (`assay_broker.local`).
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
from collections.abc import Callable
from typing import Literal, cast
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent, Target, TargetError
from assay_sdk.drivers.answers import Answers, lost
from assay_sdk.local.frames import VERSION, FrameError, FrameTooLongError, Hello, decode_event, encode_command
from assay_sdk.local.local_socket import LocalSocket
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.runners.real import LoopRunner
from assay_sdk.time import NS_PER_MS, Runner

_RETRY_NS = 2 * NS_PER_MS
"""The time before the next attempt to connect if the broker's queue of connections is full, in nanoseconds."""


class LocalDriver:
    """The driver for a Unix socket, with URLs of the form ``local:///path/to.sock``."""

    def __init__(self) -> None:
        self._epochs = itertools.count(1)

    @property
    def name(self) -> str:
        """URL scheme of the driver."""
        return "local"

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> LocalWire:
        """Start to connect; report the result as the event `Opened`, or `Closed` with the reason.

        Args:
            target: The broker's URL, ``local:///path/to.sock``, with the client id and the login.
            sink: Called with each event, on the runner.
            runner: A runner that watches sockets: `assay_sdk.runners.real.RealRunner`.

        Raises:
            TargetError: The URL is malformed or has no path, or a CA file is given.
            TypeError: The runner cannot watch sockets.
        """
        if not hasattr(runner, "register"):
            raise TypeError("the local driver needs a runner that watches sockets: use RealRunner")
        path = path_of(target.url)
        if target.ca_file is not None:
            raise TargetError("ca_file is given, but local:// has no TLS: leave ca_file out")
        return LocalWire(target, path, sink, cast("LoopRunner", runner), next(self._epochs))


def path_of(url: str) -> str:
    """Return the path of a local URL.

    Raises:
        TargetError: The URL is malformed.
    """
    parts = urlsplit(url)
    if parts.scheme != "local" or parts.netloc or not parts.path:
        raise TargetError(f"not a local URL: write local:///path/to.sock ({url!r} was given)")
    return unquote(parts.path)


class LocalWire:
    """A connection over a Unix socket (`assay_sdk.driver.Wire`).

    Args:
        target: Client id, login and options of the connection.
        path: Path of the socket.
        sink: Called with each event, on the loop.
        runner: Runner that watches the socket.
        epoch: Number of the connection among the driver's connections.
    """

    def __init__(
        self, target: Target, path: str, sink: Callable[[DriverEvent], None], runner: LoopRunner, epoch: int
    ) -> None:
        self.epoch = epoch
        self.capabilities: frozenset[Capability] = frozenset()
        self._target = target
        self._path = path
        self._sink = sink
        self._runner = runner
        self._answers = Answers(sink, runner, target.request_timeout_ms, lambda: None)
        self._early: list[DriverCommand] = []
        self._line: LocalSocket | None = None
        self._closing: int | None = None
        self._over = False
        due_ns = runner.clock.monotonic_ns() + target.open_timeout_ms * NS_PER_MS
        self._timer = runner.call_at(due_ns, self._open_timed_out)
        runner.call_soon(self._connect)

    def submit(self, command: DriverCommand) -> None:
        """Queue a command, which is answered once; the answer is `Failed` if the connection is lost."""
        self._runner.call_soon(lambda: self._carry(command))

    def abort(self) -> None:
        """Drop the connection without closing it at the broker, as if the network had failed."""
        self._runner.call_soon(lambda: self._end(lost("the connection was aborted by this client")))

    # --- called by the socket (`assay_sdk.local.local_socket.LocalSocketOwner`)

    def line_heard(self, body: bytes) -> None:
        """Handle an event of the broker.

        Raises:
            FrameError: The body is not an event.
        """
        event = decode_event(body)
        self._show("in", event, body)
        match event:
            case driver.Opened():
                self._timer()
                self.capabilities = event.capabilities
                self._sink(replace(event, epoch=self.epoch))
            case driver.Done(token=token) if token == self._closing:
                self._end(None)
            case driver.Done():
                self._answers.done(event.token, event.value, event.properties, event.capabilities)
            case driver.Failed():
                self._answers.fail(event.token, event.refused)
            case driver.Closed():
                self._end(event.refused)
            case driver.Arrived():
                self._sink(replace(event, epoch=self.epoch))
            case _:
                self._sink(event)

    def line_gone(self, why: str) -> None:
        """Handle the end of the socket.

        Args:
            why: The reason, as the end of a sentence.
        """
        self._end(lost(f"the connection to the broker at {self._path} is lost: {why}"))

    # commands ---------------------------------------------------------------------------------------------------------

    def _carry(self, command: DriverCommand) -> None:
        if self._over:
            self._sink(driver.Failed(command.token, lost("the connection is closed: create a new one")))
            return
        self._answers.owe(command)
        if self._line is None:
            self._early.append(command)
        else:
            self._say(self._line, command)

    def _say(self, line: LocalSocket, command: DriverCommand) -> None:
        try:
            frame = encode_command(command)
        except FrameTooLongError as error:
            self._answers.fail(command.token, refused(Mqrc.MSG_TOO_BIG_FOR_CHANNEL, str(error)))
            return
        except FrameError as error:
            self._answers.fail(command.token, Refused(JmsErrorKind.MESSAGE_FORMAT, str(error)))
            return
        if isinstance(command, driver.Close):
            self._closing = command.token
        self._show("out", command, frame)
        line.send(frame)

    def _show(self, direction: Literal["in", "out"], what: DriverEvent | DriverCommand, octets: bytes) -> None:
        if self._target.trace:
            self._sink(driver.Frame(direction, repr(what), octets))

    # beginning and end ------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        if self._over:
            return
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.setblocking(False)  # noqa: FBT003  the standard library takes it by position
        try:
            end.connect(self._path)
        except BlockingIOError:
            end.close()
            self._runner.call_at(self._runner.clock.monotonic_ns() + _RETRY_NS, self._connect)
            return
        except OSError as error:
            end.close()
            self._end(self._unavailable(error))
            return
        self._line = line = LocalSocket(end, self, self._runner)
        line.send(encode_command(Hello(version=VERSION, client_id=self._target.client_id, login=self._target.login)))
        early, self._early = self._early, []
        for command in early:
            self._say(line, command)

    def _unavailable(self, error: OSError) -> Refused:
        because = os.strerror(error.errno) if error.errno else str(error)
        hint = "correct the path" if error.errno in {errno.ENOTDIR, errno.EACCES, None} else "start the broker"
        text = f"no broker answers at {self._path} ({because}): {hint}, then connect again"
        return refused(Mqrc.Q_MGR_NOT_AVAILABLE, text)

    def _open_timed_out(self) -> None:
        text = f"the broker at {self._path} did not open the connection within {self._target.open_timeout_ms} ms"
        self._end(refused(Mqrc.Q_MGR_NOT_AVAILABLE, text))

    def _end(self, why: Refused | None) -> None:
        """Answer `Failed` for all unanswered commands except a close, then report that the connection has ended."""
        if self._over:
            return
        self._over = True
        self._timer()
        asked = self._closing is not None
        if self._closing is not None:
            self._answers.done(self._closing)  # the close has succeeded, even if the connection was lost meanwhile
        broken = why is not None and why.kind is JmsErrorKind.CONNECTION_LOST
        self._answers.fail_all(why if broken and why is not None else lost("the connection is closed"))
        self._sink(driver.Closed(self.epoch, None if asked else why))
        if self._line is not None:
            self._line.drop("")


__all__ = ["LocalDriver", "LocalWire", "path_of"]
