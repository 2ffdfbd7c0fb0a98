"""The exit codes of all subcommands, and the common errors that lead to them.

::

    CommandError
    ├── UsageProblem       3: a wrong option or argument, or a wrong file or folder
    │   └── NothingSelected
    └── CannotRunError     2: a problem of the machine, the backend or the kit; says nothing about a broker
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum


class Exit(IntEnum):
    """An exit code of the command."""

    AS_EXPECTED = 0
    NOT_AS_EXPECTED = 1
    INCONCLUSIVE = 2
    USAGE = 3


class CommandError(Exception):
    """Base of the errors that end the command.

    Args:
        text: One sentence for the user: the problem, its place and the remedy.
    """

    code = Exit.USAGE


class UsageProblem(CommandError):  # noqa: N818 - a mistake of the user, not of the program
    """The command line has a mistake: in an option, an argument, a file or a folder."""


class NothingSelected(UsageProblem):
    """The selected rules exist, but the command line selects no scenario for them.

    Args:
        rules: The ids of the selected rules.
        others: For each test that ran and that the kit does not judge, whether the test failed.
        own: Whether the command line names the user's own features or modules.
    """

    def __init__(self, rules: Iterable[str] = (), *, others: Sequence[bool] = (), own: bool = False) -> None:
        from assay_evidence.figures import counted
        from assay_features import feature_root  # imported here, because `assay broker` and others do not need it
        from assay_steps.plugin.checks import rule_counts

        root = feature_root()
        counts = rule_counts(root.rglob("*.feature"))
        bare = [rule for rule in rules if not counts[rule]]
        why = (
            f"{' and '.join(bare)} {'has' if len(bare) == 1 else 'have'} no scenario yet"
            if bare
            else "no scenario matches --rule, --profile, --scenario and the arguments after -- together"
        )
        if others:
            failed = f" ({sum(others)} failed)" if any(others) else ""
            why, bare = f"{counted(len(others), 'test')} ran{failed}, but none is a scenario with steps of the kit", []
        if bare:
            where = "`assay rules` shows how many scenarios each rule has"
        else:
            where = "run other tests with pytest itself" if others else f"the scenarios are in {root}"
            where = "the features after -- hold no such scenario" if own and not others else where
        super().__init__(f"No scenario was selected: {why}; {where}.")


class CannotRunError(CommandError):
    """The command was called correctly, but cannot run on this machine."""

    code = Exit.INCONCLUSIVE
