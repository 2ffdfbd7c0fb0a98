"""Observers: functions that a client calls with each of its events, when the event happens.

The kit records the events of its SDK clients in the journal through observers.  The client calls an observer on the
client's runner, in the order of the events.  An observer must not raise: the exception would end the call or the
callback during which the event happened.
"""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from assay_sdk.driver import Frame, Outcome
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Refused


class Handed(Struct, frozen=True, kw_only=True):
    """A received message with the data of its delivery: a field of the events that concern a message.

    Args:
        consumer: The number of the consumer on its connection, or of the subscription within its MQ Light client
            (`number` of the faces' classes).
        delivery: The delivery's number on its connection, or within its MQ Light client.
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
    """Event: the application is about to receive a message.

    The message is not settled yet, except a message of the MQ Light face that is sent at most once, or that the client
    confirms on arrival (`auto_confirm`).
    """

    handed: Handed


class Settled(Struct, frozen=True, tag=True):
    """Event: the client sends the outcome of a delivery to the broker.

    Args:
        unit: The unit of work in which the message is accepted: the number of a local unit of work, or the encoded xid
            of a branch.  None if the message is settled outside of a unit of work.
    """

    handed: Handed
    outcome: Outcome
    unit: int | bytes | None = None


class CallbackEnded(Struct, frozen=True, tag=True):
    """Event: a listener, or a callback of the MQ Light face, has returned or raised.

    With automatic acknowledgement, the client settles the messages of the call after this event.

    Args:
        consumer: The consumer's number, as in `Handed`.
        batch: Number of the batch, from 0; None for a single message.
        ended: Whether the function returned or raised.
    """

    consumer: int
    batch: int | None
    ended: Literal["returned", "raised"]


class UnitTurned(Struct, frozen=True, tag=True):
    """Event: the broker has begun, prepared or ended a unit of work.

    Args:
        unit: The number of a local unit of work, or the encoded xid of a branch.
        op: The step that the broker has taken.  For a branch, "begin" means that the session has started, joined or
            resumed it, and "commit" can also mean that a prepare has ended it as read-only.
    """

    unit: int | bytes
    op: Literal["begin", "prepare", "commit", "rollback"]


class ConnectionLost(Struct, frozen=True, tag=True):
    """Event: the connection ended before the application closed it; `refused` has the reason."""

    refused: Refused


class SessionEnded(Struct, frozen=True, tag=True):
    """Event: the broker ended a session with an error before the application closed it; the connection stays open."""

    refused: Refused


class Reconnected(Struct, frozen=True, tag=True):
    """Event: an MQ Light client has a new connection, and has attached its subscriptions to it."""


class FrameSeen(Struct, frozen=True, tag=True):
    """Event: the client has sent or received a protocol frame; only on connections with ``trace``."""

    frame: Frame


SdkEvent = Seen | Settled | CallbackEnded | UnitTurned | ConnectionLost | SessionEnded | Reconnected | FrameSeen


class Observer(Protocol):
    """A function that a client calls with each of its events."""

    def __call__(self, event: SdkEvent, /) -> None:
        """Handle an event of the client."""
        ...


def no_observer(event: SdkEvent) -> None:
    """Ignore an event: the default observer."""
    del event
