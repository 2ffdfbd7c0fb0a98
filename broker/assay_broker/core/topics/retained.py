"""Retained publications: at most one for each topic string, for subscribers that come later.

A publisher asks for it with the property JMS_IBM_Retain = 1; on a queue the property says nothing.  Whoever subscribes
when it is published gets it as any other publication, without the property; whoever makes a subscription later gets it
at once, with the property, by which IBM's JMS client lets an application tell the one from the other.  An empty one is
a publication like any other; `clear_retained` removes one.  A persistent one is there again after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay_broker.core.messages.alterations import without_property
from assay_broker.core.topics.topic_strings import Patterns, has_wildcards
from assay_sdk.model.message import Address, AddressKind, Message

RETAIN = "JMS_IBM_Retain"
RETAIN_PUBLICATION = 1
NO_CONNECTION = 0


class Retention(Struct, frozen=True):
    """Where a publication is kept, and who sent it.

    Args:
        topic: The topic.
        connection: Who publishes; 0 once that is long ago.
        client_id: Under which client id; None without one.
    """

    topic: Address
    connection: int
    client_id: str | None


class RetainedPublication(Struct, frozen=True, kw_only=True):
    """What a topic keeps.

    Args:
        kept: Where, and who sent it.
        message: The publication, marked as retained; None when it was cleared and the store has still to say so.
        expires_ms: When it expires; None never.
        recorded: Whether the store holds it.
        batch: The batch that says so; 0 for none.
    """

    kept: Retention
    message: Message | None
    expires_ms: int | None
    recorded: bool
    batch: int

    def there(self, now_ms: int) -> bool:
        """Whether a new subscriber is given it."""
        return self.message is not None and (self.expires_ms is None or self.expires_ms > now_ms)


class Retained:
    """All retained publications, in the order of their publishing."""

    def __init__(self) -> None:
        self._by_topic: dict[Address, RetainedPublication] = {}

    def __len__(self) -> int:
        return len(self._by_topic)

    def at(self, topic: Address) -> RetainedPublication | None:
        """What a topic keeps; None for nothing."""
        return self._by_topic.get(topic)

    def keep(self, publication: RetainedPublication) -> None:
        """A topic keeps this one instead of any other."""
        self._by_topic.pop(publication.kept.topic, None)
        self._by_topic[publication.kept.topic] = publication

    def forget(self, topic: Address) -> None:
        """A topic keeps nothing any more."""
        self._by_topic.pop(topic, None)

    def expired(self, now_ms: int) -> tuple[Address, ...]:
        """The topics whose publication nobody is given any more."""
        return tuple(topic for topic, one in self._by_topic.items() if not one.there(now_ms))

    def fitting(self, topic: Address, now_ms: int) -> tuple[RetainedPublication, ...]:
        """What a new subscription to a topic, wildcards or not, is given."""
        return tuple(one for one in self._under(topic) if one.there(now_ms))

    def _under(self, topic: Address) -> Iterator[RetainedPublication]:
        if topic.kind is not AddressKind.TOPIC or not has_wildcards(topic.name):
            if topic in self._by_topic:
                yield self._by_topic[topic]
            return
        pattern: Patterns[Address] = Patterns()
        pattern.add(topic.name, 0, topic)
        for at, one in self._by_topic.items():
            if at.kind is AddressKind.TOPIC and topic in pattern.fitting(at.name):
                yield one


class Given(Struct, frozen=True):
    """A retained publication on its way to a new subscriber.

    Args:
        batch: The batch that it waits for; 0 for none.
    """

    message: Message
    expires_ms: int | None
    batch: int


def asks_retention(message: Message) -> bool:
    """Whether a publisher wants a publication retained; 1, a number, is the only value that says so."""
    value = message.properties.get(RETAIN)
    return type(value) is int and value == RETAIN_PUBLICATION


def without_mark(message: Message) -> Message:
    """A publication as those get it who subscribe already."""
    return without_property(message, RETAIN)
