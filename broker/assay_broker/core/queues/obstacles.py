"""Obstacles: the reasons why a queue cannot take a message."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.messages.bodies import body_size, octets_of
from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.routes import Target
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc


class Obstacle(Struct, frozen=True):
    """One reason why a queue cannot take a message.

    Args:
        mqrc: The reason code.
        name: The name of the object at fault.
        why: The reason, as the rest of a sentence that begins with the name.
    """

    mqrc: Mqrc
    name: str
    why: str


def body_octets(message: Message) -> int:
    """Return the number of bytes of a message's body; MAXMSGL of a queue limits this number (DD-36, DD-78).

    In IBM MQ, properties have a separate limit (its documentation, "Message properties and message length").
    Here MAXMSGL of the queue manager limits the whole message (`message_octets`).
    """
    return body_size(message)


def message_octets(message: Message) -> int:
    """Return the number of bytes of a whole message, which MAXMSGL of the queue manager limits.

    For a message that came over AMQP, it is the size of the encoding with all sections.  For other messages, body and
    properties count.
    """
    if message.encoded is not None:
        return len(message.encoded)
    total = octets_of(message.body)
    for name, value in message.properties.items():
        total += octets_of(name) + (octets_of(value) if isinstance(value, (str, bytes)) else 8)
    return total


def obstacles(target: Target, message: Message, further: int = 1) -> list[Obstacle]:
    """Return the obstacles to a put (DD-78).

    Args:
        target: The resolved queue.
        message: The message.
        further: The number of messages of this size that the caller wants to put, this message included.

    Returns:
        All obstacles; empty if the queue can take the messages.
    """
    found: list[Obstacle] = []
    queue = target.queue
    if target.inhibited is not None:
        found.append(Obstacle(Mqrc.PUT_INHIBITED, target.inhibited, "is disabled for puts"))
    if queue is not None:
        if message_octets(message) > queue.definition.number("MAXMSGL"):  # if the whole message fits, the body fits
            found += limits(queue.definition, queue.name, body_octets(message))
        if queue.fills(further):
            found.append(full(queue.name))
    return found


def limits(definition: Definition, name: str, octets: int) -> list[Obstacle]:
    """Return the obstacle for a message whose body is longer than a queue's MAXMSGL.

    Args:
        definition: The queue's definition.
        name: The queue's name.
        octets: The length of the message's body.

    Returns:
        One obstacle; empty if the body is not too long.
    """
    longest = definition.number("MAXMSGL")
    if octets <= longest:
        return []
    why = f"takes messages of {longest} bytes (MAXMSGL), and this one has {octets}"
    return [Obstacle(Mqrc.MSG_TOO_BIG_FOR_Q, name, why)]


def full(name: str) -> Obstacle:
    """Return the obstacle for a queue that is full (MAXDEPTH)."""
    return Obstacle(Mqrc.Q_FULL, name, "cannot take another message")
