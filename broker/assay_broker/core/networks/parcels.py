"""What queue managers of one network send each other."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.model import Definition
from assay_sdk.model.message import Address, Message


class Carry(Struct, frozen=True, tag=True, kw_only=True):
    """A message is on its way.

    Args:
        number: The sender's number for its copy: it keeps the copy until it hears `Taken` with this number.
        target: A queue of the receiver's, or a topic.
        message: The message.
        expires_ms: When it expires; None never.
        via: The queue managers that it has come by, the sender included: a publication goes to none of them again.
    """

    number: int
    target: Address
    message: Message
    expires_ms: int | None
    via: tuple[str, ...]


class Taken(Struct, frozen=True, tag=True):
    """The receiver of a message is answerable for it from now on; said after it is on disk, if it is persistent."""

    number: int


class NotTaken(Struct, frozen=True, tag=True):
    """The receiver of a message could not put it anywhere, and wants it again later."""

    number: int


class Forget(Struct, frozen=True, tag=True):
    """The sender of a message has let go of it: its number will not come again for this message."""

    number: int


class Outstanding(Struct, frozen=True, tag=True):
    """A greeting, at the start or in answer to one: what the sender has sent, or will, and was not answered yet.

    Args:
        numbers: The copies' numbers: the receiver need remember no others.
        answer: Whether the sender has just started, and wants what is outstanding the other way.
    """

    numbers: tuple[int, ...]
    answer: bool


class Interest(Struct, frozen=True, order=True):
    """Publications on a topic are wanted.

    Args:
        topic: The topic string, wildcards included.
        via: The queue managers by which the wish has come, whoever has the subscription first.
    """

    topic: str
    via: tuple[str, ...]


class Bulletin(Struct, frozen=True, tag=True):
    """What a queue manager has to say of itself; each replaces the one before.

    Args:
        parent: Its parent in a publish/subscribe hierarchy; empty for none.
        interests: What it, and others behind it, have subscribed to: its neighbours have proxy subscriptions for these.
        instances: Its queues that are in a cluster.
    """

    parent: str
    interests: tuple[Interest, ...]
    instances: tuple[Definition, ...]


class Gone(Struct, frozen=True, tag=True):
    """The sender has stopped."""


Parcel = Carry | Taken | NotTaken | Forget | Outstanding | Bulletin | Gone
