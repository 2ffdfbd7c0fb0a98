"""``assay expect``: proposes entries for a file of known outcomes, from the fails that no entry expects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from assay.commands.explain import folders_of
from assay.terminal import Terminal
from assay_evidence.figures import counted
from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_reports import RunEvidence, read_run
from assay_reports.text import visible

VALID = timedelta(days=183)
"""A proposed entry expires this long after the day of the latest run."""


class Proposal(Struct, frozen=True):
    """A proposed entry of a file of known outcomes, which a person has to complete.

    Args:
        scenario: The failed scenario, from the first run in which it failed.
        failed: The number of runs in which it failed.
        decided: The number of runs in which it failed or passed.
        expires: The first day on which a run reports the entry as expired.
    """

    scenario: ScenarioVerdict
    failed: int
    decided: int
    expires: date

    def lines(self) -> Iterator[str]:
        """Yield the lines of the entry, in TOML, under a comment with the reason of the run's verdict."""
        found = " ".join(visible(self.scenario.reason).split())
        yield f"# {' '.join(self.scenario.rules)}: {found}"
        yield "[[outcome]]"
        yield f"scenario = {_quoted(self.scenario.scenario)}"
        yield f'verdict = "{Verdict.FAIL.value}"'
        if self.failed < self.decided:
            yield f'sometimes = "{self.failed} of {self.decided}"'
        yield 'reason = ""'
        yield 'reference = ""'
        yield 'owner = ""'
        yield f"expires = {self.expires.isoformat()}"


def expect(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Output folder of assay run.")],
    backend: Annotated[str | None, typer.Option(help="Only this backend, if the folder holds runs on several.")] = None,
) -> None:
    """Print entries for a file of known outcomes, for the fails that no entry expects.

    An entry has no reason, no reference and no owner; a run refuses the file until a person has filled them in.
    """
    runs = [read_run(one) for one in folders_of(folder, backend)]
    terminal = Terminal()
    for line in _lines(runs):
        terminal.print(line, markup=False, soft_wrap=True)


def _lines(runs: Sequence[RunEvidence]) -> Iterator[str]:
    """Yield the lines of the proposed entries, backend by backend."""
    for name in dict.fromkeys(run.verdicts.backend for run in runs):
        own = [run for run in runs if run.verdicts.backend == name]
        found = list(proposals(own))
        runs_on = f"{counted(len(own), 'run')} on {visible(name)}"
        if not found:
            yield f"# {runs_on}: every fail has a known outcome."
            continue
        yield f"# {runs_on}: {counted(len(found), 'scenario')} failed without a known outcome."
        yield "# Fill in reason, reference and owner of each entry; a run refuses the file before."
        for proposal in found:
            yield ""
            yield from proposal.lines()


def proposals(runs: Sequence[RunEvidence]) -> Iterator[Proposal]:
    """Yield a proposed entry for each scenario that failed without a known outcome in one of the runs.

    Args:
        runs: The runs, which tried the same backend.
    """
    tallies: dict[str, Counter[Verdict]] = {}
    untriaged: dict[str, ScenarioVerdict] = {}
    for run in runs:
        for scenario in (*run.verdicts.scenarios, *run.verdicts.probes):
            tallies.setdefault(scenario.scenario, Counter())[scenario.verdict] += 1
        for scenario in run.untriaged:
            untriaged.setdefault(scenario.scenario, scenario)
    day = max((run.day for run in runs if run.day is not None), default=datetime.now(UTC).date())
    for name, scenario in untriaged.items():
        failed = tallies[name][Verdict.FAIL]
        yield Proposal(scenario, failed, failed + tallies[name][Verdict.PASS], day + VALID)


def _quoted(text: str) -> str:
    r"""Return a text as a basic string of TOML: a string of JSON with DEL escaped, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
