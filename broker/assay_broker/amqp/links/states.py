"""The state machine of a link (OASIS AMQP 1.0, 2.6).

Usually a link goes through ATTACHING, OPEN, LEAVING and GONE: the client attaches, the queue manager accepts, the
client detaches, and the queue manager confirms. Each side may end the link before the other side has answered. The
link waits for the queue manager's answer in ATTACHING, LEFT and LEAVING, for the client's detach in EXPELLED, and for
no answer in OPEN. If the queue manager accepts an attach after the link has been expelled or is gone, the server tells
the queue manager that the link has ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class LinkEndState(StrEnum):
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


class LinkEndInput(StrEnum):
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
    """The server detaches the link, because the client made a mistake or has attached the link again, or because the
    queue manager has ended the link."""
    CUT = "cut"
    """The session or the connection ends."""


class LinkEndAction(StrEnum):
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


TABLE: Mapping[tuple[LinkEndState, LinkEndInput], tuple[LinkEndState, LinkEndAction]] = {
    (LinkEndState.ATTACHING, LinkEndInput.GRANTED): (LinkEndState.OPEN, LinkEndAction.OPEN),
    (LinkEndState.ATTACHING, LinkEndInput.REFUSED): (LinkEndState.EXPELLED, LinkEndAction.REFUSE),
    (LinkEndState.ATTACHING, LinkEndInput.DETACHED): (LinkEndState.LEFT, LinkEndAction.NOTHING),
    (LinkEndState.ATTACHING, LinkEndInput.EXPELLED): (LinkEndState.EXPELLED, LinkEndAction.REFUSE),
    (LinkEndState.ATTACHING, LinkEndInput.CUT): (LinkEndState.GONE, LinkEndAction.END_HERE),
    (LinkEndState.LEFT, LinkEndInput.GRANTED): (LinkEndState.LEAVING, LinkEndAction.LEAVE_UNOPENED),
    (LinkEndState.LEFT, LinkEndInput.REFUSED): (LinkEndState.GONE, LinkEndAction.REFUSE_AND_END),
    (LinkEndState.LEFT, LinkEndInput.EXPELLED): (LinkEndState.LEFT, LinkEndAction.NOTHING),
    (LinkEndState.LEFT, LinkEndInput.CUT): (LinkEndState.GONE, LinkEndAction.END_HERE),
    (LinkEndState.OPEN, LinkEndInput.DETACHED): (LinkEndState.LEAVING, LinkEndAction.LEAVE),
    (LinkEndState.OPEN, LinkEndInput.EXPELLED): (LinkEndState.EXPELLED, LinkEndAction.EXPEL),
    (LinkEndState.OPEN, LinkEndInput.CUT): (LinkEndState.GONE, LinkEndAction.END_HERE),
    (LinkEndState.LEAVING, LinkEndInput.RELEASED): (LinkEndState.GONE, LinkEndAction.END),
    (LinkEndState.LEAVING, LinkEndInput.EXPELLED): (LinkEndState.LEAVING, LinkEndAction.NOTHING),
    (LinkEndState.LEAVING, LinkEndInput.CUT): (LinkEndState.GONE, LinkEndAction.END_HERE),
    (LinkEndState.EXPELLED, LinkEndInput.DETACHED): (LinkEndState.GONE, LinkEndAction.END),
    (LinkEndState.EXPELLED, LinkEndInput.EXPELLED): (LinkEndState.EXPELLED, LinkEndAction.NOTHING),
    (LinkEndState.EXPELLED, LinkEndInput.GRANTED): (LinkEndState.EXPELLED, LinkEndAction.WITHDRAW),
    (LinkEndState.EXPELLED, LinkEndInput.REFUSED): (LinkEndState.EXPELLED, LinkEndAction.NOTHING),
    (LinkEndState.EXPELLED, LinkEndInput.CUT): (LinkEndState.GONE, LinkEndAction.END_HERE),
    (LinkEndState.GONE, LinkEndInput.GRANTED): (LinkEndState.GONE, LinkEndAction.WITHDRAW),
    (LinkEndState.GONE, LinkEndInput.REFUSED): (LinkEndState.GONE, LinkEndAction.NOTHING),
    (LinkEndState.GONE, LinkEndInput.RELEASED): (LinkEndState.GONE, LinkEndAction.NOTHING),
    (LinkEndState.GONE, LinkEndInput.EXPELLED): (LinkEndState.GONE, LinkEndAction.NOTHING),
    (LinkEndState.GONE, LinkEndInput.CUT): (LinkEndState.GONE, LinkEndAction.NOTHING),
}
"""The next state and the action for each pair of state and input.

Other pairs cannot occur.  The engine reports each frame once, and ends a connection when frames are in a wrong order.
The queue manager answers each command once.
"""
