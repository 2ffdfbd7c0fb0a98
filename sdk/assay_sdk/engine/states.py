"""The state tables of the engine.

A table maps (state, event) to (next state, act), and has a row for every pair.  An `Act` is the next action of the code
that reported the event.  Some acts are refusals; `REFUSALS` has their texts.

- `LIFE`: a connection, session or producer opens, can then be used, and closes once.  LOST means that the object ended
  without the application's request, for example because the connection was lost.  Calls are then refused with another
  error than after a close.
- `LINK`: a closing consumer first waits for its running listener (STOPPING).  If the application has not settled all
  delivered messages, the link stays attached until they are settled (HOLDING); then the client detaches it.
- `UNIT`: a unit of work begins with the first send or delivery that needs one, and ends with a commit or rollback.
  While the broker's answer to a begin or an end is outstanding, further calls wait.
- `USE`: a consumer is idle, or waits in one receive call, or has one listener of one kind; other uses are refused.
- `SERVICE`: an MQ Light client reconnects after the loss of its connection.  It stops if a service refuses the client,
  or if the time for new attempts is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from assay_sdk.engine.calls import RefusedError
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.model.stepper import Stepper

StateT = TypeVar("StateT", bound=StrEnum)
EventT = TypeVar("EventT", bound=StrEnum)


class Act(StrEnum):
    """The next action of the code that reported an event."""

    GO = "go"
    """Carry out the event's action."""
    SKIP = "skip"
    """Do nothing."""
    WAIT = "wait"
    """Wait for the next transition, then report the event again."""
    END = "end"
    """Clean up after an end that is not the client's own close, such as the loss of the connection."""
    REFUSE_CLOSED = "refuse-closed"
    REFUSE_LOST = "refuse-lost"
    REFUSE_LISTENING = "refuse-listening"
    REFUSE_RECEIVING = "refuse-receiving"
    REFUSE_OTHER_LISTENER = "refuse-other-listener"
    REFUSE_STOPPED = "refuse-stopped"


REFUSALS: Mapping[Act, tuple[JmsErrorKind, str]] = {
    Act.REFUSE_CLOSED: (JmsErrorKind.ILLEGAL_STATE, "{what} is closed: create a new one"),
    Act.REFUSE_LOST: (JmsErrorKind.CONNECTION_LOST, "{what} was lost with its connection: connect again"),
    Act.REFUSE_LISTENING: (
        JmsErrorKind.ILLEGAL_STATE,
        "{what} has a listener, so receive calls are refused: remove the listener first",
    ),
    Act.REFUSE_RECEIVING: (
        JmsErrorKind.ILLEGAL_STATE,
        "{what} is waiting in a receive call: wait until this call has returned",
    ),
    Act.REFUSE_OTHER_LISTENER: (
        JmsErrorKind.ILLEGAL_STATE,
        "{what} has a message listener or a batch listener, and cannot have both: remove the present listener first",
    ),
    Act.REFUSE_STOPPED: (JmsErrorKind.ILLEGAL_STATE, "{what} is stopped: create a new one"),
}


class Life(StrEnum):
    """State of a connection, a session or a producer."""

    OPENING = "opening"
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"
    LOST = "lost"


class LifeEvent(StrEnum):
    """Event of a connection, a session or a producer."""

    OPENED = "opened"
    USE = "use"
    CLOSE = "close"
    CLOSED = "closed"
    LOSE = "lose"


class Link(StrEnum):
    """State of a consumer's link."""

    ATTACHING = "attaching"
    ATTACHED = "attached"
    STOPPING = "stopping"
    """The application is closing the consumer, which waits for running listeners and for messages on their way."""
    HOLDING = "holding"
    """The application has closed the consumer; the link stays until delivered messages are settled (JMS 2.0, 8.8)."""
    DETACHING = "detaching"
    DETACHED = "detached"
    LOST = "lost"


class LinkEvent(StrEnum):
    """Event of a consumer's link."""

    ATTACHED = "attached"
    USE = "use"
    STOP = "stop"
    CLOSE = "close"
    """The waits of STOPPING are over, and all delivered messages are settled."""
    HOLD = "hold"
    """The waits of STOPPING are over, and a delivered message is not settled."""
    SETTLED = "settled"
    """The last delivered message is settled."""
    DETACHED = "detached"
    LOSE = "lose"


