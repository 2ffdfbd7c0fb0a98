"""The journals to judge; this module lists the files itself, because Spark ignores empty and missing files."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from msgspec import Struct

from assay_evidence.files.parts import COMPRESSED, SUFFIX, journals_in, open_journal
from assay_pipeline.errors import NoJournalError
from assay_pipeline.places.naming import place_at
from assay_pipeline.places.remote import Place, reason_of

AnyPlace = TypeVar("AnyPlace", bound=Place)
RUN_FOLDER = "journals"
"""The name of the journals' folder in a run's output folder."""
_RATIO = 8
"""The size of a plain journal, divided by the size of its compressed form."""


class JournalFile(Struct, frozen=True):
    """The journal of one writer, or a part of it.

    Args:
        folder: The folder that the user named; the files of one folder are judged together.
        path: The path of the file; for a file on another file system, its URI without percent encoding.
        octets: The size of the file in bytes; for a compressed file, its compressed size.
    """

    folder: str
    path: str
    octets: int

    @property
    def plain_octets(self) -> int:
        """The size of the lines in bytes, which is an estimate if the file is compressed."""
        return self.octets * (_RATIO if self.path.endswith(COMPRESSED) else 1)


def find_journals(folders: Iterable[Place]) -> tuple[JournalFile, ...]:
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


def open_lines(file: JournalFile) -> BinaryIO:
    """Open a journal file for reading, plain or compressed.

    Raises:
        OSError: The file cannot be opened.
    """
    place = place_at(file.path)
    if isinstance(place, Path):
        return open_journal(place)
    stream = place.open()
    return cast("BinaryIO", gzip.open(stream)) if file.path.endswith(COMPRESSED) else stream


def journal_folder(folder: AnyPlace) -> AnyPlace:
    """Return the folder of the journals in a run's output folder, or the folder itself if it holds them."""
    inner = cast("AnyPlace", folder / RUN_FOLDER)
    return inner if inner.is_dir() else folder


def _journals_of(folder: Place) -> list[JournalFile]:
    named = folder if isinstance(folder, Path) else str(folder)
    try:
        if not folder.exists():
            raise NoJournalError(named, "the folder does not exist")
        if not folder.is_dir():
            raise NoJournalError(named, "it is a file, not a folder")
        files = [JournalFile(str(folder), path, octets) for path, octets in _listed(journal_folder(folder))]
    except OSError as error:
        raise NoJournalError(named, f"it cannot be read ({reason_of(error)})") from error
    if not files:
        raise NoJournalError(named, f"it holds no {SUFFIX} file")
    return files


def _listed(folder: Place) -> list[tuple[str, int]]:
    """Return the journal files of a folder, each with its size in bytes."""
    if isinstance(folder, Path):
        present = filter(Path.is_file, folder.iterdir())
        found = sorted(path for paths in journals_in(present) for path in paths)
        return [(str(path), path.stat().st_size) for path in found]
    sizes = folder.sizes()
    names = sorted(path.name for paths in journals_in(map(Path, sizes)) for path in paths)
    return [(str(folder / name), sizes[name]) for name in names]
