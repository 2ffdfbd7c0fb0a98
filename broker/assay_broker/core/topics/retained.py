"""Retained publications: at most one for each topic string, for later subscribers.

A publisher asks for retention with the property JMS_IBM_Retain = 1, which has no effect on queues. Present subscribers
get the publication without the property. A later subscriber gets the publication at once, with the property, as
applications of IBM's JMS client expect. A publication without a body is retained like any other; only an administrator
can clear a retained publication (`ClearRetained`). A persistent retained publication survives a restart.
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
"""The number for the publisher's connection in a retained publication that was restored at a start."""


class Retention(Struct, frozen=True):
    """The topic and the publisher of a retained publication.

    Args:
        topic: The topic.
        connection: The number of the publisher's connection; 0 after a restart.
        client_id: The publisher's client id; None without a client id.
    """

    topic: Address
    connection: int
    client_id: str | None


class RetainedPublication(Struct, frozen=True, kw_only=True):
    """A topic's retained publication.

    Args:
        kept: The topic and the publisher.
        message: The publication, with the property that marks it as retained; None if the publication was cleared and
            the store has not confirmed that yet.
        expires_ms: When the publication expires, in milliseconds since the epoch; None for never.
        recorded: Whether the store holds the publication.
        batch: The number of the batch that stores or clears the publication; 0 for none.
    """

    kept: Retention
    message: Message | None
    expires_ms: int | None
    recorded: bool
    batch: int

    def there(self, now_ms: int) -> bool:
        """Return whether new subscribers get the publication: it is not cleared and has not expired."""
        return self.message is not None and (self.expires_ms is None or self.expires_ms > now_ms)


class Retained:
    """All retained publications, in the order in which they were published."""

    def __init__(self) -> None:
        self._by_topic: dict[Address, RetainedPublication] = {}

    def __len__(self) -> int:
        return len(self._by_topic)

    def at(self, topic: Address) -> RetainedPublication | None:
        """Return a topic's retained publication; None if the topic has none."""
        return self._by_topic.get(topic)

    def keep(self, publication: RetainedPublication) -> None:
        """Set a topic's retained publication; it replaces an earlier one."""
        self._by_topic.pop(publication.kept.topic, None)
        self._by_topic[publication.kept.topic] = publication

    def forget(self, topic: Address) -> None:
        """Remove a topic's retained publication, if it has one."""
        self._by_topic.pop(topic, None)

    def expired(self, now_ms: int) -> tuple[Address, ...]:
        """Return the topics whose retained publication has expired or was cleared."""
        return tuple(topic for topic, one in self._by_topic.items() if not one.there(now_ms))

    def fitting(self, topic: Address, now_ms: int) -> tuple[RetainedPublication, ...]:
        """Return the retained publications for a new subscription; the subscription's topic may have wildcards."""
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


class RetainedCopy(Struct, frozen=True):
    """A copy of a retained publication for a new subscriber.

    Args:
        message: The publication.
        expires_ms: When the publication expires, in milliseconds since the epoch; None for never.
        batch: The number of the batch that stores the retained publication; 0 for none.
    """

    message: Message
    expires_ms: int | None
    batch: int


def asks_retention(message: Message) -> bool:
    """Return whether a publisher asks for retention: whether the property's value is the integer 1."""
    value = message.properties.get(RETAIN)
    return type(value) is int and value == RETAIN_PUBLICATION


def without_mark(message: Message) -> Message:
    """Return a publication without the property that asks for retention, for present subscribers."""
    return without_property(message, RETAIN)
