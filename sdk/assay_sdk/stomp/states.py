"""The state tables of a connection, one for the client and one for the server.

Both ends of a connection see the same frames, so both tables have the same states.  The client opens with CONNECT (or
STOMP), and the server answers CONNECTED, or ERROR.  Then the client sends its frames, and the server sends MESSAGE and
RECEIPT.  The client ends with DISCONNECT, after which it sends nothing more (STOMP 1.2, DISCONNECT); the server still
sends the frames that are due, such as the receipt of DISCONNECT.  After an ERROR the server sends no more frames (STOMP
1.2, ERROR).  In every state, the end of the transport ends the connection.

Each row names the action of this end for a frame that it has read, or that its program wants to send:

- `TAKE`: pass a read frame to the program, or write the program's frame.
- `DROP`: ignore a read frame, because the connection is ending or has ended; the peer may have sent the frame before it
  knew this.
- `NOTHING`: do nothing, because the transport has ended.

A frame without a row breaks the protocol.  It is a `RemoteError` if it was read, and a `LocalError` if the program
asked for it.  No other module changes the state of a connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """The role of an end of a connection."""

    CLIENT = "client"
    SERVER = "server"


class StompState(StrEnum):
    """The state of a connection, as each of its two ends sees it."""

    START = "start"
    """The client has not sent CONNECT yet."""
    ASKED = "asked"
    """The client has sent CONNECT, and the server has not answered yet."""
    OPEN = "open"
    LEAVING = "leaving"
    """The client has sent DISCONNECT; the server may still send frames."""
    FAILED = "failed"
    """The server has sent ERROR."""
    OVER = "over"
    """The transport has ended."""


class StompInput(StrEnum):
    """The inputs of the tables: kinds of frames, read or to be written, and the end of the transport."""

    CONNECT = "connect"
    REQUEST = "request"
    """A frame of the client other than CONNECT, STOMP and DISCONNECT."""
    DISCONNECT = "disconnect"
    CONNECTED = "connected"
    NEWS = "news"
    """MESSAGE or RECEIPT."""
    ERROR = "error"
    END = "end"


class StompAction(StrEnum):
    """The actions of an end after an input."""

    TAKE = "take"
    DROP = "drop"
    NOTHING = "nothing"


_S, _I, _A = StompState, StompInput, StompAction
_Table = Mapping[tuple[StompState, StompInput], tuple[StompState, StompAction]]

INPUTS: Mapping[str, StompInput] = {
    "CONNECT": _I.CONNECT,
    "STOMP": _I.CONNECT,
    "DISCONNECT": _I.DISCONNECT,
    "CONNECTED": _I.CONNECTED,
    "MESSAGE": _I.NEWS,
    "RECEIPT": _I.NEWS,
    "ERROR": _I.ERROR,
    **dict.fromkeys(("SEND", "SUBSCRIBE", "UNSUBSCRIBE", "ACK", "NACK", "BEGIN", "COMMIT", "ABORT"), _I.REQUEST),
}
"""The input of the tables for a frame with each command."""

_CONVERSATION: _Table = {
    (_S.START, _I.CONNECT): (_S.ASKED, _A.TAKE),
    (_S.START, _I.ERROR): (_S.FAILED, _A.TAKE),
    (_S.ASKED, _I.CONNECTED): (_S.OPEN, _A.TAKE),
    (_S.ASKED, _I.ERROR): (_S.FAILED, _A.TAKE),
    (_S.OPEN, _I.REQUEST): (_S.OPEN, _A.TAKE),
    (_S.OPEN, _I.DISCONNECT): (_S.LEAVING, _A.TAKE),
    (_S.OPEN, _I.NEWS): (_S.OPEN, _A.TAKE),
    (_S.OPEN, _I.ERROR): (_S.FAILED, _A.TAKE),
    (_S.LEAVING, _I.NEWS): (_S.LEAVING, _A.TAKE),
    (_S.LEAVING, _I.ERROR): (_S.FAILED, _A.TAKE),
    **{(state, _I.END): (_S.OVER, _A.NOTHING) for state in _S},
}
"""The rows that both roles have."""

_OF_CLIENT, _OF_SERVER = (_I.CONNECT, _I.REQUEST, _I.DISCONNECT), (_I.CONNECTED, _I.NEWS, _I.ERROR)

TABLES: Mapping[Role, _Table] = {
    Role.SERVER: {
        **_CONVERSATION,
        # frames that the client sent before it read the ERROR, and frames after DISCONNECT
        **{(state, sent): (state, _A.DROP) for state in (_S.LEAVING, _S.FAILED, _S.OVER) for sent in _OF_CLIENT},
    },
    Role.CLIENT: {
        **_CONVERSATION,
        # a client may disconnect before the server has answered CONNECT
        (_S.ASKED, _I.DISCONNECT): (_S.LEAVING, _A.TAKE),
        (_S.LEAVING, _I.CONNECTED): (_S.LEAVING, _A.DROP),
        **{(state, sent): (state, _A.DROP) for state in (_S.FAILED, _S.OVER) for sent in _OF_SERVER},
    },
}
"""The table of each role."""
