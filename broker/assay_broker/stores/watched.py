"""A disk that a test, or the kit, can make fail or crash; a crash undoes unflushed writes.

The disk is an SQLite VFS on top of the system's own.  It passes each write on, and stores the former content until the
file is flushed.  Two runs with the same operations lose the same data at a crash.

Writes, truncations and flushes of a disk's files use one lock, because a store flushes on a second thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import apsw
from msgspec import Struct

from assay_broker.stores.disk import SystemDisk

SyncObserver = Callable[[Path], None]
"""A function that the disk calls with the path of each file before its flush."""


class Write(Struct, frozen=True):
    """A write to a file, or a truncation of a file, that was not flushed yet.

    Args:
        at: The offset in the file, in octets.
        octets: The octets written; None for a truncation.
        before: The former octets from this offset on.
        size: The former length of the file, in octets.
    """

    at: int
    octets: bytes | None
    before: bytes
    size: int


_names = count(1)


class Extent:
    """The state of one file: its length and its unflushed writes.

    Args:
        size: The file's length, in octets.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.allocated = size
        self.undo: list[Write] = []


class WatchedDisk:
    """The disk of this machine, with observers, failures, crashes and a loss of power.

    Args:
        through: Whether a flush reaches the machine's own disk.  A test that only uses `crash` does not need real
            flushes.
    """

    def __init__(self, *, through: bool = True) -> None:
        self.before_sync: list[SyncObserver] = []
        """Functions that run before each flush."""
        self.survives: Callable[[int], bool] = lambda _: False
        """A function that takes the number of an unflushed write, and returns whether the write survives a crash."""
        self.syncs: Counter[str] = Counter()
        """The number of flushes, by file name."""
        self.lock = Lock()
        """A thread that writes, truncates or flushes a file holds this lock."""
        self._system = SystemDisk()
        self._extents: dict[Path, Extent] = {}
        self._through = through
        self._room: int | None = None
        self._failing_syncs = 0
        self._failing_writes = 0
        self._vfs = _Vfs(f"assay-{next(_names)}", self)

    # calls of a store --------------------------------------------------------------------------------------------

    @property
    def vfs(self) -> str:
        """The name of this disk's VFS."""
        return self._vfs.name

    def keep(self, descriptor: int) -> None:
        """Do nothing, because a crash of this disk affects only SQLite's files."""

    def free_bytes(self, folder: Path) -> int:
        """Return the free space for a folder, in octets."""
        return self._system.free_bytes(folder) if self._room is None else self._room

    def synced(self, path: Path) -> bool:
        """Return whether everything written to a file has been flushed."""
        extent = self._extents.get(path)
        return extent is None or not extent.undo

    def crash(self) -> None:
        """Undo all unflushed truncations, and the unflushed writes that `survives` does not keep.

        Close all files before this call.
        """
        numbers = count()
        for path, extent in self._extents.items():
            if extent.undo:
                with path.open("r+b") as file:
                    _take_back(file, extent, [write for write in extent.undo if self.survives(next(numbers))])

    def lose_power(self) -> None:
        """Undo the unflushed writes as `crash` does, while the files are open; the caller must then send SIGKILL.

        After this call, a thread that writes, truncates or flushes a file waits for ever.  Writes of an earlier process
        to the same files count as flushed.
        """
        self.lock.acquire()  # and never released
        self.crash()

    # calls of a test ---------------------------------------------------------------------------------------------

    def fail_syncs(self, times: int = 1) -> None:
        """Make the next `times` flushes fail."""
        self._failing_syncs = times

    def fail_writes(self, times: int = 1) -> None:
        """Make the next `times` writes fail."""
        self._failing_writes = times

    def fill(self, room_bytes: int | None = 0) -> None:
        """Act as if other files took up the disk's space.

        Args:
            room_bytes: The space that stays free, in octets; None for the machine's real free space.
        """
        self._room = room_bytes

    def close(self) -> None:
        """Unregister the disk's VFS from SQLite."""
        self._vfs.unregister()

    # calls of the VFS's files ------------------------------------------------------------------------------------

    def extent(self, path: Path, size: int) -> Extent:
        """Return the state of a file that SQLite opens.

        Args:
            path: The file's path.
            size: The file's length, in octets.
        """
        extent = self._extents.setdefault(path, Extent(size))
        extent.size = size
        return extent

    def forget(self, path: Path) -> None:
        """Forget a deleted file."""
        self._extents.pop(path, None)

    def writing(self, extent: Extent, end: int) -> None:
        """Reduce the free space for a write that SQLite is about to make, or let the write fail.

        Args:
            extent: The state of the file.
            end: The offset after the last octet of the write.

        Raises:
            apsw.IOError: `fail_writes` makes this write fail.
            apsw.FullError: The free space that `fill` left is too small.
        """
        if self._failing_writes:
            self._failing_writes -= 1
            raise _failure(apsw.SQLITE_IOERR_WRITE, "it could not write")
        more = end - extent.allocated
        if more <= 0:
            return
        if self._room is not None:
            if more > self._room:
                raise _failure(apsw.SQLITE_FULL, "it is full")
            self._room -= more
        extent.allocated = end

    def cut(self, extent: Extent, size: int) -> None:
        """Free the space of a file that SQLite has truncated.

        Args:
            extent: The state of the file.
            size: The file's new length, in octets.
        """
        if size < extent.allocated:
            if self._room is not None:
                self._room += extent.allocated - size
            extent.allocated = size
        extent.size = size

    def syncing(self, path: Path) -> bool:
        """Call the observers of a flush that SQLite has requested, and count the flush.

        Args:
            path: The path of the file that SQLite flushes.

        Returns:
            Whether the caller must also flush the file on the machine's own disk.

        Raises:
            apsw.IOError: `fail_syncs` makes this flush fail.
        """
        for observer in tuple(self.before_sync):
            observer(path)
        if self._failing_syncs:
            self._failing_syncs -= 1
            raise _failure(apsw.SQLITE_IOERR_FSYNC, "it could not flush")
        self.syncs[path.name] += 1
        return self._through


