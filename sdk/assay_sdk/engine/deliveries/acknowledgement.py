"""The table of acknowledgement modes, with a row for each mode (JMS 2.0, 6.2.10, 6.2.11, 6.2.15, 8.7).

The session acts as the row says.  No other module of the engine tests for a mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class AckMode(StrEnum):
    """Acknowledgement mode of a session; journals and reports use the values."""

    AUTO = "auto"
    """The SDK acknowledges a message when `receive` returns it, or after the listener has returned."""
    CLIENT = "client"
    """The application acknowledges all messages that the session has delivered, with `acknowledge`."""
    DUPS_OK = "dups-ok"
    """The SDK acknowledges several messages at a time; after a failure, the broker may deliver some of them again."""
    TRANSACTED = "transacted"
    """Sends and received messages belong to a local unit of work, which the application commits or rolls back."""
    XA = "xa"
    """Sends and received messages belong to a branch, which a transaction manager commits or rolls back."""


class Settling(StrEnum):
    """The moment and the way in which the client settles a message that the application has received."""

    NOW = "now"
    """The client accepts the message at once."""
    LAZILY = "lazily"
    """The client accepts several messages at a time: when `DUPS_OK_LIMIT` messages are unsettled, when no other message
    is due, or when the consumer or the session closes."""
    BY_CALL = "by-call"
    """The client accepts the message when the application calls `acknowledge`."""
    BY_UNIT = "by-unit"
    """From its delivery on, the message belongs to the session's local unit of work."""
    BY_BRANCH = "by-branch"
    """From its delivery on, the message belongs to the branch in which the session works."""


class Leaving(StrEnum):
    """The treatment of delivered, unsettled messages when a session closes."""

    GIVE_BACK = "give-back"
    """The session gives the messages back, and the broker delivers them again, as redelivered."""
    ACCEPT = "accept"
    """The session accepts the messages."""
    ROLL_BACK = "roll-back"
    """The session rolls its unit of work back, and the broker delivers the messages again."""


class Behaviour(Struct, frozen=True, kw_only=True):
    """Behaviour of a session in one acknowledgement mode.

    Args:
        settling: When and how a message is settled after a receive call, or after a listener has returned.
        raise_redelivers: Whether the broker delivers messages again at once if their listener raised (JMS 2.0, 8.7).
            If so, a message whose body `receive_body` cannot decode also stays in the buffer.  If not, both kinds of
            messages count as received; the application gets them again after a recover or a rollback.
        acknowledges: Whether `acknowledge` has an effect (JMS 2.0, 3.6.5: ignored in other modes).
        recovers: Whether `recover` is allowed (JMS 2.0, 6.2.11: not in a transacted session).
        leaving: How the session treats delivered, unsettled messages when it closes.
    """

    settling: Settling
    raise_redelivers: bool
    acknowledges: bool = False
    recovers: bool = True
    leaving: Leaving = Leaving.GIVE_BACK

    @property
    def transacted(self) -> bool:
        """Whether sends and deliveries belong to a local unit of work."""
        return self.settling is Settling.BY_UNIT

    @property
    def branching(self) -> bool:
        """Whether sends and deliveries belong to a branch of an XA transaction."""
        return self.settling is Settling.BY_BRANCH


BEHAVIOURS: Mapping[AckMode, Behaviour] = {
    AckMode.AUTO: Behaviour(settling=Settling.NOW, raise_redelivers=True),
    AckMode.CLIENT: Behaviour(settling=Settling.BY_CALL, raise_redelivers=False, acknowledges=True),
    AckMode.DUPS_OK: Behaviour(settling=Settling.LAZILY, raise_redelivers=True, leaving=Leaving.ACCEPT),
    AckMode.TRANSACTED: Behaviour(
        settling=Settling.BY_UNIT, raise_redelivers=False, recovers=False, leaving=Leaving.ROLL_BACK
    ),
    AckMode.XA: Behaviour(settling=Settling.BY_BRANCH, raise_redelivers=False, recovers=False),
}
