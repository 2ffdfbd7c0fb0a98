"""The reasons why a queue cannot take a message."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.messages.bodies import body_size, octets_of
from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.routes import Target
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc


class Obstacle(Struct, frozen=True):
    """The reason why a queue cannot take a message.

    Args:
        name: The object at fault.
        why: The rest of a sentence that begins with the name.
    """

    mqrc: Mqrc
    name: str
    why: str


def length(message: Message) -> int:
    """Return the bytes of the body, which MAXMSGL of a queue limits (DD-36, DD-78).

    In IBM MQ another limit applies to properties (developing applications, "Message properties and message length").
    Here the queue manager's limit includes them, since everything that a client sends must have a limit.
    """
    return body_size(message)


def size(message: Message) -> int:
    """Return the bytes of body and properties, which MAXMSGL of the queue manager limits."""
    if message.encoded is not None:
        return len(message.encoded)
    total = octets_of(message.body)
    for name, value in message.properties.items():
        total += octets_of(name) + (octets_of(value) if isinstance(value, (str, bytes)) else 8)
    return total


def obstacles(target: Target, message: Message, further: int = 1) -> list[Obstacle]:
    """Return why a queue could not take this many further messages like this one; empty if it could (DD-78)."""
    found: list[Obstacle] = []
    queue = target.queue
    if target.inhibited is not None:
        found.append(Obstacle(Mqrc.PUT_INHIBITED, target.inhibited, "is disabled for puts"))
    if queue is not None:
        if size(message) > queue.definition.number("MAXMSGL"):  # no body is longer than all of its message
            found += limits(queue.definition, queue.name, length(message))
        if queue.fills(further):
            found.append(full(queue.name))
    return found


def limits(definition: Definition, name: str, octets: int) -> list[Obstacle]:
    """Return the obstacle for a message that is longer than an object takes (MAXMSGL); empty if it is not."""
    longest = definition.number("MAXMSGL")
    if octets <= longest:
        return []
    why = f"takes messages of {longest} bytes (MAXMSGL), and this one has {octets}"
    return [Obstacle(Mqrc.MSG_TOO_BIG_FOR_Q, name, why)]


def full(name: str) -> Obstacle:
    """Return the obstacle for a queue with as many messages as it takes (MAXDEPTH)."""
    return Obstacle(Mqrc.Q_FULL, name, "cannot take another message")
