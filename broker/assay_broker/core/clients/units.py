"""Units of work: the base of all, and local ones.

`assay_broker.core.states.units` has the state table of local units; branches of global units have another.
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
    """A checked message with its resolved destination, as found at the send.

    Args:
        message: The message, with persistence and priority filled in (DD-52).
        homes: The homes of its copies: a queue under the name that the sender used, or subscriptions' queues (DD-51).
        queues: The queues that reserve a place for it until the commit.
        expires_ms: When it expires; None never.
        staged: The number of copies to stage.
        entry: The copy that stands uncommitted on its queue already (DD-25); None if no receiver could get it.
        dead: For each queue, the header with which the copy goes to the dead-letter queue there; empty for none.
        retained: Where it is kept as the retained publication; None if it is not retained.
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
    """The content of a unit of work.

    Args:
        number: Its number: on its connection, or for a branch in the queue manager.
        owner: The connection and the session that began it, which alone can get its uncommitted messages (DD-25).
    """

    def __init__(self, number: int, owner: Owner) -> None:
        self.number = number
        self.owner = owner
        self.puts: list[Pending] = []
        self.settled: list[Delivery] = []
        """Deliveries with an outcome (`Delivery.settled_by`) that takes effect at the commit."""

    def __len__(self) -> int:
        return len(self.puts) + len(self.settled)

    @abstractmethod
    def grow(self) -> None:
        """Check that one more send or delivery can become part of it.

        Raises:
            RefusalError: Its state table does not allow it.
        """


class Unit(Work, Stepper[UnitState, UnitInput, UnitAction]):
    """One local unit of work.

    Args:
        connection: The number of its connection.
        number: Its number on the connection.
        table: The transitions.
        session: The session of the connection to which it belongs; None if unknown.
    """

    def __init__(self, connection: int, number: int, table: UnitTable, session: int | None = None) -> None:
        Work.__init__(self, number, (connection, session))
        Stepper.__init__(self, table, UnitState.OPEN)
        self.connection = connection

    def grow(self) -> None:
        """Check that one more send or delivery can become part of it.

        Raises:
            RefusalError: Its state table does not allow it.
        """
        self.step(UnitInput.WORK)

    def impossible(self, happened: UnitInput) -> RefusalError:
        """Return the refusal of a request that does not fit the state."""
        return illegal_state(f"Unit of work {self.number} cannot do {words(happened)}: it is {words(self.state)}.")
