"""What becomes of a staged message, step by step: DD-70 to DD-77 as one table.  `docs/processor.md` draws it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType


class Step(Enum):
    """How far the processor is with one message."""

    PUT = auto()
    """It puts the message to its target."""
    DEAD_LETTER = auto()
    """It puts the message to the dead-letter queue."""
    REPORT = auto()
    """It puts a report to the reply-to queue."""
    DEAD_LETTER_REPORT = auto()
    """It puts the report to the dead-letter queue."""
    OVER = auto()
    """The message has left the staging queue."""
    KEPT = auto()
    """Nothing has happened; the message is tried again later."""


class Result(Enum):
    """What the step meets."""

    DONE = auto()
    EXPIRED = auto()
    """The message expired before this."""
    GONE = auto()
    """The subscription for which it was has gone."""
    REFUSED = auto()
    REFUSED_DISCARD = auto()
    """Refused, and the message says that it is to be discarded then."""
    REFUSED_PUBLICATION = auto()
    """Refused, and the message is a publication."""
    REFUSED_PERSISTENT = auto()
    """Refused, and the message is persistent, and no publication that was given up."""
    NOT_ASKED = auto()
    """The message asks for no such report."""


class Act(Enum):
    """What then happens to what was planned."""

    GO_ON = auto()
    BACK_OUT = auto()


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
