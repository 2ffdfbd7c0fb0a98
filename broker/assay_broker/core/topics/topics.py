"""Topics: which subscriptions a publication is for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay_broker.core.topics.subscriptions import Subscriber
from assay_broker.core.topics.topic_strings import Patterns, has_wildcards
from assay_sdk.model.message import Address, AddressKind, Message


class Topics:
    """Subscriptions by topic.  A topic without subscriptions takes no room (PD-34: it keeps nothing either).

    Those without wildcards are found by name, whatever others there are; the others in one walk (`Patterns`).
    """

    def __init__(self) -> None:
        self._by_topic: defaultdict[str, dict[int, Subscriber]] = defaultdict(dict)
        self._by_pattern: Patterns[Subscriber] = Patterns()
        self._all: dict[int, Subscriber] = {}

    def __iter__(self) -> Iterator[Subscriber]:
        """All who get publications."""
        return iter(self._all.values())

    def add(self, subscription: Subscriber) -> None:
        """A subscription exists from now on; what was published earlier is not for it (PD-14)."""
        self._all[subscription.number] = subscription
        if _is_pattern(subscription.topic):
            self._by_pattern.add(subscription.topic.name, subscription.number, subscription)
        else:
            self._by_topic[str(subscription.topic)][subscription.number] = subscription

    def discard(self, subscription: Subscriber) -> None:
        """A subscription has gone."""
        self._all.pop(subscription.number, None)
        if _is_pattern(subscription.topic):
            self._by_pattern.discard(subscription.topic.name, subscription.number)
            return
        topic = str(subscription.topic)
        known = self._by_topic.get(topic)
        if known is not None:
            known.pop(subscription.number, None)
            if not known:
                del self._by_topic[topic]

    def matching(
        self, topic: Address, message: Message, connection: int, client_id: str | None
    ) -> Iterator[Subscriber]:
        """The subscriptions that a publication is for, now (DD-51, DD-80, PD-10, PD-11), in the order of their making.

        Args:
            topic: Where it is published; its string is literal.
            message: The publication.
            connection: Who publishes.
            client_id: Under which client id.
        """
        for subscription in self.of(topic):
            if subscription.wants(message, connection, client_id):
                yield subscription

    def of(self, topic: Address) -> tuple[Subscriber, ...]:
        """All subscriptions that a topic fits, in the order of their making."""
        found = list(self._by_topic.get(str(topic), {}).values())
        if self._by_pattern and topic.kind is AddressKind.TOPIC:
            found += self._by_pattern.fitting(topic.name)
        return tuple(sorted(found, key=_number))


def _is_pattern(topic: Address) -> bool:
    return topic.kind is AddressKind.TOPIC and has_wildcards(topic.name)


def _number(subscription: Subscriber) -> int:
    return subscription.number
