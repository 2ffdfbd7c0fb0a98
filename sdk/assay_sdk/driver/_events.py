"""Events from a driver to the engine, and the properties that a broker sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from assay_sdk.driver._commands import Outcome
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Refused

PeerProperties = Mapping[str, str | int | bool]
"""Properties that a broker sends about itself or a destination."""

LEVEL_PROPERTY = "x-opt-mq-level"
"""The queue manager's command level, such as ``8.0``; sent when the connection opens."""

PLATFORM_PROPERTY = "x-opt-mq-platform"
"""The queue manager's platform, ``distributed`` or ``zos``; sent when the connection opens."""

DEFBIND_PROPERTY = "x-opt-mq-defbind"
"""DEFBIND of the destination (``OPEN``, ``NOTFIXED`` or ``GROUP``); sent when a sender attaches."""

CLUSTERED_PROPERTY = "x-opt-mq-clustered"
"""Whether the destination is in a cluster; sent when a sender attaches."""


BOTHRESH_PROPERTY = "x-opt-mq-bothresh"
"""BOTHRESH of the queue: the number of failed deliveries after which the client moves a message.  Sent when a receiver
attaches to a queue with a BOTHRESH above 0."""

BOQNAME_PROPERTY = "x-opt-mq-boqname"
"""BOQNAME of the queue: the queue to which the client moves a message after BOTHRESH failed deliveries; empty for the
dead-letter queue.  Sent with BOTHRESH."""

DEADQ_PROPERTY = "x-opt-mq-deadq"
"""Name of the dead-letter queue; empty if the queue manager has none.  Sent with BOTHRESH."""


class Opened(Struct, frozen=True, tag=True):
    """Event: the connection is open.

    Args:
        epoch: Number of the connection (`Wire.epoch`).
        capabilities: Capabilities of the connection.
        properties: Properties of the broker (``product``, ``version`` ..., `LEVEL_PROPERTY`).
        message_ids: Whether the broker uses the message ids that the client sends.  Otherwise the broker gives each
            message an id that the sender does not learn.
    """

    epoch: int
    capabilities: frozenset[Capability]
    properties: PeerProperties
    message_ids: bool = True


class Done(Struct, frozen=True, tag=True):
    """Event: a command succeeded.

    Args:
        token: Token of the command.
        value: Result of the command; None if it has none.
        properties: Properties of the destination, for `OpenSender` (`DEFBIND_PROPERTY`, `CLUSTERED_PROPERTY`) and
            `OpenReceiver` (`BOTHRESH_PROPERTY`, `BOQNAME_PROPERTY`, `DEADQ_PROPERTY`); empty if the broker sent none.
        capabilities: For `OpenSender`, the capabilities that the sender has in addition to the connection's
            capabilities.
    """

    token: int
    value: tuple[bytes, ...] | tuple[Message, ...] | str | None = None
    properties: PeerProperties = {}
    capabilities: frozenset[Capability] = frozenset()


class Failed(Struct, frozen=True, tag=True):
    """Event: a command was refused or timed out, or the connection was lost before the broker answered the command."""

    token: int
    refused: Refused


class Arrived(Struct, frozen=True, tag=True):
    """Event: a message has arrived at a receiver.

    Args:
        link: Number of the receiver's link.
        delivery: Number of the delivery on this connection, which `Settle` and `Enlist` name.
        epoch: Number of the connection (`Wire.epoch`).
        message: The message.
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
    """Event: the broker has carried out a `Drain`, so the receiver has no credit left."""

    link: int


class LinkClosed(Struct, frozen=True, tag=True):
    """Event: the broker has closed a link; `refused` is the broker's reason, or None."""

    link: int
    refused: Refused | None


class SessionClosed(Struct, frozen=True, tag=True):
    """Event: the broker has ended a session with an error before the client closed it.

    A `LinkClosed` for each open link of the session follows.  Only drivers whose protocol lets a broker end a single
    session emit this event.

    Args:
        session: Number of the session.
        refused: The broker's error.
    """

    session: int
    refused: Refused


class Closed(Struct, frozen=True, tag=True):
    """Event: the connection has ended.  It is the last event, after a `Failed` for each open command.

    Args:
        epoch: Number of the connection (`Wire.epoch`).
        refused: The reason; None if the client has closed the connection.
    """

    epoch: int
    refused: Refused | None


class Transfer(Struct, frozen=True):
    """A message in a traced frame, in either direction.

    Args:
        message: The message.
        settled: Whether the transfer was settled (at most once).
        link: Name of the receiver's or sender's link; empty if it is not known.
        target: Address of the link's target: the destination to which the sender sends; empty if it is not known.
    """

    message: Message
    settled: bool
    link: str = ""
    target: str = ""


class Disposition(Struct, frozen=True):
    """The outcome or the settlement of one delivery, in a traced frame; an earlier frame carried the message.

    Args:
        message: The message of the delivery.
        outcome: The outcome; None if the frame names none.
        settled: Whether the peer that sent the frame has settled the delivery, and keeps no more state of it.
        receiver: Whether the receiver of the message sent the frame; otherwise the sender of the message did.
        link: Name of the delivery's link; empty if it is not known.
    """

    message: Message
    outcome: Outcome | None
    settled: bool
    receiver: bool
    link: str = ""


class Frame(Struct, frozen=True, tag=True):
    """Event: a frame was sent or received; only with `Target.trace`.

    Args:
        direction: ``in`` for a received frame, ``out`` for a sent one.
        text: The frame as readable text.
        octets: The frame's bytes.
        transfer: The message that this frame completes; None for other frames.
        dispositions: Outcomes and settlements that the frame has, for deliveries that were not settled before.
    """

    direction: Literal["in", "out"]
    text: str
    octets: bytes = b""
    transfer: Transfer | None = None
    dispositions: tuple[Disposition, ...] = ()


DriverEvent = Opened | Done | Failed | Arrived | Drained | LinkClosed | SessionClosed | Closed | Frame
