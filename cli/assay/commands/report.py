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
from assay.outcome import SEVERITY, covers_all, ending, others_failed, scenarios_of, show, tell
from assay.terminal import Terminal
from assay_adapters.known import KnownOutcome, KnownOutcomes, Surprise
from assay_evidence.figures import counted
from assay_reports import (
    MATRIX_FORM,
    MATRIX_PAGE,
    Absence,
    AbsenceState,
    RunEvidence,
    SourceError,
    junit_xml,
    read_absent,
    read_run,
    render_site,
)
from assay_steps.plugin.folder import EARLIER, JOURNALS, JUNIT, KNOWN, REPORT
from assay_steps.plugin.run import Concluded, conclude
from assay_steps.processes.garbage_collection import collect_rarely


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Output folders of assay run; a folder with several runs stands for all.")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the report. Default: the first folder.")] = None,
    untriaged: Annotated[
        bool, typer.Option(help="Print the fails that no known outcome expects, instead of the table of rules.")
    ] = False,
) -> int:
    """Judge the journals of earlier runs again, and write verdicts, JUnit XML and the report; exit as the runs did."""
    runs: dict[Path, RunEvidence] = {}
    absent: list[Absence] = []
    for given in folders:
        found = {folder: judged(folder) for folder in runs_in(given)}
        runs |= dict(sorted(found.items(), key=lambda one: _began(one[1])))
        if given not in runs:
            absent += read_absent(given / REPORT / MATRIX_FORM)
    terminal = Terminal()
    worst = of_absent(absent)
    for folder, run in runs.items():
        if len(runs) > 1:
            terminal.print(f"{folder}: run {run.verdicts.run}", markup=False, soft_wrap=True, style="bold")
        if untriaged:
            show_untriaged(run, terminal)
        else:
            show(run.verdicts, terminal)
        surprises, unjudged = surprises_of(folder, run), others_failed(folder)
        if not untriaged:
            tell([*(one.text for one in surprises), *unjudged], terminal)
        ended = Exit.NOT_AS_EXPECTED if unjudged else ending(run.verdicts, surprises)
        worst = max(worst, ended, key=SEVERITY.index)
    with writable(out or folders[0]):
        index = write_site(tuple(runs), tuple(runs.values()), out or folders[0], absent)
    show_report(index, terminal)
    return worst


def runs_in(folder: Path) -> list[Path]:
    """Return the folder itself if it holds a run's journals, otherwise its subfolders that hold a run's journals.

    Raises:
        UsageProblem: The folder holds no run.
    """
    if (folder / JOURNALS).is_dir():
        return [folder]
    inner = [journals.parent for journals in folder.glob(f"*/{JOURNALS}") if journals.parent.name != EARLIER]
    if not inner:
        raise UsageProblem(f"{folder} holds no {JOURNALS}/: name an output folder of assay run.")
    return sorted(inner)


def judged(folder: Path) -> RunEvidence:
    """Judge a run's journals again, and write its verdicts."""
    with writable(folder), collect_rarely():
        concluded = conclude(folder)
    return read_run(folder, concluded.journals, concluded.verdicts)


def _began(run: RunEvidence) -> int:
    """Return the begin of a run in nanoseconds since the epoch, for the order of the columns; 0 if it is unknown."""
    return run.begin.wall_ns if run.begin else 0


def of_absent(absent: Sequence[Absence]) -> Exit:
    """Return the exit code for absent backends: "as expected" if only `all` chose them, else "inconclusive"."""
    as_asked = all(one.state is AbsenceState.LEFT_OUT for one in absent)
    return Exit.AS_EXPECTED if as_asked else Exit.INCONCLUSIVE


def show_report(index: Path, terminal: Terminal) -> None:
    """Print the path of the report's start page, and of the matrix if there is one."""
    terminal.print(f"report: {index}", markup=False, soft_wrap=True)
    if (matrix := index.with_name(MATRIX_PAGE)).is_file():
        terminal.print(f"matrix: {matrix}", markup=False, soft_wrap=True)


def show_untriaged(run: RunEvidence, terminal: Terminal) -> None:
    """Print a run's failed scenarios that no known outcome expects."""
    found = run.untriaged
    told = f"{run.verdicts.backend}: {counted(len(found), 'untriaged fail')}"
    terminal.print(f"{told}{':' if found else '.'}", markup=False, soft_wrap=True)
    for one in found:
        terminal.print(f"  {' '.join(one.rules)} {one.scenario}: {one.reason}", markup=False, soft_wrap=True)


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
    """List the verdicts that the run's known outcomes do not expect, and the known outcomes that no longer hold.

    Raises:
        SourceError: The run's known outcomes are malformed.
    """
    try:
        entries = tuple(convert(to_builtins(entry), KnownOutcome) for entry in run.known)
    except ValidationError as problem:
        raise SourceError(folder / KNOWN, f"it is malformed ({problem}); write it again or move it away.") from problem
    today = datetime.now(UTC).date()
    return KnownOutcomes(entries).surprises(scenarios_of(run.verdicts), today, whole=covers_all(run.verdicts))


def write_reports(ended: Mapping[Path, Concluded], out: Path, absent: Sequence[Absence] = ()) -> Path:
    """Write the reports of runs that have just ended, and return the site's start page.

    Args:
        ended: The conclusion of each run, by the run's folder.
        out: The folder for the report.
        absent: The backends without a run.
    """
    runs = [read_run(folder, concluded.journals, concluded.verdicts) for folder, concluded in ended.items()]
    return write_site(tuple(ended), runs, out, absent)


def write_site(folders: Sequence[Path], runs: Sequence[RunEvidence], out: Path, absent: Sequence[Absence] = ()) -> Path:
    """Write ``junit.xml`` into each folder, and one site for all runs; return the site's start page."""
    for folder, run in zip(folders, runs, strict=True):
        (folder / JUNIT).write_bytes(junit_xml([run.verdicts]))
    with collect_rarely():
        return render_site(runs, out / REPORT, absent)
