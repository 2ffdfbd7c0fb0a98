"""Units of work: what every unit holds until its end, and the state table of local ones.

Everything that a local unit's state decides is in `UNITS`; a pair that is missing there is the asker's error.  A branch
of a global unit has a table of its own (`assay_broker.core.clients.branches`).  `docs/units.md` draws both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType

from msgspec import Struct

from assay_broker.core.messages.entries import Entry, Owner
from assay_broker.core.messages.headers import DeadLetterHeader
from assay_broker.core.queues.queue import Delivery, Queue
from assay_broker.core.refusals import illegal_state
from assay_broker.core.topics.retained import Retention
from assay_sdk.model.message import Message


class UnitState(Enum):
    """How far a unit of work is."""

    OPEN = auto()
    COMMITTING = auto()
    ENDED = auto()


class UnitInput(Enum):
    """What can happen to a unit of work."""

    WORK = auto()
    COMMIT = auto()
    BACKOUT = auto()
    LOST = auto()
    STORED = auto()
    STORE_FAILED = auto()


class UnitAction(Enum):
    """What then is to be done."""

    JOIN = auto()
    APPLY = auto()
    DISCARD = auto()
    AWAIT = auto()
    FORGET = auto()


UnitTable = Mapping[tuple[UnitState, UnitInput], tuple[UnitState, UnitAction]]

UNITS: UnitTable = MappingProxyType(
    {
        (UnitState.OPEN, UnitInput.WORK): (UnitState.OPEN, UnitAction.JOIN),
        (UnitState.OPEN, UnitInput.COMMIT): (UnitState.COMMITTING, UnitAction.APPLY),
        (UnitState.OPEN, UnitInput.BACKOUT): (UnitState.ENDED, UnitAction.DISCARD),
        (UnitState.OPEN, UnitInput.LOST): (UnitState.ENDED, UnitAction.DISCARD),
        # From here on the store decides; who asked may have gone.
        (UnitState.COMMITTING, UnitInput.LOST): (UnitState.COMMITTING, UnitAction.AWAIT),
        (UnitState.COMMITTING, UnitInput.STORED): (UnitState.ENDED, UnitAction.FORGET),
        (UnitState.COMMITTING, UnitInput.STORE_FAILED): (UnitState.ENDED, UnitAction.FORGET),
    }
)


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


class Unit(Work):
    """One local unit of work.

    Args:
        connection: Whose it is.
        number: Its number on the connection.
        table: The transitions.
        session: Which of the connection's sessions it belongs to; None when nobody said.
    """

    def __init__(self, connection: int, number: int, table: UnitTable, session: int | None = None) -> None:
        super().__init__(number, (connection, session))
        self.connection = connection
        self.state = UnitState.OPEN
        self._table = table

    def grow(self) -> None:
        """It is about to get one more send or delivery.

        Raises:
            RefusalError: Its table does not let it.
        """
        self.step(UnitInput.WORK)

    def step(self, happened: UnitInput) -> UnitAction:
        """Go on to the next state.

        Returns:
            What is to be done.

        Raises:
            RefusalError: When the table knows no such transition.
        """
        found = self._table.get((self.state, happened))
        if found is None:
            raise illegal_state(
                f"Unit of work {self.number} cannot do {happened.name.lower()}: it is {self.state.name.lower()}."
            )
        self.state, action = found
        return action
