"""Deliveries, from their arrival on the wire to their outcome."""

from __future__ import annotations

from typing import Protocol

from assay_sdk.driver import Arrived
from assay_sdk.engine.calls import Pending
from assay_sdk.engine.deliveries.poison import PoisonLimit
from assay_sdk.engine.settings import Source
from assay_sdk.observer import Handed

_NS_PER_MS = 1_000_000


class Recipient(Protocol):
    """The consumer of a delivery, as far as code that settles the delivery needs it."""

    held: int
    number: int
    poison: PoisonLimit
    source: Source

    def pause(self) -> None:
        """Stop delivering and requesting messages until `go_on`."""
        ...

    def go_on(self) -> None:
        """Undo a `pause`."""
        ...

    def drain(self) -> Pending[None]:
        """Have the broker send available messages within the credit, and take back the rest of the credit."""
        ...

    def release_buffer(self) -> None:
        """Give back messages that were not delivered to the application, unchanged."""
        ...

    def let_go(self) -> None:
        """Note that one delivered message is settled."""
        ...

    def failed(self) -> None:
        """Note that the listener raised, or that a poison message could not be moved."""
        ...

    def succeeded(self) -> None:
        """Note that the listener returned."""
        ...


class EngineDelivery:
    """One delivery of one message.

    Args:
        consumer: Consumer of the message.
        arrived: Event of the wire.
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
        """Whether the message has expired while it waited in the client (JMS 2.0, 7.8).

        A message that was expired on arrival is delivered, because the broker decided to send it, and clocks differ.
        """
        return not self.came_expired and self._is_over(wall_ns)

    def handed(self) -> Handed:
        """Return the delivery as an observer's events carry it."""
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
