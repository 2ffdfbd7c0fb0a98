"""The unflushed changes of a folder, and their undoing at a loss of power. This module knows nothing of FUSE.

The semantics are those of a journaling file system such as ext4. Where file systems differ, the module takes the more
lenient choice, so that a loss of power causes no broker to fail that is right on ext4.

| change | durable after | a loss of power before that |
|---|---|---|
| octets of a write, and a size that the write extends | a flush of this file, through any descriptor and under any \
name; an `O_SYNC` or `O_DSYNC` write flushes the file | gives the file its former octets and its former size |
| creation, folder, link, rename, removal | any flush of any file or folder | undoes the change |
| rename over a file, removal of a file | any flush of any file or folder | gives the old file back, with its octets |
| truncation, extension by `ftruncate` or `fallocate` | any flush of any file or folder | gives the file its former \
size and octets |
| mode, owner, times | at once | undoes nothing |

A *flush* is `fsync`, `fdatasync`, `msync` or `fsync` of a folder. Each flush makes all earlier changes of the second,
third and fourth kind durable, because ext4 commits its journal as a whole. If such a change is durable and the octets
of the file are not, the file has its former octets, and zeros where it had none. So a file that a program created,
wrote and renamed without a flush can be empty under its new name.

Not modelled:

- a write of which only a part is lost (a *torn* write);
- octets that a file system has stored without a flush, and octets that reach the disk in another order;
- what ext4 does for programs that forget a flush (``auto_da_alloc``).

The log stores the former octets of each changed block of 4 KiB once (`assay_adapters.disks.content`), in memory, until
the next flush of the file. Each file with unflushed changes takes one descriptor. A removed file stays on the disk
until its removal is durable.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock, get_ident

from msgspec import Struct

from assay_adapters.disks.content import Content

Inode = tuple[int, int]
"""The device and the inode number of a file."""


class _Step(Struct, frozen=True):
    """A change that is not durable.

    Args:
        undo: Undoes the change, if all later changes have been undone.
        removed: The place of a file that the change has removed; None if it has removed none.
    """

    undo: Callable[[], None]
    removed: str | None = None


class _Hidden(Struct, frozen=True):
    """A file that `UndoLog.hide` has removed last.

    Args:
        path: The file's former path.
        commits: The number of commits before the removal.
    """

    path: str
    commits: int


class UndoLog:
    """The unflushed changes of a folder. All changes must be made through this object; any thread may make them.

    Paths are paths of the machine. Each change raises the `OSError` of the system call that it makes.

    Args:
        removed: An empty folder on the same file system as the changed files, for removed files.
    """

    def __init__(self, removed: Path) -> None:
        self.ends = 0
        """The number of calls of `go_on` and `undo`, each of which follows an end of the processes with open files."""
        self._changed_ns = time.monotonic_ns()
        """The time of the last change or flush."""
        self._removed = str(removed)
        self._lock = Lock()
        self._steps: list[_Step] = []
        self._contents: dict[Inode, Content] = {}
        self._held: set[str] = set()
        """The places of hidden files."""
        self._hidden: dict[int, _Hidden] = {}
        """The last hidden file of each thread, unless the thread has made another change since."""
        self._commits = 0
        self._stopped = False
        self._names = count(1)

    @property
    def rest_ms(self) -> float:
        """The time since the last change or flush, in milliseconds."""
        return (time.monotonic_ns() - self._changed_ns) / 1e6

    # --- loss of power

    def stop(self) -> None:
        """Let each change and each flush fail with `EIO` from now on, so that nothing more becomes durable."""
        with self._lock:
            self._stopped = True

    def go_on(self) -> None:
        """Permit changes again, and undo nothing."""
        with self._lock:
            self._begin_again()

    def undo(self) -> None:
        """Undo all changes that are not durable, and permit changes again."""
        with self._lock:
            for content in self._contents.values():
                content.restore()
            while self._steps:
                self._steps.pop().undo()
            for content in self._contents.values():
                content.close()
            self._contents.clear()
            self._held.clear()
            self._hidden.clear()
            for name in os.listdir(self._removed):
                os.unlink(f"{self._removed}/{name}")
            self._begin_again()

    # --- flushes

    def flush(self, descriptor: int) -> None:
        """Make the octets of a file durable, and all changes except the octets of other files.

        Args:
            descriptor: Any descriptor of the file.
        """
        with self._changing():
            content = self._contents.pop(_inode(os.fstat(descriptor)), None)
            if content is not None:
                content.close()
            self._commit()

    def sync(self) -> None:
        """Make all changes durable."""
        with self._changing():
            for content in self._contents.values():
                content.close()
            self._contents.clear()
            self._commit()

    def flush_folder(self) -> None:
        """Make all changes durable except the octets of files."""
        with self._changing():
            self._commit()

    # --- changes of a file's content; each descriptor must be open for reading and writing, without `O_APPEND`

    def write(self, descriptor: int, octets: bytes, at: int) -> int:
        """Write octets at an offset; return the number of octets written."""
        with self._changing():
            self._content(descriptor).keep(at, at + len(octets))
            return os.pwrite(descriptor, octets, at)

    def truncate(self, descriptor: int, size: int) -> None:
        """Set the size of a file, in octets."""
        with self._changing():
            content = self._content(descriptor)
            former, tail = content.size, content.tail(size)
            os.ftruncate(descriptor, size)
            content.resize(size)
            self._add(partial(content.lengthen, former, tail))

    def allocate(self, descriptor: int, at: int, length: int) -> None:
        """Allocate space for octets, and extend the file to them if it is shorter.

        Args:
            descriptor: The file's descriptor.
            at: The offset of the first octet.
            length: The number of octets.
        """
        with self._changing():
            content = self._content(descriptor)
            os.posix_fallocate(descriptor, at, length)
            former = content.size
            if at + length > former:
                content.resize(at + length)
                self._add(partial(content.lengthen, former, ()))

    # --- changes of folders

    def create(self, path: str, mode: int) -> int:
        """Create a file; return its descriptor, open for reading and writing."""
        with self._changing():
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
            self._add(partial(os.unlink, path))
            return descriptor

    def mknod(self, path: str, mode: int, device: int) -> None:
        """Create a file without opening it, a named pipe, a socket or a device."""
        with self._changing():
            os.mknod(path, mode, device)
            self._add(partial(os.unlink, path))

    def symlink(self, target: str, path: str) -> None:
        """Create a symbolic link at `path` with the text `target`."""
        with self._changing():
            os.symlink(target, path)
            self._add(partial(os.unlink, path))

    def link(self, path: str, new: str) -> None:
        """Give a file the further name `new`."""
        with self._changing():
            os.link(path, new, follow_symlinks=False)
            self._add(partial(os.unlink, new))

    def mkdir(self, path: str, mode: int) -> None:
        """Create a folder."""
        with self._changing():
            os.mkdir(path, mode)
            self._add(partial(os.rmdir, path))

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        with self._changing():
            former = os.lstat(path)
            os.rmdir(path)
            self._add(partial(_make_folder, path, former))

    def rename(self, old: str, new: str) -> None:
        """Rename a file or folder, and replace an existing file or an empty folder."""
        with self._changing():
            replaced = _lstat(new)
            place = None
            if replaced is None:
                os.rename(old, new)
                undo = partial(os.rename, new, old)
            elif _inode(replaced) == _inode(os.lstat(old)):
                return  # POSIX: two names of one file both stay
            elif stat.S_ISDIR(replaced.st_mode):
                os.rename(old, new)
                undo = partial(_part_folders, old, new, replaced)
            else:
                place = self._new_place()
                os.link(new, place, follow_symlinks=False)  # so `new` always exists, for reading threads
                try:
                    os.rename(old, new)
                except OSError:
                    os.unlink(place)
                    raise
                undo = partial(_part_files, old, new, place)
            hidden = self._hidden.get(get_ident())
            self._add(undo, place)
            if hidden is not None and hidden.path == new and hidden.commits < self._commits:
                self._commit()  # of this one rename, the removal of the replaced file is durable already

    def unlink(self, path: str) -> None:
        """Remove a name of a file."""
        with self._changing():
            self._remove(path, self._new_place())

    def hide(self, path: str, name: str) -> None:
        """Remove a name of an open file; `hidden_path` is the file's path until `forget`.

        Before libfuse renames a file over an open file, it hides the open file on the same thread.

        Args:
            path: The file's path.
            name: A name that no other hidden file has.
        """
        with self._changing():
            place = self.hidden_path(name)
            self._remove(path, place)
            self._held.add(place)
            self._hidden[get_ident()] = _Hidden(path, self._commits)

    def hidden_path(self, name: str) -> str:
        """Return the path of a hidden file."""
        return f"{self._removed}/{name}"

    def forget(self, name: str) -> None:
        """Note that a hidden file is not open any more. This function also works while the disk is stopped."""
        with self._lock:
            place = self.hidden_path(name)
            if place in self._held:  # after a loss of power, the file does not exist any more
                self._held.remove(place)
                if all(step.removed != place for step in self._steps):
                    self._delete(place)

    # --- internal

    @contextmanager
    def _changing(self) -> Generator[None]:
        with self._lock:
            if self._stopped:
                raise OSError(errno.EIO, "the disk has stopped")
            self._changed_ns = time.monotonic_ns()
            yield

    def _begin_again(self) -> None:
        self.ends += 1
        self._stopped = False

    def _content(self, descriptor: int) -> Content:
        inode = _inode(os.fstat(descriptor))
        content = self._contents.get(inode)
        if content is None:
            content = self._contents[inode] = Content(descriptor)
        return content

    def _add(self, undo: Callable[[], None], removed: str | None = None) -> None:
        self._hidden.pop(get_ident(), None)
        self._steps.append(_Step(undo, removed))

    def _new_place(self) -> str:
        return f"{self._removed}/{next(self._names)}"

    def _remove(self, path: str, place: str) -> None:
        os.rename(path, place)
        self._add(partial(os.rename, place, path), place)

    def _commit(self) -> None:
        self._commits += 1
        steps, self._steps = self._steps, []
        for step in steps:
            if step.removed is not None and step.removed not in self._held:
                self._delete(step.removed)

    def _delete(self, place: str) -> None:
        """Delete a removed file; if it had no other name, its number may belong to a new file later."""
        former = os.lstat(place)
        os.unlink(place)
        if former.st_nlink == 1:
            content = self._contents.pop(_inode(former), None)
            if content is not None:
                content.close()


def _inode(status: os.stat_result) -> Inode:
    return status.st_dev, status.st_ino


def _lstat(path: str) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return os.lstat(path)
    return None


def _make_folder(path: str, former: os.stat_result) -> None:
    os.mkdir(path)
    os.chown(path, former.st_uid, former.st_gid)
    os.chmod(path, stat.S_IMODE(former.st_mode))


def _part_folders(old: str, new: str, former: os.stat_result) -> None:
    """Undo a rename over an empty folder."""
    os.rename(new, old)
    _make_folder(new, former)


def _part_files(old: str, new: str, place: str) -> None:
    """Undo a rename over a file, which is at `place`."""
    os.rename(new, old)
    os.rename(place, new)
