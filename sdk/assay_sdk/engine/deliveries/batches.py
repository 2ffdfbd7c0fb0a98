"""The feed of a batch listener, which decides when a batch is due (BATCH:24-40).

A batch is due when it is full, or at its deadline.  The deadline is the arrival of the batch's first message plus the
timeout; later messages do not move it (BT-05).  With a timeout of 0, the client drains the link: the broker sends the
messages that it has within the credit, and the batch is due when they have arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.deliveries.feeds import Buffering, Handing
from assay_sdk.time import NS_PER_MS, CancelJob

WIDEST = 2**30
"""Largest credit that the client grants: Qpid Proton stores a link's credit in 31 bits, and adds new credit to it."""


class BatchFeed:
    """A feed that delivers one batch at a time, in the consumer's order (BT-07).

    Args:
        consumer: Consumer whose buffer has the messages.
        listener: Called with each batch, which has at least one message (BT-04).
        size: The largest number of messages in a batch; at least 1.
        timeout_ms: How long a batch waits for more messages after its first one, in milliseconds; 0 does not wait.
    """

    def __init__(
        self, consumer: Buffering, listener: Callable[[Sequence[EngineDelivery]], None], size: int, timeout_ms: int
    ) -> None:
        self._consumer = consumer
        self._listener = listener
        self._size = size
        self._timeout_ns = timeout_ms * NS_PER_MS
        self._timer: CancelJob | None = None
        self._announced = False
        self._asking = False

    @property
    def window(self) -> int:
        """Number of messages that the broker may send ahead: enough for two batches."""
        return min(2 * self._size, WIDEST)

    def arrived(self) -> None:
        """Announce the batch if the new message completes it; otherwise wait for its deadline or drain the link."""
        self._plan()

    def take(self) -> Handing | None:
        """Take a due batch out of the consumer's buffer; None if no batch is due."""
        self._announced = False
        if not self._is_due():
            self._plan()
            return None
        deliveries: list[EngineDelivery] = []
        while len(deliveries) < self._size and (delivery := self._consumer.take()) is not None:
            deliveries.append(delivery)
        if deliveries and len(deliveries) < self._size and not self._has_waited(deliveries[0]):
            # Some messages have expired in the buffer or were poison, and the deadline of the other messages has not
            # passed yet (BT-06).
            self._consumer.put_back(deliveries)
            deliveries = []
        self._stop_timer()
        self._plan()
        if not deliveries:
            return None
        batch = self._consumer.next_batch()
        for delivery in deliveries:
            delivery.batch = batch
        return Handing(self._consumer, deliveries, batch, lambda: self._listener(deliveries))

    def reset(self) -> None:
        """Stop the timer, because the buffer was emptied or the listener gets no more batches."""
        self._stop_timer()
        self._announced = False

    def _plan(self) -> None:
        """Announce the batch in the buffer if it is full, otherwise wait for its deadline or drain the link."""
        buffer = self._consumer.buffer
        if not buffer or self._announced:
            return
        if len(buffer) >= self._size:
            self._announce()
        elif self._timeout_ns == 0:
            self._ask_for_all()
        elif self._timer is None:
            due_ns = buffer[0].arrived_ns + self._timeout_ns
            self._timer = self._consumer.runner.call_at(due_ns, self._time_is_up)

    def _is_due(self) -> bool:
        buffer = self._consumer.buffer
        return bool(buffer) and (len(buffer) >= self._size or self._has_waited(buffer[0]))

    def _has_waited(self, first: EngineDelivery) -> bool:
        if self._timeout_ns == 0:
            return not self._asking
        return self._consumer.runner.clock.monotonic_ns() >= first.arrived_ns + self._timeout_ns

    def _ask_for_all(self) -> None:
        if not self._asking:
            self._asking = True
            self._consumer.drain().then(self._that_is_all)

    def _that_is_all(self) -> None:
        self._asking = False
        if self._consumer.buffer and not self._announced:
            self._announce()

    def _time_is_up(self) -> None:
        self._timer = None
        if self._consumer.buffer and not self._announced:
            self._announce()

    def _announce(self) -> None:
        self._announced = True
        self._consumer.announce()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer()
            self._timer = None
