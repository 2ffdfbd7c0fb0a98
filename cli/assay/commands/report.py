"""``assay report``: writes verdicts, JUnit XML and the site again, from the evidence of earlier runs."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from msgspec import ValidationError, convert, to_builtins

from assay.exits import Exit, UsageProblem
from assay.outcome import SEVERITY, ending, others_failed, scenarios_of, show, tell
from assay.terminal import Terminal
from assay_adapters.known import KnownOutcome, KnownOutcomes, Surprise
from assay_reports import RunEvidence, SourceError, junit_xml, read_run, render_site
from assay_steps.plugin.folder import JOURNALS, JUNIT, KNOWN, REPORT
from assay_steps.plugin.run import Concluded, conclude
from assay_steps.processes.garbage_collection import collect_rarely


def report(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of assay run.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the report. Default: the first folder.")] = None,
) -> int:
    """Judge the journals of earlier runs again, and write verdicts, JUnit XML and the report; exit as the runs did."""
    runs: list[RunEvidence] = []
    for folder in folders:
        if not (folder / JOURNALS).is_dir():
            raise UsageProblem(f"{folder} holds no {JOURNALS}/: name an output folder of assay run.")
        with writable(folder), collect_rarely():
            concluded = conclude(folder)
        runs.append(read_run(folder, concluded.journals, concluded.verdicts))
    terminal = Terminal()
    worst = Exit.AS_EXPECTED
    for folder, run in zip(folders, runs, strict=True):
        if len(folders) > 1:
            terminal.print(f"{folder}: run {run.verdicts.run}", markup=False, soft_wrap=True, style="bold")
        show(run.verdicts, terminal)
        surprises, unjudged = surprises_of(folder, run), others_failed(folder)
        tell([*(one.text for one in surprises), *unjudged], terminal)
        ended = Exit.NOT_AS_EXPECTED if unjudged else ending(run.verdicts, surprises)
        worst = max(worst, ended, key=SEVERITY.index)
    with writable(out or folders[0]):
        index = write_site(folders, runs, out or folders[0])
    terminal.print(f"report: {index}", markup=False, soft_wrap=True)
    return worst


@contextmanager
def writable(folder: Path) -> Generator[None, None, None]:
    """Turn operating-system errors in the block into one error about the folder.

    Raises:
        UsageProblem: The folder cannot be written.
    """
    try:
        yield
    except OSError as problem:
        why = problem.strerror or str(problem)
        raise UsageProblem(f"{folder} cannot be written ({why}): name a folder in which you may write.") from problem


def surprises_of(folder: Path, run: RunEvidence) -> list[Surprise]:
    """List the verdicts that differ from the run's known outcomes; an outcome that has expired today does not count.

    Raises:
        SourceError: The run's known outcomes are malformed.
    """
    try:
        entries = tuple(convert(to_builtins(entry), KnownOutcome) for entry in run.known)
    except ValidationError as problem:
        raise SourceError(folder / KNOWN, f"it is malformed ({problem}); write it again or move it away.") from problem
    today = datetime.now(UTC).date()
    return KnownOutcomes(entries).surprises(scenarios_of(run.verdicts), today, whole=False)


def write_reports(ended: Mapping[Path, Concluded], out: Path) -> Path:
    """Write the reports of runs that have just ended, and return the site's start page.

    Args:
        ended: The conclusion of each run, by the run's folder.
        out: The folder for the report.
    """
    runs = [read_run(folder, concluded.journals, concluded.verdicts) for folder, concluded in ended.items()]
    return write_site(tuple(ended), runs, out)


def write_site(folders: Sequence[Path], runs: Sequence[RunEvidence], out: Path) -> Path:
    """Write ``junit.xml`` into each folder and one site for all; return the site's start page."""
    for folder, run in zip(folders, runs, strict=True):
        (folder / JUNIT).write_bytes(junit_xml([run.verdicts]))
    with collect_rarely():
        return render_site(runs, out / REPORT)
