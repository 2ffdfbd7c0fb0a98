"""The import of logs: reads all lines, sorts the rows, writes the journals in a hidden folder, and then moves them."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from assay.exits import CannotRunError, UsageProblem
from assay.importing import logs
from assay.importing.columns import Kind
from assay.importing.journals import Header, write_journals
from assay.importing.mapping import LogMapping
from assay.importing.needs import LogContent
from assay.importing.rows import RowError, RowReader
from assay.importing.staging import Orphan, Staging
from assay_evidence.events import Untold
from assay_evidence.figures import counted
from assay_features import load_catalogue
from assay_steps.plugin.folder import JOURNALS, make_room, room

SHOWN = 5
"""The largest number of lines that the result names for each kind of problem."""
BACKEND = "imported"
"""The name of the backend in the journals of an import."""


class Imported(Struct, frozen=True, kw_only=True):
    """The result of an import.

    Args:
        lines: The number of lines, without blank lines.
        left_out: The number of lines that were not imported.
        why: One sentence for each of the first of these lines.
        rows: The number of imported rows of each kind.
        orphans: The number of receives without a send.
        first_orphans: The first of these receives.
        journals: The number of journals.
        decides: The ids of the rules that the log can decide.
        untold: For each rule that the log cannot decide, or cannot show to be kept, what the log lacks.
        lacks: Everything that the log lacks, each with the rules that need it.
    """

    lines: int
    left_out: int
    why: tuple[str, ...]
    rows: dict[Kind, int]
    orphans: int
    first_orphans: tuple[Orphan, ...]
    journals: int
    decides: tuple[str, ...]
    untold: tuple[Untold, ...]
    lacks: dict[str, tuple[str, ...]]


def import_logs(files: Sequence[Path], out: Path, mapping: LogMapping) -> Imported:
    """Import logs into the output folder of a run.

    If the import fails or Ctrl-C stops it, the folder is as it was before.

    Args:
        files: The logs; all of them together are one run.
        out: The folder: new, empty, or with an earlier run, which is replaced.
        mapping: The mapping of the logs.

    Raises:
        UsageProblem: A log cannot be read, or no line of the logs can be imported.
        FolderError: The folder cannot be written, or holds files that are not a run's.
        JournalError: A journal cannot be written.
        CannotRunError: The rows cannot be stored, for example because the disk is full. Or a log is Parquet, and
            pyarrow is not installed.
    """
    chosen = list({file.resolve(): file for file in files}.values())
    for file in chosen:
        logs.check(file)
    with room(out), _hidden_folder(out) as hidden:
        try:
            with Staging(hidden / "rows.sqlite") as staging:
                imported = _import(chosen, staging, hidden / JOURNALS, mapping)
        except sqlite3.Error as problem:
            raise CannotRunError(f"The rows of the log cannot be sorted in {out.parent} ({problem}).") from problem
        make_room(out)
        (out / JOURNALS).rmdir()
        (hidden / JOURNALS).rename(out / JOURNALS)
    return imported


@contextmanager
def _hidden_folder(out: Path) -> Generator[Path]:
    """Provide a hidden folder beside the output folder, on the same file system; remove it at the end."""
    place = Path(tempfile.mkdtemp(prefix=f".{out.name}-import-", dir=out.parent))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _import(files: Sequence[Path], staging: Staging, journals: Path, mapping: LogMapping) -> Imported:
    content, reader = LogContent(mapping), RowReader(mapping)
    lines, left_out, why = 0, 0, list[str]()
    for file in files:
        for line in logs.lines(file):
            lines += 1
            try:
                row = reader.row(line)
            except RowError as error:
                left_out += 1
                if len(why) < SHOWN:
                    why.append(f"{file.name}:{line.number}: {error}.")
            else:
                content.note(row)
                staging.add(row, file.name, line.number)
    staging.flush()
    if left_out == lines:
        reason = why[0] if why else "it has no line."
        raise UsageProblem(f"No line of the log can be imported: {reason} (docs/import.md describes the columns)")
    content.orphans, orphans = staging.orphans(SHOWN)
    imported = Imported(
        lines=lines,
        left_out=left_out,
        why=tuple(why),
        rows=dict(content.rows),
        orphans=content.orphans,
        first_orphans=tuple(orphans),
        journals=0,
        decides=content.decides(),
        untold=content.untold(),
        lacks=content.lacks(),
    )
    header = Header(journals, uuid4().hex, _begin(files, imported, mapping), mapping.uncertainty_ns)
    return replace(imported, journals=write_journals(staging, header))


def _begin(files: Sequence[Path], imported: Imported, mapping: LogMapping) -> dict[str, Any]:
    """Return the fields of the first event of every journal of the import."""
    unread = imported.why
    if imported.left_out:
        unread = (f"{counted(imported.left_out, 'line')} of the log could not be imported: {unread[0]}", *unread[1:])
    return {
        "backend": BACKEND,
        "client": "imported log",
        "ours": (),
        "environment": {
            "imported": f"{counted(imported.lines, 'line')} of {', '.join(file.name for file in files)}",
            "complete": ", ".join(mapping.log.complete) or "nothing is stated to be complete",
            "uncertainty of the clocks": f"{mapping.clock.uncertainty_ms:g} ms",
        },
        "catalogue_hash": load_catalogue().sha256,
        "seed": 0,
        "decides": imported.decides,
        "untold": imported.untold,
        "unread": unread,
    }
