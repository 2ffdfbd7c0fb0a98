"""Writes a journal: one file for each writer, one `os.write` for each line, so a kill tears at most the last line.

Each writer makes a new file, so no line comes after a torn one.  The caller gives the time of each event, because only
the caller knows from which world's clock it was read.
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
_MODE = 0o644  # readable by the user who reports; the process's umask may restrict it further

E = TypeVar("E", bound=Event)


class Instant(Struct, frozen=True):
    """A reading of a clock.

    Args:
        boot: The clock that `mono_ns` belongs to.
        mono_ns: Monotonic nanoseconds.
        wall_ns: Nanoseconds since the epoch.
        unc_ns: Uncertainty of both, plus or minus, in nanoseconds.
    """

    boot: str
    mono_ns: int
    wall_ns: int
    unc_ns: int


class JournalWriter:
    """A writer's journal.  Threads may share it.

    As a context manager it closes the journal.  If the block ended without an exception and did not call `close`, the
    journal gets an ``end`` record at the last event's instant.  After an exception it gets none, so the reader sees it.

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
            at: When it happened.
            scenario: The scenario's id; None outside of any.
            fields: The kind's own fields by name.

        Raises:
            JournalError: The journal is closed or broken, or the line could not be written in full.
            TypeError: The kind has no such field, or lacks one.
        """
        if kind is End:
            raise JournalError(f"The journal of {self.writer} ends by close(), not by writing an end record.")
        if self._seq == 0 and kind is not Begin:
            raise JournalError(f"The journal of {self.writer} must start with a begin record.")
        with self._lock:
            return self._append(kind, at, scenario, fields)

    def _append(self, kind: type[E], at: Instant, scenario: str | None, fields: dict[str, Any]) -> E:
        descriptor = self._descriptor
        if descriptor is None:
            raise JournalError(f"The journal {self.path} is closed or broken: nothing more can be written to it.")
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
                f"The journal {self.path} cannot be written ({error.strerror}): make room or name another folder."
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
        """Write the ``end`` record and close the file; has no effect on a closed journal.

        Args:
            at: When the journal ended.
            writers: In the controller's journal, the names of every writer of the run, its own included.

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
                f"The journal {path} is there already, and evidence is never appended to: name another output folder."
            )
        return os.open(path, _FLAGS, _MODE)
    except OSError as error:
        raise JournalError(
            f"The journal {path} cannot be made ({error.strerror}): name an output folder that can be written."
        ) from error
