"""The score: by package, what the scenarios made of the mutants, and the list of survivors."""

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
"""The statuses with which a run of the suite is not clean."""


class Result(Struct, frozen=True):
    """What became of one mutant.

    Args:
        mutant: Its name, without line numbers.
        package: The package of its module.
        module: Its module.
        function: The function that is changed.
        operator: The operator that made it.
        line: The line of the changed statement.
        status: One of `STATUSES`.
        triage: Its class in the triage; empty if it is convicted or has none.
        reason: The triage's reason, or else the reason of the verdict.
        scenario: The scenario that decided it.
        tried: How many scenarios ran.
        covering: How many run the changed line.
        seconds: Time of the trial.
        diff: The change, of a mutant that is not convicted.
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
        """Whether it is a mistake that a scenario could convict."""
        return self.triage not in {Kind.EQUIVALENT, Kind.OUTSIDE}


def again(result: Result, triage: Triage) -> Result:
    """The result with its class in another triage."""
    group = None if result.status == CONVICTED else triage.of(result.mutant)
    if group is None:
        return replace(result, triage="")
    return replace(result, triage=group.kind.value, reason=group.reason)


def merged(before: Iterable[Result], after: Iterable[Result]) -> list[Result]:
    """Earlier results, each replaced by a later one of the same mutant."""
    return list({result.mutant: result for result in (*before, *after)}.values())


def read_results(file: Path) -> list[Result]:
    """The results of an earlier campaign.

    Raises:
        msgspec.ValidationError: The file has another form.
    """
    return msgspec.json.decode(file.read_bytes(), type=list[Result])


class Row(Struct, frozen=True):
    """The figures of a package.

    Args:
        package: Its name.
        mutants: How many were tried.
        statuses: How many of those that count ended in each status.
        equivalent: How many are equivalent.
        outside: How many are outside the documents.
    """

    package: str
    mutants: int
    statuses: dict[str, int]
    equivalent: int
    outside: int

    @property
    def counted(self) -> int:
        """How many count."""
        return self.mutants - self.equivalent - self.outside

    @property
    def convicted(self) -> float:
        """The share of those that count whose scenario failed."""
        return self.statuses[CONVICTED] / self.counted if self.counted else 1.0

    @property
    def running(self) -> float:
        """The same share, of those alone that neither raise nor loop: a broker that answers, but wrongly."""
        counted = self.counted - self.statuses["error"] - self.statuses["timeout"]
        return self.statuses[CONVICTED] / counted if counted else 1.0

    @property
    def noticed(self) -> float:
        """The share of those that count for which the suite was not clean: fail, error, no end, inconclusive."""
        return sum(self.statuses[name] for name in NOTICED) / self.counted if self.counted else 1.0


def rows(results: Iterable[Result]) -> list[Row]:
    """The figures by package, in the order of the results, and then of all."""
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
