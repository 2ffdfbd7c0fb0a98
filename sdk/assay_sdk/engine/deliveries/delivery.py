"""A message on its way from the wire to the application and back as an outcome."""

from __future__ import annotations

from typing import Protocol

from assay_sdk.driver import Arrived
from assay_sdk.engine.calls import Pending
from assay_sdk.engine.deliveries.poison import PoisonLimit
from assay_sdk.engine.settings import Source
from assay_sdk.observer import Handed

_NS_PER_MS = 1_000_000


class Recipient(Protocol):
    """The consumer that a delivery came to, as those who settle the delivery need it."""

    held: int
    number: int
    poison: PoisonLimit
    source: Source

    def pause(self) -> None:
        """Hand nothing over and ask for nothing, until `go_on`."""
        ...

    def go_on(self) -> None:
        """Undo a `pause`."""
        ...

    def drain(self) -> Pending[None]:
        """Have the broker send what it has within the credit, and take the rest of the credit back."""
        ...

    def release_buffer(self) -> None:
        """Give back what has not been handed over, as if it had never come."""
        ...

    def let_go(self) -> None:
        """Learn that one of its handed-over deliveries is settled."""
        ...

    def failed(self) -> None:
        """Learn that its listener has raised, or that a poison message could not be moved."""
        ...

    def succeeded(self) -> None:
        """Learn that its listener has returned."""
        ...


class EngineDelivery:
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
