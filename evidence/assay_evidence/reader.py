"""The reader of journals: makes an event or a record of damage from each line.

The reader checks in this order:

1. each line by itself: a line must not be blank, incomplete or altered, and must be an event of the schema
   (`assay_evidence.lines.read_line`);
2. each line against its file: the run and writer must be the run and writer of the file's first intact line, the
   sequence numbers must have no gaps or repeats, and no line may follow the ``end`` record;
3. the ``end`` record against the lines before it: it must have the right number of lines and the digest of their bytes;
4. the files against each other: all must be of one run, each writer must have one file, and each writer that an ``end``
   record names must have a file.

A journal in parts (`assay_evidence.files.parts`) is read as one file.  If a compressed part is torn or altered, the
reader records the damage and ignores the rest of the part.

The run's id is taken from the file with the plan, or else from the first file by name.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from assay_evidence.errors import JournalError, LineError
from assay_evidence.events import AnyEvent, Begin, End, Plan
from assay_evidence.files.parts import SUFFIX, is_journal, journals_in, open_journal, writer_of
from assay_evidence.lines import DamageKind, JournalDamage, read_line


class Journals(Struct, frozen=True):
    """The content of the journals of one run.

    Args:
        events: All intact events of the run, sorted by writer and sequence number.
        damage: All damage, file by file in the order of the files' names; missing files come last.
    """

    events: tuple[AnyEvent, ...]
    damage: tuple[JournalDamage, ...]


def read_journals(source: Path | Iterable[Path]) -> Journals:
    """Read the journals of one run.

    Args:
        source: The folder with the journals (``*.jsonl``, ``*.jsonl.gz``), or the files themselves.

    Raises:
        JournalError: The folder has no journal, or a file cannot be read.
    """
    files = [_File(paths) for paths in _files(source)]
    run = _run_of(files)
    owners: dict[str, _File] = {}
    named: set[str] = set()
    damage: list[JournalDamage] = []
    for file in files:
        if file.run not in {run, None}:
            file.blame("foreign", 0, f"The file belongs to the run {file.run}, not to {run}.")
        elif file.writer in owners:
            other = owners[file.writer].name
            file.blame("duplicate", 0, f"The files {other} and {file.name} have the same writer, {file.writer}.")
        else:
            owners[file.writer] = file
            named.update(file.end.writers if file.end else ())
        damage.extend(file.damage)
    damage.extend(
        JournalDamage("missing-writer", name, "", 0, f"The run's writer {name} has no journal.")
        for name in sorted(named - owners.keys())
    )
    events = tuple(event for name in sorted(owners) for event in owners[name].ordered())
    return Journals(events, tuple(damage))


def _files(source: Path | Iterable[Path]) -> list[list[Path]]:
    """Return the files of each journal."""
    if isinstance(source, Path) and source.is_dir():
        found = journals_in(source.iterdir())
        where = str(source)
    else:
        named = [source] if isinstance(source, Path) else list(source)
        found = [*journals_in(named), *([path] for path in named if not is_journal(path))]
        where = "the list given"
    if not found:
        raise JournalError(f"There is no journal (*{SUFFIX}) in {where}: name the folder with a run's journals.")
    return sorted(found, key=lambda paths: (paths[0].name, paths[0]))


def _run_of(files: list[_File]) -> str | None:
    with_plan = (file.run for file in files if file.plans)
    return next(with_plan, None) or next((file.run for file in files if file.run is not None), None)


class _File:
    """One journal, with the events and the damage that the reader has found in its file or its parts."""

    def __init__(self, paths: list[Path]) -> None:
        self.name = paths[0].name
        """The file's name; for a journal in parts, the name of the part that was read last."""
        self.run: str | None = None
        self.writer = writer_of(paths[0])
        self.events: dict[int, AnyEvent] = {}
        self.damage: list[JournalDamage] = []
        self.end: End | None = None
        self.plans = False
        self._next = 0
        self._lines = 0
        self._digest = hashlib.sha256()
        # Damage before the first intact line is recorded at the end, because only that line names the writer.
        self._early: list[tuple[str, DamageKind, int, str]] = []
        for path in paths:
            self.name = path.name
            self._read(path)
        self._conclude()

    def blame(self, kind: DamageKind, line: int, text: str) -> None:
        """Record damage to this file."""
        self.damage.append(JournalDamage(kind, self.writer, self.name, line, text))

    def ordered(self) -> list[AnyEvent]:
        """Return the intact events, sorted by sequence number."""
        return [self.events[seq] for seq in sorted(self.events)]

    def _read(self, path: Path) -> None:
        number = 0
        try:
            with open_journal(path) as file:
                for number, line in enumerate(file, start=1):
                    self._lines += 1
                    self._read_line(line, number)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            self._blame_line("undecodable", number + 1, "The compressed file is torn or altered from here on.")
        except OSError as error:
            raise JournalError(
                f"The journal {path} cannot be read ({error.strerror}): correct its access rights."
            ) from error

    def _read_line(self, line: bytes, number: int) -> None:
        if self.end is not None:
            self.blame("count", number, "A line follows the end record.")
            return
        try:
            event = read_line(line)
        except LineError as error:
            self._blame_line(error.kind, number, error.text)
        else:
            self._take(event, number, self._digest.hexdigest() if isinstance(event, End) else "")
        self._digest.update(line)

    def _blame_line(self, kind: DamageKind, number: int, text: str) -> None:
        if self.run is None:
            self._early.append((self.name, kind, number, text))
        else:
            self.blame(kind, number, text)

    def _conclude(self) -> None:
        """Record the damage that only the whole journal shows."""
        for name, kind, number, text in self._early:
            self.damage.append(JournalDamage(kind, self.writer, name, number, text))
        if not isinstance(self.events.get(0), Begin):
            self.blame("no-begin", 0, "The journal does not start with a begin record.")
        if self.end is None:
            text = "The journal does not end with an end record: its writer was interrupted."
            self.blame("no-end", self._lines, text)

    def _take(self, event: AnyEvent, number: int, digest: str) -> None:
        if self.run is None:
            self.run, self.writer = event.run, event.writer
        if (event.run, event.writer) != (self.run, self.writer):
            text = f"The line belongs to the run {event.run} and the writer {event.writer}."
            self.blame("foreign", number, text)
            return
        if event.seq in self.events:
            self.blame("duplicate", number, f"The journal has the line with number {event.seq} twice.")
            return
        if event.seq > self._next:
            self.blame("gap", number, f"The lines with numbers {self._next} to {event.seq - 1} before it are missing.")
        elif event.seq < self._next:
            self.blame("gap", number, f"The line with number {event.seq} comes after number {self._next - 1}.")
        self._next = max(self._next, event.seq + 1)
        self.events[event.seq] = event
        if isinstance(event, Plan):
            self.plans = True
        elif isinstance(event, End):
            self._close(event, number, digest)

    def _close(self, end: End, number: int, digest: str) -> None:
        self.end = end
        before = self._lines - 1
        if end.events != before:
            self.blame(
                "count", number, f"The end record counts {end.events} lines before it, but the file has {before}."
            )
        if end.sha256 != digest:
            self.blame("digest", number, "The end record's digest is not that of the bytes before it.")
