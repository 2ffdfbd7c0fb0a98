"""The score: the results of mutants, and their figures by package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tools.mutation.triage import Kind, Triage

CONVICTED = "convicted"
STATUSES = (CONVICTED, "error", "timeout", "inconclusive", "survived", "uncovered")
NOTICED = frozenset({CONVICTED, "error", "timeout", "inconclusive"})
"""The statuses of mutants under which some scenario did not pass."""


class Result(Struct, frozen=True):
    """The result of one mutant.

    Args:
        mutant: The mutant's name, without line numbers.
        package: The package in `tools.mutation.targets` to which the module belongs.
        module: The module's name.
        function: The name of the changed function.
        operator: The name of the operator that made the mutant.
        line: The line of the changed statement.
        status: One of `STATUSES`.
        triage: The mutant's class in the triage; empty if a scenario convicted the mutant, or if the triage does not
            name it.
        reason: The triage's reason; without a class, the reason of the verdict of `scenario`.
        scenario: The id of the scenario that decided the status; empty if none did.
        tried: The number of scenarios that ran.
        covering: The number of scenarios that run the changed line.
        seconds: The duration of the trial in seconds.
        diff: The change as a unified diff; empty for a convicted mutant.
    """

    mutant: str
    package: str
    module: str
    function: str
    operator: str
    line: int
    status: str
    triage: str = ""
    reason: str = ""
    scenario: str = ""
    tried: int = 0
    covering: int = 0
    seconds: float = 0.0
    diff: str = ""

    @property
    def counts(self) -> bool:
        """Whether the score counts the mutant: the triage calls it neither equivalent nor outside."""
        return self.triage not in {Kind.EQUIVALENT, Kind.OUTSIDE}


def again(result: Result, triage: Triage) -> Result:
    """Return a result whose class and reason come from the given triage."""
    group = None if result.status == CONVICTED else triage.of(result.mutant)
    if group is None:
        return replace(result, triage="")
    return replace(result, triage=group.kind.value, reason=group.reason)


def merged(before: Iterable[Result], after: Iterable[Result]) -> list[Result]:
    """Merge two lists of results; a later result replaces an earlier result of the same mutant."""
    return list({result.mutant: result for result in (*before, *after)}.values())


def read_results(file: Path) -> list[Result]:
    """Read the results of an earlier campaign.

    Raises:
        msgspec.ValidationError: The file is not a list of results.
    """
    return msgspec.json.decode(file.read_bytes(), type=list[Result])


class Row(Struct, frozen=True):
    """A row of the score's table: the figures of one package.

    Args:
        package: The package's name.
        mutants: The number of tried mutants.
        statuses: The number of mutants with each status, without the mutants that the triage calls equivalent or
            outside.
        equivalent: The number of mutants whose difference no client can observe.
        outside: The number of mutants whose difference no document and no rule mentions.
    """

    package: str
    mutants: int
    statuses: dict[str, int]
    equivalent: int
    outside: int

    @property
    def counted(self) -> int:
        """The number of mutants that the score counts."""
        return self.mutants - self.equivalent - self.outside

    @property
    def convicted(self) -> float:
        """The share of convicted mutants among the counted mutants, from 0 to 1."""
        return self.statuses[CONVICTED] / self.counted if self.counted else 1.0

    @property
    def running(self) -> float:
        """The share of convicted mutants among the counted mutants that neither raise nor loop, from 0 to 1."""
        counted = self.counted - self.statuses["error"] - self.statuses["timeout"]
        return self.statuses[CONVICTED] / counted if counted else 1.0

    @property
    def noticed(self) -> float:
        """The share of counted mutants under which some scenario did not pass, from 0 to 1."""
        return sum(self.statuses[name] for name in NOTICED) / self.counted if self.counted else 1.0


def rows(results: Iterable[Result]) -> list[Row]:
    """Return the figures of each package, in the order of the results, and a last row for all packages."""
    grouped: dict[str, list[Result]] = {}
    everything = list(results)
    for result in everything:
        grouped.setdefault(result.package, []).append(result)
    return [_row(name, some) for name, some in grouped.items()] + [_row("all", everything)]


def _row(package: str, results: list[Result]) -> Row:
    statuses = Counter(result.status for result in results if result.counts)
    kinds = Counter(result.triage for result in results)
    return Row(
        package,
        len(results),
        {status: statuses[status] for status in STATUSES},
        kinds[Kind.EQUIVALENT],
        kinds[Kind.OUTSIDE],
    )
