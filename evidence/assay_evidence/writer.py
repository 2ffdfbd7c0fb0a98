"""The writer of a journal: one file for each writer, and one `os.write` for each line.

A kill of the process leaves at most the last line incomplete.  Each writer makes a new file, so no line follows an
incomplete one.  The caller gives the time of each event, because only the caller knows the right clock for the event.
"""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from msgspec import Struct

from assay_evidence.errors import JournalError
from assay_evidence.events import Begin, End, Event
from assay_evidence.lines import encode_line

SCHEMA_VERSION = 1
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
_MODE = 0o644  # readable by other users, who may make reports; the process's umask may restrict it further

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

    Raises:
        JournalError: The file exists or cannot be created.
    """

    def __init__(self, path: Path, *, run: str, writer: str) -> None:
        self.path = path
        self.run = run
        self.writer = writer
        self._descriptor: int | None = _make(path)
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
            JournalError: The journal is closed or broken, the first kind is not `Begin`, or the line could not be
                written in full.
            TypeError: The kind of event has no field of a given name, or a field is missing.
        """
        if kind is End:
            raise JournalError(f"The journal of {self.writer} must be ended by close(), not by an end record.")
        if self._seq == 0 and kind is not Begin:
            raise JournalError(f"The journal of {self.writer} must start with a begin record.")
        with self._lock:
            return self._append(kind, at, scenario, fields)

    def _append(self, kind: type[E], at: Instant, scenario: str | None, fields: dict[str, Any]) -> E:
        descriptor = self._descriptor
        if descriptor is None:
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
        try:
            written = os.write(descriptor, line)
        except OSError as error:
            self._release()
            raise JournalError(
                f"The journal {self.path} cannot be written ({error.strerror}): free disk space or name another folder."
            ) from error
        if written != len(line):
            self._release()
            raise JournalError(
                f"Only {written} of {len(line)} octets of a line reached the journal {self.path}: its disk is full."
            )
        self._digest.update(line)
        self._seq += 1
        self._last = at
        return event

    def close(self, at: Instant, writers: tuple[str, ...] = ()) -> None:
        """Write the ``end`` record and close the file; no effect on a closed journal.

        Args:
            at: The time of the end.
            writers: For the controller's journal, the names of all writers of the run, its own included.

        Raises:
            JournalError: The end record could not be written.
        """
        with self._lock:
            if self._descriptor is None:
                return
            fields = {"events": self._seq, "sha256": self._digest.hexdigest(), "writers": writers}
            self._append(End, at, None, fields)
            self._release()

    def _release(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

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


def _make(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise JournalError(
                f"The journal {path} exists, and a run never adds to evidence: name another output folder."
            )
        return os.open(path, _FLAGS, _MODE)
    except OSError as error:
        raise JournalError(
            f"The journal {path} cannot be created ({error.strerror}): name a folder with write access."
        ) from error
