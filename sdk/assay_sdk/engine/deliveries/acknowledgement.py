"""Acknowledgement modes (JMS 2.0, 6.2.10, 6.2.11, 6.2.15, 8.7), a row for each.

The session does what the row says; no other module knows the modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class AckMode(StrEnum):
    """Acknowledgement mode of a session; the values are the words of journals and reports."""

    AUTO = "auto"
    CLIENT = "client"
    DUPS_OK = "dups-ok"
    TRANSACTED = "transacted"
    XA = "xa"


class Settling(StrEnum):
    """The moment at which a message is settled that the application has received."""

    NOW = "now"
    """Accepted at once."""
    LAZILY = "lazily"
    """Accepted together with others: after a number of messages, when none comes, or at the close."""
    BY_CALL = "by-call"
    """Accepted when the application acknowledges."""
    BY_UNIT = "by-unit"
    """Part of the session's unit of work since its delivery."""
    BY_BRANCH = "by-branch"
    """Part of the branch in which the session works."""


class Leaving(StrEnum):
    """The fate of delivered, unsettled messages at a close."""

    GIVE_BACK = "give-back"
    """The broker delivers them again, as redelivered."""
    ACCEPT = "accept"
    ROLL_BACK = "roll-back"
    """The broker delivers them again after the rollback of the unit of work."""


class Behaviour(Struct, frozen=True, kw_only=True):
    """Behaviour of one mode.

    Args:
        settling: When a message is settled after a receive call, or after a listener has returned.
        raise_redelivers: Whether messages of a listener that raised are delivered again at once (JMS 2.0, 8.7), and a
            message whose body could not be read by a `receive_body` call.  Otherwise they stay with the application,
            which recovers or rolls back.
        acknowledges: Whether `acknowledge` has an effect (JMS 2.0, 3.6.5: ignored in other modes).
        recovers: Whether `recover` is allowed (JMS 2.0, 6.2.11: not in a transacted session).
        leaving: The fate of delivered, unsettled messages at a close.
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
