"""The state table for the release of a staged message (DD-70 to DD-77).

When a message's delay is over, the release of the message begins with the step `PUT`. Each step tries one put, and the
table maps its result to the next step. The release ends in one of two steps. In `OVER`, the queue manager writes the
planned puts together with the removal of the staged message. In `KEPT`, it discards the planned puts, the message stays
on the staging queue, and a later release begins with `PUT` again. Pairs without a row cannot occur. `docs/processor.md`
draws the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType


class Step(Enum):
    """The steps by which the queue manager releases one message."""

    PUT = auto()
    """Put the message to its target."""
    DEAD_LETTER = auto()
    """Put the message to the dead-letter queue."""
    REPORT = auto()
    """Put a report to the reply-to queue."""
    DEAD_LETTER_REPORT = auto()
    """Put the report to the dead-letter queue."""
    OVER = auto()
    """The message has left the staging queue."""
    KEPT = auto()
    """Nothing has changed, and the queue manager tries to release the message again later."""


class Result(Enum):
    """The results that a step can have."""

    DONE = auto()
    EXPIRED = auto()
    """The message has expired."""
    GONE = auto()
    """The message's subscription has ended."""
    REFUSED = auto()
    REFUSED_DISCARD = auto()
    """The target refused the message, and the message has the option MQRO_DISCARD_MSG."""
    REFUSED_PUBLICATION = auto()
    """The dead-letter queue refused the message, and the message is a subscription's copy of a publication."""
    REFUSED_PERSISTENT = auto()
    """The dead-letter queue refused the report on a persistent message.

    After `REFUSED_PUBLICATION`, a refused report has the result `REFUSED`, even if the message is persistent (DD-77).
    """
    NOT_ASKED = auto()
    """The message does not ask for the report of this step."""


class Act(Enum):
    """The decision about the puts that earlier steps have planned."""

    GO_ON = auto()
    """Keep the puts that earlier steps have planned."""
    BACK_OUT = auto()
    """Discard the puts that earlier steps have planned."""


ReleaseTable = Mapping[tuple[Step, Result], tuple[Step, Act]]

RELEASE: ReleaseTable = MappingProxyType(
    {
        (Step.PUT, Result.DONE): (Step.OVER, Act.GO_ON),  # DD-03
        (Step.PUT, Result.EXPIRED): (Step.REPORT, Act.GO_ON),  # DD-56, DD-57
        (Step.PUT, Result.GONE): (Step.REPORT, Act.GO_ON),  # DD-76
        (Step.PUT, Result.REFUSED_DISCARD): (Step.REPORT, Act.GO_ON),  # DD-70
        (Step.PUT, Result.REFUSED): (Step.DEAD_LETTER, Act.GO_ON),  # DD-70
        (Step.DEAD_LETTER, Result.DONE): (Step.REPORT, Act.GO_ON),  # DD-70
        (Step.DEAD_LETTER, Result.REFUSED): (Step.KEPT, Act.BACK_OUT),  # DD-71
        (Step.DEAD_LETTER, Result.REFUSED_PUBLICATION): (Step.REPORT, Act.GO_ON),  # DD-77
        (Step.REPORT, Result.NOT_ASKED): (Step.OVER, Act.GO_ON),
        (Step.REPORT, Result.DONE): (Step.OVER, Act.GO_ON),  # DD-72
        (Step.REPORT, Result.REFUSED): (Step.DEAD_LETTER_REPORT, Act.GO_ON),  # DD-73
        (Step.DEAD_LETTER_REPORT, Result.DONE): (Step.OVER, Act.GO_ON),  # DD-73
        (Step.DEAD_LETTER_REPORT, Result.REFUSED): (Step.OVER, Act.GO_ON),  # DD-75
        (Step.DEAD_LETTER_REPORT, Result.REFUSED_PERSISTENT): (Step.KEPT, Act.BACK_OUT),  # DD-74
    }
)
