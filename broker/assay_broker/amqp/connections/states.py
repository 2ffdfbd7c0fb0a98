"""The state machine of a connection (OASIS AMQP 1.0, 2.4).

The client opens first, and the queue manager admits or refuses it.  When client or server closes the connection, the
other side answers with its own close.  The socket closes after both closes, or when the network connection is lost.
`TABLE` has a row for every pair of state and input; inputs that change nothing are listed in `_IGNORED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class ConnectionState(StrEnum):
    """The state of a connection."""

    WAITING = "waiting"
    """The client has not sent its open yet."""
    ASKING = "asking"
    """The client has sent its open, and the queue manager has not answered yet; further input waits."""
    OPEN = "open"
    LEAVING = "leaving"
    """The client has sent its close, and the queue manager has not confirmed the end of the connection yet."""
    ENDING = "ending"
    """The server has sent its close and waits for the client's close."""
    ENDED = "ended"
    """The server has sent its close and reads no further input; the socket closes after the output is sent."""
    PARTED = "parted"
    """Client and server have sent their closes; the socket closes after the output is sent."""
    GONE = "gone"


class ConnectionInput(StrEnum):
    """The inputs of the state machine, which come from the client, the queue manager, the server and the socket."""

    OPENED = "opened"
    """The client has sent its open."""
    ADMITTED = "admitted"
    REFUSED = "refused"
    CLOSED = "closed"
    """The client has sent its close."""
    RELEASED = "released"
    """The queue manager has confirmed the end of the connection."""
    EXPELLED = "expelled"
    """The server closes the connection: the client made a mistake, the server has a bug or stops, or the queue manager
    has cut the connection."""
    BROKEN = "broken"
    """The client breaks the protocol, or has not opened the connection in time; the server reads no further input."""
    LOST = "lost"
    """The socket has closed."""


class ConnectionAction(StrEnum):
    """The actions of a connection after an input."""

    NOTHING = "nothing"
    ASK = "ask"
    """Ask the queue manager to admit the client."""
    OPEN = "open"
    """Send the server's open."""
    REFUSE = "refuse"
    """Send an open, and a close with the reason."""
    LEAVE = "leave"
    """End the links, and tell the queue manager that the client disconnects."""
    ANSWER = "answer"
    """Answer the client's close with the server's close."""
    EXPEL = "expel"
    """End the links, and send a close with the error."""
    FORGET = "forget"
    """End the links, and free the engine's memory."""


_S, _I, _A = ConnectionState, ConnectionInput, ConnectionAction

_IGNORED: Mapping[ConnectionState, tuple[ConnectionInput, ...]] = {
    _S.WAITING: (_I.ADMITTED, _I.REFUSED, _I.RELEASED),
    _S.ASKING: (_I.OPENED, _I.CLOSED, _I.RELEASED),
    _S.OPEN: (_I.OPENED, _I.ADMITTED, _I.REFUSED, _I.RELEASED),
    _S.LEAVING: (_I.OPENED, _I.ADMITTED, _I.REFUSED, _I.CLOSED),
    _S.ENDING: (_I.OPENED, _I.ADMITTED, _I.REFUSED, _I.RELEASED, _I.EXPELLED),
    _S.ENDED: (_I.OPENED, _I.ADMITTED, _I.REFUSED, _I.CLOSED, _I.RELEASED, _I.EXPELLED, _I.BROKEN),
    _S.PARTED: (_I.OPENED, _I.ADMITTED, _I.REFUSED, _I.CLOSED, _I.RELEASED, _I.EXPELLED, _I.BROKEN),
    _S.GONE: tuple(_I),
}
"""The inputs without effect, by state.  For example, the queue manager may answer after the client has disconnected."""

TABLE: Mapping[tuple[ConnectionState, ConnectionInput], tuple[ConnectionState, ConnectionAction]] = {
    (_S.WAITING, _I.OPENED): (_S.ASKING, _A.ASK),
    (_S.WAITING, _I.CLOSED): (_S.ENDED, _A.ANSWER),
    (_S.WAITING, _I.EXPELLED): (_S.ENDING, _A.EXPEL),
    (_S.WAITING, _I.BROKEN): (_S.ENDED, _A.EXPEL),
    (_S.WAITING, _I.LOST): (_S.GONE, _A.FORGET),
    (_S.ASKING, _I.ADMITTED): (_S.OPEN, _A.OPEN),
    (_S.ASKING, _I.REFUSED): (_S.ENDING, _A.REFUSE),
    (_S.ASKING, _I.EXPELLED): (_S.ENDING, _A.REFUSE),
    (_S.ASKING, _I.BROKEN): (_S.ENDED, _A.EXPEL),
    (_S.ASKING, _I.LOST): (_S.GONE, _A.FORGET),
    (_S.OPEN, _I.CLOSED): (_S.LEAVING, _A.LEAVE),
    (_S.OPEN, _I.EXPELLED): (_S.ENDING, _A.EXPEL),
    (_S.OPEN, _I.BROKEN): (_S.ENDED, _A.EXPEL),
    (_S.OPEN, _I.LOST): (_S.GONE, _A.FORGET),
    (_S.LEAVING, _I.RELEASED): (_S.PARTED, _A.ANSWER),
    (_S.LEAVING, _I.EXPELLED): (_S.PARTED, _A.ANSWER),
    (_S.LEAVING, _I.BROKEN): (_S.ENDED, _A.ANSWER),
    (_S.LEAVING, _I.LOST): (_S.GONE, _A.FORGET),
    (_S.ENDING, _I.CLOSED): (_S.PARTED, _A.NOTHING),
    (_S.ENDING, _I.BROKEN): (_S.ENDED, _A.NOTHING),
    (_S.ENDING, _I.LOST): (_S.GONE, _A.FORGET),
    (_S.ENDED, _I.LOST): (_S.GONE, _A.FORGET),
    (_S.PARTED, _I.LOST): (_S.GONE, _A.FORGET),
    **{(state, happened): (state, _A.NOTHING) for state, inputs in _IGNORED.items() for happened in inputs},
}
