"""The state table of senders and receivers.

A link sends or receives from its attach on. It is closed once: by its client (`DETACH`), by the loss of its connection
(`LOST`) or by the broker (`REVOKED`: its destination was deleted). A pair that `LINKS` lacks, such as a put on a
receiver, is the client's error.
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
    """The core's reactions."""

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


class Link(Stepper[LinkState, LinkInput, LinkAction]):
    """The base of senders and receivers.

    Args:
        connection: The number of its connection.
        number: Its number on the connection.
        address: Destination; None for a sender whose messages name their own.
        state: Its first state.
        table: The transitions.
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
        """Return the refusal of a request that does not fit the state."""
        return illegal_state(f"Link {self.number} cannot do {words(happened)}: it is {words(self.state)}.")
