"""The state machine of a link (OASIS AMQP 1.0, 2.6).

Usually a link goes through ATTACHING, OPEN, LEAVING and GONE: the client attaches, the queue manager accepts, the
client detaches, and the queue manager confirms. Each side may end the link before the other side has answered. So a
state says whose answer the link still waits for: the queue manager's in ATTACHING, LEFT and LEAVING, the client's in
EXPELLED, and nobody's in OPEN. If the queue manager accepts an attach after the link has been expelled or is gone, the
server withdraws the link from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class LinkState(StrEnum):
    """The state of a link."""

    ATTACHING = "attaching"
    """The client has attached, and the queue manager has not answered yet."""
    LEFT = "left"
    """The client has attached and detached, and the queue manager has not answered the attach yet."""
    OPEN = "open"
    LEAVING = "leaving"
    """The client has detached, and the queue manager has not confirmed it yet."""
    EXPELLED = "expelled"
    """The server has detached and waits for the client's detach."""
    GONE = "gone"


class LinkInput(StrEnum):
    """The inputs of the state machine: answers of the queue manager, detaches, errors, the end of the session."""

    GRANTED = "granted"
    """The queue manager has accepted the attach."""
    REFUSED = "refused"
    """The queue manager or the server has refused the attach."""
    DETACHED = "detached"
    """The client has sent a detach."""
    RELEASED = "released"
    """The queue manager has confirmed the detach."""
    EXPELLED = "expelled"
    """The server detaches the link, because the client made a mistake or the queue manager has ended the link."""
    CUT = "cut"
    """The session or the connection ends."""


class LinkAction(StrEnum):
    """The actions of a link after an input."""

    NOTHING = "nothing"
    OPEN = "open"
    """Send the server's attach, and start the link."""
    REFUSE = "refuse"
    """Send an attach without source and target, and a detach with the error."""
    LEAVE = "leave"
    """Tell the queue manager of the client's detach."""
    LEAVE_UNOPENED = "leave-unopened"
    """Send the server's attach, and tell the queue manager of the client's detach."""
    EXPEL = "expel"
    """Send a detach with the error."""
    WITHDRAW = "withdraw"
    """Tell the queue manager, which has accepted the attach too late, that the link has ended."""
    REFUSE_AND_END = "refuse-and-end"
    """Do the same as for `REFUSE`, and free the link."""
    END = "end"
    """Answer the client's detach, and free the link."""
    END_HERE = "end-here"
    """Drop the link's deliveries, without a frame to the client."""


TABLE: Mapping[tuple[LinkState, LinkInput], tuple[LinkState, LinkAction]] = {
    (LinkState.ATTACHING, LinkInput.GRANTED): (LinkState.OPEN, LinkAction.OPEN),
    (LinkState.ATTACHING, LinkInput.REFUSED): (LinkState.EXPELLED, LinkAction.REFUSE),
    (LinkState.ATTACHING, LinkInput.DETACHED): (LinkState.LEFT, LinkAction.NOTHING),
    (LinkState.ATTACHING, LinkInput.EXPELLED): (LinkState.EXPELLED, LinkAction.REFUSE),
    (LinkState.ATTACHING, LinkInput.CUT): (LinkState.GONE, LinkAction.END_HERE),
    (LinkState.LEFT, LinkInput.GRANTED): (LinkState.LEAVING, LinkAction.LEAVE_UNOPENED),
    (LinkState.LEFT, LinkInput.REFUSED): (LinkState.GONE, LinkAction.REFUSE_AND_END),
    (LinkState.LEFT, LinkInput.EXPELLED): (LinkState.LEFT, LinkAction.NOTHING),
    (LinkState.LEFT, LinkInput.CUT): (LinkState.GONE, LinkAction.END_HERE),
    (LinkState.OPEN, LinkInput.DETACHED): (LinkState.LEAVING, LinkAction.LEAVE),
    (LinkState.OPEN, LinkInput.EXPELLED): (LinkState.EXPELLED, LinkAction.EXPEL),
    (LinkState.OPEN, LinkInput.CUT): (LinkState.GONE, LinkAction.END_HERE),
    (LinkState.LEAVING, LinkInput.RELEASED): (LinkState.GONE, LinkAction.END),
    (LinkState.LEAVING, LinkInput.EXPELLED): (LinkState.LEAVING, LinkAction.NOTHING),
    (LinkState.LEAVING, LinkInput.CUT): (LinkState.GONE, LinkAction.END_HERE),
    (LinkState.EXPELLED, LinkInput.DETACHED): (LinkState.GONE, LinkAction.END),
    (LinkState.EXPELLED, LinkInput.EXPELLED): (LinkState.EXPELLED, LinkAction.NOTHING),
    (LinkState.EXPELLED, LinkInput.GRANTED): (LinkState.EXPELLED, LinkAction.WITHDRAW),
    (LinkState.EXPELLED, LinkInput.REFUSED): (LinkState.EXPELLED, LinkAction.NOTHING),
    (LinkState.EXPELLED, LinkInput.CUT): (LinkState.GONE, LinkAction.END_HERE),
    (LinkState.GONE, LinkInput.GRANTED): (LinkState.GONE, LinkAction.WITHDRAW),
    (LinkState.GONE, LinkInput.REFUSED): (LinkState.GONE, LinkAction.NOTHING),
    (LinkState.GONE, LinkInput.RELEASED): (LinkState.GONE, LinkAction.NOTHING),
    (LinkState.GONE, LinkInput.EXPELLED): (LinkState.GONE, LinkAction.NOTHING),
    (LinkState.GONE, LinkInput.CUT): (LinkState.GONE, LinkAction.NOTHING),
}
"""The next state and the action for each pair of state and input.

Other pairs cannot occur.  The engine reports each frame once, and ends a connection when frames are in a wrong order.
The queue manager answers each command once.
"""
