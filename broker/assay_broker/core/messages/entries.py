"""One copy of a message in the broker."""

from __future__ import annotations

from enum import Enum, auto
from typing import Protocol

from msgspec import Struct

from assay_broker.core.messages.headers import DeadLetterHeader
from assay_sdk.model.message import Message

Owner = tuple[int, int | None]
"""A connection and one of its sessions: the owner of a unit of work, and the receiver of its messages (DD-25)."""


class UnitOfWork(Protocol):
    """The part of a unit of work that its copies and deliveries use."""

    @property
    def owner(self) -> Owner:
        """The connection and the session that began it."""
        ...


class Place(Enum):
    """Where a copy is."""

    STAGED = auto()
    UNCOMMITTED = auto()
    """On its queue; only the session of its unit of work can get it (DD-25)."""
    WAITING = auto()
    HELD = auto()
    GONE = auto()


class Entry(Struct, eq=False, kw_only=True):
    """One copy of a message.

    Args:
        key: Its number, unique for ever, and higher than those of all earlier copies on its queue.
        home: The home of its queue, or of a staged copy's target under the name that the sender used, so that an alias
            is resolved again when the delay is over (DD-50).
        message: The message, as it was sent.
        priority: 0 to 9, the default filled in.
        recorded: Whether the store holds it.
        arrived_ms: When it arrived, in milliseconds since the epoch.
        expires_ms: When it expires; None never.
        due_ms: When its delay is over; None without a delay, and after it.
        dead: Why it is on the dead-letter queue; None elsewhere.
        via: The queue managers that it has passed through.
        unit: The unit of work that put it, open or in doubt; None once that is committed.
        batch: The batch that stores it; 0 for none.
        order: Its position among copies of the same priority; set when it enters its queue, kept when it comes back.
        count: The number of failed deliveries.
        redelivered: Whether a delivery failed.
        place: Where it is.
        octets: The memory that it takes on its queue, approximately.
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
    place: Place = Place.WAITING
    octets: int = 0

    def expired(self, now_ms: int) -> bool:
        """Return whether its time to live is over; it counts from the send and includes the delay (DD-56)."""
        return self.expires_ms is not None and self.expires_ms <= now_ms
