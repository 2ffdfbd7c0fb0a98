"""The calls of a FUSE file system, passed on to a folder through the log of unflushed changes.

`mfusepy` calls these methods by their names, on several threads; paths begin with ``/``. Each method raises the
`OSError` of the system call that it makes.

- FUSE passes neither ``sync``, ``syncfs`` nor ``sync_file_range`` on, nor the flags of ``renameat2`` (through
  `mfusepy`), and names no range for a flush. So a flush concerns the whole file, and a broker that relies on the three
  calls loses data.
- This module has no locks of files: the kernel then keeps them itself, which is right for one machine.
- It also has no extended attributes, and no ``copy_file_range``, which the kernel replaces by reads and writes.
- A flush does not reach the machine's own disk.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay_adapters.disks.undo import UndoLog

Caller = Callable[[], tuple[int, int, int]]
"""A function that returns the user, the group and the process of the present call."""

_HIDDEN = ".fuse_hidden"
"""The prefix of the name that libfuse gives to an open file before the file is removed."""
_NOW, _OMIT = (1 << 30) - 1, (1 << 30) - 2
"""The nanoseconds that mean the present time, and no change (utimensat(2))."""
_AUTO_INVAL_DATA = 1 << 12
"""The kernel asks for a file's attributes before each read (FUSE_CAP_AUTO_INVAL_DATA in libfuse's fuse_common.h)."""
_TIMES = ("st_atime", "st_mtime", "st_ctime")
_NUMBERS = ("st_mode", "st_ino", "st_nlink", "st_uid", "st_gid", "st_rdev", "st_size", "st_blksize", "st_blocks")
_SPACE = (
    "f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_flag", "f_frsize", "f_namemax",
)  # fmt: skip


class Handle(Struct, frozen=True):
    """A file that a process has opened.

    Args:
        is_synchronous: Whether each write is also a flush.
        ends: The value of `UndoLog.ends` when the file was opened.
    """

    is_synchronous: bool
    ends: int


class FileSystem:
    """A file system that passes each call on to a folder.

    Args:
        content: The folder with the files.
        log: The log of unflushed changes.
        caller: Returns the caller, who becomes the owner of new files.
        mounted: Called when the file system is mounted.
    """

    use_ns = True
    """`mfusepy` passes times in nanoseconds."""

    def __init__(self, content: Path, log: UndoLog, caller: Caller, mounted: Callable[[], None]) -> None:
        self.delay_s = 0.0
        """The time that each write and each flush takes longer, in seconds."""
        self._content = str(content)
        self._log = log
        self._caller = caller
        self._mounted = mounted
        self._handles: dict[int, Handle] = {}

    def init_with_config(self, connection: Any, _config: Any) -> None:
        """Report that the file system is mounted; make reads cheaper, because nothing changes the files unseen.

        Only a loss of power does; the kernel drops a file's octets when a process opens the file again.
        """
        connection.want &= ~_AUTO_INVAL_DATA
        self._mounted()

    # --- files

    def create(self, path: str, mode: int, flags: int) -> int:
        """Create and open a file; return its descriptor."""
        real = self._real(path)
        try:
            descriptor = self._log.create(real, mode)
        except FileExistsError:
            if flags & os.O_EXCL:
                raise
            return self.open(path, flags)
        with _closing_after_an_error(descriptor):
            self._own(real)
        return self._opened(descriptor, flags)

    def open(self, path: str, flags: int) -> int:
        """Open a file; return its descriptor.

        The log reads what it overwrites, and writes at offsets. So a file for writing is also open for reading, and
        ``O_APPEND`` and ``O_DIRECT`` are left to the kernel.
        """
        is_read = flags & os.O_ACCMODE == os.O_RDONLY
        descriptor = os.open(self._real(path), os.O_RDONLY if is_read else os.O_RDWR)
        if flags & os.O_TRUNC:
            with _closing_after_an_error(descriptor):
                self._log.truncate(descriptor, 0)
        return self._opened(descriptor, flags)

    def read(self, _path: str, size: int, at: int, descriptor: int) -> bytes:
        """Return up to `size` octets from an offset on."""
        return os.pread(descriptor, size, at)

    def write(self, _path: str, octets: bytes, at: int, descriptor: int) -> int:
        """Write octets; return their number."""
        handle = self._after_delay(descriptor)
        written = self._log.write(descriptor, octets, at)
        if handle.is_synchronous:
            self._log.flush(descriptor)
        return written

    def fsync(self, _path: str, _datasync: int, descriptor: int) -> int:
        """Make a file's octets durable."""
        self._after_delay(descriptor)
        self._log.flush(descriptor)
        return 0

    def release(self, _path: str, descriptor: int) -> int:
        """Close a file."""
        del self._handles[descriptor]
        os.close(descriptor)
        return 0

    def truncate(self, path: str, size: int, _descriptor: int | None = None) -> int:
        """Set a file's size."""
        descriptor = os.open(self._real(path), os.O_RDWR)
        try:
            self._log.truncate(descriptor, size)
        finally:
            os.close(descriptor)
        return 0

    def fallocate(self, _path: str, mode: int, at: int, length: int, descriptor: int) -> int:
        """Allocate space, and extend the file to it; refuse the other modes, which a program cannot rely on."""
        if mode:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        self._living(descriptor)
        self._log.allocate(descriptor, at, length)
        return 0

    # --- folders

    def readdir(self, path: str, _descriptor: int) -> Iterator[tuple[str, dict[str, int], int]]:
        """Yield the names in a folder, with their kinds and numbers."""
        real = self._real(path)
        for name in (".", ".."):
            yield name, {"st_mode": 0o40000}, 0
        with os.scandir(real) as entries:
            for entry in entries:
                mode = entry.stat(follow_symlinks=False).st_mode
                yield entry.name, {"st_mode": mode, "st_ino": entry.inode()}, 0

    def fsyncdir(self, _path: str, _datasync: int, _descriptor: int) -> int:
        """Make the changes of folders durable."""
        time.sleep(self.delay_s)  # the disk is slow
        self._log.flush_folder()
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        """Create a folder."""
        real = self._real(path)
        self._log.mkdir(real, mode)
        self._own(real)
        return 0

    def mknod(self, path: str, mode: int, device: int) -> int:
        """Create a named pipe, a socket or a device."""
        real = self._real(path)
        self._log.mknod(real, mode, device)
        self._own(real)
        return 0

    def symlink(self, path: str, target: str) -> int:
        """Create a symbolic link."""
        real = self._real(path)
        self._log.symlink(target, real)
        self._own(real)
        return 0

    def link(self, new: str, path: str) -> int:
        """Give a file a further name."""
        self._log.link(self._real(path), self._real(new))
        return 0

    def rename(self, old: str, new: str) -> int:
        """Rename a file or folder; hide a file that libfuse removes while a process has it open."""
        name = _hidden_name(new)
        if name:
            self._log.hide(self._real(old), name)
        else:
            self._log.rename(self._real(old), self._real(new))
        return 0

    def unlink(self, path: str) -> int:
        """Remove a file."""
        name = _hidden_name(path)
        if name:
            self._log.forget(name)
        else:
            self._log.unlink(self._real(path))
        return 0

    def rmdir(self, path: str) -> int:
        """Remove an empty folder."""
        self._log.rmdir(self._real(path))
        return 0

    # --- attributes

    def getattr(self, path: str, descriptor: int | None = None) -> dict[str, int]:
        """Return the attributes of a file, with times in nanoseconds."""
        status = os.lstat(self._real(path)) if descriptor is None else os.fstat(descriptor)
        attributes = {name: getattr(status, name) for name in _NUMBERS}
        attributes.update((name, getattr(status, f"{name}_ns")) for name in _TIMES)
        return attributes

    def readlink(self, path: str) -> str:
        """Return the text of a symbolic link."""
        return os.readlink(self._real(path))

    def chmod(self, path: str, mode: int) -> int:
        """Set the mode of a file."""
        os.chmod(self._real(path), mode)
        return 0

    def chown(self, path: str, user: int, group: int) -> int:
        """Set the owner of a file; -1 keeps the user or the group."""
        os.chown(self._real(path), user, group, follow_symlinks=False)
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        """Set the times of the last access and the last change, in nanoseconds; None for the present time."""
        real = self._real(path)
        status, now = os.lstat(real), time.time_ns()
        access, change = (
            now if asked == _NOW else former if asked == _OMIT else asked
            for asked, former in zip(times or (_NOW, _NOW), (status.st_atime_ns, status.st_mtime_ns), strict=True)
        )
        os.utime(real, ns=(access, change), follow_symlinks=False)
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        """Return the space of the file system."""
        status = os.statvfs(self._real(path))
        return {name: getattr(status, name) for name in _SPACE}

    # --- internal

    def _real(self, path: str) -> str:
        name = _hidden_name(path)
        return self._log.hidden_path(name) if name else f"{self._content}{path}"

    def _own(self, real: str) -> None:
        """Make the caller the owner of a new file; a folder with the set-group-ID bit passes its group on."""
        user, group, _ = self._caller()
        keeps_group = os.lstat(os.path.dirname(real)).st_mode & 0o2000
        os.chown(real, user, -1 if keeps_group else group, follow_symlinks=False)

    def _opened(self, descriptor: int, flags: int) -> int:
        self._handles[descriptor] = Handle(flags & (os.O_DSYNC | os.O_SYNC) != 0, self._log.ends)
        return descriptor

    def _living(self, descriptor: int) -> Handle:
        """Return an open file; raise `EIO` if the disk has stopped since its opening, because its process is dead."""
        handle = self._handles[descriptor]
        if handle.ends != self._log.ends:
            raise OSError(errno.EIO, "the disk has stopped since this file was opened")
        return handle

    def _after_delay(self, descriptor: int) -> Handle:
        time.sleep(self.delay_s)  # the disk is slow
        return self._living(descriptor)


@contextmanager
def _closing_after_an_error(descriptor: int) -> Generator[None]:
    try:
        yield
    except OSError:
        os.close(descriptor)
        raise


def _hidden_name(path: str) -> str:
    """Return the name that libfuse has given to a removed file; an empty text for another file."""
    name = path.rpartition("/")[2]
    return name if name.startswith(_HIDDEN) else ""
