"""Events: what a wire has to tell, and what a peer says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Refused

PeerProperties = Mapping[str, str | int | bool]
"""What a peer says of itself, or of a destination (I-6)."""

LEVEL_PROPERTY = "x-opt-mq-level"
"""Of a queue manager, when the connection opens: its level, such as ``8.0``."""

PLATFORM_PROPERTY = "x-opt-mq-platform"
"""Of a queue manager, when the connection opens: ``distributed`` or ``zos``."""

DEFBIND_PROPERTY = "x-opt-mq-defbind"
"""Of a destination, when a sender attaches: its DEFBIND, ``OPEN``, ``NOTFIXED`` or ``GROUP``."""

CLUSTERED_PROPERTY = "x-opt-mq-clustered"
"""Of a destination, when a sender attaches: whether it is in a cluster."""


BOTHRESH_PROPERTY = "x-opt-mq-bothresh"
"""Of a queue, when a receiver attaches: after how many deliveries in vain a message is moved away; absent for never."""

BOQNAME_PROPERTY = "x-opt-mq-boqname"
"""Of a queue, when a receiver attaches: where such messages are moved; empty for the dead-letter queue."""

DEADQ_PROPERTY = "x-opt-mq-deadq"
"""Of a queue manager, when a receiver attaches to a queue with BOTHRESH: its dead-letter queue; empty for none."""


class Opened(Struct, frozen=True, tag=True):
    """The connection is open.

    Args:
        capabilities: What this wire can do from here on.
        properties: What the peer said of itself (``product``, ``version`` ..., `LEVEL_PROPERTY`).
    """

    epoch: int
    capabilities: frozenset[Capability]
    properties: PeerProperties


class Done(Struct, frozen=True, tag=True):
    """A command has succeeded.

    Args:
        value: What it was asked for, where it was asked for something.
        properties: To `OpenSender`: what the peer said of the destination (`DEFBIND_PROPERTY`, `CLUSTERED_PROPERTY`);
            empty where it said nothing.
    """

    token: int
    value: tuple[bytes, ...] | tuple[Message, ...] | str | None = None
    properties: PeerProperties = {}


class Failed(Struct, frozen=True, tag=True):
    """A command was refused."""

    token: int
    refused: Refused


class Arrived(Struct, frozen=True, tag=True):
    """A message has come on a receiver.

    Args:
        delivery: The delivery's number on this wire, for `Settle` and `Enlist`.
        count: Earlier deliveries that failed (AMQP delivery-count): 0 at the first.
        redelivered: Whether it was delivered before.
    """

    link: int
    delivery: int
    epoch: int
    message: Message
    count: int
    redelivered: bool


class Drained(Struct, frozen=True, tag=True):
    """A receiver has no credit left after `Drain`."""

    link: int


class LinkClosed(Struct, frozen=True, tag=True):
    """The peer closed a link."""

    link: int
    refused: Refused | None


class Closed(Struct, frozen=True, tag=True):
    """The connection is gone; no event follows.  Every open command has got its `Failed` before."""

    epoch: int
    refused: Refused | None


class Transfer(Struct, frozen=True):
    """A message that went over the wire.

    Args:
        settled: Whether the sender has forgotten it with that (at most once).
    """

    message: Message
    settled: bool


class Frame(Struct, frozen=True, tag=True):
    """A frame went over the wire (only with `Target.trace`).

    Args:
        transfer: The message in it, where one begins in it and goes out.
    """

    direction: Literal["in", "out"]
    text: str
    octets: bytes = b""
    transfer: Transfer | None = None


DriverEvent = Opened | Done | Failed | Arrived | Drained | LinkClosed | Closed | Frame
