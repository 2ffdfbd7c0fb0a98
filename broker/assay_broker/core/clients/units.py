"""Units of work: the base class, and local units of work.

`assay_broker.core.states.units` has the state table of local units. `assay_broker.core.clients.branches` has the class
of branches of global units.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from msgspec import Struct

from assay_broker.core.messages.entries import Entry, Owner
from assay_broker.core.messages.headers import DeadLetterHeader
from assay_broker.core.queues.queue import Delivery, Queue
from assay_broker.core.refusals import RefusalError, illegal_state
from assay_broker.core.states.units import UnitAction, UnitInput, UnitState, UnitTable
from assay_broker.core.topics.retained import Retention
from assay_sdk.model.message import Message
from assay_sdk.model.stepper import Stepper, words


class Pending(Struct, frozen=True, eq=False):
    """A sent message that has passed all checks, with its destination as resolved at the send.

    Args:
        message: The message, with persistence and priority filled in (DD-52).
        homes: For each copy, the home of its target (DD-51). The target is the queue to which the message was sent, or
            a subscriber or neighbour (a parent or child in a hierarchy) that gets the publication.
        queues: For each copy, its queue; empty for a delayed message. An open unit of work reserves a place on each of
            these queues until the unit's end, unless the copy (`entry`) is on its queue already.
        expires_ms: When the message expires, in milliseconds since the epoch; None for never.
        staged: The number of copies to stage; 0 for a message without delay.
        entry: The copy that is on its queue already, uncommitted (DD-25); None if the copies are made at the commit.
        dead: For a publication, one entry for each queue. The entry is a dead-letter header if the copy goes to the
            dead-letter queue instead of the subscriber's queue, else None. Empty for a message to a queue.
        retained: The topic and publisher of a publication to retain; None for any other message.
    """

    message: Message
    homes: tuple[str, ...]
    queues: tuple[Queue, ...]
    expires_ms: int | None
    staged: int
    entry: Entry | None = None
    dead: tuple[DeadLetterHeader | None, ...] = ()
    retained: Retention | None = None


class Work(ABC):
    """A unit of work: the base class of local units and of branches of global units.

    Args:
        number: The number of a local unit on its connection, or of a branch in the queue manager.
        owner: The connection and the session that began the unit; only this session can get the unit's uncommitted
            messages (DD-25).
    """

    def __init__(self, number: int, owner: Owner) -> None:
        self.number = number
        self.owner = owner
        self.puts: list[Pending] = []
        self.settled: list[Delivery] = []
        """The deliveries whose outcome (`Delivery.settled_by`) takes effect at the commit."""

    def __len__(self) -> int:
        return len(self.puts) + len(self.settled)

    @abstractmethod
    def grow(self) -> None:
        """Check that one more send or delivery can become part of the unit of work.

        Raises:
            RefusalError: The state of the unit does not allow further work.
        """


class Unit(Work, Stepper[UnitState, UnitInput, UnitAction]):
    """One local unit of work.

    Args:
        connection: The number of the unit's connection.
        number: The unit's number on the connection.
        table: The state table.
        session: The session of the connection that began the unit; None if unknown.
    """

    def __init__(self, connection: int, number: int, table: UnitTable, session: int | None = None) -> None:
        Work.__init__(self, number, (connection, session))
        Stepper.__init__(self, table, UnitState.OPEN)
        self.connection = connection

    def grow(self) -> None:
        """Check that one more send or delivery can become part of the unit of work.

        Raises:
            RefusalError: The state of the unit does not allow further work.
        """
        self.step(UnitInput.WORK)

    def impossible(self, happened: UnitInput) -> RefusalError:
        """Return the refusal of a request that does not fit the unit's state."""
        return illegal_state(
            f"Unit of work {self.number} does not allow {words(happened)} while it is {words(self.state)}."
        )
