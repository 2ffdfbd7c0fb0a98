"""One copy of a message inside the broker."""

from __future__ import annotations

from enum import Enum, auto
from typing import Protocol

from msgspec import Struct

from assay_broker.core.messages.headers import DeadLetterHeader
from assay_sdk.model.message import Message

Owner = tuple[int, int | None]
"""A connection and one of its sessions: whose unit of work it is, and who gets from it (DD-25)."""


class UnitOfWork(Protocol):
    """The unit of work of a copy or a delivery, as far as those need to know it."""

    @property
    def owner(self) -> Owner:
        """The connection and the session that began it."""
        ...


class Place(Enum):
    """The place of a copy."""

    STAGED = auto()
    UNCOMMITTED = auto()
    """On its queue; only the session of its unit of work can get it (DD-25)."""
    WAITING = auto()
    HELD = auto()
    GONE = auto()


class Entry(Struct, eq=False, kw_only=True):
    """One copy of a message.

    Args:
        key: Its number; never used again, and higher than those of all that came before it to its queue.
        home: The queue it stands on, or what it is staged for: the name that its sender used, so that an alias is
            resolved again when the delay is over (DD-50).
        message: The message, as it was sent.
        priority: 0 to 9, the default filled in.
        recorded: Whether the store holds it.
        arrived_ms: When it arrived.
        expires_ms: When it expires; None never.
        due_ms: When its delay is over; None for one without a delay, and once it is.
        dead: Why it is on the dead-letter queue; None elsewhere.
        via: The queue managers that it has come by.
        unit: The unit of work that put it, open or in doubt; None once that is committed.
        batch: The batch that stores it; 0 for none.
        order: Its place among those of its priority; given when it enters its queue, kept when it comes back.
        count: Deliveries that failed.
        redelivered: Whether one did.
        place: Where it is.
        octets: About how much memory it takes, where it stands on a queue.
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
        """Whether its time to live is over; delay included, since that counts from the send (DD-56)."""
        return self.expires_ms is not None and self.expires_ms <= now_ms
