"""A folder's open database: transactions, the write-ahead log, and reclaiming free pages."""

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
"""Free pages are reclaimed if they are `_FREE_PAGES` or more, and one page of this many."""
_VACUUM_PAGES = 4096
"""Pages reclaimed at once, so that no flush takes long."""


class Database:
    """An open database.

    Args:
        folder: The folder, whose files are there.
        owner: The queue manager's name.
        vfs: What SQLite reaches the disk by; None for the system's own way.

    Raises:
        StoreError: It cannot be used; it is left as it is.
    """

    def __init__(self, folder: Folder, owner: str, vfs: str | None) -> None:
        self._folder = folder
        self._connection, log_bytes, self._doubtful = open_database(folder, owner, vfs)
        self._log_pages = log_bytes // _FRAME_BYTES
        self._pages = 0
        self.trouble: StoreError | None = None
        """Why its log could not be copied lately; None if all is well."""
        try:
            with self._reported():
                self._connection.set_wal_hook(self._logged)
                self._tables = Tables(self._connection)
        except BaseException:  # Ctrl-C too: an open connection keeps the file locked
            self._connection.close()
            raise
        folder.remember()

    def _logged(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    # transactions ------------------------------------------------------------------------------------------------

    def begin(self, newest: Newest[Row]) -> None:
        """Apply a change, which `commit` makes durable.

        Args:
            newest: What slots hold from then on.

        Raises:
            StoreError: It cannot be made; nothing of it is there.
        """
        self._folder.check()
        with self._reported():
            if self._doubtful:
                self._settle_doubt()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._tables.save(newest)
            except BaseException:  # Ctrl-C too: a transaction left open would take in the next change
                self._roll_back()
                raise

    def commit(self) -> None:
        """Commit, and reclaim pages. Any thread may call it while no other uses the database.

        Raises:
            StoreError: It cannot be made durable; nothing of it remains, not even after a crash.
        """
        with self._reported():
            self._doubtful = True
            try:
                self._connection.execute("COMMIT")
            except BaseException as error:  # Ctrl-C too, as above
                # On a full disk the end of the transaction was not written. After any other error it may have been.
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
        """Ensure that nothing of a failed or interrupted transaction comes back.

        Its end may be in the log although its flush has failed, and after a crash it would count as committed, or as
        following what is written now.  So the log is restarted, which voids its content, before anything is written.
        """
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        self._connection.execute(f"PRAGMA user_version={schema.VERSION}")
        self._doubtful = False

    # room --------------------------------------------------------------------------------------------------------

    def _tidy(self) -> None:
        """Copy a long log into the database, and reclaim pages after many removals."""
        try:
            with self._reported():
                freed = self._give_back()
                if freed or self._pages >= self._log_pages:
                    self._copy_log()
            self.trouble = None
        except StoreError as error:
            # What was committed is durable all the same; the next time may do better, and the trouble can be seen.
            self.trouble = error

    def _give_back(self) -> bool:
        free = int(self._connection.pragma("freelist_count"))
        if free < _FREE_PAGES or free * _FREE_SHARE < int(self._connection.pragma("page_count")):
            return False
        # Each step of the statement gives one page back.
        self._connection.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()
        return True

    def _copy_log(self) -> bool:
        """Copy the log into the database. Return whether all of it was copied."""
        pages, copied = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._pages = 0
        return pages == copied

    # reading -----------------------------------------------------------------------------------------------------

    def load(self) -> tuple[Record, ...]:
        """Return the committed records.

        Raises:
            DamagedError: A row is not as it was written.
            StoreError: It cannot be read.
        """
        with self._reported():
            try:
                return tuple(self._tables.load())
            except (ValueError, msgspec.DecodeError) as error:
                raise DamagedError(self._folder.database, str(error)) from error

    def holds(self, octets: bytes) -> bool:
        """Whether these octets are anywhere in its files, or across two pieces of a body.

        Raises:
            StoreError: It cannot be read.
        """
        with self._reported():
            pages = (*pages_of_database(self._folder.database), *pages_of_log(self._folder.log))
            return stands_in_pages(octets, pages) or any(octets in seam for seam in self._tables.seams(len(octets) - 1))

    # the end -----------------------------------------------------------------------------------------------------

    def close(self, keep: Keep) -> None:
        """Close in order: the database has everything, and the log is empty.

        Args:
            keep: Flushes a file by its descriptor.

        Raises:
            StoreError: The disk refuses; what was committed is in the log.
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
        """Close as a killed process does, without writing."""
        self._connection.close(True)  # noqa: FBT003 - apsw knows this parameter by its place only

    @contextmanager
    def _reported(self) -> Generator[None]:
        with reported(self._folder):
            yield
