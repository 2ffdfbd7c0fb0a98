"""A real disk that can be made to fail: it tracks unflushed writes, and undoes them at a simulated crash.

It is an SQLite VFS over the system's own. Writes go through, and it remembers the former content until the file is
flushed. It is deterministic: the same run has the same crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import BinaryIO

import apsw
from msgspec import Struct

from assay_broker.stores.disk import SystemDisk

SyncObserver = Callable[[Path], None]
"""Called with each file that is about to be flushed."""


class Write(Struct, frozen=True):
    """A write to a file, or a truncation.

    Args:
        at: Where.
        octets: What; None where the file was cut.
        before: What stood there.
        size: How long the file was.
    """

    at: int
    octets: bytes | None
    before: bytes
    size: int


_names = count(1)


class Extent:
    """The state of one file.

    Args:
        size: Its length in octets.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.allocated = size
        self.undo: list[Write] = []


class WatchedDisk:
    """The disk of this machine, observed and disturbed by a test.

    Args:
        through: Whether a flush goes on to the disk itself: it need not where nothing but `crash` is going to happen.
    """

    def __init__(self, *, through: bool = True) -> None:
        self.before_sync: list[SyncObserver] = []
        """Called before each flush, which waits until they return."""
        self.survives: Callable[[int], bool] = lambda _: False
        """Chooses which unflushed writes survive a crash, by their numbers, as a real disk may keep any."""
        self.syncs: Counter[str] = Counter()
        """The number of flushes by file name."""
        self._system = SystemDisk()
        self._extents: dict[Path, Extent] = {}
        self._through = through
        self._room: int | None = None
        self._failing_syncs = 0
        self._failing_writes = 0
        self._vfs = _Vfs(f"assay-{next(_names)}", self)

    # what a store asks -------------------------------------------------------------------------------------------

    @property
    def vfs(self) -> str:
        """The name of its VFS."""
        return self._vfs.name

    def keep(self, descriptor: int) -> None:
        """Do nothing: a crash of this disk affects SQLite's files only."""

    def free_bytes(self, folder: Path) -> int:
        """Return how many octets can still be written to a folder."""
        return self._system.free_bytes(folder) if self._room is None else self._room

    def synced(self, path: Path) -> bool:
        """Whether everything written to a file has been flushed."""
        extent = self._extents.get(path)
        return extent is None or not extent.undo

    def crash(self) -> None:
        """Undo unflushed writes, except those that `survives` keeps; no file may be open."""
        numbers = count()
        for path, extent in self._extents.items():
            if extent.undo:
                with path.open("r+b") as file:
                    _take_back(file, extent, [write for write in extent.undo if self.survives(next(numbers))])

    # what a test asks --------------------------------------------------------------------------------------------

    def fail_syncs(self, times: int = 1) -> None:
        """Make this many flushes fail."""
        self._failing_syncs = times

    def fail_writes(self, times: int = 1) -> None:
        """Make this many writes fail."""
        self._failing_writes = times

    def fill(self, room_bytes: int | None = 0) -> None:
        """Pretend that other files take up the disk.

        Args:
            room_bytes: How much they leave; None gives back what they took.
        """
        self._room = room_bytes

    def close(self) -> None:
        """Unregister the VFS."""
        self._vfs.unregister()

    # what its files ask ------------------------------------------------------------------------------------------

    def extent(self, path: Path, size: int) -> Extent:
        """Return the state of a file that is being opened.

        Args:
            path: The file.
            size: Its length in octets.
        """
        extent = self._extents.setdefault(path, Extent(size))
        extent.size = size
        return extent

    def forget(self, path: Path) -> None:
        """Forget a deleted file."""
        self._extents.pop(path, None)

    def writing(self, extent: Extent, end: int) -> None:
        """Note that a file is about to be written.

        Args:
            extent: What is known of it.
            end: Where the writing ends.

        Raises:
            apsw.IOError: The write fails.
            apsw.FullError: There is no room.
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
        """Note that a file was truncated.

        Args:
            extent: What is known of it.
            size: How long it is now.
        """
        if size < extent.allocated:
            if self._room is not None:
                self._room += extent.allocated - size
            extent.allocated = size
        extent.size = size

    def syncing(self, path: Path) -> bool:
        """Note that a file is about to be flushed.

        Args:
            path: The file.

        Returns:
            Whether the machine's own disk is to be asked for it.

        Raises:
            apsw.IOError: The flush fails.
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
        self._disk.writing(extent, end)
        there = min(length, extent.size - offset)
        before = self.xRead(there, offset) if there > 0 else b""
        extent.undo.append(Write(offset, bytes(data), before, extent.size))
        super().xWrite(data, offset)
        extent.size = max(extent.size, end)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        extent = self._extent
        gone = extent.size - newsize
        extent.undo.append(Write(newsize, None, self.xRead(gone, newsize), extent.size))
        super().xTruncate(newsize)
        self._disk.cut(extent, newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
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
