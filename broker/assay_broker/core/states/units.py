"""The state table of local units of work.

A unit of work is open until its client commits it, backs it out or is disconnected. A commit writes one batch of
records. While the store writes the batch, the unit is `COMMITTING`, and only the store's answer ends the unit, even if
the client's connection is lost. If `UNITS` has no row for a state and an input, the input is an error of the client.
`docs/units.md` draws the table.
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
    """The core's reactions to the events of a unit of work."""

    JOIN = auto()
    """Add a send or a delivery to the unit of work."""
    APPLY = auto()
    """Carry out the sends and settlements of the unit of work."""
    DISCARD = auto()
    """Drop the messages that the unit of work has sent, and make the deliveries in it unsettled again."""
    AWAIT = auto()
    """Change nothing until the store answers."""
    FORGET = auto()
    """Remove the unit of work."""


UnitTable = Mapping[tuple[UnitState, UnitInput], tuple[UnitState, UnitAction]]

UNITS: UnitTable = MappingProxyType(
    {
        (UnitState.OPEN, UnitInput.WORK): (UnitState.OPEN, UnitAction.JOIN),
        (UnitState.OPEN, UnitInput.COMMIT): (UnitState.COMMITTING, UnitAction.APPLY),
        (UnitState.OPEN, UnitInput.BACKOUT): (UnitState.ENDED, UnitAction.DISCARD),
        (UnitState.OPEN, UnitInput.LOST): (UnitState.ENDED, UnitAction.DISCARD),
        # Only the store's answer ends a unit in this state, even if the client has disconnected.
        (UnitState.COMMITTING, UnitInput.LOST): (UnitState.COMMITTING, UnitAction.AWAIT),
        (UnitState.COMMITTING, UnitInput.STORED): (UnitState.ENDED, UnitAction.FORGET),
        (UnitState.COMMITTING, UnitInput.STORE_FAILED): (UnitState.ENDED, UnitAction.FORGET),
    }
)
