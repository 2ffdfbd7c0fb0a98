"""Acknowledgement modes (JMS 6.2.10, 6.2.11, 6.2.15, 8.7): one row each.

The session does what the row says; no other place knows the modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class AckMode(StrEnum):
    """A session's mode; the values are the words that journals and reports use."""

    AUTO = "auto"
    CLIENT = "client"
    DUPS_OK = "dups-ok"
    TRANSACTED = "transacted"
    XA = "xa"


class Settling(StrEnum):
    """What becomes of a message once the application has had it."""

    NOW = "now"
    """Accepted at once."""
    LAZILY = "lazily"
    """Accepted with others: by count, when nothing comes, on close."""
    BY_CALL = "by-call"
    """The application says when."""
    BY_UNIT = "by-unit"
    """It belongs to the session's unit of work since it was handed over."""
    BY_BRANCH = "by-branch"
    """It belongs to the branch of a global unit of work in which the session works."""


class Leaving(StrEnum):
    """What becomes of handed-over, unsettled messages when the session is closed."""

    GIVE_BACK = "give-back"
    """They come again, as redelivered."""
    ACCEPT = "accept"
    ROLL_BACK = "roll-back"
    """They come again with the unit of work."""


class Behaviour(Struct, frozen=True, kw_only=True):
    """One mode.

    Args:
        settling: What becomes of a message after a receive call, or a callback that returned.
        raise_redelivers: Whether a callback that raised brings its messages back at once (JMS 8.7); if not, they stay
            with the application, which recovers or rolls back.
        acknowledges: Whether `acknowledge` does anything (JMS 3.6.5: ignored elsewhere).
        recovers: Whether `recover` is allowed (JMS 6.2.11: not in a transacted session).
        leaving: What closing does.
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
        """Whether they belong to a branch of a global one."""
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
