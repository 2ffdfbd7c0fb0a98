"""What the nursery of servers is told, and what it tells: one JSON object a line."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class FailStore(Struct, frozen=True, tag=True):
    """The next so many flushes of the store fail."""

    times: int


class SlowDisk(Struct, frozen=True, tag=True):
    """What is written reaches the disk so much later, in milliseconds."""

    ms: int


class EndWorker(Struct, frozen=True, tag=True):
    """The delivery delay processor's worker dies."""


class BlockWrites(Struct, frozen=True, tag=True):
    """What is to be kept for a queue waits, until `UnblockWrites`."""

    queue: str


class UnblockWrites(Struct, frozen=True, tag=True):
    """It waits no more."""

    queue: str


class WatchDisk(Struct, frozen=True, tag=True):
    """What the store does with the kit's messages is told from now on."""


Touch = FailStore | SlowDisk | EndWorker | BlockWrites | UnblockWrites | WatchDisk


class Numbered(Struct, frozen=True):
    """A touch, and the number under which it is answered."""

    number: int
    touch: Touch


class Order(Struct, frozen=True, tag_field="order"):
    """What is to be done."""


class Fork(Order, frozen=True, kw_only=True, tag="fork"):
    """Start a server.

    Args:
        asked: What it is asked to be, by the names of the flags of `assay broker`.
        log: The file to which its log and its errors are appended.
        hurtable: Whether the kit has its hand in it.
    """

    asked: dict[str, Any]
    log: str
    hurtable: bool = False


class Signal(Order, frozen=True, tag="signal"):
    """Send a signal to a server; nothing where that is no more."""

    pid: int
    number: int


class Ask(Order, frozen=True, tag="ask"):
    """Touch a server (`assay_adapters.brokers.reference.server.fork_server.control`)."""

    pid: int
    asked: Numbered


class News(Struct, frozen=True, tag_field="news"):
    """What has happened."""


class Forked(News, frozen=True, tag="forked"):
    """The answer to `Fork`."""

    pid: int


class Listening(News, frozen=True, kw_only=True, tag="listening"):
    """Clients can come.

    Args:
        amqp: Where, by AMQP.
        http: Where, for administrators.
    """

    pid: int
    amqp: str
    http: str


class Exited(News, frozen=True, tag="exited"):
    """A server is no more.

    Args:
        code: Its exit code; the negative number of the signal that has ended it.
    """

    pid: int
    code: int


class Touched(News, frozen=True, tag="touched"):
    """A touch has been made."""

    pid: int
    number: int


class DiskSeen(News, frozen=True, tag="disk"):
    """The store has done something with messages of the kit.

    Args:
        mono_ns: When, on the machine's monotonic clock.
    """

    pid: int
    op: Literal["write", "flush", "drop"]
    kids: tuple[str, ...]
    mono_ns: int


AnyOrder = Fork | Signal | Ask
HandNews = Touched | DiskSeen
AnyNews = Forked | Listening | Exited | Touched | DiskSeen
