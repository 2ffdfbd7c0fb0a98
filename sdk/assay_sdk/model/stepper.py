"""State machines whose transitions are tables.

A table maps (state, input) to (next state, action).  A table is data: documentation is generated from it, tests check
every pair, and a defect can replace one cell.  A `Stepper` stores the state of one object, and changes the state as the
table says.

An input that changes nothing has a row, too; the row's action is to do nothing.  For a pair without a row,
`Stepper.step` raises `ImpossibleError`.  A subclass can override `Stepper.impossible` to raise another error, for
example for a peer that breaks the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Generic, TypeVar

StateT = TypeVar("StateT", bound=Enum)
InputT = TypeVar("InputT", bound=Enum)
ActionT = TypeVar("ActionT", bound=Enum)


class ImpossibleError(Exception):
    """The error if a state table has no row for an input in the present state: a bug of the program.

    Args:
        owner: Name of the class of the object that has the state.
        state: State of the object.
        happened: The input.
    """

    def __init__(self, owner: str, state: Enum, happened: Enum) -> None:
        super().__init__(f"{owner} is {words(state)}, and its table has no row for {words(happened)}")


class Stepper(Generic[StateT, InputT, ActionT]):
    """The state of one object, and the table of its transitions.

    Args:
        table: Table of transitions.
        state: First state.
    """

    def __init__(self, table: Mapping[tuple[StateT, InputT], tuple[StateT, ActionT]], state: StateT) -> None:
        self.state = state
        self._table = table

    def step(self, happened: InputT) -> ActionT:
        """Change to the next state for an input, as the table says.

        Args:
            happened: The input.

        Returns:
            The caller's next action.

        Raises:
            Exception: The table has no row for the input in the present state; `impossible` makes the error.
        """
        found = self._table.get((self.state, happened))
        if found is None:
            raise self.impossible(happened)
        self.state, action = found
        return action

    def knows(self, happened: InputT) -> bool:
        """Return whether the table has a row for an input in the present state."""
        return (self.state, happened) in self._table

    def impossible(self, happened: InputT) -> Exception:
        """Return the error for an input for which the table has no row in the present state."""
        return ImpossibleError(type(self).__name__, self.state, happened)


def words(cell: Enum) -> str:
    """Return the name of a state, an input or an action as words, in small letters."""
    return cell.name.lower().replace("_", " ")
