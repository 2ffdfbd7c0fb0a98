"""The store in a folder: an SQLite database with a write-ahead log, for one queue manager.

Written records wait in memory until a flush.  A flush commits them in one transaction, and returns when the transaction
is on disk.  The wait for the disk is a separate step, so that a second thread can do it (`PartedStore`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from assay_broker.core.records import Record
from assay_broker.stores import Observer, Operation, StoreError, schema
from assay_broker.stores.database import Database
from assay_broker.stores.disk import Disk, SystemDisk
from assay_broker.stores.errors import FullError, GoneError
from assay_broker.stores.folder import Folder
from assay_broker.stores.search import stands_in_file
from assay_broker.stores.slots import Newest
from assay_broker.stores.tables import Row, row_of

LOG_BYTES = 4 << 20
"""The length of the log at which the store copies it into the database, in octets: about 1,000 pages."""
RESERVE_BYTES = 8 << 20
"""The octets that the store leaves free on the disk, for removals and for copying the log."""
_COPIES = 2
"""The number of times that the store writes new data: to the log, and then to the database."""


class SqliteStore:
    """A store in a folder, with an SQLite database.

    Args:
        folder: The folder; created if it does not exist.
        queue_manager: The name of the queue manager whose records the store keeps.
        disk: The disk; None for the disk of this machine.
        log_bytes: The length of a new write-ahead log, in octets; an existing log keeps its length.
        reserve_bytes: The space that the store leaves free on the disk for removals, in octets.

    Raises:
        RefusedError: The folder is in use, or its files are damaged, foreign, read-only or of an unknown version; they
            are left unchanged.
        StoreError: The disk failed.
    """

    def __init__(
        self,
        folder: Path,
        queue_manager: str,
        disk: Disk | None = None,
        *,
        log_bytes: int = LOG_BYTES,
        reserve_bytes: int = RESERVE_BYTES,
    ) -> None:
        self._folder = Folder(folder)
        self._queue_manager = queue_manager
        self._disk = disk or SystemDisk()
        self._reserve = reserve_bytes
        self._written: list[Record] = []
        self._newest: Newest[Row] = Newest()
        self._unsynced: list[Record] = []
        self._flushing: list[Record] = []
        self._adding = 0
        self._free = 0
        self._observers: list[Observer] = []
        self._folder.claim()
        try:
            self._folder.prepare(partial(schema.blank, queue_manager, log_bytes), log_bytes, self._disk.keep)
            self._database: Database | None = self._open()
        except BaseException:  # also on Ctrl-C, because a locked folder cannot be opened again
            self._folder.release(refused=True)
            raise

    @property
    def folder(self) -> Path:
        """The path of the folder."""
        return self._folder.path

    @property
    def trouble(self) -> StoreError | None:
        """The error of the last attempt to reclaim pages or to copy the log into the database; None if it succeeded."""
        return None if self._database is None else self._database.trouble

    def observe(self, observer: Observer) -> None:
        """Call an observer at each write, flush and drop, with the records.

        An observer learns of flushed records only after the disk has flushed the whole write-ahead log; this may be at
        a later flush.
        """
        self._observers.append(observer)

    # the store ---------------------------------------------------------------------------------------------------

    def write(self, records: Sequence[Record]) -> None:
        """Write records to memory, all or none of them, for the next flush.

        Raises:
            FullError: The disk has not enough free space for them.
            GoneError: The folder was deleted.
        """
        rows = [row_of(record) for record in records]
        adding = sum([row.growth for row in rows if row is not None])
        if adding:
            self._take_room(adding)
        add = self._newest.add
        for record, row in zip(records, rows, strict=True):
            add(record, row)
        if self._observers:  # the records are kept for observers only
            self._written += records
            for record in records:
                self._tell("write", (record,))

    def flush(self) -> None:
        """Make all written records durable, in one transaction.

        Raises:
            StoreError: The disk failed; the records are dropped.
        """
        wait = self.begin_flush()
        if wait is None:
            return
        try:
            wait()
        except StoreError as error:
            self.end_flush(error)
            raise
        self.end_flush()

    def begin_flush(self) -> Callable[[], None] | None:
        """Begin a transaction with all written records.

        Returns:
            A function that commits and waits for the disk, and may run on any thread; None if no record was written.

        Raises:
            StoreError: The transaction failed; its records are dropped.
        """
        self._flushing, newest = self._take()
        if not newest:
            return None
        database = self._opened()
        try:
            database.begin(newest)
        except StoreError as error:
            self.end_flush(error)
            raise
        return database.commit

    def end_flush(self, failed: StoreError | None = None) -> None:
        """End a flush; if it has failed, drop also the records that were written during the flush."""
        flushed, self._flushing = self._flushing, []
        if failed is None:
            self._unsynced += flushed
            self._tell_synced()
        else:
            self._tell("drop", (*flushed, *self._take()[0]))

    def drop(self) -> None:
        """Drop all records that were not flushed, and close the files; the next use opens them again."""
        dropped = (*self._unsynced, *self._take()[0])
        self._flushing = []
        self._unsynced = []
        if self._database is not None:
            self._database.abandon()
            self._database = None
        self._disk.crash()
        self._tell("drop", dropped)

    def load(self) -> tuple[Record, ...]:
        """Return the durable records.

        Raises:
            DamagedError: A row was altered by another program.
            StoreError: The files cannot be opened or read.
        """
        return self._opened().load()

    def holds(self, octets: bytes) -> bool:
        """Return whether these octets are anywhere in the folder's files or in records that wait for a flush.

        Args:
            octets: The octets to find; in the database only the first `search.LONGEST` of them count.

        Raises:
            StoreError: The files cannot be read.
        """
        if any(octets in piece for row in self._newest.values() for piece in row.all_octets()):
            return True
        database = self._opened()
        others = (path for path in sorted(self.folder.iterdir()) if path not in self._folder.files)
        return database.holds(octets) or any(stands_in_file(octets, path) for path in others)

    def is_there(self) -> bool:
        """Return whether database and log are still the files that the store opened, without reading their content."""
        try:
            self._folder.check()
        except (GoneError, OSError):  # OSError: a folder above the files can no longer be entered
            return False
        return True

    def close(self) -> None:
        """Copy the log into the database, close the files and unlock the folder.

        Raises:
            StoreError: The disk failed; the flushed records are still in the log.
        """
        database, self._database = self._database, None
        try:
            if database is not None:
                database.close(self._disk.keep)
        finally:
            self._folder.release()

    def abandon(self) -> None:
        """Close the files without writing, and unlock the folder; a kill of the process has the same effect."""
        self._observers.clear()
        self.drop()
        self._folder.release()

    # private methods ---------------------------------------------------------------------------------------------

    def _open(self) -> Database:
        return Database(self._folder, self._queue_manager, self._disk.vfs)

    def _opened(self) -> Database:
        if self._database is None:
            self._database = self._open()
        return self._database

    def _take(self) -> tuple[list[Record], Newest[Row]]:
        taken = self._written, self._newest
        self._written, self._newest = [], Newest()
        self._adding = 0
        return taken

    def _take_room(self, adding: int) -> None:
        if self._adding == 0:  # the store asks for the free space once for each flush
            try:
                self._free = self._disk.free_bytes(self.folder) - self._reserve
            except FileNotFoundError as error:
                raise GoneError(self.folder) from error
        if (self._adding + adding) * _COPIES > self._free:
            raise FullError(self.folder, self._reserve)
        self._adding += adding

    def _tell_synced(self) -> None:
        if self._unsynced and self._disk.synced(self._folder.log):
            flushed, self._unsynced = tuple(self._unsynced), []
            self._tell("flush", flushed)

    def _tell(self, operation: Operation, records: tuple[Record, ...]) -> None:
        for observer in self._observers:
            observer(operation, records)
