"""Messages between the kit and the fork server: one JSON object a line.

Requests go to the fork server, events come back. A `Control` is passed on to one server, which carries it out from
inside (`assay_adapters.brokers.reference.server.fork_server.control`).
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

# Controls: what the kit does to a server from inside ------------------------------------------------------------------


class FailStore(Struct, frozen=True, tag=True):
    """Make the store's next flushes fail.

    Args:
        times: How many of them.
    """

    times: int


class SlowDisk(Struct, frozen=True, tag=True):
    """Delay every write to the disk.

    Args:
        ms: By how many milliseconds.
    """

    ms: int


class EndWorker(Struct, frozen=True, tag=True):
    """End the worker of the delivery delay processor."""


class BlockWrites(Struct, frozen=True, tag=True):
    """Hold back every write for a queue until `UnblockWrites`."""

    queue: str


class UnblockWrites(Struct, frozen=True, tag=True):
    """Let the writes for a queue go on."""

    queue: str


class WatchDisk(Struct, frozen=True, tag=True):
    """Report from now on what the store does with the kit's messages (`DiskSeen`)."""


Control = FailStore | SlowDisk | EndWorker | BlockWrites | UnblockWrites | WatchDisk


class NumberedControl(Struct, frozen=True):
    """A control with the number that its answer (`Controlled`) repeats."""

    number: int
    control: Control


# Requests -------------------------------------------------------------------------------------------------------------


class Request(Struct, frozen=True, tag_field="request"):
    """A request to the fork server."""


class Fork(Request, frozen=True, kw_only=True, tag="fork"):
    """Start a server.

    Args:
        asked: Its options, by the names of the flags of `assay broker`.
        log: The file to which its log and its errors are appended.
        controlled: Whether the kit can control it from inside.
    """

    asked: dict[str, Any]
    log: str
    controlled: bool = False


class Signal(Request, frozen=True, tag="signal"):
    """Send a signal to a server; no effect after the server has ended."""

    pid: int
    number: int


class PassOn(Request, frozen=True, tag="control"):
    """Pass a control on to a server."""

    pid: int
    control: NumberedControl


# Events ---------------------------------------------------------------------------------------------------------------


class Event(Struct, frozen=True, tag_field="event"):
    """An event that the fork server or one of its servers reports."""


class Forked(Event, frozen=True, tag="forked"):
    """Answers `Fork`."""

    pid: int


class Listening(Event, frozen=True, kw_only=True, tag="listening"):
    """A server accepts connections.

    Args:
        amqp: URL of its AMQP listener.
        http: URL of its HTTP listener, for administrators.
    """

    pid: int
    amqp: str
    http: str


class Exited(Event, frozen=True, tag="exited"):
    """A server has ended.

    Args:
        code: Its exit code, or the negative number of the signal that ended it.
    """

    pid: int
    code: int


class Controlled(Event, frozen=True, tag="controlled"):
    """A control has been carried out."""

    pid: int
    number: int


class DiskSeen(Event, frozen=True, tag="disk"):
    """The store did something with messages of the kit.

    Args:
        op: What it did.
        keys: Keys of the messages.
        mono_ns: When, on the machine's monotonic clock, in nanoseconds.
    """

    pid: int
    op: Literal["write", "flush", "drop"]
    keys: tuple[str, ...]
    mono_ns: int


AnyRequest = Fork | Signal | PassOn
ControlEvent = Controlled | DiskSeen
AnyEvent = Forked | Listening | Exited | Controlled | DiskSeen
