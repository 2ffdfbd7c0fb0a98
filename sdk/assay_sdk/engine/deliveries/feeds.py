"""Message listeners: one message a callback, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from assay_sdk.engine.deliveries.delivery import EngineDelivery, Recipient
from assay_sdk.time import Runner


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
        self, consumer: Recipient, deliveries: Sequence[EngineDelivery], batch: int | None, call: Callable[[], None]
    ) -> None:
        self.consumer = consumer
        self.deliveries = deliveries
        self.batch = batch
        self.call = call


class Buffering(Recipient, Protocol):
    """A consumer with a buffer, as a feed needs it."""

    buffer: deque[EngineDelivery]

    @property
    def runner(self) -> Runner:
        """The runner of its connection."""
        ...

    def take(self) -> EngineDelivery | None:
        """Take the next message of the buffer that has not expired in it."""
        ...

    def put_back(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Undo `take`."""
        ...

    def next_batch(self) -> int:
        """Give a number for a batch, from 0."""
        ...

    def announce(self) -> None:
        """Tell the session that the listener has something due."""
        ...


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

    def __init__(self, consumer: Buffering, listener: Callable[[EngineDelivery], None], window: int) -> None:
        self._consumer = consumer
        self._listener = listener
        self._window = window

    @property
    def window(self) -> int:
        """How many messages the broker may send ahead."""
        return self._window

    def arrived(self) -> None:
        """A message is due as soon as it is there."""
        self._consumer.announce()

    def take(self) -> Handing | None:
        """The next message."""
        delivery = self._consumer.take()
        if delivery is None:
            return None
        return Handing(self._consumer, (delivery,), None, lambda: self._listener(delivery))

    def reset(self) -> None:
        """Nothing is kept here."""
