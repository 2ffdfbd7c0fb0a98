"""The open database of a store's folder: its transactions, its write-ahead log, and the reclaiming of free pages."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import apsw
import msgspec

from assay_broker.core.records import Record
from assay_broker.stores import StoreError, schema
from assay_broker.stores.errors import DamagedError
from assay_broker.stores.folder import Folder, Keep
from assay_broker.stores.opening import open_database, reported
from assay_broker.stores.search import pages_of_database, pages_of_log, stands_in_pages
from assay_broker.stores.slots import Newest
from assay_broker.stores.tables import Row, Tables

_FRAME_BYTES = schema.PAGE_BYTES + 24
_FREE_PAGES = 256
_FREE_SHARE = 4
"""Free pages are reclaimed if there are at least `_FREE_PAGES`, and if at least one in `_FREE_SHARE` pages is free."""
_VACUUM_PAGES = 4096
"""The most pages that are reclaimed at once, so that no flush takes long."""


class Database:
    """The open database of a store's folder.

    Args:
        folder: The folder, in which the files exist.
        owner: The queue manager's name.
        vfs: The name of the VFS through which SQLite uses the disk; None for the system's own.

    Raises:
        StoreError: The database cannot be used; its files are left unchanged.
    """

    def __init__(self, folder: Folder, owner: str, vfs: str | None) -> None:
        self._folder = folder
        self._connection, log_bytes, self._doubtful = open_database(folder, owner, vfs)
        self._log_pages = log_bytes // _FRAME_BYTES
        self._pages = 0
        self.trouble: StoreError | None = None
        """The error of the last attempt to reclaim pages or to copy the log into the database; None if it succeeded."""
        try:
            with self._reported():
                self._connection.set_wal_hook(self._logged)
                self._tables = Tables(self._connection)
        except BaseException:  # also on Ctrl-C, because an open connection keeps the file locked
            self._connection.close()
            raise
        folder.remember()

    def _logged(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    # transactions ------------------------------------------------------------------------------------------------

    def begin(self, newest: Newest[Row]) -> None:
        """Begin a transaction, and save the new contents of slots in it; `commit` then makes them durable.

        Args:
            newest: The new contents of the changed slots.

        Raises:
            StoreError: The contents cannot be saved; the transaction is rolled back.
        """
        self._folder.check()
        with self._reported():
            if self._doubtful:
                self._settle_doubt()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._tables.save(newest)
            except BaseException:  # also on Ctrl-C; otherwise the next changes would join this transaction
                self._roll_back()
                raise

    def commit(self) -> None:
        """Commit the transaction; then reclaim free pages and copy a long log into the database.

        Any thread may call this while no other thread uses the database.

        Raises:
            StoreError: The disk failed.  The transaction is rolled back.  But until the next `begin` or `close`, a
                crash can make SQLite treat it as committed (`_settle_doubt`).
        """
        with self._reported():
            self._doubtful = True
            try:
                self._connection.execute("COMMIT")
            except BaseException as error:  # also on Ctrl-C, as in `begin`
                # After any error but a full disk, SQLite may have written the end of the transaction.
                self._doubtful = not isinstance(error, apsw.FullError)
                self._roll_back()
                raise
        self._doubtful = False
        self._tables.saved()
        self._tidy()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _settle_doubt(self) -> None:
        """Restart the log, so that a failed or interrupted transaction cannot return.

        Such a transaction may be complete in the log although its flush failed.  After a crash SQLite would treat it
        as committed.  A restart of the log before the next write makes its old content void.
        """
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        self._connection.execute(f"PRAGMA user_version={schema.VERSION}")
        self._doubtful = False

    # space -------------------------------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """Copy a long log into the database, and reclaim pages after many removals."""
        try:
            with self._reported():
                freed = self._give_back()
                if freed or self._pages >= self._log_pages:
                    self._copy_log()
            self.trouble = None
        except StoreError as error:
            # The transaction is durable in spite of the error.  The next commit tidies again; `trouble` has the error.
            self.trouble = error

    def _give_back(self) -> bool:
        free = int(self._connection.pragma("freelist_count"))
        if free < _FREE_PAGES or free * _FREE_SHARE < int(self._connection.pragma("page_count")):
            return False
        # `fetchall` is needed because SQLite frees one page for each row that is fetched.
        self._connection.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()
        return True

    def _copy_log(self) -> bool:
        """Copy the log into the database; return True if all of it was copied."""
        pages, copied = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._pages = 0
        return pages == copied

    # reading -----------------------------------------------------------------------------------------------------

    def load(self) -> tuple[Record, ...]:
        """Return the committed records.

        Raises:
            DamagedError: A row was altered by another program.
            StoreError: The database cannot be read.
        """
        with self._reported():
            try:
                return tuple(self._tables.load())
            except (ValueError, msgspec.DecodeError) as error:
                raise DamagedError(self._folder.database, str(error)) from error

    def holds(self, octets: bytes) -> bool:
        """Return whether these octets are anywhere in the database's files, also across two pieces of a body.

        Raises:
            StoreError: The files cannot be read.
        """
        with self._reported():
            pages = (*pages_of_database(self._folder.database), *pages_of_log(self._folder.log))
            return stands_in_pages(octets, pages) or any(octets in seam for seam in self._tables.seams(len(octets) - 1))

    # the end -----------------------------------------------------------------------------------------------------

    def close(self, keep: Keep) -> None:
        """Close the database normally: copy the log into the database, and make the log's content void.

        Args:
            keep: Flushes a file, given its descriptor.

        Raises:
            StoreError: The disk failed; the committed records are still in the log.
        """
        try:
            with self._reported():
                if self._doubtful:
                    self._settle_doubt()
                copied = self._copy_log()
        finally:
            self.abandon()
        if copied:
            self._folder.void_log(keep)

    def abandon(self) -> None:
        """Close the files without writing; a kill of the process has the same effect."""
        self._connection.close(True)  # noqa: FBT003 - apsw knows this parameter by its place only

    @contextmanager
    def _reported(self) -> Generator[None]:
        with reported(self._folder):
            yield