class _Vfs(apsw.VFS):
    def __init__(self, name: str, disk: WatchedDisk) -> None:
        super().__init__(name, "", maxpathname=0)
        self.name = name
        self._disk = disk

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        if name is None:
            return apsw.VFSFile("", name, flags)
        return _File(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        super().xDelete(filename, syncdir)
        self._disk.forget(Path(filename))


class _File(apsw.VFSFile):
    def __init__(self, disk: WatchedDisk, name: str | apsw.URIFilename, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self._path = Path(name if isinstance(name, str) else name.filename())
        self._extent = disk.extent(self._path, self.xFileSize())

    def xWrite(self, data: memoryview | bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        extent = self._extent
        length = memoryview(data).nbytes
        end = offset + length
        with self._disk.lock:
            self._disk.writing(extent, end)
            there = min(length, extent.size - offset)
            before = self.xRead(there, offset) if there > 0 else b""
            extent.undo.append(Write(offset, bytes(data), before, extent.size))
            super().xWrite(data, offset)
            extent.size = max(extent.size, end)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        extent = self._extent
        with self._disk.lock:
            gone = extent.size - newsize
            extent.undo.append(Write(newsize, None, self.xRead(gone, newsize), extent.size))
            super().xTruncate(newsize)
            self._disk.cut(extent, newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        with self._disk.lock:
            if self._disk.syncing(self._path):
                super().xSync(flags)
            self._extent.undo.clear()


def _take_back(file: BinaryIO, extent: Extent, survivors: list[Write]) -> None:
    while extent.undo:
        write = extent.undo.pop()
        file.seek(write.at)
        file.write(write.before)
        file.truncate(write.size)
        extent.size = write.size
    for write in survivors:
        if write.octets is not None:
            file.seek(write.at)
            file.write(write.octets)
            extent.size = max(extent.size, write.at + len(write.octets))


def _failure(code: int, why: str) -> Exception:
    failure = apsw.exception_for(code)
    failure.args = (why,)
    return failure
