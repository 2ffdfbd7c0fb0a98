"""The protocols that a driver implements, and the target of a connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from msgspec import Struct

from assay_sdk.driver._commands import DriverCommand
from assay_sdk.driver._events import DriverEvent
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner


class TargetError(ValueError):
    """A `Target` that cannot be used: its URL is malformed, or a file that it names cannot be read."""


class Login(Struct, frozen=True):
    """User and password."""

    user: str
    password: str

    def __repr__(self) -> str:
        """Show the user without the password."""
        return f"Login(user={self.user!r})"


class Target(Struct, frozen=True, kw_only=True):
    """Broker to connect to, and how.

    Args:
        url: ``amqp://host:port``, or the name of an in-process broker.
        client_id: JMS client id; None for none.
        login: User and password; None for an anonymous login.
        ca_file: PEM file with the trusted certificates, for drivers with TLS (``amqps://``); None for the system's.
        trace: Whether the wire sends `Frame` events.
        open_timeout_ms: Timeout of opening the connection, in milliseconds.
        request_timeout_ms: Timeout of any other command, in milliseconds; a command without an answer then fails.  For
            drivers whose broker is in another process.
    """

    url: str
    client_id: str | None = None
    login: Login | None = None
    ca_file: str | None = None
    trace: bool = False
    open_timeout_ms: int = 15_000
    request_timeout_ms: int = 60_000


class Wire(Protocol):
    """One attempt at a connection."""

    @property
    def epoch(self) -> int:
        """Number of the attempt, which grows with each; deliveries of one epoch are unknown in another."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Capabilities of the connection; valid after `Opened`."""
        ...

    def submit(self, command: DriverCommand) -> None:
        """Send a command; returns at once."""
        ...

    def abort(self) -> None:
        """Drop the connection without telling the broker, as if the network had failed."""
        ...


class Driver(Protocol):
    """A protocol.  Other packages register drivers in the entry point group ``assay.drivers``."""

    @property
    def name(self) -> str:
        """URL scheme of the driver."""
        ...

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Wire:
        """Start connecting; the first event is `Opened`, or `Closed` with the reason.

        Raises:
            TargetError: The target is invalid; no attempt has been started.
        """
        ...


@runtime_checkable
class RunnerProvider(Protocol):
    """A driver for brokers that have a runner, and so a clock, of their own: in-process brokers.

    A connection to such a broker uses its runner, unless the application gives another one.
    """

    def runner_at(self, url: str) -> Runner | None:
        """Return the runner of the broker at a URL; None when no broker runs there."""
        ...
