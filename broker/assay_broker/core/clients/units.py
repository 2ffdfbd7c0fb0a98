"""Units of work: what every unit holds until its end, and local ones.

What the state of a local unit decides is in `assay_broker.core.states.units`; a branch of a global unit has a table of
its own.
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
    """A message that was checked, with what it is for as that was found at the send.

    Args:
        message: The message, persistence and priority settled (DD-52).
        homes: Where its copies go: a queue by the name its sender used, or subscriptions' queues (DD-51).
        queues: The queues that have to keep a place for it until the commit.
        expires_ms: When it expires; None never.
        staged: How many copies are to be staged.
        entry: The copy that stands uncommitted on its queue already (DD-25); None when nobody could get it.
        dead: For each of the queues the header with which it goes to the dead-letter queue there; empty for none.
        retained: Where it is kept as the retained publication; None when it is not.
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
    """What every unit of work holds.

    Args:
        number: Its number: on its connection, or, a branch's, in the queue manager.
        owner: The connection and the session that began it; whose uncommitted messages these are (DD-25).
    """

    def __init__(self, number: int, owner: Owner) -> None:
        self.number = number
        self.owner = owner
        self.puts: list[Pending] = []
        self.settled: list[Delivery] = []
        """Deliveries that have an outcome in it (`Delivery.settled_by`), which holds from its commit on."""

    def __len__(self) -> int:
        return len(self.puts) + len(self.settled)

    @abstractmethod
    def grow(self) -> None:
        """It is about to get one more send or delivery.

        Raises:
            RefusalError: Its table does not let it.
        """


class Unit(Work, Stepper[UnitState, UnitInput, UnitAction]):
    """One local unit of work.

    Args:
        connection: Whose it is.
        number: Its number on the connection.
        table: The transitions.
        session: Which of the connection's sessions it belongs to; None when nobody said.
    """

    def __init__(self, connection: int, number: int, table: UnitTable, session: int | None = None) -> None:
        Work.__init__(self, number, (connection, session))
        Stepper.__init__(self, table, UnitState.OPEN)
        self.connection = connection

    def grow(self) -> None:
        """Let it have one more send or delivery.

        Raises:
            RefusalError: Its table does not let it.
        """
        self.step(UnitInput.WORK)

    def impossible(self, happened: UnitInput) -> RefusalError:
        """Refuse what its client asks."""
        return illegal_state(f"Unit of work {self.number} cannot do {words(happened)}: it is {words(self.state)}.")