class UnitState(StrEnum):
    """State of a session's local unit of work."""

    NONE = "none"
    BEGINNING = "beginning"
    ACTIVE = "active"
    ENDING = "ending"


class UnitEvent(StrEnum):
    """Event of a session's local unit of work."""

    NEED = "need"
    """A send or a delivery needs a unit of work; the client begins one if none is active."""
    BEGUN = "begun"
    REFUSED = "refused"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    ENDED = "ended"
    LOSE = "lose"


class Use(StrEnum):
    """The current way in which the application gets a consumer's messages (BT-03)."""

    IDLE = "idle"
    RECEIVING = "receiving"
    LISTENER = "listener"
    BATCH = "batch"


class UseEvent(StrEnum):
    """Event that changes the way in which the application gets a consumer's messages."""

    RECEIVE = "receive"
    RECEIVED = "received"
    SET_LISTENER = "set-listener"
    SET_BATCH = "set-batch"
    CLEAR_LISTENER = "clear-listener"
    CLEAR_BATCH = "clear-batch"


class Service(StrEnum):
    """State of an MQ Light client; the names are MQ Light's."""

    STARTING = "starting"
    STARTED = "started"
    RETRYING = "retrying"
    STOPPING = "stopping"
    STOPPED = "stopped"


class ServiceEvent(StrEnum):
    """Event of an MQ Light client."""

    CONNECTED = "connected"
    USE = "use"
    LOSE = "lose"
    """The connection is lost, and the client may reconnect."""
    REFUSE = "refuse"
    """The client must stop: it could not connect at its start, the time for new attempts is over, or the service
    refuses the client."""
    STOP = "stop"
    STOPPED = "stopped"


LIFE: Mapping[tuple[Life, LifeEvent], tuple[Life, Act]] = {
    (Life.OPENING, LifeEvent.OPENED): (Life.OPEN, Act.GO),
    (Life.OPENING, LifeEvent.USE): (Life.OPENING, Act.REFUSE_CLOSED),
    (Life.OPENING, LifeEvent.CLOSE): (Life.CLOSING, Act.GO),
    (Life.OPENING, LifeEvent.CLOSED): (Life.CLOSED, Act.SKIP),
    (Life.OPENING, LifeEvent.LOSE): (Life.LOST, Act.END),
    (Life.OPEN, LifeEvent.OPENED): (Life.OPEN, Act.SKIP),
    (Life.OPEN, LifeEvent.USE): (Life.OPEN, Act.GO),
    (Life.OPEN, LifeEvent.CLOSE): (Life.CLOSING, Act.GO),
    (Life.OPEN, LifeEvent.CLOSED): (Life.CLOSED, Act.END),
    (Life.OPEN, LifeEvent.LOSE): (Life.LOST, Act.END),
    (Life.CLOSING, LifeEvent.OPENED): (Life.CLOSING, Act.SKIP),
    (Life.CLOSING, LifeEvent.USE): (Life.CLOSING, Act.REFUSE_CLOSED),
    (Life.CLOSING, LifeEvent.CLOSE): (Life.CLOSING, Act.SKIP),
    (Life.CLOSING, LifeEvent.CLOSED): (Life.CLOSED, Act.GO),
    (Life.CLOSING, LifeEvent.LOSE): (Life.CLOSED, Act.END),
    (Life.CLOSED, LifeEvent.OPENED): (Life.CLOSED, Act.SKIP),
    (Life.CLOSED, LifeEvent.USE): (Life.CLOSED, Act.REFUSE_CLOSED),
    (Life.CLOSED, LifeEvent.CLOSE): (Life.CLOSED, Act.SKIP),
    (Life.CLOSED, LifeEvent.CLOSED): (Life.CLOSED, Act.SKIP),
    (Life.CLOSED, LifeEvent.LOSE): (Life.CLOSED, Act.SKIP),
    (Life.LOST, LifeEvent.OPENED): (Life.LOST, Act.SKIP),
    (Life.LOST, LifeEvent.USE): (Life.LOST, Act.REFUSE_LOST),
    (Life.LOST, LifeEvent.CLOSE): (Life.CLOSED, Act.SKIP),
    (Life.LOST, LifeEvent.CLOSED): (Life.CLOSED, Act.SKIP),
    (Life.LOST, LifeEvent.LOSE): (Life.LOST, Act.SKIP),
}
"""Table of a connection, a session and a producer."""

