"""Message listeners: one message a callback, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from assay_sdk.engine.deliveries import Delivery

if TYPE_CHECKING:
    from assay_sdk.engine.consumer import Consumer


class Handing:
    """What a listener is about to be handed.

    Args:
        consumer: Whose listener.
        deliveries: One, or a batch.
        batch: Number of the batch, from 0; None for a single message.
        call: Calls the listener.
    """

    __slots__ = ("batch", "call", "consumer", "deliveries")

    def __init__(
        self, consumer: Consumer, deliveries: Sequence[Delivery], batch: int | None, call: Callable[[], None]
    ) -> None:
        self.consumer = consumer
        self.deliveries = deliveries
        self.batch = batch
        self.call = call


class Feed(Protocol):
    """What stands between a consumer's buffer and its listener."""

    @property
    def window(self) -> int:
        """How many messages the broker may send ahead."""
        ...

    def arrived(self) -> None:
        """A message has been added to the buffer."""
        ...

    def take(self) -> Handing | None:
        """Take what is to be handed over now; None when nothing is due."""
        ...

    def reset(self) -> None:
        """The buffer has been emptied, or the listener taken away."""
        ...


class MessageFeed:
    """Hands over one message at a time.

    Args:
        consumer: From whose buffer.
        listener: Called with each delivery.
        window: How many messages the broker may send ahead; at least 1.
    """

    def __init__(self, consumer: Consumer, listener: Callable[[Delivery], None], window: int) -> None:
        self._consumer = consumer
        self._listener = listener
        self._window = window

    @property
    def window(self) -> int:
        """How many messages the broker may send ahead."""
        return self._window

    def arrived(self) -> None:
        """A message is due as soon as it is there."""
        self._consumer.session.dispatcher.ready(self._consumer)

    def take(self) -> Handing | None:
        """The next message."""
        delivery = self._consumer.take()
        if delivery is None:
            return None
        return Handing(self._consumer, (delivery,), None, lambda: self._listener(delivery))

    def reset(self) -> None:
        """Nothing is kept here."""
