"""``assay run``: the suite, on one backend or several."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pytest
import typer
from rich.console import Console

from assay.commands.report import write_reports
from assay.exits import Exit, UsageProblem
from assay.progress import RunProgress
from assay.tables import rules_table
from assay_adapters.known import known_outcomes
from assay_evidence.verdicts import ScenarioVerdict, Verdict, Verdicts, load_verdicts
from assay_features import load_catalogue
from assay_steps.folder import LOG, VERDICTS
from assay_steps.suite import SuiteOptions, run_suite

REAL_WORKERS = 16
"""Scenarios on a real broker wait most of their time, so many more of them than cores run at once."""
TROUBLE = frozenset({Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED})


def run(
    backend: Annotated[
        list[str] | None, typer.Option(help="A broker to try; may be repeated. Default: reference.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Only rules of this profile.")] = None,
    rule: Annotated[list[str] | None, typer.Option(help="Only this rule; may be repeated.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for journals, verdicts and the report.")] = Path("assay-out"),
    workers: Annotated[int | None, typer.Option(min=0, help="Processes; 0 runs in this one.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of whatever is random.")] = 0,
    store: Annotated[str | None, typer.Option(help="The reference broker's store.")] = None,
    face: Annotated[str | None, typer.Option(help="The client's face: classic or simplified.")] = None,
    defect: Annotated[str | None, typer.Option(help="Switch a named defect of the reference pair on.")] = None,
    pytest_args: Annotated[list[str] | None, typer.Argument(help="After --: arguments for pytest.")] = None,
) -> int:
    """Try the rules on a broker, print a table, and write the evidence and its report."""
    names = backend or ["reference"]
    load_catalogue().select(profile=profile, ids=tuple(rule or ()))  # unknown names are refused before anything starts
    known = {name: known_outcomes(name) for name in names}
    folders = {name: out if len(names) == 1 else out / name for name in names}
    console = Console(highlight=False)
    worst = Exit.AS_EXPECTED
    for name, folder in folders.items():
        options = SuiteOptions(
            out=folder,
            backend=name,
            profile=profile,
            rules=tuple(rule or ()),
            workers=default_workers(name) if workers is None else workers,
            seed=seed,
            store=store,
            face=face,
            defect=defect,
            pytest_args=tuple(pytest_args or ()),
        )
        started = time.perf_counter()
        verdicts = attempt(options)
        seconds = time.perf_counter() - started
        console.print(rules_table(verdicts, load_catalogue()))
        console.print(summary(verdicts, seconds), markup=False)
        whole = profile is None and not rule and not pytest_args
        surprises = known[name].surprises(scenarios_of(verdicts), datetime.now(UTC).date(), whole=whole)
        for surprise in surprises:
            console.print(f"  not as expected: {surprise}", markup=False, soft_wrap=True)
        worst = max(worst, ending(verdicts, surprises), key=SEVERITY.index)
    index = write_reports(list(folders.values()), out)
    console.print(f"report: {index}", markup=False, soft_wrap=True)
    return worst


SEVERITY = [Exit.AS_EXPECTED, Exit.INCONCLUSIVE, Exit.NOT_AS_EXPECTED]
"""For several backends: one that is not as expected outweighs one that is inconclusive."""


def ending(verdicts: Verdicts, surprises: list[str]) -> Exit:
    """The exit code of one backend's run."""
    if not surprises:
        return Exit.AS_EXPECTED
    found = {scenario.verdict for scenario in scenarios_of(verdicts)}
    only_trouble = Verdict.FAIL not in found and bool(found & TROUBLE)
    return Exit.INCONCLUSIVE if only_trouble else Exit.NOT_AS_EXPECTED


def attempt(options: SuiteOptions) -> Verdicts:
    """Run the suite and read its verdicts.

    Raises:
        UsageProblem: It could not start, or no scenario was selected.
    """
    with RunProgress(options.backend) as progress:
        code = run_suite(options, plugins=[progress])
    verdicts = options.out / VERDICTS
    if code is pytest.ExitCode.NO_TESTS_COLLECTED:
        raise UsageProblem("No scenario was selected: these rules have none yet; `assay rules` lists what there is.")
    if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR) or not verdicts.exists():
        raise UsageProblem(last_words(options.out / LOG))
    if code is pytest.ExitCode.INTERRUPTED:
        if progress.problems:
            raise UsageProblem(progress.problems[0])
        raise KeyboardInterrupt
    return load_verdicts(verdicts)


def last_words(log: Path) -> str:
    """Pytest's own sentence about what stopped it."""
    lines = [
        line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith(("ERROR: ", "INTERNALERROR> "))
    ]
    if not lines:
        return f"The suite could not run; see {log}."
    return lines[-1].split(" ", 1)[1]


def default_workers(backend: str) -> int:
    """In-process runs are exact and quick in one process; real brokers wait."""
    return 0 if backend.startswith("reference") else REAL_WORKERS


def scenarios_of(verdicts: Verdicts) -> list[ScenarioVerdict]:
    """Every scenario once, though it may try several rules."""
    return list({scenario.scenario: scenario for rule in verdicts.rules for scenario in rule.scenarios}.values())


def summary(verdicts: Verdicts, seconds: float) -> str:
    """One line: verdicts of rules, scenarios, and time waited against time taken."""
    scenarios = scenarios_of(verdicts)
    waited = sum(scenario.waited_seconds for scenario in scenarios)
    totals = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.totals.items() if count)
    return (
        f"{verdicts.backend}: {len(verdicts.rules)} rules ({totals}), {len(scenarios)} scenarios, {seconds:.1f} s; "
        f"waited {waited:.0f} s on the backend's clock ({waited / max(seconds, 0.001):.1f} x)"
    )