LINK: Mapping[tuple[Link, LinkEvent], tuple[Link, Act]] = {
    (Link.ATTACHING, LinkEvent.ATTACHED): (Link.ATTACHED, Act.GO),
    (Link.ATTACHING, LinkEvent.USE): (Link.ATTACHING, Act.REFUSE_CLOSED),
    (Link.ATTACHING, LinkEvent.STOP): (Link.STOPPING, Act.GO),
    (Link.ATTACHING, LinkEvent.CLOSE): (Link.DETACHING, Act.GO),
    (Link.ATTACHING, LinkEvent.HOLD): (Link.DETACHING, Act.GO),
    (Link.ATTACHING, LinkEvent.SETTLED): (Link.ATTACHING, Act.SKIP),
    (Link.ATTACHING, LinkEvent.DETACHED): (Link.DETACHED, Act.END),
    (Link.ATTACHING, LinkEvent.LOSE): (Link.LOST, Act.END),
    (Link.ATTACHED, LinkEvent.ATTACHED): (Link.ATTACHED, Act.SKIP),
    (Link.ATTACHED, LinkEvent.USE): (Link.ATTACHED, Act.GO),
    (Link.ATTACHED, LinkEvent.STOP): (Link.STOPPING, Act.GO),
    (Link.ATTACHED, LinkEvent.CLOSE): (Link.DETACHING, Act.GO),
    (Link.ATTACHED, LinkEvent.HOLD): (Link.HOLDING, Act.SKIP),
    (Link.ATTACHED, LinkEvent.SETTLED): (Link.ATTACHED, Act.SKIP),
    (Link.ATTACHED, LinkEvent.DETACHED): (Link.DETACHED, Act.END),
    (Link.ATTACHED, LinkEvent.LOSE): (Link.LOST, Act.END),
    (Link.STOPPING, LinkEvent.ATTACHED): (Link.STOPPING, Act.SKIP),
    (Link.STOPPING, LinkEvent.USE): (Link.STOPPING, Act.REFUSE_CLOSED),
    (Link.STOPPING, LinkEvent.STOP): (Link.STOPPING, Act.SKIP),
    (Link.STOPPING, LinkEvent.CLOSE): (Link.DETACHING, Act.GO),
    (Link.STOPPING, LinkEvent.HOLD): (Link.HOLDING, Act.SKIP),
    (Link.STOPPING, LinkEvent.SETTLED): (Link.STOPPING, Act.SKIP),
    (Link.STOPPING, LinkEvent.DETACHED): (Link.DETACHED, Act.END),
    (Link.STOPPING, LinkEvent.LOSE): (Link.LOST, Act.END),
    (Link.HOLDING, LinkEvent.ATTACHED): (Link.HOLDING, Act.SKIP),
    (Link.HOLDING, LinkEvent.USE): (Link.HOLDING, Act.REFUSE_CLOSED),
    (Link.HOLDING, LinkEvent.STOP): (Link.HOLDING, Act.SKIP),
    (Link.HOLDING, LinkEvent.CLOSE): (Link.HOLDING, Act.SKIP),
    (Link.HOLDING, LinkEvent.HOLD): (Link.HOLDING, Act.SKIP),
    (Link.HOLDING, LinkEvent.SETTLED): (Link.DETACHING, Act.GO),
    (Link.HOLDING, LinkEvent.DETACHED): (Link.DETACHED, Act.END),
    (Link.HOLDING, LinkEvent.LOSE): (Link.LOST, Act.END),
    (Link.DETACHING, LinkEvent.ATTACHED): (Link.DETACHING, Act.SKIP),
    (Link.DETACHING, LinkEvent.USE): (Link.DETACHING, Act.REFUSE_CLOSED),
    (Link.DETACHING, LinkEvent.STOP): (Link.DETACHING, Act.SKIP),
    (Link.DETACHING, LinkEvent.CLOSE): (Link.DETACHING, Act.SKIP),
    (Link.DETACHING, LinkEvent.HOLD): (Link.DETACHING, Act.SKIP),
    (Link.DETACHING, LinkEvent.SETTLED): (Link.DETACHING, Act.SKIP),
    (Link.DETACHING, LinkEvent.DETACHED): (Link.DETACHED, Act.END),
    (Link.DETACHING, LinkEvent.LOSE): (Link.LOST, Act.END),
    (Link.DETACHED, LinkEvent.ATTACHED): (Link.DETACHED, Act.SKIP),
    (Link.DETACHED, LinkEvent.USE): (Link.DETACHED, Act.REFUSE_CLOSED),
    (Link.DETACHED, LinkEvent.STOP): (Link.DETACHED, Act.SKIP),
    (Link.DETACHED, LinkEvent.CLOSE): (Link.DETACHED, Act.SKIP),
    (Link.DETACHED, LinkEvent.HOLD): (Link.DETACHED, Act.SKIP),
    (Link.DETACHED, LinkEvent.SETTLED): (Link.DETACHED, Act.SKIP),
    (Link.DETACHED, LinkEvent.DETACHED): (Link.DETACHED, Act.SKIP),
    (Link.DETACHED, LinkEvent.LOSE): (Link.DETACHED, Act.SKIP),
    (Link.LOST, LinkEvent.ATTACHED): (Link.LOST, Act.SKIP),
    (Link.LOST, LinkEvent.USE): (Link.LOST, Act.REFUSE_LOST),
    (Link.LOST, LinkEvent.STOP): (Link.DETACHED, Act.SKIP),
    (Link.LOST, LinkEvent.CLOSE): (Link.DETACHED, Act.SKIP),
    (Link.LOST, LinkEvent.HOLD): (Link.DETACHED, Act.SKIP),
    (Link.LOST, LinkEvent.SETTLED): (Link.LOST, Act.SKIP),
    (Link.LOST, LinkEvent.DETACHED): (Link.LOST, Act.SKIP),
    (Link.LOST, LinkEvent.LOSE): (Link.LOST, Act.SKIP),
}
"""Table of a consumer's link."""

