"""A sender, and what its destination was found to mean."""

from __future__ import annotations

from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.routes import Route
from assay_broker.core.states.links import Link, LinkState, LinkTable
from assay_sdk.model.message import Address


class Sender(Link):
    """A sender; it keeps a queue that was made for it from going away."""

    def __init__(
        self, connection: int, number: int, address: Address | None, queue: Queue | None, table: LinkTable
    ) -> None:
        super().__init__(connection, number, address, LinkState.SENDING, table)
        self.queue = queue
        self.route: Route | None = None
        """What its address was found to mean last."""
