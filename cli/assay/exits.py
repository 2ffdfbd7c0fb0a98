"""Exit codes, the same for every subcommand (design, "The command"), and the errors that lead to them.

::

    CommandError
    ├── UsageProblem       3: how the command was called, or a file or folder that it was given
    │   └── NothingSelected
    └── CannotRunError     2: the machine, the backend or the kit; nothing is said of any broker
"""

from __future__ import annotations

from collections.abc import Iterable
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
    """What was named is known, and no scenario tries it.

    Args:
        rules: The rules that were asked for by their ids.
    """

    def __init__(self, rules: Iterable[str] = ()) -> None:
        from assay_features import feature_root  # not for a command that selects nothing, such as a server
        from assay_steps.plugin.checks import rule_counts

        root = feature_root()
        counts = rule_counts(root.rglob("*.feature"))
        bare = [rule for rule in rules if not counts[rule]]
        why = (
            f"{' and '.join(bare)} {'has' if len(bare) == 1 else 'have'} no scenario yet"
            if bare
            else "what stands behind -- leaves none"
        )
        where = f"the scenarios are in {root}" if not bare else "`assay rules` says how many scenarios each rule has"
        super().__init__(f"No scenario was selected: {why}; {where}.")


class CannotRunError(CommandError):
    """What was asked for is right, and could not be done here."""

    code = Exit.INCONCLUSIVE
