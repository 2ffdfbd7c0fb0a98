"""The index of subscriptions by topic: finds the subscriptions for a publication."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay_broker.core.topics.subscriptions import Subscriber
from assay_broker.core.topics.topic_strings import Patterns, has_wildcards
from assay_sdk.model.message import Address, AddressKind, Message


class Topics:
    """All subscriptions by topic.

    A topic without subscriptions has no entry, and no queue keeps its messages (PD-34). Subscriptions to topics without
    wildcards are in a dictionary, all others in a tree (`Patterns`).
    """

    def __init__(self) -> None:
        self._by_topic: defaultdict[str, dict[int, Subscriber]] = defaultdict(dict)
        self._by_pattern: Patterns[Subscriber] = Patterns()
        self._all: dict[int, Subscriber] = {}

    def __iter__(self) -> Iterator[Subscriber]:
        """Iterate over all subscriptions, including those of SUB objects."""
        return iter(self._all.values())

    def add(self, subscription: Subscriber) -> None:
        """Add a subscription, which gets later publications only (PD-14)."""
        self._all[subscription.number] = subscription
        if _is_pattern(subscription.topic):
            self._by_pattern.add(subscription.topic.name, subscription.number, subscription)
        else:
            self._by_topic[str(subscription.topic)][subscription.number] = subscription

    def discard(self, subscription: Subscriber) -> None:
        """Remove a subscription."""
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
        """Return the subscriptions that get a publication now, oldest first (DD-51, DD-80, PD-10, PD-11).

        Args:
            topic: The topic, without wildcards.
            message: The publication.
            connection: The number of the publisher's connection.
            client_id: The publisher's client id; None without a client id.
        """
        for subscription in self.of(topic):
            if subscription.wants(message, connection, client_id):
                yield subscription

    def of(self, topic: Address) -> tuple[Subscriber, ...]:
        """Return all subscriptions whose topic matches a topic without wildcards, oldest first."""
        found = list(self._by_topic.get(str(topic), {}).values())
        if self._by_pattern and topic.kind is AddressKind.TOPIC:
            found += self._by_pattern.fitting(topic.name)
        return tuple(sorted(found, key=_number))


def _is_pattern(topic: Address) -> bool:
    return topic.kind is AddressKind.TOPIC and has_wildcards(topic.name)


def _number(subscription: Subscriber) -> int:
    return subscription.number
