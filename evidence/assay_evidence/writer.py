"""The writer of a journal: one plain file, or numbered parts for a long run (`assay_evidence.files.parts`).

Each writer makes new files, so no line follows an incomplete line.  The caller gives the time of each event, because
only the caller knows the right clock for the event.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from msgspec import Struct

from assay_evidence.errors import JournalError
from assay_evidence.events import Begin, End, Event
from assay_evidence.files.parts import JournalFile, PartFiles, PartLimits, PlainFile
from assay_evidence.lines import encode_line

SCHEMA_VERSION = 1

E = TypeVar("E", bound=Event)


class Instant(Struct, frozen=True):
    """A reading of a clock.

    Args:
        boot: The id of the clock of `mono_ns` (`Event.boot`).
        mono_ns: The monotonic time in nanoseconds.
        wall_ns: The wall-clock time in nanoseconds since the epoch.
        unc_ns: The uncertainty of both times, plus or minus, in nanoseconds.
    """

    boot: str
    mono_ns: int
    wall_ns: int
    unc_ns: int


class JournalWriter:
    """The journal of one writer; threads may share it.

    As a context manager it closes the journal.  If the block ends without an exception and has not called `close`, the
    journal gets an ``end`` record with the time of the last event.  After an exception it gets no ``end`` record, so
    the reader reports the damage.

    Args:
        path: The file to create, usually ``<writer>.jsonl``; it must not exist.
        run: The run's id.
        writer: The writer's name, unique in the run.
        parts: The limits of a journal in parts, for a long run; then `path` names the folder and the writer.  None for
            one plain file, in which each line is written at once.

    Raises:
        JournalError: The file exists or cannot be created.
    """

    def __init__(self, path: Path, *, run: str, writer: str, parts: PartLimits | None = None) -> None:
        self.path = path
        self.run = run
        self.writer = writer
        self._file: JournalFile | None = PlainFile(path) if parts is None else PartFiles(path, parts)
        self._lock = threading.Lock()
        self._digest = hashlib.sha256()
        self._seq = 0
        self._last: Instant | None = None

    def write(self, kind: type[E], at: Instant, *, scenario: str | None = None, **fields: Any) -> E:
        """Write one event and return it.

        Args:
            kind: The kind of event; the first must be `Begin`, and only `close` writes `End`.
            at: The time of the event.
            scenario: The scenario's id; None for an event outside scenarios.
            fields: The fields of this kind of event by name.

        Raises:
            JournalError: The journal is closed or broken, the first kind is not `Begin`, `kind` is `End`, or the line
                could not be written in full.
            TypeError: `fields` has a name that this kind of event lacks, or a field is missing.
        """
        if kind is End:
            raise JournalError(f"The journal of {self.writer} must be ended by close(), not by an end record.")
        if self._seq == 0 and kind is not Begin:
            raise JournalError(f"The journal of {self.writer} must start with a begin record.")
        with self._lock:
            return self._append(kind, at, scenario, fields)

    def _append(self, kind: type[E], at: Instant, scenario: str | None, fields: dict[str, Any]) -> E:
        file = self._file
        if file is None:
            raise JournalError(f"The journal {self.path} is closed or broken, so no event can be added.")
        event = kind(
            v=SCHEMA_VERSION,
            run=self.run,
            writer=self.writer,
            seq=self._seq,
            boot=at.boot,
            mono_ns=at.mono_ns,
            wall_ns=at.wall_ns,
            unc_ns=at.unc_ns,
            scenario=scenario,
            **fields,
        )
        line = encode_line(event)
        self._try(lambda: file.write(line))
        self._digest.update(line)
        self._seq += 1
        self._last = at
        return event

    def close(self, at: Instant, writers: tuple[str, ...] = ()) -> None:
        """Write the ``end`` record and close the file; no effect on a closed journal.

        Args:
            at: The time of the end.
            writers: For the journal of the run's main process, the names of all writers of the run, including its own.

        Raises:
            JournalError: The end record could not be written.
        """
        with self._lock:
            file = self._file
            if file is None:
                return
            fields = {"events": self._seq, "sha256": self._digest.hexdigest(), "writers": writers}
            self._append(End, at, None, fields)
            self._file = None
            self._try(lambda: file.close(whole=True))

    def _try(self, action: Callable[[], None]) -> None:
        """Write to the file; after an error, close the journal.

        Raises:
            JournalError: The file could not be written in full.
        """
        try:
            action()
        except JournalError:
            self._release()
            raise
        except OSError as error:
            self._release()
            raise JournalError(
                f"The journal {self.path} cannot be written ({error.strerror}): free disk space or name another folder."
            ) from error

    def _release(self) -> None:
        """Close the file without writing an end record, so that the reader reports the damage."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError, JournalError):
                file.close(whole=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None and self._last is not None:
            self.close(self._last)
            return
        with self._lock:
            self._release()
