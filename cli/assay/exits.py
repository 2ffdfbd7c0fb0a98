"""Exit codes, the same for every subcommand (design, "The command")."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the command's end means."""

    AS_EXPECTED = 0
    NOT_AS_EXPECTED = 1
    INCONCLUSIVE = 2
    USAGE = 3


class UsageProblem(Exception):  # noqa: N818 - it is the user's, not the program's
    """Something about how the command was called, or about the machine, that one sentence can put right.

    Args:
        text: What is wrong, where, and what to do.
    """
