"""The state table of local units of work.

A unit is open until it is committed or backed out. A commit writes one batch. While the store writes it, the unit is
`COMMITTING`: only the store's answer ends it, even if the client's connection is lost meanwhile. A pair that `UNITS`
lacks is the client's error. `docs/units.md` draws the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType


class UnitState(Enum):
    """The states of a unit of work."""

    OPEN = auto()
    COMMITTING = auto()
    ENDED = auto()


class UnitInput(Enum):
    """The events of a unit of work."""

    WORK = auto()
    COMMIT = auto()
    BACKOUT = auto()
    LOST = auto()
    STORED = auto()
    STORE_FAILED = auto()


class UnitAction(Enum):
    """The core's reactions."""

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
        # From here on the store's answer decides; the client may have disconnected.
        (UnitState.COMMITTING, UnitInput.LOST): (UnitState.COMMITTING, UnitAction.AWAIT),
        (UnitState.COMMITTING, UnitInput.STORED): (UnitState.ENDED, UnitAction.FORGET),
        (UnitState.COMMITTING, UnitInput.STORE_FAILED): (UnitState.ENDED, UnitAction.FORGET),
    }
)
