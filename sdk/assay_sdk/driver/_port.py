"""Drivers and their wires, and where they lead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from msgspec import Struct

from assay_sdk.driver._commands import DriverCommand
from assay_sdk.driver._events import DriverEvent
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner


class TargetError(ValueError):
    """A `Target` cannot be used: its URL is malformed, or a file that it names cannot be read."""


class Login(Struct, frozen=True):
    """Who connects."""

    user: str
    password: str

    def __repr__(self) -> str:
        """Never the password."""
        return f"Login(user={self.user!r})"


class Target(Struct, frozen=True, kw_only=True):
    """Where to connect, and as whom.

    Args:
        url: ``amqp://host:port``, or the name of an in-process broker.
        client_id: JMS client id; None for none.
        login: User and password; None for an anonymous login.
        ca_file: PEM file with the certificates of those who are believed, for drivers that encrypt (``amqps://``);
            None for the system's.
        trace: Whether `Frame` events are wanted.
        open_timeout_ms: How long opening may take, in milliseconds.
        request_timeout_ms: How long any other command waits for the broker's answer, in milliseconds; then it has
            failed.  For drivers whose broker is elsewhere.
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
        """Grows with each attempt; deliveries of one epoch mean nothing in another."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do; valid after `Opened`."""
        ...

    def submit(self, command: DriverCommand) -> None:
        """Hand a command over; returns at once."""
        ...

    def abort(self) -> None:
        """Drop the connection as if the line had been cut: nothing more is sent."""
        ...


class Driver(Protocol):
    """A protocol.  Third parties register theirs in the entry point group ``assay.drivers``."""

    @property
    def name(self) -> str:
        """The URL scheme it serves."""
        ...

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Wire:
        """Start an attempt; the first event is `Opened` or `Closed` with the reason.

        Raises:
            TargetError: The target cannot be used; nothing has been started.
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
