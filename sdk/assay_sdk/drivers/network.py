"""The part of a connection over TCP or TLS that does not depend on the protocol: its route, commands, opening and end.

The code runs on the runner's loop.  `submit` only queues a command, so the SDK's engine may call `submit` while it
handles an event.  One job carries out all queued commands, so that the output for them goes to the socket in one piece.
"""

from __future__ import annotations

import itertools
import ssl
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, cast

from msgspec import Struct

from assay_sdk.driver import Close, Closed, DriverCommand, DriverEvent, Failed, Target, TargetError
from assay_sdk.drivers.answers import Answers, lost
from assay_sdk.drivers.certificates import client_context
from assay_sdk.drivers.host_port import HostPort, Scheme, read_url
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.runners.real import LoopRunner
from assay_sdk.time import NS_PER_MS, CancelJob, Runner

CLOSE_TIMEOUT_MS = 5_000
"""The time for which the client waits for the broker's answer to a close before it closes the socket, in
milliseconds."""


class Route(Struct, frozen=True):
    """The way to a broker: host and port, the TLS context of the connection, and the runner that watches the socket.

    Args:
        host_port: Host and port of the broker.
        context: TLS context; None for a connection without TLS.
        runner: Runner that watches the socket.
    """

    host_port: HostPort
    context: ssl.SSLContext | None
    runner: LoopRunner


def route_to(target: Target, scheme: Scheme, runner: Runner) -> Route:
    """Return the host and port, the TLS context and runner for a connection to a broker.

    Args:
        target: Broker to connect to, and how.
        scheme: The URL schemes of the driver's protocol.
        runner: A runner that watches sockets.

    Raises:
        TargetError: The URL is malformed or contains a user, the CA file has no readable certificate, or a CA file is
            given for a URL without TLS.
        TypeError: The runner cannot watch sockets.
    """
    if not hasattr(runner, "register"):
        raise TypeError(f"the {scheme.protocol} driver needs a runner that watches sockets: use RealRunner")
    host_port = read_url(target.url, scheme)
    if target.ca_file is not None and not host_port.tls:
        text = f"ca_file is given, but {scheme.clear}:// has no TLS: connect with {scheme.tls}://, or leave ca_file out"
        raise TargetError(text)
    context = client_context(target.ca_file) if host_port.tls else None
    return Route(host_port, context, cast("LoopRunner", runner))


class Line(Protocol):
    """The socket of a connection."""

    def start(self) -> None:
        """Start to connect."""
        ...

    def drop(self, why: Refused | None) -> None:
        """Close the socket at once and call `NetworkWire.line_gone`; a second call does nothing.

        Args:
            why: The reason; None if the client has closed the connection.
        """
        ...


_LineT = TypeVar("_LineT", bound=Line)


