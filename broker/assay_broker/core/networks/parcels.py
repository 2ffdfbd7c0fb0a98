"""Parcels: messages, confirmations and announcements from one queue manager of a network to another."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.model import Definition
from assay_sdk.model.message import Address, Message


class Carry(Struct, frozen=True, tag=True, kw_only=True):
    """A message for the receiving queue manager.

    Args:
        number: The number of the sender's copy, which the sender keeps until `Taken` with this number.
        target: A queue of the receiving queue manager, or a topic.
        message: The message.
        expires_ms: When the message expires, in milliseconds since the epoch; None for never.
        via: The names of the queue managers through which the message has passed, the sender included. A publication
            does not return to them.
    """

    number: int
    target: Address
    message: Message
    expires_ms: int | None
    via: tuple[str, ...]


class Taken(Struct, frozen=True, tag=True):
    """The confirmation that the receiving queue manager is responsible for a message from now on.

    For a persistent message, the confirmation is sent when the message is on disk.

    Args:
        number: The number of the message (`Carry.number`).
    """

    number: int


class NotTaken(Struct, frozen=True, tag=True):
    """A parcel that reports that the receiving queue manager could not take a message; the sender tries again later.

    Args:
        number: The number of the message (`Carry.number`).
    """

    number: int


class Forget(Struct, frozen=True, tag=True):
    """A parcel that reports that the sender of a message has removed its copy, and will not send the message again.

    Args:
        number: The number of the message (`Carry.number`).
    """

    number: int


class Outstanding(Struct, frozen=True, tag=True):
    """The greeting of a queue manager that has started, or the answer to such a greeting.

    Args:
        numbers: The numbers of all messages that the sender keeps until they are confirmed; the receiver can forget all
            other numbers of this sender.
        answer: Whether the sender has just started and wants a greeting as an answer.
    """

    numbers: tuple[int, ...]
    answer: bool


class Interest(Struct, frozen=True, order=True):
    """A queue manager's interest in publications on a topic.

    Args:
        topic: The topic string, with or without wildcards.
        via: The names of the queue managers that have announced the interest, beginning with the queue manager of the
            subscription.
    """

    topic: str
    via: tuple[str, ...]


class Bulletin(Struct, frozen=True, tag=True):
    """A queue manager's announcement about itself; it replaces the sender's last announcement.

    Args:
        parent: The name of the sender's parent in a publish/subscribe hierarchy; empty for none.
        interests: The topics of the publications that the sender wants: the topics of the sender's own subscriptions,
            and the topics that the sender's other neighbours have announced.
        instances: The definitions of the sender's clustered queues.
    """

    parent: str
    interests: tuple[Interest, ...]
    instances: tuple[Definition, ...]


class Gone(Struct, frozen=True, tag=True):
    """A parcel that reports that the sending queue manager has stopped."""


Parcel = Carry | Taken | NotTaken | Forget | Outstanding | Bulletin | Gone
