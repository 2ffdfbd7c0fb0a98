"""A message on its way from the wire to the application and back as an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_sdk.driver import Arrived
from assay_sdk.observer import Handed

if TYPE_CHECKING:
    from assay_sdk.engine.consumer import Consumer

_NS_PER_MS = 1_000_000


class Delivery:
    """One delivery of one message.

    Args:
        consumer: Whose it is.
        arrived: What the wire said.
        now_ns: Monotonic time of its arrival.
        wall_ns: Time of day of its arrival.
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

    def __init__(self, consumer: Consumer, arrived: Arrived, now_ns: int, wall_ns: int) -> None:
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
        """Whether it has expired while it waited on this side (JMS 7.8).

        One that came expired was the broker's decision, and clocks differ: it is handed over.
        """
        return not self.came_expired and self._is_over(wall_ns)

    def handed(self) -> Handed:
        """The delivery as observers are told of it."""
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
        return expiry_ms is not None and 0 < expiry_ms * _NS_PER_MS <= wall_ns