class NetworkWire(ABC, Generic[_LineT]):
    """A connection over TCP or TLS (`assay_sdk.driver.Wire`).

    The subclass for a protocol makes its socket and its commands, then calls `_start`.  It calls `_set_open` when the
    broker has opened the connection.

    Args:
        target: Broker to connect to, and how.
        route: The way to the broker.
        sink: Called with each event, on the loop.
        epoch: Number of the connection among the driver's connections.
    """

    _line: _LineT
    _carry_out: Callable[[DriverCommand], None]

    def __init__(self, target: Target, route: Route, sink: Callable[[DriverEvent], None], epoch: int) -> None:
        self.epoch = epoch
        self.capabilities: frozenset[Capability] = frozenset()
        self.answers = Answers(sink, route.runner, target.request_timeout_ms, self._flush)
        self._target = target
        self._runner = route.runner
        self._queue: deque[DriverCommand] = deque()
        self._numbers = itertools.count(1)
        self._closing: int | None = None
        self._is_open = False
        self._gone = False
        # The loop may run on another thread than the constructor.  On a busy machine, the loop may therefore run the
        # timer's job before `_start` has assigned the timer's handle to this attribute.
        self._timer: CancelJob = _nothing
        self._working = False
        """Whether queued commands are being carried out; `_worked` sends their output afterwards."""

    def submit(self, command: DriverCommand) -> None:
        """Queue a command, which is answered once; the answer is `Failed` if the connection is lost."""
        self._queue.append(command)
        if len(self._queue) == 1:
            self._runner.call_soon(self._work)

    def abort(self) -> None:
        """Drop the connection without closing it at the broker, as if the network had failed."""
        self._runner.call_soon(lambda: self._line.drop(lost("the connection was aborted by this client")))

    def now_ms(self) -> int:
        """Return the time of day in milliseconds since the epoch."""
        return self._runner.clock.wall_ns() // NS_PER_MS

    def next_number(self) -> int:
        """Return a number that this connection has not used yet."""
        return next(self._numbers)

    def close(self, command: Close) -> None:
        """Close the connection normally, after the output of earlier commands; if it is not open yet, drop it."""
        if self._closing is not None:
            self.answers.done(command.token)
            return
        self._closing = command.token
        if not self._is_open:
            self._line.drop(None)
            return
        self._ask_to_close()
        self._timer()
        self._timer = self._after(CLOSE_TIMEOUT_MS, lambda: self._line.drop(None))

    def line_gone(self, why: Refused | None) -> None:
        """Answer `Failed` for all unanswered commands except a close, then report that the connection has ended.

        Args:
            why: The reason; None if the client has closed the connection.
        """
        self._gone = True
        self._timer()
        closing = self._closing
        if closing is not None:
            self.answers.done(closing)  # the close has succeeded, even if the connection was lost meanwhile
        reason = why or lost("the connection is closed")
        everything = reason if reason.kind is JmsErrorKind.CONNECTION_LOST or not self._is_open else lost(reason.text)
        while self._queue:
            self.answers.owe(self._queue.popleft())
        self._cut(everything)
        self.answers.fail_all(everything)
        self.answers.emit(Closed(self.epoch, None if closing is not None else why))

    # --- for the class of a protocol

    def _start(self, line: _LineT, carry_out: Callable[[DriverCommand], None]) -> None:
        """Start to connect, with a time limit.

        Args:
            line: The socket.
            carry_out: Carries out a command.
        """
        self._line = line
        self._carry_out = carry_out
        self._timer = self._after(self._target.open_timeout_ms, self._open_timed_out)
        self._runner.call_soon(line.start)

    def _set_open(self) -> None:
        """Note that the broker has opened the connection, and cancel the time limit for connecting."""
        self._timer()
        self._is_open = True

    @abstractmethod
    def _flush(self) -> None:
        """Send the output, as far as the socket accepts it."""

    def _worked(self) -> None:
        """Send the output of the commands that were carried out."""
        self._flush()

    @abstractmethod
    def _ask_to_close(self) -> None:
        """Ask the broker to close the connection; the subclass drops the socket when the broker answers."""

    @abstractmethod
    def _cut(self, why: Refused) -> None:
        """End the requests that wait for the broker, because the connection has ended.

        Args:
            why: The refusal for unanswered commands.
        """

    # --- inside

    def _work(self) -> None:
        self._working = True
        try:
            while self._queue and not self._gone:
                command = self._queue.popleft()
                self.answers.owe(command)
                self._carry_out(command)
        finally:
            self._working = False
        if not self._gone:
            self._worked()
            return
        while self._queue:
            token = self._queue.popleft().token
            self.answers.emit(Failed(token, lost("the connection is closed: create a new one")))

    def _after(self, delay_ms: int, job: Callable[[], None]) -> CancelJob:
        return self._runner.call_at(self._runner.clock.monotonic_ns() + delay_ms * NS_PER_MS, job)

    def _open_timed_out(self) -> None:
        text = f"the broker did not open the connection within {self._target.open_timeout_ms} ms"
        self._line.drop(refused(Mqrc.Q_MGR_NOT_AVAILABLE, text))


def _nothing() -> None:
    """Cancel nothing: the timer is not set yet."""
