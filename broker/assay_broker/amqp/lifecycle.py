"""How a connection lives: opening, being refused, closing, being expelled (OASIS AMQP 1.0, 2.4)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class State(StrEnum):
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


class Input(StrEnum):
    """What can happen to a connection."""

    OPENED = "opened"
    ADMITTED = "admitted"
    REFUSED = "refused"
    CLOSED = "closed"
    RELEASED = "released"
    EXPELLED = "expelled"
    BROKEN = "broken"
    LOST = "lost"


class Act(StrEnum):
    """What is to be done about it."""

    NOTHING = "nothing"
    ASK = "ask"
    OPEN = "open"
    REFUSE = "refuse"
    LEAVE = "leave"
    ANSWER = "answer"
    EXPEL = "expel"
    FORGET = "forget"


TABLE: Mapping[tuple[State, Input], tuple[State, Act]] = {
    (State.WAITING, Input.OPENED): (State.ASKING, Act.ASK),
    (State.WAITING, Input.CLOSED): (State.ENDED, Act.ANSWER),
    (State.WAITING, Input.EXPELLED): (State.ENDING, Act.EXPEL),
    (State.WAITING, Input.BROKEN): (State.ENDED, Act.EXPEL),
    (State.WAITING, Input.LOST): (State.GONE, Act.FORGET),
    (State.ASKING, Input.ADMITTED): (State.OPEN, Act.OPEN),
    (State.ASKING, Input.REFUSED): (State.ENDING, Act.REFUSE),
    (State.ASKING, Input.EXPELLED): (State.ENDING, Act.REFUSE),
    (State.ASKING, Input.BROKEN): (State.ENDED, Act.EXPEL),
    (State.ASKING, Input.LOST): (State.GONE, Act.FORGET),
    (State.OPEN, Input.CLOSED): (State.LEAVING, Act.LEAVE),
    (State.OPEN, Input.EXPELLED): (State.ENDING, Act.EXPEL),
    (State.OPEN, Input.BROKEN): (State.ENDED, Act.EXPEL),
    (State.OPEN, Input.LOST): (State.GONE, Act.FORGET),
    (State.LEAVING, Input.RELEASED): (State.PARTED, Act.ANSWER),
    (State.LEAVING, Input.EXPELLED): (State.PARTED, Act.ANSWER),
    (State.LEAVING, Input.BROKEN): (State.ENDED, Act.ANSWER),
    (State.LEAVING, Input.LOST): (State.GONE, Act.FORGET),
    (State.ENDING, Input.CLOSED): (State.PARTED, Act.NOTHING),
    (State.ENDING, Input.BROKEN): (State.ENDED, Act.NOTHING),
    (State.ENDING, Input.LOST): (State.GONE, Act.FORGET),
    (State.ENDED, Input.LOST): (State.GONE, Act.FORGET),
    (State.PARTED, Input.LOST): (State.GONE, Act.FORGET),
}
"""A pair that is missing changes nothing: an answer may come to somebody who has gone meanwhile."""
