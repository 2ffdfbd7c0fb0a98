"""The table by which a driver carries out commands, and the look-up of the objects that a command names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from assay_sdk.driver import DriverCommand
from assay_sdk.drivers.answers import Answers
from assay_sdk.model.reasons import JmsErrorKind, Refused

_FoundT = TypeVar("_FoundT")


class UnknownError(LookupError):
    """The error for a command that names a session, link or unit of work that does not exist."""


def find(existing: Mapping[int, _FoundT], number: int, what: str) -> _FoundT:
    """Return the session, link or unit of work that a command names.

    Args:
        existing: The sessions, links or units of work of the connection, by their numbers.
        number: Number in the command.
        what: Kind of the object that the number names, for the error's text.

    Raises:
        UnknownError: The connection has none with this number.
    """
    found = existing.get(number)
    if found is None:
        raise UnknownError(f"this connection has no {what} {number}")
    return found


class CommandTable:
    """The functions that carry out the commands of one connection.

    Args:
        answers: The tokens of the commands that are not answered yet.
        functions: Function for each kind of command that the protocol can express.
        unsupported: Function for all other kinds of commands, which answers that they are unsupported.
        inexpressible: The errors that a function raises if the protocol cannot express a message.
    """

    def __init__(
        self,
        answers: Answers,
        functions: Mapping[type, Callable[[Any], None]],
        unsupported: Callable[[DriverCommand], None],
        inexpressible: tuple[type[Exception], ...] = (),
    ) -> None:
        self._answers = answers
        self._functions = {kind: functions.get(kind, unsupported) for kind in get_args(DriverCommand)}
        self._inexpressible = inexpressible

    def carry_out(self, command: DriverCommand) -> None:
        """Carry out a command; answer `Failed` if it names something unknown or the protocol cannot express it."""
        try:
            self._functions[type(command)](command)
        except UnknownError as error:
            self._answers.fail(command.token, Refused(JmsErrorKind.ILLEGAL_STATE, str(error)))
        except self._inexpressible as error:
            self._answers.fail(command.token, Refused(JmsErrorKind.MESSAGE_FORMAT, str(error)))
