"""The journals to judge.  The driver lists the files, because Spark would not notice an empty or missing one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from assay_pipeline.errors import NoJournalError

SUFFIX = ".jsonl"
RUN_FOLDER = "journals"
"""The folder of the journals in a run's output folder."""


class JournalFile(Struct, frozen=True):
    """One writer's file.

    Args:
        folder: The folder that was named; its files are judged together.
        path: The file.
        octets: Its size in bytes.
    """

    folder: str
    path: str
    octets: int


def find_journals(folders: Iterable[Path]) -> tuple[JournalFile, ...]:
    """List the journals of runs.

    Args:
        folders: Output folders of runs, or folders of ``.jsonl`` files.  One named twice counts once.

    Raises:
        NoJournalError: A folder is missing or holds no journal, or none was named.
    """
    asked = tuple(dict.fromkeys(folder.resolve() for folder in folders))
    if not asked:
        raise NoJournalError(Path.cwd(), "no folder was named")
    return tuple(file for folder in asked for file in _journals_of(folder))


def _journals_of(folder: Path) -> list[JournalFile]:
    if not folder.exists():
        raise NoJournalError(folder, "there is no such folder")
    if not folder.is_dir():
        raise NoJournalError(folder, "it is a file and not a folder")
    inner = folder / RUN_FOLDER
    place = inner if inner.is_dir() else folder
    try:
        found = sorted(path for path in place.iterdir() if path.suffix == SUFFIX and path.is_file())
        files = [JournalFile(str(folder), str(path), path.stat().st_size) for path in found]
    except OSError as error:
        raise NoJournalError(folder, f"it cannot be read ({error.strerror})") from error
    if not files:
        raise NoJournalError(folder, f"it holds no {SUFFIX} file")
    return files
