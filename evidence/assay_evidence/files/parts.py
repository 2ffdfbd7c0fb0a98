"""The files of a journal: one plain file, or parts of a limited size that are compressed when they are full.

A short run has one file for each writer, ``<writer>.jsonl``, and writes each line at once (`PlainFile`).  A long run
has numbered parts, ``<writer>.0001.jsonl`` and so on (`PartFiles`).  A full part becomes ``<writer>.0001.jsonl.gz``:
it is compressed into a file with another name, which then replaces the part in one step.  So every file whose name ends
with ``.gz`` was complete, and a kill of the process can only tear the last lines of the last part.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from msgspec import Struct

from assay_evidence.errors import JournalError

SUFFIX = ".jsonl"
COMPRESSED = ".jsonl.gz"
_PART = re.compile(r"(?P<writer>.+)\.(?P<number>\d{4,})\.jsonl(?:\.gz)?")
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
_MODE = 0o644  # readable by other users, who may make reports; the process's umask may restrict it further
_CLOSED = -1
"""The value in place of a file descriptor after the file is closed; no open file has this descriptor."""
_LEVEL = 3
"""zlib's level. On journals, its output is half as large as that of level 1; it is three times as fast as level 9."""


class PartLimits(Struct, frozen=True, kw_only=True):
    """The limits of a journal in parts.

    Args:
        part_bytes: The size, in bytes, from which a part is full; the line that fills a part is its last.
        buffer_bytes: The largest number of bytes that wait in memory. The thread that fills the buffer writes it to the
            disk, so no line is ever dropped. A kill of the process loses at most these bytes.
        buffer_ns: If the oldest line in the buffer is older than this, in nanoseconds, the next line causes a write of
            the buffer.
    """

    part_bytes: int = 16 << 20
    buffer_bytes: int = 64 << 10
    buffer_ns: int = 1_000_000_000


class JournalFile(Protocol):
    """The file or the files to which a journal's lines go."""

    def write(self, line: bytes) -> None:
        """Write a line.

        Raises:
            OSError: The line cannot be written.
            JournalError: The disk is full, or the next part cannot be created.
        """
        ...

    def close(self, *, whole: bool) -> None:
        """Write the lines that are still in memory, and close the file.

        Args:
            whole: Whether the journal has its end record.

        Raises:
            OSError: A line cannot be written.
            JournalError: The disk is full.
        """
        ...


class PlainFile:
    """One file; each line is written at once, so that a kill loses at most the last line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = make_file(path)

    def write(self, line: bytes) -> None:
        """Write a line."""
        write_all(self._descriptor, line, self._path)

    def close(self, *, whole: bool) -> None:
        """Close the file."""
        del whole
        os.close(self._descriptor)


class PartFiles:
    """Parts of a limited size with a buffer in memory; a thread compresses full parts, one after the other.

    Args:
        path: The path of the plain form, ``<writer>.jsonl``, which names the folder and the writer.
        limits: The limits.
    """

    def __init__(self, path: Path, limits: PartLimits) -> None:
        self._plain = path
        self._limits = limits
        self._number = 0
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._since_ns = 0
        self._compressing: threading.Thread | None = None
        self._begin_part()

    def _begin_part(self) -> None:
        self._number += 1
        self._path = self._plain.with_name(f"{self._plain.name.removesuffix(SUFFIX)}.{self._number:04}{SUFFIX}")
        self._descriptor = make_file(self._path)
        self._written = 0

    def write(self, line: bytes) -> None:
        """Add a line to the buffer; write a full or old buffer to the part, and after a full part begin a new part."""
        now_ns = time.monotonic_ns()
        if not self._buffer:
            self._since_ns = now_ns
        self._buffer.append(line)
        self._buffered += len(line)
        limits = self._limits
        is_full = self._written + self._buffered >= limits.part_bytes
        if is_full or self._buffered >= limits.buffer_bytes or now_ns - self._since_ns >= limits.buffer_ns:
            self._flush()
        if is_full:
            self._end_part()
            self._begin_part()

    def close(self, *, whole: bool) -> None:
        """Write the buffer and close the part; if the journal is whole, compress the part and wait for the result."""
        try:
            self._flush()
        finally:
            if whole:
                self._end_part()
            else:
                self._close_part()
            self._await_compression()

    def _flush(self) -> None:
        octets = b"".join(self._buffer)
        self._buffer, self._buffered = [], 0
        if octets:
            write_all(self._descriptor, octets, self._path)
            self._written += len(octets)

    def _close_part(self) -> None:
        """Close the part's file, but never twice: the system may give a closed file's descriptor to another file."""
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor != _CLOSED:
            os.close(descriptor)

    def _end_part(self) -> None:
        self._close_part()
        self._await_compression()  # at most one part is not yet compressed, so parts cannot fill the disk
        self._compressing = threading.Thread(target=compress, args=(self._path,), name="assay-journal")
        self._compressing.start()

    def _await_compression(self) -> None:
        if self._compressing is not None:
            self._compressing.join()


def make_file(path: Path) -> int:
    """Make a new file, and return its descriptor.

    Raises:
        JournalError: The file exists or cannot be created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() or _compressed(path).exists():
            raise JournalError(
                f"The journal {path} exists, and a run never adds to evidence: name another output folder."
            )
        return os.open(path, _FLAGS, _MODE)
    except OSError as error:
        raise JournalError(
            f"The journal {path} cannot be created ({error.strerror}): name a folder with write access."
        ) from error


