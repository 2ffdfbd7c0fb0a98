"""The simplified face's producer, whose methods for settings can be chained."""

from __future__ import annotations

from typing import Self, TypeVar

from assay_sdk.engine.settings import DeliveryMode
from assay_sdk.faces.caller import Duration
from assay_sdk.faces.producer import ProducerBase

T = TypeVar("T")


class Producer(ProducerBase[T]):
    """A producer for one destination, or for destinations that each send names.

    Its settings are properties (``producer.priority = 7``), and also methods that can be chained
    (``producer.set_priority(7).set_time_to_live(1000).send("hello")``).
    """

    __slots__ = ()

    def set_delivery_delay(self, delay: Duration) -> Self:
        """Set the delivery delay of later sends (DD-01).

        Raises:
            MessagingRuntimeError: The producer is closed or lost, the delay is longer than the time to live (DD-13) or
                not a valid duration, or the driver or the broker has no delivery delay (DD-10).  The setting keeps its
                earlier value (DD-15).
        """
        self.delivery_delay = delay
        return self

    def set_time_to_live(self, ttl: Duration) -> Self:
        """Set the time to live of later sends; 0 for no expiry.

        Raises:
            MessagingRuntimeError: The producer is closed or lost, the time to live is shorter than the delivery delay
                (DD-12) or not a valid duration, or the driver or the broker has no time to live.  The setting keeps its
                earlier value (DD-15).
        """
        self.time_to_live = ttl
        return self

    def set_delivery_mode(self, mode: DeliveryMode) -> Self:
        """Set the delivery mode of later sends (PD-02).

        Raises:
            MessagingRuntimeError: The producer is closed or lost, the mode is invalid, or the driver or the broker does
                not support it.
        """
        self.delivery_mode = mode
        return self

    def set_priority(self, priority: int) -> Self:
        """Set the priority of later sends.

        Args:
            priority: 0 to 9, or `AS_DESTINATION`.

        Raises:
            MessagingRuntimeError: The producer is closed or lost, the priority is invalid, or the driver or the broker
                does not support priorities.
        """
        self.priority = priority
        return self
