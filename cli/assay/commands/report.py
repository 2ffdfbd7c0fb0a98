"""``assay report``: the site and the machine-readable forms, from evidence that is already there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from assay.exits import UsageProblem
from assay.terminal import Terminal
from assay_reports import junit_xml, read_run, render_site
from assay_steps.folder import JOURNALS, JUNIT, REPORT
from assay_steps.run import conclude


def report(
    folders: Annotated[list[Path], typer.Argument(help="Output folders of assay run.")],
    out: Annotated[Path | None, typer.Option(help="Where the report goes; default: the first folder.")] = None,
) -> None:
    """Judge the journals of earlier runs again, and write verdicts, JUnit XML and the report."""
    for folder in folders:
        if not (folder / JOURNALS).is_dir():
            raise UsageProblem(f"{folder} holds no {JOURNALS}/: name a folder that assay run has written.")
        conclude(folder)
    index = write_reports(folders, out or folders[0])
    Terminal().print(f"report: {index}", markup=False, soft_wrap=True)


def write_reports(folders: Sequence[Path], out: Path) -> Path:
    """Write ``junit.xml`` beside each folder's verdicts, and one site for all of them; the site's start page."""
    runs = [read_run(folder) for folder in folders]
    for folder, run in zip(folders, runs, strict=True):
        (folder / JUNIT).write_bytes(junit_xml([run.verdicts]))
    return render_site(runs, out / REPORT)
