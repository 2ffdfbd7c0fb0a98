"""Copies of messages in the broker, one for each queue that holds the message."""

from __future__ import annotations

from enum import Enum, auto
from typing import Protocol

from msgspec import Struct

from assay_broker.core.messages.headers import DeadLetterHeader
from assay_sdk.model.message import Message

Owner = tuple[int, int | None]
"""The numbers of a connection and of one of its sessions: the owner of a unit of work, or of a receiver (DD-25)."""


class UnitOfWork(Protocol):
    """The interface through which message copies and deliveries use a unit of work."""

    @property
    def owner(self) -> Owner:
        """The connection and the session that began the unit of work."""
        ...


class CopyState(Enum):
    """The states of a message copy."""

    STAGED = auto()
    """The copy is on the staging queue."""
    UNCOMMITTED = auto()
    """The unit of work that put the copy is not committed; only the session of the unit can get the copy (DD-25).

    No session can get a copy that a prepared branch has put.
    """
    WAITING = auto()
    """The copy is on its queue and waits for any receiver."""
    HELD = auto()
    """The copy is on its queue, and no further receiver can get it.

    A receiver or a unit of work holds the copy, or the copy was sent to another queue manager, which has not confirmed
    it yet.
    """
    GONE = auto()
    """The queue manager no longer has the copy."""


class Entry(Struct, eq=False, kw_only=True):
    """One copy of a message, on a queue or staged.

    Args:
        key: The copy's number, unique for ever, and higher than those of all earlier copies on its queue.
        home: The home of the copy's queue. For a staged copy, the home of its target under the name that the sender
            used. The queue manager thus resolves an alias again when the delay is over (DD-50).
        message: The message, with persistence and priority filled in if the application left them out (DD-52).
        priority: The priority, 0 to 9, with the default filled in.
        recorded: Whether the store holds the copy.
        arrived_ms: When the copy arrived, in milliseconds since the epoch.
        expires_ms: When the copy expires, in milliseconds since the epoch; None for never.
        due_ms: When the copy's delay is over, in milliseconds since the epoch; None for a copy without delay.
        dead: The dead-letter header of a copy that the queue manager has put on the dead-letter queue; otherwise None.
        via: The names of the queue managers through which the copy has passed.
        unit: The unit of work that put the copy, while the unit is open or in doubt; None afterwards, and for a copy
            that was put outside units.
        batch: The number of the batch that has to be stored before the copy is delivered; 0 for none.
        order: The copy's position among copies of the same priority, set when the copy enters its queue. A copy whose
            delivery fails keeps its position.
        count: The number of failed deliveries.
        redelivered: Whether a delivery has failed.
        state: The state of the copy: staged, on its queue, or gone.
        octets: The memory that the copy takes on its queue, in octets, approximately.
    """

    key: int
    home: str
    message: Message
    priority: int
    recorded: bool
    arrived_ms: int
    expires_ms: int | None
    due_ms: int | None
    dead: DeadLetterHeader | None = None
    via: tuple[str, ...] = ()
    unit: UnitOfWork | None = None
    batch: int = 0
    order: int = 0
    count: int = 0
    redelivered: bool = False
    state: CopyState = CopyState.WAITING
    octets: int = 0

    def expired(self, now_ms: int) -> bool:
        """Return whether the copy has expired; its time to live begins at the send and includes the delay (DD-56)."""
        return self.expires_ms is not None and self.expires_ms <= now_ms
