"""The folder of a run: what belongs there, and making room for the next run."""

from __future__ import annotations

import shutil
from pathlib import Path

JOURNALS = "journals"
VERDICTS = "verdicts.json"
JUNIT = "junit.xml"
REPORT = "report"
LOG = "pytest.log"
KNOWN = "known.json"
DEFECTS = "defects.json"
PARTS = frozenset({JOURNALS, VERDICTS, JUNIT, REPORT, LOG, KNOWN, DEFECTS})


class FolderError(ValueError):
    """The folder cannot take a run's output: which folder, why, and what to do."""


def make_room(out: Path) -> None:
    """Make a folder for a run's output; an earlier run's output goes, anything else is left alone.

    Args:
        out: The folder.

    Raises:
        FolderError: It is a file, cannot be written, or holds something that no run wrote.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        strangers = sorted(path.name for path in out.iterdir() if path.name not in PARTS)
        if strangers:
            raise FolderError(
                f"{out} holds {strangers[0]!r}, which no run wrote: name an empty or a new folder with --out."
            )
        for part in (JOURNALS, REPORT):
            if (out / part).exists():
                shutil.rmtree(out / part)
        for part in (VERDICTS, JUNIT, KNOWN):
            (out / part).unlink(missing_ok=True)
        (out / JOURNALS).mkdir()
    except OSError as problem:
        raise FolderError(
            f"{out} cannot take the run's output ({problem.strerror}): name another folder with --out."
        ) from problem
