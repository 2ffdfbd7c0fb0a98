"""Local units of work: what may happen to one, and what the core then does.

A unit is open until it is committed or backed out.  A commit writes one batch.  While the store writes it, the unit is
`COMMITTING`: only the store's answer ends it, even if the client's connection is lost meanwhile.  A pair that `UNITS`
lacks is the client's error.  `docs/units.md` draws the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType


class UnitState(Enum):
    """How far a unit of work is."""

    OPEN = auto()
    COMMITTING = auto()
    ENDED = auto()


class UnitInput(Enum):
    """What can happen to a unit of work."""

    WORK = auto()
    COMMIT = auto()
    BACKOUT = auto()
    LOST = auto()
    STORED = auto()
    STORE_FAILED = auto()


class UnitAction(Enum):
    """What then is to be done."""

    JOIN = auto()
    APPLY = auto()
    DISCARD = auto()
    AWAIT = auto()
    FORGET = auto()


UnitTable = Mapping[tuple[UnitState, UnitInput], tuple[UnitState, UnitAction]]

UNITS: UnitTable = MappingProxyType(
    {
        (UnitState.OPEN, UnitInput.WORK): (UnitState.OPEN, UnitAction.JOIN),
        (UnitState.OPEN, UnitInput.COMMIT): (UnitState.COMMITTING, UnitAction.APPLY),
        (UnitState.OPEN, UnitInput.BACKOUT): (UnitState.ENDED, UnitAction.DISCARD),
        (UnitState.OPEN, UnitInput.LOST): (UnitState.ENDED, UnitAction.DISCARD),
        # From here on the store decides; who asked may have gone.
        (UnitState.COMMITTING, UnitInput.LOST): (UnitState.COMMITTING, UnitAction.AWAIT),
        (UnitState.COMMITTING, UnitInput.STORED): (UnitState.ENDED, UnitAction.FORGET),
        (UnitState.COMMITTING, UnitInput.STORE_FAILED): (UnitState.ENDED, UnitAction.FORGET),
    }
)
