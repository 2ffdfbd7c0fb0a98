"""Feeds: a feed decides which messages a consumer's listener gets, and when."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from assay_sdk.engine.deliveries.delivery import EngineDelivery, Recipient


class Handing:
    """A call of a listener: the messages, and the function that calls the listener with them.

    Args:
        consumer: Consumer of the listener.
        deliveries: One delivery, or the deliveries of a batch.
        batch: Number of the batch, from 0; None for a single message.
        call: Calls the listener with the messages.
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
    """The attributes and methods of a consumer that a feed uses."""

    buffer: deque[EngineDelivery]

    def take(self) -> EngineDelivery | None:
        """Take the next message from the buffer; None if no message is left."""
        ...

    def put_back(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Put messages from `take` back at the head of the buffer."""
        ...

    def next_batch(self) -> int:
        """Take a new batch number, and return it; the first is 0."""
        ...

    def announce(self) -> None:
        """Make the session schedule a call of the listener, because a message or a batch is due."""
        ...


class Feed(Protocol):
    """A feed, which decides which messages of a consumer's buffer the listener gets, and when."""

    @property
    def window(self) -> int:
        """Number of messages that the broker may send ahead."""
        ...

    def arrived(self) -> None:
        """Handle a new message in the buffer: announce a call of the listener if one is due."""
        ...

    def take(self) -> Handing | None:
        """Take the messages for the listener's next call from the buffer; None if none are due."""
        ...

    def reset(self) -> None:
        """Forget timers and scheduled calls, because the buffer was emptied or the listener gets no more messages."""
        ...


class MessageFeed:
    """A feed that delivers one message at a time, for a message listener.

    Args:
        consumer: Consumer whose buffer has the messages.
        listener: Called with each delivery.
        window: Number of messages that the broker may send ahead; at least 1.
    """

    def __init__(self, consumer: Buffering, listener: Callable[[EngineDelivery], None], window: int) -> None:
        self._consumer = consumer
        self._listener = listener
        self._window = window

    @property
    def window(self) -> int:
        """Number of messages that the broker may send ahead."""
        return self._window

    def arrived(self) -> None:
        """Announce a call of the listener for the new message."""
        self._consumer.announce()

    def take(self) -> Handing | None:
        """Take the next message from the buffer; None if no message is left."""
        delivery = self._consumer.take()
        if delivery is None:
            return None
        return Handing(self._consumer, (delivery,), None, lambda: self._listener(delivery))

    def reset(self) -> None:
        """Do nothing, because this feed has no state."""
