"""Deliveries of messages to a consumer, from their arrival to their settlement."""

from __future__ import annotations

from typing import Protocol

from assay_sdk.driver import Arrived
from assay_sdk.engine.calls import Pending
from assay_sdk.engine.deliveries.failures import FailurePause, Pausing
from assay_sdk.engine.deliveries.poison import PoisonLimit
from assay_sdk.engine.settings import Source
from assay_sdk.observer import Handed
from assay_sdk.time import NS_PER_MS


class Recipient(Pausing, Protocol):
    """The attributes and methods of a consumer that the code for settling deliveries uses."""

    failures: FailurePause
    held: int
    number: int
    poison: PoisonLimit
    source: Source

    def drain(self) -> Pending[None]:
        """Drain the link: the broker sends available messages within the credit, and returns unused credit."""
        ...

    def release_buffer(self) -> None:
        """Release the buffered messages to the broker, which does not count their deliveries."""
        ...

    def let_go(self) -> None:
        """Count one delivered message as settled."""
        ...


class EngineDelivery:
    """One delivery of one message.

    Args:
        consumer: Consumer of the message.
        arrived: The driver's event.
        now_ns: Monotonic time of the arrival, in nanoseconds.
        wall_ns: Time of day of the arrival, in nanoseconds since the epoch.
    """

    __slots__ = (
        "arrived_ns",
        "batch",
        "came_expired",
        "consumer",
        "count",
        "message",
        "number",
        "redelivered",
        "settled",
    )

    def __init__(self, consumer: Recipient, arrived: Arrived, now_ns: int, wall_ns: int) -> None:
        self.consumer = consumer
        self.number = arrived.delivery
        self.message = arrived.message
        self.count = arrived.count + 1
        self.redelivered = arrived.redelivered
        self.arrived_ns = now_ns
        self.batch: int | None = None
        self.settled = False
        self.came_expired = self._is_over(wall_ns)

    def expired_here(self, wall_ns: int) -> bool:
        """Return whether the message has expired while it waited in the client (JMS 2.0, 7.8).

        For a message that had expired before its arrival, return False.  The client delivers such a message, because
        the broker has sent it, and the clocks of broker and client may differ.

        Args:
            wall_ns: Time of day now, in nanoseconds since the epoch.
        """
        return not self.came_expired and self._is_over(wall_ns)

    def handed(self) -> Handed:
        """Return the message and the data of its delivery, as the events for observers show them."""
        return Handed(
            consumer=self.consumer.number,
            delivery=self.number,
            source=self.consumer.source.address,
            message=self.message,
            count=self.count,
            redelivered=self.redelivered,
            batch=self.batch,
        )

    def _is_over(self, wall_ns: int) -> bool:
        expiry_ms = self.message.expiry_ms
        return expiry_ms is not None and 0 < expiry_ms * NS_PER_MS <= wall_ns
