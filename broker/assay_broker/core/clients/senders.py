"""Senders with their resolved destinations."""

from __future__ import annotations

from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.routes import Route
from assay_broker.core.states.links import Link, LinkState, LinkTable
from assay_sdk.model.message import Address


class Sender(Link):
    """A sender; while a sender is open, its queue stays in memory, even if the queue was created on use."""

    def __init__(
        self, connection: int, number: int, address: Address | None, queue: Queue | None, table: LinkTable
    ) -> None:
        super().__init__(connection, number, address, LinkState.SENDING, table)
        self.queue = queue
        self.route: Route | None = None
        """The last resolution of the sender's destination; None before the first."""
