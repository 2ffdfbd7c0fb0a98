"""Topics: which subscriptions a publication is for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay_broker.core.subscriptions import Subscription
from assay_sdk.model.message import Address, Message


class Topics:
    """Subscriptions by topic.  A topic without subscriptions takes no room (PD-34: it keeps nothing either)."""

    def __init__(self) -> None:
        self._by_topic: defaultdict[str, dict[int, Subscription]] = defaultdict(dict)

    def add(self, subscription: Subscription) -> None:
        """A subscription exists from now on; what was published earlier is not for it (PD-14)."""
        self._by_topic[str(subscription.topic)][subscription.number] = subscription

    def discard(self, subscription: Subscription) -> None:
        """A subscription has gone."""
        topic = str(subscription.topic)
        known = self._by_topic.get(topic)
        if known is not None:
            known.pop(subscription.number, None)
            if not known:
                del self._by_topic[topic]

    def matching(
        self, topic: Address, message: Message, connection: int, client_id: str | None
    ) -> Iterator[Subscription]:
        """The subscriptions that a publication is for, now (DD-51, PD-10, PD-11).

        Args:
            topic: Where it is published.
            message: The publication.
            connection: Who publishes.
            client_id: Under which client id.
        """
        for subscription in tuple(self._by_topic.get(str(topic), {}).values()):
            if subscription.wants(message, connection, client_id):
                yield subscription

    def of(self, topic: Address) -> tuple[Subscription, ...]:
        """All subscriptions on a topic."""
        return tuple(self._by_topic.get(str(topic), {}).values())
