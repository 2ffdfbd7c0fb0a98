"""The folder of a queue manager's store: its lock, the creation of its files, and checks of these files."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IWGRP, S_IWOTH, S_IWUSR

from assay_broker.stores import StoreError, schema
from assay_broker.stores.errors import (
    DamagedError,
    DiskError,
    FullError,
    GoneError,
    InUseError,
    NoDatabaseError,
    ReadOnlyError,
)

DATABASE = "assay.db"
LOG = "assay.db-wal"
LOCK = "assay.lock"
_BEGINNING = "assay.db.new"
_JOURNAL = "assay.db-journal"

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
"""The mode of the store's files: only the owner may read them, because they contain message bodies."""

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_APPLICATION = slice(68, 72)
"""The place of the application id in the header (SQLite file format, 1.3.15)."""
LOG_HEADER_BYTES = 32
"""The length of the log's header, in octets (SQLite file format, 4.1)."""
Keep = Callable[[int], None]
"""A function that flushes a file or a folder, given its descriptor."""

_WRITABLE = S_IWUSR | S_IWGRP | S_IWOTH
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class Folder:
    """The folder of a queue manager's store.

    Args:
        path: The folder's path; `claim` creates a folder that does not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / DATABASE
        self.log = path / LOG
        self.files = (self.database, self.log)
        self._lock_path = path / LOCK
        self._lock: int | None = None
        self._made_lock = False
        self._made_folders: tuple[Path, ...] = ()
        self._identities: dict[Path, tuple[int, int]] = {}

    # lock -----------------------------------------------------------------------------------------------------

    def claim(self) -> None:
        """Create the folder if it does not exist, and lock it for this process.

        Raises:
            NoDatabaseError: The path is not a folder, or the path of one of the store's files is not an ordinary file.
            InUseError: Another process has locked the folder.
            ReadOnlyError: The store may not write to the folder.
            StoreError: The disk failed.
        """
        with told(self.path):
            self._check_kinds()
            self._make()
            self._made_lock = not self._lock_path.exists()
            lock = _opened(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            # SQLite's own lock is not enough: it ends when this process closes any descriptor of the file (fcntl(2)).
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(lock, 100, 0).decode(errors="replace").strip()
            os.close(lock)
            raise InUseError(self.path, holder) from error
        self._lock = lock
        with told(self._lock_path):
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"process {os.getpid()}\n".encode(), 0)

    def release(self, *, refused: bool = False) -> None:
        """Unlock the folder.

        Args:
            refused: Whether the store refused the folder; if so, also remove the lock file and the folders that
                `claim` created.
        """
        if self._lock is not None:
            if refused and self._made_lock:
                self._lock_path.unlink(missing_ok=True)
                with suppress(OSError):  # `rmdir` fails if another program has put a file into the folder
                    for folder in self._made_folders:
                        folder.rmdir()
            os.close(self._lock)
            self._lock = None

    def _check_kinds(self) -> None:
        """Check that the path is a folder, and that the paths of the store's files are ordinary files, if they exist.

        Raises:
            NoDatabaseError: The path is not a folder, or the path of one of the store's files is not an ordinary file.
        """
        for path in (self.path, *self.path.parents):
            if path.exists():
                if not path.is_dir():
                    raise NoDatabaseError(path, "no folder")
                break
        for path in (*self.files, self._lock_path):
            if path.exists() and not path.is_file():
                raise NoDatabaseError(path, "a folder and no file" if path.is_dir() else "no ordinary file")

    def _make(self) -> None:
        missing = [path for path in (self.path, *self.path.parents) if not path.exists()]
        self.path.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
        self._made_folders = tuple(missing)

    # creation and checks of the files ----------------------------------------------------------------------------

    def prepare(self, blank: Callable[[], bytes], log_bytes: int, keep: Keep) -> None:
        """Create the files of a new store, or check existing files without changing them.

        Args:
            blank: Makes the octets of an empty database.
            log_bytes: The length of a new write-ahead log, in octets.
            keep: Flushes a file or a folder, given its descriptor.

        Raises:
            RefusedError: One of the files is missing, damaged or read-only, or does not belong to a store.
            StoreError: The disk failed.
        """
        if not self.database.exists():
            if self.log.exists() and any(_head(self.log)):
                raise DamagedError(self.database, "it is missing, and its log is there")
            self._begin(blank(), log_bytes, keep)
            return
        head = _head(self.database)
        if len(head) < _HEADER_BYTES or not head.startswith(_MAGIC):
            raise NoDatabaseError(self.database, "empty" if not head else "no SQLite database")
        if int.from_bytes(head[_APPLICATION], "big") != schema.APPLICATION_ID:
            raise NoDatabaseError(self.database, "a database of another application")
        if (self.path / _JOURNAL).exists():
            raise NoDatabaseError(self.path / _JOURNAL, "a journal that this store never writes")
        if not self.log.exists():
            raise DamagedError(self.log, "it is missing, and its database is there")
        for path in self.files:
            self._check_writable(path)

    def _begin(self, octets: bytes, log_bytes: int, keep: Keep) -> None:
        """Create the log and the database, so that a crash leaves either no database or a complete one.

        The log has its least length from the start, for two reasons.  The store can then detect that another
        program has cut the log.  On a full disk the store can still write the removals that free space.
        """
        new = self.path / _BEGINNING
        try:
            with told(self.path):
                for path in (new, self.log):  # a crash may have interrupted an earlier start
                    path.unlink(missing_ok=True)
                with open(self.log, "wb", opener=_opened) as log:
                    os.posix_fallocate(log.fileno(), 0, log_bytes)
                    keep(log.fileno())
                with open(new, "wb", opener=_opened) as database:
                    database.write(octets)
                    database.flush()
                    keep(database.fileno())
                new.replace(self.database)
                for folder in (self.path, self.path.parent):
                    _keep_folder(folder, keep)
        except StoreError:
            for path in (new, self.log):
                path.unlink(missing_ok=True)
            raise

    def _check_writable(self, path: Path) -> None:
        """Check that the mode of a file permits writing, because a superuser could open the file in any case.

        Raises:
            ReadOnlyError: The file has no write permission.
        """
        with told(path):
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
            if not path.stat().st_mode & _WRITABLE:
                raise ReadOnlyError(path, "its mode forbids it")

    def void_log(self, keep: Keep) -> None:
        """Make the log's content void, after all of it is in the database.

        Args:
            keep: Flushes a file or a folder, given its descriptor.

        Raises:
            StoreError: The disk failed.
        """
        with told(self.log), self.log.open("r+b") as log:
            log.write(bytes(LOG_HEADER_BYTES))
            log.flush()
            keep(log.fileno())

    # detection of deleted and replaced files --------------------------------------------------------------------------

    def remember(self) -> None:
        """Record the identities (device and inode) of the files, for `check`."""
        self._identities = {path: _identity(path) for path in self.files}

    def check(self) -> None:
        """Check that the files have the identities that `remember` recorded.

        Raises:
            GoneError: A file was deleted or replaced.
        """
        for path, identity in self._identities.items():
            try:
                same = _identity(path) == identity
            except FileNotFoundError:
                same = False
            if not same:
                raise GoneError(path)


@contextmanager
def told(path: Path) -> Generator[None]:
    """Turn an error of the operating system in this block into a `StoreError`, with a sentence as its text.

    Args:
        path: The file or folder that the block uses.

    Raises:
        ReadOnlyError: The store has no permission to write the file or folder.
        FullError: The disk is full.
        DiskError: The system reported any other error.
    """
    try:
        yield
    except OSError as error:
        detail = error.strerror or str(error)
        if error.errno in _READ_ONLY:
            raise ReadOnlyError(path, detail) from error
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise FullError(path) from error
        raise DiskError(path, detail) from error


def _opened(path: str | Path, flags: int) -> int:
    """Open a file and return its descriptor; only the owner can open a file that this call creates."""
    return os.open(path, flags, _FILE_MODE)


def _head(path: Path) -> bytes:
    with told(path), path.open("rb") as file:
        return file.read(_HEADER_BYTES)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _keep_folder(path: Path, keep: Keep) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        keep(folder)
    finally:
        os.close(folder)
