"""Opens a database; refuses a damaged, foreign or unknown database, and leaves it unchanged."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import apsw

from assay_broker.stores import schema
from assay_broker.stores.errors import (
    DamagedError,
    DiskError,
    ForeignError,
    FullError,
    InUseError,
    NewerError,
    NoDatabaseError,
    ReadOnlyError,
)
from assay_broker.stores.folder import Folder
from assay_broker.stores.frames import examine

_SYNCHRONOUS = "FULL"
"""SQLite's mode of flushing: FULL flushes every transaction before its commit returns."""


class Opened(NamedTuple):
    """The result of opening a database.

    Args:
        connection: The connection, which has locked the database for itself.
        log_bytes: The length of the log at its creation, in octets.
        broken: Whether a crash has left the log's last transaction incomplete.
    """

    connection: apsw.Connection
    log_bytes: int
    broken: bool


def open_database(folder: Folder, owner: str, vfs: str | None) -> Opened:
    """Open a folder's database.

    Args:
        folder: The folder, in which the files exist.
        owner: The queue manager's name.
        vfs: The name of the VFS through which SQLite uses the disk; None for the system's own.

    Raises:
        RefusedError: The database is damaged, foreign or of an unknown version; it is left unchanged.
        StoreError: The disk failed.
    """
    with reported(folder):
        connection = apsw.Connection(str(folder.database), flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    try:
        with reported(folder):
            _set_up(connection)
            log_bytes, broken = _check(connection, folder, owner)
            _migrate(connection)
            connection.pragma("journal_size_limit", log_bytes)
    except BaseException:  # also on Ctrl-C, because an open connection keeps the file locked
        connection.close()
        raise
    return Opened(connection, log_bytes, broken)


def _set_up(connection: apsw.Connection) -> None:
    # No checkpoint on close, because a refused database must stay unchanged.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    # In exclusive mode SQLite keeps its index of the log in memory, so no index file can be wrong after a crash.
    connection.pragma("locking_mode", "EXCLUSIVE")
    connection.pragma("synchronous", _SYNCHRONOUS)
    connection.wal_autocheckpoint(0)


def _check(connection: apsw.Connection, folder: Folder, owner: str) -> tuple[int, bool]:
    if connection.pragma("application_id") != schema.APPLICATION_ID:
        raise NoDatabaseError(folder.database, "a database of another application")
    version = int(connection.pragma("user_version"))
    if version > schema.VERSION:
        raise NewerError(folder.database, version, schema.VERSION)
    if version != schema.VERSION and version not in schema.MIGRATIONS:
        raise DamagedError(folder.database, f"its schema has version {version}, which never existed")
    if connection.readonly("main"):
        raise DamagedError(folder.database, "its header has been altered")
    meta = _meta(connection, folder)
    log_bytes = int(meta[schema.LOG_BYTES])
    recovered, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
    finding = examine(folder.log, recovered, schema.PAGE_BYTES, log_bytes)
    if finding.fault is not None:
        raise DamagedError(folder.log, finding.fault)
    found = connection.execute("PRAGMA quick_check(1)").get
    if found != "ok":
        raise DamagedError(folder.database, str(found).splitlines()[-1].rstrip("."))
    if meta[schema.OWNER] != owner:
        raise ForeignError(folder.database, meta[schema.OWNER], owner)
    return log_bytes, finding.broken


def _meta(connection: apsw.Connection, folder: Folder) -> Mapping[str, str]:
    """Return the database's metadata by name.

    Raises:
        DamagedError: The metadata was altered, or is not complete.
    """
    meta: dict[str, str] = {}
    for name, value, checksum in connection.execute("SELECT name, value, checksum FROM meta"):
        if not isinstance(value, str) or checksum != schema.checksum(str(name), value.encode()):
            raise DamagedError(folder.database, "its metadata has been altered")
        meta[str(name)] = value
    if not meta.keys() >= schema.SAID:
        raise DamagedError(folder.database, "its metadata is not complete")
    return meta


def _migrate(connection: apsw.Connection) -> None:
    """Migrate an older schema to the current version, one version in each transaction."""
    version = int(connection.pragma("user_version"))
    while version < schema.VERSION:
        with connection:
            for statement in schema.MIGRATIONS[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={version + 1}")
        version += 1


@contextmanager
def reported(folder: Folder) -> Generator[None]:
    """Turn an error of SQLite in this block into a `StoreError`, with a sentence as its text.

    Args:
        folder: The folder of the database.

    Raises:
        StoreError: SQLite raised an error.
    """
    try:
        yield
    except apsw.NotADBError as error:
        raise NoDatabaseError(folder.database, "no SQLite database") from error
    except UnicodeDecodeError as error:  # SQLite does not check that a text is UTF-8
        raise DamagedError(folder.database, "a text in it has been altered") from error
    except (apsw.CorruptError, apsw.SchemaChangeError) as error:
        raise DamagedError(folder.database, str(error)) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise InUseError(folder.path, "") from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError) as error:
        raise ReadOnlyError(folder.database, str(error)) from error
    except apsw.FullError as error:
        raise FullError(folder.path) from error
    except apsw.SQLError as error:
        raise DamagedError(folder.database, f"its schema has been altered: {error}") from error
    except apsw.Error as error:
        raise DiskError(folder.database, str(error) or type(error).__name__) from error
