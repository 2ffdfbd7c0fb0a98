"""State tables and their stepper.

A table maps (state, input) to (next state, action).  It is data: a page is drawn from it, a test asks it for every
pair, and a defect replaces one cell.  `Stepper` holds the state of one thing and looks up what an input does to it.

A pair that a table lacks is impossible, so it raises.  An input that changes nothing has a row of its own, and its
action says that nothing is to be done.  Where the input comes from a peer, the missing pair is the peer's mistake: the
owner of the state then raises a refusal of its own (`Stepper.impossible`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Generic, TypeVar

StateT = TypeVar("StateT", bound=Enum)
InputT = TypeVar("InputT", bound=Enum)
ActionT = TypeVar("ActionT", bound=Enum)


class ImpossibleError(Exception):
    """An input that a state table does not know in this state: a mistake of the program.

    Args:
        owner: Words for the object that has the state.
        state: Its state.
        happened: The input.
    """

    def __init__(self, owner: str, state: Enum, happened: Enum) -> None:
        super().__init__(f"{owner} is {words(state)}, and its table has no row for {words(happened)}")


class Stepper(Generic[StateT, InputT, ActionT]):
    """One state, and the table that changes it.

    Args:
        table: The transitions.
        state: The first state.
    """

    def __init__(self, table: Mapping[tuple[StateT, InputT], tuple[StateT, ActionT]], state: StateT) -> None:
        self.state = state
        self._table = table

    def step(self, happened: InputT) -> ActionT:
        """Go to the next state.

        Args:
            happened: The input.

        Returns:
            The action of the caller.

        Raises:
            Exception: The table has no such row; `impossible` says which error that is.
        """
        found = self._table.get((self.state, happened))
        if found is None:
            raise self.impossible(happened)
        self.state, action = found
        return action

    def knows(self, happened: InputT) -> bool:
        """Whether the table has a row for this input in the present state."""
        return (self.state, happened) in self._table

    def impossible(self, happened: InputT) -> Exception:
        """Name the error for an input that the table does not know in the present state."""
        return ImpossibleError(type(self).__name__, self.state, happened)


def words(cell: Enum) -> str:
    """Write the name of a state, an input or an action as words."""
    return cell.name.lower().replace("_", " ")
