"""Why a queue cannot take a message."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.resolution import Target
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc


class Obstacle(Struct, frozen=True):
    """Why a queue cannot take a message.

    Args:
        name: The object at fault.
        why: The rest of a sentence that begins with the name.
    """

    mqrc: Mqrc
    name: str
    why: str


_SLICE = 65_536
"""Characters that are measured at once."""


def length(message: Message) -> int:
    """Bytes of the body: what MAXMSGL of a queue limits (DD-36, DD-78).

    Properties count towards a limit of their own in IBM MQ (developing applications, "Message properties and message
    length"); here the queue manager's limit counts them, since nothing a peer sends may grow without one.
    """
    whole = message.body is None and message.encoded is not None
    return size(message) if whole else _octets(message.body)


def size(message: Message) -> int:
    """Bytes of body and properties: what MAXMSGL of the queue manager limits."""
    if message.encoded is not None:
        return len(message.encoded)
    total = _octets(message.body)
    for name, value in message.properties.items():
        total += _octets(name) + (_octets(value) if isinstance(value, (str, bytes)) else 8)
    return total


def _octets(value: str | bytes | None) -> int:
    if value is None:
        return 0
    if isinstance(value, bytes) or value.isascii():
        return len(value)
    # Slice by slice: a long body is never there a second time.
    return sum(len(value[at : at + _SLICE].encode(errors="surrogatepass")) for at in range(0, len(value), _SLICE))


def obstacles(target: Target, octets: int, further: int = 1) -> list[Obstacle]:
    """Why a queue could not take so many further messages of a size now; empty when it could (DD-78)."""
    found: list[Obstacle] = []
    queue = target.queue
    if target.inhibited is not None:
        found.append(Obstacle(Mqrc.PUT_INHIBITED, target.inhibited, "is disabled for puts"))
    if queue is not None:
        found += limits(queue.definition, queue.name, octets)
        if queue.fills(further):
            found.append(full(queue.name))
    return found


def limits(definition: Definition, name: str, octets: int) -> list[Obstacle]:
    """Whether a message is longer than an object takes (MAXMSGL)."""
    longest = definition.number("MAXMSGL")
    if octets <= longest:
        return []
    return [Obstacle(Mqrc.MSG_TOO_BIG_FOR_Q, name, f"takes messages of {longest} bytes, and this one has {octets}")]


def full(name: str) -> Obstacle:
    """A queue has as many messages as it takes (MAXDEPTH)."""
    return Obstacle(Mqrc.Q_FULL, name, "cannot take another message")
