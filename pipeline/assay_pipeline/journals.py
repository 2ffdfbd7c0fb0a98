"""The journals to judge; this module lists the files itself, because Spark ignores empty and missing files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from assay_evidence.files.parts import COMPRESSED, SUFFIX, journals_in
from assay_pipeline.errors import NoJournalError

RUN_FOLDER = "journals"
"""The name of the journals' folder in a run's output folder."""
_RATIO = 8
"""The size of a plain journal, divided by the size of its compressed form."""


class JournalFile(Struct, frozen=True):
    """The journal of one writer, or a part of it.

    Args:
        folder: The folder that the user named; the files of one folder are judged together.
        path: The path of the file.
        octets: The size of the file in bytes; for a compressed file, its compressed size.
    """

    folder: str
    path: str
    octets: int

    @property
    def plain_octets(self) -> int:
        """The size of the lines in bytes, which is an estimate if the file is compressed."""
        return self.octets * (_RATIO if self.path.endswith(COMPRESSED) else 1)


def find_journals(folders: Iterable[Path]) -> tuple[JournalFile, ...]:
    """List the journals of runs.

    Args:
        folders: Output folders of runs, or folders of ``.jsonl`` and ``.jsonl.gz`` files. A folder that is named
            twice counts once.

    Raises:
        NoJournalError: A folder is missing or holds no journal, or no folder was named.
    """
    asked = tuple(dict.fromkeys(folder.resolve() for folder in folders))
    if not asked:
        raise NoJournalError(Path.cwd(), "no folder was named")
    return tuple(file for folder in asked for file in _journals_of(folder))


def journal_folder(folder: Path) -> Path:
    """Return the folder of the journals in a run's output folder, or the folder itself if it holds them."""
    inner = folder / RUN_FOLDER
    return inner if inner.is_dir() else folder


def _journals_of(folder: Path) -> list[JournalFile]:
    if not folder.exists():
        raise NoJournalError(folder, "the folder does not exist")
    if not folder.is_dir():
        raise NoJournalError(folder, "it is a file, not a folder")
    try:
        present = filter(Path.is_file, journal_folder(folder).iterdir())
        found = sorted(path for paths in journals_in(present) for path in paths)
        files = [JournalFile(str(folder), str(path), path.stat().st_size) for path in found]
    except OSError as error:
        raise NoJournalError(folder, f"it cannot be read ({error.strerror})") from error
    if not files:
        raise NoJournalError(folder, f"it holds no {SUFFIX} file")
    return files
