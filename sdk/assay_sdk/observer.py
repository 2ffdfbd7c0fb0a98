"""Observers: callables that a client calls with each event when it happens.

Journals and tracing are observers.  The client calls an observer on the runner, in the order of the events.  An
observer must not raise: its error ends the call or the callback whose event it was.
"""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from assay_sdk.driver import Frame, Outcome
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Refused


class Handed(Struct, frozen=True, kw_only=True):
    """A received message, with its delivery.

    Args:
        consumer: The consumer's number on its connection (`Consumer.number` of the faces).
        delivery: The delivery's number on the wire.
        source: Destination or subscription of the consumer.
        message: The message.
        count: JMSXDeliveryCount: 1 at the first delivery.
        redelivered: JMSRedelivered.
        batch: Number of the consumer's batch, from 0; None for a message that was delivered singly.
    """

    consumer: int
    delivery: int
    source: Address
    message: Message
    count: int
    redelivered: bool
    batch: int | None = None


class Seen(Struct, frozen=True, tag=True):
    """The application is about to receive a message; nothing has been settled."""

    handed: Handed


class Settled(Struct, frozen=True, tag=True):
    """The client sends the outcome of a delivery to the broker.

    Args:
        unit: The unit of work in which the message is accepted: the number of a local one, or the encoded xid of a
            branch; None for none.
    """

    handed: Handed
    outcome: Outcome
    unit: int | bytes | None = None


class CallbackEnded(Struct, frozen=True, tag=True):
    """A listener has returned or raised; the outcome of its messages is settled after this event.

    Args:
        consumer: The consumer's number on its connection.
        batch: Number of the batch, from 0; None for a single message.
    """

    consumer: int
    batch: int | None
    ended: Literal["returned", "raised"]


class UnitTurned(Struct, frozen=True, tag=True):
    """The broker has begun, prepared or ended a unit of work.

    Args:
        unit: The number of a local unit of work, or the encoded xid of a branch.
    """

    unit: int | bytes
    op: Literal["begin", "prepare", "commit", "rollback"]


class ConnectionLost(Struct, frozen=True, tag=True):
    """The connection ended without being closed."""

    refused: Refused


class Reconnected(Struct, frozen=True, tag=True):
    """A client that reconnects by itself has a new connection, and its subscriptions are attached to it."""


class FrameSeen(Struct, frozen=True, tag=True):
    """A protocol frame was sent or received (only on connections with ``trace``)."""

    frame: Frame


SdkEvent = Seen | Settled | CallbackEnded | UnitTurned | ConnectionLost | Reconnected | FrameSeen


class Observer(Protocol):
    """A callable that a connection calls with each event."""

    def __call__(self, event: SdkEvent, /) -> None:
        """Record an event."""
        ...


def no_observer(event: SdkEvent) -> None:
    """Ignore an event: the observer of a connection without one."""
    del event
