"""Message listeners: one message for each call, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from assay_sdk.engine.deliveries.delivery import EngineDelivery, Recipient
from assay_sdk.time import Runner


class Handing:
    """Messages for one call of a listener.

    Args:
        consumer: Consumer of the listener.
        deliveries: One delivery, or those of a batch.
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
        """Return the next message of the buffer that has not expired in it."""
        ...

    def put_back(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Undo `take`."""
        ...

    def next_batch(self) -> int:
        """Return a number for a batch, from 0."""
        ...

    def announce(self) -> None:
        """Tell the session that the listener has a message or batch due."""
        ...


class Feed(Protocol):
    """Decides which messages of a consumer's buffer its listener gets, and when."""

    @property
    def window(self) -> int:
        """Most messages that the broker may send ahead."""
        ...

    def arrived(self) -> None:
        """Note that a message was added to the buffer."""
        ...

    def take(self) -> Handing | None:
        """Return the messages for the next call; None if none are due."""
        ...

    def reset(self) -> None:
        """Note that the buffer was emptied, or the listener removed."""
        ...


class MessageFeed:
    """Delivers one message at a time.

    Args:
        consumer: Consumer whose buffer has the messages.
        listener: Called with each delivery.
        window: Most messages that the broker may send ahead; at least 1.
    """

    def __init__(self, consumer: Buffering, listener: Callable[[EngineDelivery], None], window: int) -> None:
        self._consumer = consumer
        self._listener = listener
        self._window = window

    @property
    def window(self) -> int:
        """Most messages that the broker may send ahead."""
        return self._window

    def arrived(self) -> None:
        """Announce the message, which is due at once."""
        self._consumer.announce()

    def take(self) -> Handing | None:
        """Return the next message."""
        delivery = self._consumer.take()
        if delivery is None:
            return None
        return Handing(self._consumer, (delivery,), None, lambda: self._listener(delivery))

    def reset(self) -> None:
        """Do nothing: this feed has no state."""
