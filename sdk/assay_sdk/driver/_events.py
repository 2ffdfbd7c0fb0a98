"""Events from a wire to the engine, and the properties that a peer sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from assay_sdk.driver._commands import Outcome
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Refused

PeerProperties = Mapping[str, str | int | bool]
"""Properties that a peer sends about itself or a destination."""

LEVEL_PROPERTY = "x-opt-mq-level"
"""Sent by a queue manager when the connection opens: its level, such as ``8.0``."""

PLATFORM_PROPERTY = "x-opt-mq-platform"
"""Sent by a queue manager when the connection opens: ``distributed`` or ``zos``."""

DEFBIND_PROPERTY = "x-opt-mq-defbind"
"""Sent when a sender attaches: DEFBIND of the destination, ``OPEN``, ``NOTFIXED`` or ``GROUP``."""

CLUSTERED_PROPERTY = "x-opt-mq-clustered"
"""Sent when a sender attaches: whether the destination is in a cluster."""


BOTHRESH_PROPERTY = "x-opt-mq-bothresh"
"""Sent when a receiver attaches to a queue: after how many failed deliveries a message is moved; absent for never."""

BOQNAME_PROPERTY = "x-opt-mq-boqname"
"""Sent when a receiver attaches to a queue: where such messages are moved; empty for the dead-letter queue."""

DEADQ_PROPERTY = "x-opt-mq-deadq"
"""Sent when a receiver attaches to a queue with BOTHRESH: the dead-letter queue; empty for none."""


class Opened(Struct, frozen=True, tag=True):
    """The connection is open.

    Args:
        capabilities: Capabilities of this wire.
        properties: Properties of the peer (``product``, ``version`` ..., `LEVEL_PROPERTY`).
    """

    epoch: int
    capabilities: frozenset[Capability]
    properties: PeerProperties


class Done(Struct, frozen=True, tag=True):
    """A command succeeded.

    Args:
        value: Result of the command; None without one.
        properties: For `OpenSender`: properties of the destination (`DEFBIND_PROPERTY`, `CLUSTERED_PROPERTY`); empty if
            the peer sent none.
    """

    token: int
    value: tuple[bytes, ...] | tuple[Message, ...] | str | None = None
    properties: PeerProperties = {}


class Failed(Struct, frozen=True, tag=True):
    """A command was refused, or the connection was lost before its answer."""

    token: int
    refused: Refused


class Arrived(Struct, frozen=True, tag=True):
    """A receiver got a message.

    Args:
        delivery: Number of the delivery on this wire, for `Settle` and `Enlist`.
        count: Number of failed deliveries before this one (AMQP delivery-count).
        redelivered: Whether the message was delivered before.
    """

    link: int
    delivery: int
    epoch: int
    message: Message
    count: int
    redelivered: bool


class Drained(Struct, frozen=True, tag=True):
    """A receiver has no credit left after a `Drain`."""

    link: int


class LinkClosed(Struct, frozen=True, tag=True):
    """The peer closed a link."""

    link: int
    refused: Refused | None


class Closed(Struct, frozen=True, tag=True):
    """The connection has ended; no event follows.  Every open command has been answered by `Failed` before."""

    epoch: int
    refused: Refused | None


class Transfer(Struct, frozen=True):
    """A message that a frame carried, in either direction.

    Args:
        settled: Whether the transfer was settled (at most once).
        link: The name of the receiver's or sender's link; empty if it is not known.
    """

    message: Message
    settled: bool
    link: str = ""


class Disposition(Struct, frozen=True):
    """An outcome or settlement in a frame, for a message that an earlier frame carried.

    Args:
        outcome: The outcome; None if the frame named none.
        settled: Whether the end that sent the frame has settled the delivery, and so forgotten it.
        receiver: Whether that end is the receiver of the delivery.
        link: The name of the delivery's link; empty if it is not known.
    """

    message: Message
    outcome: Outcome | None
    settled: bool
    receiver: bool
    link: str = ""


class Frame(Struct, frozen=True, tag=True):
    """A frame was sent or received (only with `Target.trace`).

    Args:
        transfer: The message that is complete with this frame; None for other frames.
        dispositions: What the frame says of deliveries that were not settled, in their order.
    """

    direction: Literal["in", "out"]
    text: str
    octets: bytes = b""
    transfer: Transfer | None = None
    dispositions: tuple[Disposition, ...] = ()


DriverEvent = Opened | Done | Failed | Arrived | Drained | LinkClosed | Closed | Frame
