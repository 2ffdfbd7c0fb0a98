"""The reader of journals: makes an event or a record of damage from each line.

The reader checks in this order:

1. each line by itself: a line must not be blank, incomplete or altered, and must be an event of the schema
   (`assay_evidence.lines.decode_line`);
2. each line against its file: the run and writer must be the run and writer of the file's first intact line, the
   sequence numbers must have no gaps or repeats, and no line may follow the ``end`` record;
3. the ``end`` record against the bytes before it: their count and their digest must be right;
4. the files against each other: all must be of one run, each writer must have one file, and each writer that an ``end``
   record names must have a file.

The run's id is taken from the file with the plan, or else from the first file by name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from assay_evidence.errors import JournalError, LineError
from assay_evidence.events import AnyEvent, Begin, End, Plan
from assay_evidence.lines import NEWLINE, DamageKind, JournalDamage, decode_line

SUFFIX = ".jsonl"


class Journals(Struct, frozen=True):
    """The content of the journals of one run.

    Args:
        events: All intact events of the run, sorted by writer and sequence number.
        damage: All damage, sorted by file and line.
    """

    events: tuple[AnyEvent, ...]
    damage: tuple[JournalDamage, ...]


def read_journals(source: Path | Iterable[Path]) -> Journals:
    """Read the journals of one run.

    Args:
        source: The folder with the journals (``*.jsonl``), or the files themselves.

    Raises:
        JournalError: The folder has no journal, or a file cannot be read.
    """
    files = [_File(path) for path in _files(source)]
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


def _files(source: Path | Iterable[Path]) -> list[Path]:
    if isinstance(source, Path) and source.is_dir():
        found = [path for path in source.iterdir() if path.name.endswith(SUFFIX)]
        where = str(source)
    else:
        found = [source] if isinstance(source, Path) else list(source)
        where = "the list given"
    if not found:
        raise JournalError(f"There is no journal (*{SUFFIX}) in {where}: name the folder with a run's journals.")
    return sorted(found, key=lambda path: (path.name, path))


def _run_of(files: list[_File]) -> str | None:
    with_plan = (file.run for file in files if file.plans)
    return next(with_plan, None) or next((file.run for file in files if file.run is not None), None)


class _File:
    """One journal file, with the events and the damage that the reader has found in it."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.run: str | None = None
        self.writer = path.name.removesuffix(SUFFIX)
        self.events: dict[int, AnyEvent] = {}
        self.damage: list[JournalDamage] = []
        self.end: End | None = None
        self.plans = False
        self._next = 0
        self._read(path)

    def blame(self, kind: DamageKind, line: int, text: str) -> None:
        """Record damage to this file."""
        self.damage.append(JournalDamage(kind, self.writer, self.name, line, text))

    def ordered(self) -> list[AnyEvent]:
        """Return the intact events, sorted by sequence number."""
        return [self.events[seq] for seq in sorted(self.events)]

    def _read(self, path: Path) -> None:
        digest = hashlib.sha256()
        number = 0
        # Damage before the first intact line is recorded at the end, because only that line names the writer.
        early: list[tuple[DamageKind, int, str]] = []
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if self.end is not None:
                        self.blame("count", number, "A line follows the end record.")
                        continue
                    try:
                        event = self._intact(line)
                    except LineError as error:
                        if self.run is None:
                            early.append((error.kind, number, error.text))
                        else:
                            self.blame(error.kind, number, error.text)
                    else:
                        self._take(event, number, digest.hexdigest() if isinstance(event, End) else "")
                    digest.update(line)
        except OSError as error:
            raise JournalError(
                f"The journal {path} cannot be read ({error.strerror}): correct its access rights."
            ) from error
        for kind, line_number, text in early:
            self.blame(kind, line_number, text)
        if not isinstance(self.events.get(0), Begin):
            self.blame("no-begin", 0, "The journal does not start with a begin record.")
        if self.end is None:
            self.blame("no-end", number, "The journal does not end with an end record: its writer was interrupted.")

    def _intact(self, line: bytes) -> AnyEvent:
        if not line.endswith(NEWLINE):
            raise LineError("undecodable", "The last line is incomplete: it does not end with a newline.")
        return decode_line(line[: -len(NEWLINE)])

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
        if end.events != number - 1:
            self.blame(
                "count", number, f"The end record counts {end.events} lines before it, but the file has {number - 1}."
            )
        if end.sha256 != digest:
            self.blame("digest", number, "The end record's digest is not that of the bytes before it.")