UNIT: Mapping[tuple[UnitState, UnitEvent], tuple[UnitState, Act]] = {
    (UnitState.NONE, UnitEvent.NEED): (UnitState.BEGINNING, Act.GO),
    (UnitState.NONE, UnitEvent.BEGUN): (UnitState.NONE, Act.SKIP),
    (UnitState.NONE, UnitEvent.REFUSED): (UnitState.NONE, Act.SKIP),
    (UnitState.NONE, UnitEvent.COMMIT): (UnitState.NONE, Act.SKIP),
    (UnitState.NONE, UnitEvent.ROLLBACK): (UnitState.NONE, Act.SKIP),
    (UnitState.NONE, UnitEvent.ENDED): (UnitState.NONE, Act.SKIP),
    (UnitState.NONE, UnitEvent.LOSE): (UnitState.NONE, Act.SKIP),
    (UnitState.BEGINNING, UnitEvent.NEED): (UnitState.BEGINNING, Act.WAIT),
    (UnitState.BEGINNING, UnitEvent.BEGUN): (UnitState.ACTIVE, Act.GO),
    (UnitState.BEGINNING, UnitEvent.REFUSED): (UnitState.NONE, Act.END),
    (UnitState.BEGINNING, UnitEvent.COMMIT): (UnitState.BEGINNING, Act.WAIT),
    (UnitState.BEGINNING, UnitEvent.ROLLBACK): (UnitState.BEGINNING, Act.WAIT),
    (UnitState.BEGINNING, UnitEvent.ENDED): (UnitState.BEGINNING, Act.SKIP),
    (UnitState.BEGINNING, UnitEvent.LOSE): (UnitState.NONE, Act.END),
    (UnitState.ACTIVE, UnitEvent.NEED): (UnitState.ACTIVE, Act.SKIP),
    (UnitState.ACTIVE, UnitEvent.BEGUN): (UnitState.ACTIVE, Act.SKIP),
    (UnitState.ACTIVE, UnitEvent.REFUSED): (UnitState.ACTIVE, Act.SKIP),
    (UnitState.ACTIVE, UnitEvent.COMMIT): (UnitState.ENDING, Act.GO),
    (UnitState.ACTIVE, UnitEvent.ROLLBACK): (UnitState.ENDING, Act.GO),
    (UnitState.ACTIVE, UnitEvent.ENDED): (UnitState.NONE, Act.END),
    (UnitState.ACTIVE, UnitEvent.LOSE): (UnitState.NONE, Act.END),
    (UnitState.ENDING, UnitEvent.NEED): (UnitState.ENDING, Act.WAIT),
    (UnitState.ENDING, UnitEvent.BEGUN): (UnitState.ENDING, Act.SKIP),
    (UnitState.ENDING, UnitEvent.REFUSED): (UnitState.ENDING, Act.SKIP),
    (UnitState.ENDING, UnitEvent.COMMIT): (UnitState.ENDING, Act.WAIT),
    (UnitState.ENDING, UnitEvent.ROLLBACK): (UnitState.ENDING, Act.WAIT),
    (UnitState.ENDING, UnitEvent.ENDED): (UnitState.NONE, Act.GO),
    (UnitState.ENDING, UnitEvent.LOSE): (UnitState.NONE, Act.END),
}
"""Table of a transacted session's unit of work (JMS 2.0, 6.2.7)."""

