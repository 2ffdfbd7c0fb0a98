"""Messages between the kit and the fork server, each of them one line of JSON.

The kit sends requests to the fork server, and the fork server and its servers report events. The fork server passes a
`Control` on to one server, which carries it out (`assay_adapters.brokers.reference.server.fork_server.control`).
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

CRASHED = 70
"""The exit code of a server that an exception in its own code has ended (EX_SOFTWARE of sysexits.h)."""

# Controls: actions of the kit inside a server -------------------------------------------------------------------------


class FailStore(Struct, frozen=True, tag=True):
    """Control: make the store's next flushes fail.

    Args:
        times: The number of flushes that fail.
    """

    times: int


class SlowDisk(Struct, frozen=True, tag=True):
    """Control: delay each flush.

    Args:
        ms: The time from the first write to the flush, in milliseconds.
    """

    ms: int


class EndWorker(Struct, frozen=True, tag=True):
    """Control: end the worker of the delivery delay processor."""


class BlockWrites(Struct, frozen=True, tag=True):
    """Control: hold back the next write with a message for a queue, and all later writes, until `UnblockWrites`."""

    queue: str


class UnblockWrites(Struct, frozen=True, tag=True):
    """Control: end the effect of `BlockWrites` for this queue."""

    queue: str


class WatchDisk(Struct, frozen=True, tag=True):
    """Control: from now on, report each write, flush and loss of the kit's messages on the disk (`DiskSeen`)."""


class CutPower(Struct, frozen=True, tag=True):
    """Control: discard what the store has not flushed, and end the server's process at once, without an answer."""


Control = FailStore | SlowDisk | EndWorker | BlockWrites | UnblockWrites | WatchDisk | CutPower


class NumberedControl(Struct, frozen=True):
    """A control with a number; the answer (`Controlled`) has the same number."""

    number: int
    control: Control


# Requests -------------------------------------------------------------------------------------------------------------


class Request(Struct, frozen=True, tag_field="request"):
    """A request to the fork server."""


class Fork(Request, frozen=True, kw_only=True, tag="fork"):
    """Request: start a server.

    Args:
        asked: The server's options, by the names of the flags of `assay broker`.
        log: The file to which the server appends its log and errors.
        controlled: Whether the kit can control the server from inside.
        can_lose_power: Whether `CutPower` works for a controlled server; this makes its writes slower.
    """

    asked: dict[str, Any]
    log: str
    controlled: bool = False
    can_lose_power: bool = False


class Signal(Request, frozen=True, tag="signal"):
    """Request: send a signal to a server; the fork server ignores the request after the server has ended."""

    pid: int
    number: int


class PassOn(Request, frozen=True, tag="control"):
    """Request: forward a control, such as `FailStore`, to a server."""

    pid: int
    control: NumberedControl


# Events ---------------------------------------------------------------------------------------------------------------


class Event(Struct, frozen=True, tag_field="event"):
    """An event that the fork server or one of its servers reports."""


class Forked(Event, frozen=True, tag="forked"):
    """Event: the fork server has forked a server for a `Fork`; `pid` is the server's process id."""

    pid: int


class Listening(Event, frozen=True, kw_only=True, tag="listening"):
    """Event: a server accepts connections.

    Args:
        amqp: The URL of the AMQP listener.
        http: The URL of the HTTP listener, for administrators.
        stomp: The URL of the STOMP listener; empty if the server has none.
    """

    pid: int
    amqp: str
    http: str
    stomp: str = ""


class Exited(Event, frozen=True, tag="exited"):
    """Event: a server has ended.

    Args:
        code: The exit code, or the negative number of the signal that ended the server.
    """

    pid: int
    code: int


class Controlled(Event, frozen=True, tag="controlled"):
    """Event: a server has carried out the control with this number."""

    pid: int
    number: int


class DiskSeen(Event, frozen=True, tag="disk"):
    """Event: a server's store has written or flushed messages of the kit, or has lost them before a flush.

    Args:
        op: The store's operation.
        keys: The keys of the messages.
        mono_ns: The time of the operation on the machine's monotonic clock, in nanoseconds.
    """

    pid: int
    op: Literal["write", "flush", "drop"]
    keys: tuple[str, ...]
    mono_ns: int


AnyRequest = Fork | Signal | PassOn
ControlEvent = Controlled | DiskSeen
AnyEvent = Forked | Listening | Exited | Controlled | DiskSeen
