"""The observer: told every client event at the moment it happens.

A journal is one observer, tracing another.  It is called on the runner, in the order of events, and must not raise:
an observer's error is the program's, and ends what it was told of.
"""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from assay_sdk.driver import Frame, Outcome
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Refused


class Handed(Struct, frozen=True, kw_only=True):
    """A message as a consumer has it.

    Args:
        consumer: The consumer's number on its connection (`Consumer.number` of the faces).
        delivery: The delivery's number on the wire.
        source: What the consumer consumes.
        message: The message.
        count: JMSXDeliveryCount: 1 at the first delivery.
        redelivered: JMSRedelivered.
        batch: Number of the consumer's batch, from 0; None outside batches.
    """

    consumer: int
    delivery: int
    source: Address
    message: Message
    count: int
    redelivered: bool
    batch: int | None = None


class Seen(Struct, frozen=True, tag=True):
    """The application is about to be handed a message; nothing has been settled."""

    handed: Handed


class Settled(Struct, frozen=True, tag=True):
    """The client tells the broker what became of a message.

    Args:
        unit: The unit of work within which it is accepted: a local one's number, or the encoded xid of a branch; None
            for none.
    """

    handed: Handed
    outcome: Outcome
    unit: int | bytes | None = None


class CallbackEnded(Struct, frozen=True, tag=True):
    """A listener's callback is over; what it brought about is settled after this.

    Args:
        consumer: The consumer's number on its connection.
        batch: Number of the batch, from 0; None for a single message.
    """

    consumer: int
    batch: int | None
    ended: Literal["returned", "raised"]


class UnitTurned(Struct, frozen=True, tag=True):
    """A unit of work has begun, is prepared, or has ended: the broker has said so.

    Args:
        unit: A local one's number, or the encoded xid of a branch.
    """

    unit: int | bytes
    op: Literal["begin", "prepare", "commit", "rollback"]


class ConnectionLost(Struct, frozen=True, tag=True):
    """The connection is gone without having been closed."""

    refused: Refused


class Reconnected(Struct, frozen=True, tag=True):
    """A client that connects again by itself has a new connection, and its subscriptions are attached again."""


class FrameSeen(Struct, frozen=True, tag=True):
    """A protocol frame went by (connections with ``trace``)."""

    frame: Frame


SdkEvent = Seen | Settled | CallbackEnded | UnitTurned | ConnectionLost | Reconnected | FrameSeen


class Observer(Protocol):
    """Told every event of a connection."""

    def __call__(self, event: SdkEvent, /) -> None:
        """Take note of an event."""
        ...


def nobody(event: SdkEvent) -> None:
    """The observer of a connection that has none."""
    del event
