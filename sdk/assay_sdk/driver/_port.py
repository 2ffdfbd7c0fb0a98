"""The Python protocols that a driver implements, and the target of a connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from msgspec import Struct

from assay_sdk.driver._commands import DriverCommand
from assay_sdk.driver._events import DriverEvent
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner


class TargetError(ValueError):
    """The error for an invalid `Target`, such as a malformed URL, or a CA file that cannot be read."""


class Login(Struct, frozen=True):
    """User and password for the login at a broker."""

    user: str
    password: str

    def __repr__(self) -> str:
        """Show the user without the password."""
        return f"Login(user={self.user!r})"


class Recording(Protocol):
    """A recording of a connection's frames; the AMQP driver uses it, the STOMP driver does not."""

    def started(self) -> None:
        """Note that a new transport begins."""
        ...

    def sent(self, mono_ns: int, frame: bytes) -> None:
        """Record a whole frame that the client sends.

        Args:
            mono_ns: The time on the runner's monotonic clock, in nanoseconds.
            frame: The frame.
        """
        ...

    def received(self, mono_ns: int, octets: bytes) -> None:
        """Record octets from the broker, which may begin and end within a frame.

        Args:
            mono_ns: The time on the runner's monotonic clock, in nanoseconds.
            octets: The octets.
        """
        ...


class Target(Struct, frozen=True, kw_only=True):
    """The broker to connect to, and options of the connection.

    Args:
        url: URL of the broker, such as ``amqp://host:port``.
        client_id: JMS client id; None for a connection without a client id.
        login: User and password; None for an anonymous login.
        ca_file: PEM file with the trusted certificates, for drivers with TLS (``amqps://``, ``stomps://``); None for
            the system's certificates.
        trace: Whether the driver emits `Frame` events.
        recording: Records the frames of an AMQP connection; None to record none.
        open_timeout_ms: How long the driver waits for the connection to open, in milliseconds.
        request_timeout_ms: How long the driver waits for the broker's answer to a command, in milliseconds; the command
            then fails.  Drivers for in-process brokers ignore both timeouts.
    """

    url: str
    client_id: str | None = None
    login: Login | None = None
    ca_file: str | None = None
    trace: bool = False
    recording: Recording | None = None
    open_timeout_ms: int = 15_000
    request_timeout_ms: int = 60_000


class Wire(Protocol):
    """One connection of a driver, from the attempt to connect until its end."""

    @property
    def epoch(self) -> int:
        """Number of this connection; each later connection of the driver has a higher number.

        The numbers of deliveries are valid only within one epoch.
        """
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Capabilities of the connection; valid after `Opened`."""
        ...

    def submit(self, command: DriverCommand) -> None:
        """Send a command, and return before the broker answers it."""
        ...

    def abort(self) -> None:
        """Drop the connection without closing it at the broker, as if the network had failed."""
        ...


class Driver(Protocol):
    """A driver of one protocol; a package registers its driver in the entry point group ``assay.drivers``."""

    @property
    def name(self) -> str:
        """URL scheme of the driver."""
        ...

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Wire:
        """Start to connect; the first event other than `Frame` is `Opened`, or `Closed` with the reason.

        Args:
            target: Broker to connect to, and how.
            sink: Called with each event, on the runner.
            runner: Runs the connection's I/O and timers.

        Raises:
            TargetError: The target is invalid; the driver has not started to connect.
            TypeError: The runner lacks methods that the driver needs, such as those for sockets.
        """
        ...


@runtime_checkable
class RunnerProvider(Protocol):
    """A driver for in-process brokers, each of which has a runner and a clock of its own.

    A connection to such a broker uses the broker's runner, unless the application gives another one.
    """

    def runner_at(self, url: str) -> Runner | None:
        """Return the runner of the broker at a URL; None when no broker runs there."""
        ...
