"""Parcels, which the queue managers of one network send each other."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.model import Definition
from assay_sdk.model.message import Address, Message


class Carry(Struct, frozen=True, tag=True, kw_only=True):
    """A message on its way.

    Args:
        number: The sender's number of its copy, which it keeps until `Taken` with this number.
        target: A queue of the receiver's, or a topic.
        message: The message.
        expires_ms: When it expires; None never.
        via: The queue managers that it has passed through, the sender included: a publication goes to none of them
            again.
    """

    number: int
    target: Address
    message: Message
    expires_ms: int | None
    via: tuple[str, ...]


class Taken(Struct, frozen=True, tag=True):
    """The receiver of a message is responsible for it; sent once a persistent message is on disk."""

    number: int


class NotTaken(Struct, frozen=True, tag=True):
    """The receiver of a message could not put it anywhere; the sender tries again later."""

    number: int


class Forget(Struct, frozen=True, tag=True):
    """The sender of a message has removed its copy and will not use the number for this message again."""

    number: int


class Outstanding(Struct, frozen=True, tag=True):
    """A greeting, at the start or in answer to one: the numbers of all messages without answer.

    Args:
        numbers: The copies' numbers; the receiver can forget all others.
        answer: Whether the sender has just started and wants a greeting in answer.
    """

    numbers: tuple[int, ...]
    answer: bool


class Interest(Struct, frozen=True, order=True):
    """An interest in publications on a topic.

    Args:
        topic: The topic string, with or without wildcards.
        via: The queue managers that have announced it, that of the subscription first.
    """

    topic: str
    via: tuple[str, ...]


class Bulletin(Struct, frozen=True, tag=True):
    """A queue manager's announcement about itself, which replaces the one before.

    Args:
        parent: Its parent in a publish/subscribe hierarchy; empty for none.
        interests: Its subscriptions and those behind it, for which its neighbours have proxy subscriptions.
        instances: Its clustered queues.
    """

    parent: str
    interests: tuple[Interest, ...]
    instances: tuple[Definition, ...]


class Gone(Struct, frozen=True, tag=True):
    """The sender has stopped."""


Parcel = Carry | Taken | NotTaken | Forget | Outstanding | Bulletin | Gone