USE: Mapping[tuple[Use, UseEvent], tuple[Use, Act]] = {
    (Use.IDLE, UseEvent.RECEIVE): (Use.RECEIVING, Act.GO),
    (Use.IDLE, UseEvent.RECEIVED): (Use.IDLE, Act.SKIP),
    (Use.IDLE, UseEvent.SET_LISTENER): (Use.LISTENER, Act.GO),
    (Use.IDLE, UseEvent.SET_BATCH): (Use.BATCH, Act.GO),
    (Use.IDLE, UseEvent.CLEAR_LISTENER): (Use.IDLE, Act.SKIP),
    (Use.IDLE, UseEvent.CLEAR_BATCH): (Use.IDLE, Act.SKIP),
    (Use.RECEIVING, UseEvent.RECEIVE): (Use.RECEIVING, Act.REFUSE_RECEIVING),
    (Use.RECEIVING, UseEvent.RECEIVED): (Use.IDLE, Act.GO),
    (Use.RECEIVING, UseEvent.SET_LISTENER): (Use.RECEIVING, Act.REFUSE_RECEIVING),
    (Use.RECEIVING, UseEvent.SET_BATCH): (Use.RECEIVING, Act.REFUSE_RECEIVING),
    (Use.RECEIVING, UseEvent.CLEAR_LISTENER): (Use.RECEIVING, Act.SKIP),
    (Use.RECEIVING, UseEvent.CLEAR_BATCH): (Use.RECEIVING, Act.SKIP),
    (Use.LISTENER, UseEvent.RECEIVE): (Use.LISTENER, Act.REFUSE_LISTENING),
    (Use.LISTENER, UseEvent.RECEIVED): (Use.LISTENER, Act.SKIP),
    (Use.LISTENER, UseEvent.SET_LISTENER): (Use.LISTENER, Act.GO),
    (Use.LISTENER, UseEvent.SET_BATCH): (Use.LISTENER, Act.REFUSE_OTHER_LISTENER),
    (Use.LISTENER, UseEvent.CLEAR_LISTENER): (Use.IDLE, Act.GO),
    (Use.LISTENER, UseEvent.CLEAR_BATCH): (Use.LISTENER, Act.SKIP),
    (Use.BATCH, UseEvent.RECEIVE): (Use.BATCH, Act.REFUSE_LISTENING),
    (Use.BATCH, UseEvent.RECEIVED): (Use.BATCH, Act.SKIP),
    (Use.BATCH, UseEvent.SET_LISTENER): (Use.BATCH, Act.REFUSE_OTHER_LISTENER),
    (Use.BATCH, UseEvent.SET_BATCH): (Use.BATCH, Act.GO),
    (Use.BATCH, UseEvent.CLEAR_LISTENER): (Use.BATCH, Act.SKIP),
    (Use.BATCH, UseEvent.CLEAR_BATCH): (Use.IDLE, Act.GO),
}
"""Table of the ways to get a consumer's messages: receive calls, or one listener (BT-03; JMS 2.0, 8.7)."""

