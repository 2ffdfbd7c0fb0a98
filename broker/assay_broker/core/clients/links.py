"""Senders and receivers: the link's state table, and what a link holds.

Everything that a link's state decides is in `LINKS`; a pair that is missing there is the asker's error.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay_broker.core.messages.entries import Delivery
from assay_broker.core.refusals import illegal_state
from assay_sdk.model.message import Address

if TYPE_CHECKING:
    from assay_broker.core.queues.lines import Line
    from assay_broker.core.queues.queues import Queue
    from assay_broker.core.queues.resolution import Route
    from assay_broker.core.topics.subscriptions import Subscription


Owner = tuple[int, int | None]
"""A connection and one of its sessions: whose unit of work it is, and who gets from it (DD-25)."""


class LinkState(IntEnum):
    """What a link is for."""

    SENDING = auto()
    RECEIVING = auto()
    CLOSED = auto()


class LinkInput(IntEnum):
    """What can happen to a link."""

    PUT = auto()
    FLOW = auto()
    DRAIN = auto()
    SETTLE = auto()
    DETACH = auto()
    LOST = auto()
    REVOKED = auto()


class LinkAction(Enum):
    """What then is to be done."""

    TAKE = auto()
    GRANT = auto()
    EXHAUST = auto()
    RELEASE = auto()
    LEAVE = auto()
    EXPEL = auto()


LinkTable = Mapping[tuple[LinkState, LinkInput], tuple[LinkState, LinkAction]]

LINKS: LinkTable = MappingProxyType(
    {
        (LinkState.SENDING, LinkInput.PUT): (LinkState.SENDING, LinkAction.TAKE),
        (LinkState.SENDING, LinkInput.DETACH): (LinkState.CLOSED, LinkAction.LEAVE),
        (LinkState.SENDING, LinkInput.LOST): (LinkState.CLOSED, LinkAction.LEAVE),
        (LinkState.SENDING, LinkInput.REVOKED): (LinkState.CLOSED, LinkAction.EXPEL),
        (LinkState.RECEIVING, LinkInput.FLOW): (LinkState.RECEIVING, LinkAction.GRANT),
        (LinkState.RECEIVING, LinkInput.DRAIN): (LinkState.RECEIVING, LinkAction.EXHAUST),
        (LinkState.RECEIVING, LinkInput.SETTLE): (LinkState.RECEIVING, LinkAction.RELEASE),
        (LinkState.RECEIVING, LinkInput.DETACH): (LinkState.CLOSED, LinkAction.LEAVE),
        (LinkState.RECEIVING, LinkInput.LOST): (LinkState.CLOSED, LinkAction.LEAVE),
        (LinkState.RECEIVING, LinkInput.REVOKED): (LinkState.CLOSED, LinkAction.EXPEL),
    }
)


class Link:
    """What sender and receiver have in common.

    Args:
        connection: Whose it is.
        number: Its number on the connection.
        address: Destination; None for a sender that names one in each message.
        state: Its first state.
        table: The transitions.
    """

    def __init__(
        self, connection: int, number: int, address: Address | None, state: LinkState, table: LinkTable
    ) -> None:
        self.key = (connection, number)
        self.connection = connection
        self.number = number
        self.address = address
        self.state = state
        self._table = table

    def step(self, happened: LinkInput) -> LinkAction:
        """Go on to the next state.

        Returns:
            What is to be done.

        Raises:
            RefusalError: When the table knows no such transition.
        """
        found = self._table.get((self.state, happened))
        if found is None:
            raise illegal_state(
                f"Link {self.number} cannot do {happened.name.lower()}: it is {self.state.name.lower()}."
            )
        self.state, action = found
        return action


class Sender(Link):
    """A sender; it keeps a queue that was made for it from going away."""

    def __init__(
        self, connection: int, number: int, address: Address | None, queue: Queue | None, table: LinkTable
    ) -> None:
        super().__init__(connection, number, address, LinkState.SENDING, table)
        self.queue = queue
        self.route: Route | None = None
        """What its address was found to mean last."""


class Receiver(Link):
    """A receiver on a queue, or on the queue behind a subscription.

    Args:
        queue: Where its messages come from.
        subscription: The subscription it stands for; None on a queue.
        selector: The text of its selector on the queue; a subscription selects before its queue.
        settled: Whether its deliveries are settled as they leave (at most once).
        session: The session it belongs to; None when nobody said.
    """

    line: Line

    def __init__(
        self,
        connection: int,
        number: int,
        address: Address,
        queue: Queue,
        table: LinkTable,
        *,
        subscription: Subscription | None,
        selector: str | None,
        settled: bool,
        session: int | None = None,
    ) -> None:
        super().__init__(connection, number, address, LinkState.RECEIVING, table)
        self.owner: Owner = (connection, session)
        self.origin = address
        self.queue = queue
        self.subscription = subscription
        self.selector = selector
        self.settled = settled
        self.credit = 0
        self.served = 0
        """Which turn of its queue it had last; before its first, which there was last when it came."""
        self.gate = 0
        self.unsettled: dict[int, Delivery] = {}

    def grant(self, credit: int) -> None:
        """Give credit; with it the receiver is ready."""
        self.credit += credit
        if self.credit > 0 and self.key not in self.line.ready:
            self.line.line_up(self)

    def withdraw(self, credit: int) -> None:
        """Take credit back, as far as it has not been used."""
        self.credit = max(0, self.credit - credit)
        if self.credit == 0:
            self.line.ready.pop(self.key, None)

    def exhaust(self) -> None:
        """Take what credit is left."""
        self.credit = 0
        self.line.ready.pop(self.key, None)
