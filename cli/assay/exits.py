"""Exit codes, the same for every subcommand (design, "The command"), and the errors that lead to them.

::

    CommandError
    ├── UsageProblem       3: how the command was called, or a file or folder that it was given
    │   └── NothingSelected
    └── CannotRunError     2: the machine, the backend or the kit; nothing is said of any broker
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the command's end means."""

    AS_EXPECTED = 0
    NOT_AS_EXPECTED = 1
    INCONCLUSIVE = 2
    USAGE = 3


class CommandError(Exception):
    """The command could not do what was asked.

    Args:
        text: What is wrong, where, and what to do.
    """

    code = Exit.USAGE


class UsageProblem(CommandError):  # noqa: N818 - it is the user's, not the program's
    """Something about how the command was called that one sentence can put right."""


class NothingSelected(UsageProblem):
    """What was named is known, and no scenario tries it."""

    def __init__(self) -> None:
        super().__init__(
            "No scenario was selected: `assay rules` lists the rules; not every one has scenarios, and what stands "
            "behind -- narrows the choice further."
        )


class CannotRunError(CommandError):
    """What was asked for is right, and could not be done here."""

    code = Exit.INCONCLUSIVE
