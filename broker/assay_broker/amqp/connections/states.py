"""The states of a connection: opening, refused, closing, expelled (OASIS AMQP 1.0, 2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class ConnectionState(StrEnum):
    """The state of a connection."""

    WAITING = "waiting"
    """The client has not opened yet."""
    ASKING = "asking"
    """The queue manager was asked; the client's input waits."""
    OPEN = "open"
    LEAVING = "leaving"
    """The client has closed, and the queue manager was told."""
    ENDING = "ending"
    """The server has closed and waits for the client's close."""
    ENDED = "ended"
    """The server has closed and cannot read the client's input: the socket closes after the reason is sent."""
    PARTED = "parted"
    """Both have closed; the socket closes."""
    GONE = "gone"


class ConnectionInput(StrEnum):
    """What can happen to a connection."""

    OPENED = "opened"
    ADMITTED = "admitted"
    REFUSED = "refused"
    CLOSED = "closed"
    RELEASED = "released"
    EXPELLED = "expelled"
    BROKEN = "broken"
    LOST = "lost"


class ConnectionAction(StrEnum):
    """What the connection then does."""

    NOTHING = "nothing"
    ASK = "ask"
    OPEN = "open"
    REFUSE = "refuse"
    LEAVE = "leave"
    ANSWER = "answer"
    EXPEL = "expel"
    FORGET = "forget"


TABLE: Mapping[tuple[ConnectionState, ConnectionInput], tuple[ConnectionState, ConnectionAction]] = {
    (ConnectionState.WAITING, ConnectionInput.OPENED): (ConnectionState.ASKING, ConnectionAction.ASK),
    (ConnectionState.WAITING, ConnectionInput.CLOSED): (ConnectionState.ENDED, ConnectionAction.ANSWER),
    (ConnectionState.WAITING, ConnectionInput.EXPELLED): (ConnectionState.ENDING, ConnectionAction.EXPEL),
    (ConnectionState.WAITING, ConnectionInput.BROKEN): (ConnectionState.ENDED, ConnectionAction.EXPEL),
    (ConnectionState.WAITING, ConnectionInput.LOST): (ConnectionState.GONE, ConnectionAction.FORGET),
    (ConnectionState.ASKING, ConnectionInput.ADMITTED): (ConnectionState.OPEN, ConnectionAction.OPEN),
    (ConnectionState.ASKING, ConnectionInput.REFUSED): (ConnectionState.ENDING, ConnectionAction.REFUSE),
    (ConnectionState.ASKING, ConnectionInput.EXPELLED): (ConnectionState.ENDING, ConnectionAction.REFUSE),
    (ConnectionState.ASKING, ConnectionInput.BROKEN): (ConnectionState.ENDED, ConnectionAction.EXPEL),
    (ConnectionState.ASKING, ConnectionInput.LOST): (ConnectionState.GONE, ConnectionAction.FORGET),
    (ConnectionState.OPEN, ConnectionInput.CLOSED): (ConnectionState.LEAVING, ConnectionAction.LEAVE),
    (ConnectionState.OPEN, ConnectionInput.EXPELLED): (ConnectionState.ENDING, ConnectionAction.EXPEL),
    (ConnectionState.OPEN, ConnectionInput.BROKEN): (ConnectionState.ENDED, ConnectionAction.EXPEL),
    (ConnectionState.OPEN, ConnectionInput.LOST): (ConnectionState.GONE, ConnectionAction.FORGET),
    (ConnectionState.LEAVING, ConnectionInput.RELEASED): (ConnectionState.PARTED, ConnectionAction.ANSWER),
    (ConnectionState.LEAVING, ConnectionInput.EXPELLED): (ConnectionState.PARTED, ConnectionAction.ANSWER),
    (ConnectionState.LEAVING, ConnectionInput.BROKEN): (ConnectionState.ENDED, ConnectionAction.ANSWER),
    (ConnectionState.LEAVING, ConnectionInput.LOST): (ConnectionState.GONE, ConnectionAction.FORGET),
    (ConnectionState.ENDING, ConnectionInput.CLOSED): (ConnectionState.PARTED, ConnectionAction.NOTHING),
    (ConnectionState.ENDING, ConnectionInput.BROKEN): (ConnectionState.ENDED, ConnectionAction.NOTHING),
    (ConnectionState.ENDING, ConnectionInput.LOST): (ConnectionState.GONE, ConnectionAction.FORGET),
    (ConnectionState.ENDED, ConnectionInput.LOST): (ConnectionState.GONE, ConnectionAction.FORGET),
    (ConnectionState.PARTED, ConnectionInput.LOST): (ConnectionState.GONE, ConnectionAction.FORGET),
}
"""A missing pair changes nothing: the queue manager's answer may arrive after the client has gone."""
