"""How a connection lives: opening, being refused, closing, being expelled (OASIS AMQP 1.0, 2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class ConnectionState(StrEnum):
    """Where a connection is."""

    WAITING = "waiting"
    """The peer's open is due."""
    ASKING = "asking"
    """The queue manager has been asked; what the peer says meanwhile waits."""
    OPEN = "open"
    LEAVING = "leaving"
    """The peer has closed, and the queue manager is told."""
    ENDING = "ending"
    """We have closed; the peer's close is due."""
    ENDED = "ended"
    """We have closed, and nothing that the peer says can be read: it may read why, and then the line goes."""
    PARTED = "parted"
    """Both have closed: neither says anything more, and the line goes."""
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
    """What is to be done about it."""

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
"""A pair that is missing changes nothing: an answer may come to somebody who has gone meanwhile."""
