"""The state table of senders and receivers.

A link sends or receives from its attach on until it is closed: by its client (`DETACH`), by the end of its connection
(`LOST`) or by the broker (`REVOKED`, for example because its destination was deleted). If `LINKS` has no row for a
state and an input, such as a put on a receiver, the input is an error of the client.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum, auto
from types import MappingProxyType

from assay_broker.core.refusals import RefusalError, illegal_state
from assay_sdk.model.message import Address
from assay_sdk.model.stepper import Stepper, words


class LinkState(IntEnum):
    """The states of a link."""

    SENDING = auto()
    RECEIVING = auto()
    CLOSED = auto()


class LinkInput(IntEnum):
    """The events of a link."""

    PUT = auto()
    FLOW = auto()
    DRAIN = auto()
    SETTLE = auto()
    DETACH = auto()
    LOST = auto()
    REVOKED = auto()


class LinkAction(Enum):
    """The core's reactions to the events of a link."""

    TAKE = auto()
    """Accept a message."""
    GRANT = auto()
    """Add credit, or take back unused credit."""
    EXHAUST = auto()
    """Deliver the messages that wait, and take back the remaining credit."""
    RELEASE = auto()
    """Settle deliveries."""
    LEAVE = auto()
    """Close the link."""
    EXPEL = auto()
    """Close the link, and send the client the reason."""


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


class Link(Stepper[LinkState, LinkInput, LinkAction]):
    """The base class of senders and receivers.

    Args:
        connection: The number of the link's connection.
        number: The link's number on the connection.
        address: The destination; None for a sender whose messages each name their own destination.
        state: The link's first state.
        table: The state table.
    """

    def __init__(
        self, connection: int, number: int, address: Address | None, state: LinkState, table: LinkTable
    ) -> None:
        super().__init__(table, state)
        self.key = (connection, number)
        self.connection = connection
        self.number = number
        self.address = address

    def impossible(self, happened: LinkInput) -> RefusalError:
        """Return the refusal of a request that does not fit the link's state."""
        return illegal_state(f"Link {self.number} does not allow {words(happened)} while it is {words(self.state)}.")