def write_all(descriptor: int, octets: bytes, path: Path) -> None:
    """Write octets in one call.

    Raises:
        OSError: Nothing can be written.
        JournalError: Only a part was written, because the disk is full.
    """
    written = os.write(descriptor, octets)
    if written != len(octets):
        raise JournalError(f"Only {written} of {len(octets)} octets reached the journal {path}: its disk is full.")


def compress(part: Path) -> None:
    """Replace a part by its compressed form; keep the part if the compression fails, such as on a full disk."""
    aside, final = part.with_name(f".{part.name}.gz"), _compressed(part)
    try:
        with part.open("rb") as source, gzip.open(aside, "wb", compresslevel=_LEVEL) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        aside.replace(final)
        part.unlink()
    except OSError:
        aside.unlink(missing_ok=True)


def journals_in(paths: Iterable[Path]) -> list[list[Path]]:
    """Group the files of journals by journal.

    Args:
        paths: Paths of files; other files than journals are left out.

    Returns:
        For each journal its plain file, or its parts in their order.  A part exists in both forms if the process was
        killed at the end of the compression; its compressed form counts.
    """
    groups: dict[tuple[Path, str], dict[int, Path]] = {}
    for path in sorted(filter(is_journal, paths), key=lambda path: (path.name, path)):
        part = _PART.fullmatch(path.name)
        name, number = (path.name, 0) if part is None else (part["writer"], int(part["number"]))
        parts = groups.setdefault((path.parent, name), {})
        if number not in parts or path.name.endswith(COMPRESSED):
            parts[number] = path
    return [[parts[number] for number in sorted(parts)] for parts in groups.values()]


def open_journal(path: Path) -> BinaryIO:
    """Open a file of a journal for reading, plain or compressed.

    If the writer has compressed the part since the folder was listed, the compressed form is opened.

    Raises:
        OSError: The file cannot be opened.
    """
    try:
        return cast("BinaryIO", gzip.open(path)) if path.name.endswith(COMPRESSED) else path.open("rb")
    except FileNotFoundError:
        return cast("BinaryIO", gzip.open(_compressed(path)))


def writer_of(path: Path) -> str:
    """Return the writer's name from a journal's file: ``w1`` for ``w1.jsonl`` and for ``w1.0002.jsonl.gz``."""
    part = _PART.fullmatch(path.name)
    return path.name.removesuffix(SUFFIX) if part is None else part["writer"]


def is_journal(path: Path) -> bool:
    """Return whether a file has the name of a journal, or of a part of a journal."""
    return path.name.endswith((SUFFIX, COMPRESSED)) and not path.name.startswith(".")


def _compressed(path: Path) -> Path:
    """Return the path of a file's compressed form."""
    return path.with_name(f"{path.name}.gz")