SERVICE: Mapping[tuple[Service, ServiceEvent], tuple[Service, Act]] = {
    (Service.STARTING, ServiceEvent.CONNECTED): (Service.STARTED, Act.GO),
    (Service.STARTING, ServiceEvent.USE): (Service.STARTING, Act.WAIT),
    (Service.STARTING, ServiceEvent.LOSE): (Service.STARTING, Act.SKIP),
    (Service.STARTING, ServiceEvent.REFUSE): (Service.STOPPED, Act.END),
    (Service.STARTING, ServiceEvent.STOP): (Service.STOPPING, Act.GO),
    (Service.STARTING, ServiceEvent.STOPPED): (Service.STOPPED, Act.GO),
    (Service.STARTED, ServiceEvent.CONNECTED): (Service.STARTED, Act.SKIP),
    (Service.STARTED, ServiceEvent.USE): (Service.STARTED, Act.GO),
    (Service.STARTED, ServiceEvent.LOSE): (Service.RETRYING, Act.GO),
    (Service.STARTED, ServiceEvent.REFUSE): (Service.STOPPED, Act.END),
    (Service.STARTED, ServiceEvent.STOP): (Service.STOPPING, Act.GO),
    (Service.STARTED, ServiceEvent.STOPPED): (Service.STOPPED, Act.GO),
    (Service.RETRYING, ServiceEvent.CONNECTED): (Service.STARTED, Act.GO),
    (Service.RETRYING, ServiceEvent.USE): (Service.RETRYING, Act.WAIT),
    (Service.RETRYING, ServiceEvent.LOSE): (Service.RETRYING, Act.SKIP),
    (Service.RETRYING, ServiceEvent.REFUSE): (Service.STOPPED, Act.END),
    (Service.RETRYING, ServiceEvent.STOP): (Service.STOPPING, Act.GO),
    (Service.RETRYING, ServiceEvent.STOPPED): (Service.STOPPED, Act.GO),
    (Service.STOPPING, ServiceEvent.CONNECTED): (Service.STOPPING, Act.SKIP),
    (Service.STOPPING, ServiceEvent.USE): (Service.STOPPING, Act.REFUSE_STOPPED),
    (Service.STOPPING, ServiceEvent.LOSE): (Service.STOPPING, Act.SKIP),
    (Service.STOPPING, ServiceEvent.REFUSE): (Service.STOPPING, Act.SKIP),
    (Service.STOPPING, ServiceEvent.STOP): (Service.STOPPING, Act.SKIP),
    (Service.STOPPING, ServiceEvent.STOPPED): (Service.STOPPED, Act.GO),
    (Service.STOPPED, ServiceEvent.CONNECTED): (Service.STOPPED, Act.SKIP),
    (Service.STOPPED, ServiceEvent.USE): (Service.STOPPED, Act.REFUSE_STOPPED),
    (Service.STOPPED, ServiceEvent.LOSE): (Service.STOPPED, Act.SKIP),
    (Service.STOPPED, ServiceEvent.REFUSE): (Service.STOPPED, Act.SKIP),
    (Service.STOPPED, ServiceEvent.STOP): (Service.STOPPED, Act.SKIP),
    (Service.STOPPED, ServiceEvent.STOPPED): (Service.STOPPED, Act.SKIP),
}
"""Table of an MQ Light client."""


class Machine(Stepper[StateT, EventT, Act]):
    """A state machine: the current state of one object, and the table of its transitions.

    Args:
        table: Table of transitions.
        state: First state.
        what: Name of the object in refusals, such as "the session".
    """

    def __init__(self, table: Mapping[tuple[StateT, EventT], tuple[StateT, Act]], state: StateT, what: str) -> None:
        super().__init__(table, state)
        self._what = what

    def take(self, event: EventT) -> Act:
        """Change the state for an event.

        Returns:
            The caller's next action.

        Raises:
            RefusedError: The table refuses the event in this state.  The state does not change.
        """
        act = self.step(event)
        if act in REFUSALS:
            kind, text = REFUSALS[act]
            raise RefusedError(Refused(kind, text.format(what=self._what)))
        return act
