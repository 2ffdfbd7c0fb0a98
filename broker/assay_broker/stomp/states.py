"""The state machine of a session: a client's connection, from CONNECT to its end.

The client sends CONNECT. If it must log in, the server first checks its password; then the queue manager admits or
refuses the client. After DISCONNECT the session is `LEAVING`: it waits for the answers to all earlier frames, so that
the receipt of DISCONNECT confirms these frames, too.  A fault of the client, a refusal, or the server's stop ends a
session with an ERROR.  The server closes the socket when the session's last output is sent, or when the connection is
lost.

The table of `assay_sdk.stomp.states` has the permitted order of frames; this table has their effects on the queue
manager. Inputs that change nothing are listed in `_IGNORED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class SessionState(StrEnum):
    """The states of a session, from the wait for CONNECT to the end of the socket."""

    WAITING = "waiting"
    """The client has not sent CONNECT."""
    CHECKING = "checking"
    """The client's password is being checked."""
    ASKING = "asking"
    """The queue manager has not answered yet whether it admits the client."""
    OPEN = "open"
    LEAVING = "leaving"
    """The client has sent DISCONNECT, and earlier frames are not answered yet."""
    PARTING = "parting"
    """The queue manager has not confirmed the end of the connection yet."""
    ENDED = "ended"
    """The session has ended; the socket closes once it has written the remaining output."""
    GONE = "gone"


class SessionInput(StrEnum):
    """The inputs of the state machine, from the client, the queue manager, the server and the socket."""

    LOGIN = "login"
    """The client has sent CONNECT; the server checks the login next."""
    ASKED = "asked"
    """The login is right, or the server requires none."""
    ADMITTED = "admitted"
    """The queue manager has admitted the client."""
    LEFT = "left"
    """The client has sent DISCONNECT."""
    ANSWERED = "answered"
    """The queue manager has answered all frames."""
    RELEASED = "released"
    """The queue manager has confirmed the end of the connection."""
    FAILED = "failed"
    """The client made a mistake, the queue manager has refused a command, or the server has a bug or stops."""
    LOST = "lost"
    """The socket has closed."""


class SessionAction(StrEnum):
    """The actions of a session after an input."""

    NOTHING = "nothing"
    CHECK = "check"
    """Check the client's login."""
    ASK = "ask"
    """Ask the queue manager to admit the client."""
    OPEN = "open"
    """Send CONNECTED."""
    WAIT = "wait"
    """End the subscriptions, and wait for the answers to all earlier frames."""
    PART = "part"
    """Tell the queue manager that the client disconnects."""
    CONFIRM = "confirm"
    """Send the receipt of DISCONNECT."""
    REPORT = "report"
    """Send an ERROR, and tell the queue manager that the connection has ended."""
    FORGET = "forget"
    """Tell the queue manager that the connection has ended."""


_S, _I, _A = SessionState, SessionInput, SessionAction

_LIVE = (_S.WAITING, _S.CHECKING, _S.ASKING, _S.OPEN, _S.LEAVING, _S.PARTING)

_IGNORED: Mapping[SessionState, tuple[SessionInput, ...]] = {
    _S.WAITING: (_I.ANSWERED,),
    _S.CHECKING: (_I.ANSWERED,),
    _S.ASKING: (_I.ANSWERED,),
    _S.OPEN: (_I.ANSWERED,),
    _S.PARTING: (_I.ANSWERED,),
    _S.ENDED: tuple(one for one in _I if one is not _I.LOST),
    _S.GONE: tuple(_I),
}
"""The inputs without effect, by state."""

TABLE: Mapping[tuple[SessionState, SessionInput], tuple[SessionState, SessionAction]] = {
    (_S.WAITING, _I.LOGIN): (_S.CHECKING, _A.CHECK),
    (_S.WAITING, _I.ASKED): (_S.ASKING, _A.ASK),
    (_S.CHECKING, _I.ASKED): (_S.ASKING, _A.ASK),
    (_S.ASKING, _I.ADMITTED): (_S.OPEN, _A.OPEN),
    (_S.OPEN, _I.LEFT): (_S.LEAVING, _A.WAIT),
    (_S.LEAVING, _I.ANSWERED): (_S.PARTING, _A.PART),
    (_S.PARTING, _I.RELEASED): (_S.ENDED, _A.CONFIRM),
    **{(state, _I.FAILED): (_S.ENDED, _A.REPORT) for state in _LIVE},
    **{(state, _I.LOST): (_S.GONE, _A.FORGET) for state in (*_LIVE, _S.ENDED)},
    **{(state, happened): (state, _A.NOTHING) for state, inputs in _IGNORED.items() for happened in inputs},
}
"""The next state and the action for each pair of state and input that can occur."""
