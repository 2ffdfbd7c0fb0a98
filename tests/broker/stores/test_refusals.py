"""Tests of folders that the store refuses; it never changes their files."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.broker.stores.samples import LOG_BYTES, filled, kept, keys, opened, stored

from assay_broker.stores import StoreError, schema
from assay_broker.stores.errors import (
    DamagedError,
    ForeignError,
    InUseError,
    NewerError,
    NoDatabaseError,
    ReadOnlyError,
    RefusedError,
)

DATABASE, LOG = "assay.db", "assay.db-wal"
FRAME = 24 + schema.PAGE_BYTES


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@contextmanager
def left_as_it_is(folder: Path) -> Iterator[None]:
    before = files(folder)
    yield
    assert files(folder) == before


def read(folder: Path, name: str) -> None:
    store = opened(folder, name=name)
    try:
        kept(store)
    finally:
        store.abandon()
        (folder / "assay.lock").unlink()


def refused(folder: Path, kind: type[StoreError], match: str, name: str = "QM") -> None:
    """Check that the store refuses a folder in one sentence that names the file."""
    (folder / "assay.lock").unlink(missing_ok=True)
    with left_as_it_is(folder), pytest.raises(kind, match=match) as caught:
        read(folder, name)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(folder) in sentence
    assert sentence.endswith(".")


def flip(path: Path, at: int, bit: int = 0) -> None:
    octets = bytearray(path.read_bytes())
    octets[at] ^= 1 << bit
    path.write_bytes(octets)


@pytest.mark.parametrize("length", [1, 50, 99, 2_000, 4_096, 10_000])
def test_a_database_that_was_cut_is_refused(tmp_path: Path, length: int) -> None:
    filled(tmp_path)
    os.truncate(tmp_path / DATABASE, length)
    refused(tmp_path, RefusedError, DATABASE)


def test_an_empty_database_is_refused_and_its_log_is_kept(tmp_path: Path) -> None:
    filled(tmp_path, orderly=False)
    os.truncate(tmp_path / DATABASE, 0)
    refused(tmp_path, NoDatabaseError, r"assay\.db is empty; give the queue manager a folder of its own")


def test_a_database_that_is_missing_is_refused_while_its_log_is_there(tmp_path: Path) -> None:
    filled(tmp_path, orderly=False)
    (tmp_path / DATABASE).unlink()
    refused(tmp_path, DamagedError, r"assay\.db is damaged \(it is missing, and its log is there\)")


def test_a_log_that_is_missing_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, orderly=False)
    (tmp_path / LOG).unlink()
    refused(tmp_path, DamagedError, r"assay\.db-wal is damaged \(it is missing, and its database is there\)")


@pytest.mark.parametrize("length", [0, 10, 32, 3 * FRAME, 32 + 3 * FRAME, LOG_BYTES - 1])
def test_a_log_that_was_cut_is_refused_wherever_it_was_cut(tmp_path: Path, length: int) -> None:
    filled(tmp_path, orderly=False)
    os.truncate(tmp_path / LOG, length)
    refused(tmp_path, DamagedError, rf"assay\.db-wal is damaged \(it has been cut to {length} bytes\)")


@pytest.mark.parametrize("at", [0, 6, 13, 17, 25], ids=["magic", "format", "sequence", "salt", "checksum"])
def test_a_log_whose_header_was_altered_is_refused(tmp_path: Path, at: int) -> None:
    filled(tmp_path, orderly=False)
    flip(tmp_path / LOG, at)
    refused(tmp_path, DamagedError, "its header has been altered")


@pytest.mark.parametrize("at", [2, 9, 17, 24 + 100], ids=["page", "salt", "checksum", "content"])
def test_a_log_that_was_altered_in_its_middle_is_refused_since_what_follows_was_promised(
    tmp_path: Path, at: int
) -> None:
    filled(tmp_path, orderly=False)
    flip(tmp_path / LOG, 32 + 2 * FRAME + at)
    refused(tmp_path, DamagedError, "frame 3 or one soon after has been altered, and later transactions follow")


def test_a_last_transaction_in_pieces_is_what_a_crash_leaves_and_is_no_damage(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for key in range(1, 4):
        store.write([stored(key)])
        store.flush()
    store.abandon()
    frames = (tmp_path / LOG).read_bytes()
    last = max(
        index for index in range((len(frames) - 32) // FRAME) if any(frames[32 + index * FRAME : 56 + index * FRAME])
    )
    flip(tmp_path / LOG, 32 + last * FRAME + 500)
    store = opened(tmp_path)
    assert keys(store) == [1, 2]
    store.write([stored(4)])
    store.flush()
    store.drop()
    assert keys(store) == [1, 2, 4]
    store.close()


def test_a_body_that_was_altered_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    octets = (tmp_path / DATABASE).read_bytes()
    (tmp_path / DATABASE).write_bytes(octets.replace(b"body 7 ", b"bode 7 "))
    refused(tmp_path, DamagedError, "message 7 has been altered")


def test_a_text_that_is_none_any_more_is_damage(tmp_path: Path) -> None:
    filled(tmp_path)
    flip(tmp_path / DATABASE, (tmp_path / DATABASE).read_bytes().index(b"queue manager"), 7)
    refused(tmp_path, DamagedError, "a text in it has been altered")


@pytest.fixture(scope="module", params=[True, False], ids=["ended", "killed"])
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original")
    filled(folder, orderly=request.param)
    return folder


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.floats(0, 1, exclude_max=True),
    header=st.booleans(),
    bit=st.integers(0, 7),
    name=st.sampled_from([DATABASE, LOG]),
)
def test_whichever_bit_is_flipped_nothing_is_silently_lost_altered_or_invented(
    original: Path, tmp_path: Path, *, place: float, header: bool, bit: int, name: str
) -> None:
    folder = tmp_path / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(original, folder)
    at = int(place * (100 if header else (folder / name).stat().st_size))
    flip(folder / name, at, bit)
    (folder / "assay.lock").unlink()
    before = files(folder)
    try:
        store = opened(folder)
    except RefusedError:
        assert files(folder) == before
        return
    try:
        found = kept(store)
    except DamagedError:
        found = None
    store.abandon()
    whole = tuple(stored(key, f"body {key} " * 20) for key in range(1, 21))
    # Damage to the last write may look like a flush that a crash has interrupted.
    assert found in [None, whole, whole[:-1] if name == LOG else whole]


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("PRAGMA user_version=7")
    other.close()
    (tmp_path / LOG).write_bytes(bytes(LOG_BYTES))
    refused(tmp_path, NewerError, "has version 7 of the schema, and this broker knows versions up to 1; start")


def test_a_version_that_never_was_is_damage(tmp_path: Path) -> None:
    filled(tmp_path)
    flip(tmp_path / DATABASE, 63)
    refused(tmp_path, DamagedError, "its schema has version 0, which never existed")


@pytest.mark.parametrize("octets", [b"", b"#!/bin/sh\n", bytes(5_000), b"SQLite format 3\x00"], ids=len)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, octets: bytes) -> None:
    (tmp_path / DATABASE).write_bytes(octets)
    refused(tmp_path, NoDatabaseError, r"assay\.db is (empty|no SQLite database); give the queue manager a folder")


def test_another_applications_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE t (x)")
    other.close()
    (tmp_path / LOG).touch()
    refused(tmp_path, NoDatabaseError, "a database of another application")


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_another_applications_database_is_no_damage_of_ours_without_a_log(tmp_path: Path, mode: str) -> None:
    with sqlite3.connect(tmp_path / DATABASE) as other:
        other.execute(f"PRAGMA journal_mode={mode}")
        other.execute("CREATE TABLE t (x)")
    other.close()
    (tmp_path / LOG).unlink(missing_ok=True)
    refused(tmp_path, NoDatabaseError, "a database of another application")


@pytest.mark.parametrize("name", [DATABASE, LOG, "assay.lock"])
def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(NoDatabaseError, match=rf"{name} is a folder and no file; give the queue manager a folder"):
        opened(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("inside", ["", "qm", "qm/data"])
def test_a_file_in_the_folders_place_is_named(tmp_path: Path, inside: str) -> None:
    (tmp_path / "af").write_text("mine")
    with pytest.raises(NoDatabaseError, match="af is no folder; give the queue manager a folder of its own"):
        opened(tmp_path / "af" / inside)
    assert (tmp_path / "af").read_text() == "mine"


def test_a_folder_of_another_queue_manager_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    refused(tmp_path, ForeignError, "belongs to queue manager QM, not to OTHER; give OTHER a folder", name="OTHER")


def test_a_journal_of_somebody_else_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "assay.db-journal").write_bytes(b"x")
    refused(tmp_path, NoDatabaseError, "assay.db-journal is a journal that this store never writes")


@pytest.mark.parametrize("name", [DATABASE, LOG])
def test_a_file_that_nobody_may_write_is_refused_whoever_asks(tmp_path: Path, name: str) -> None:
    filled(tmp_path)
    (tmp_path / name).chmod(0o444)
    refused(tmp_path, ReadOnlyError, rf"{name} cannot be written to \(.*\); make it writable")


@pytest.mark.parametrize(
    ("number", "match"),
    [
        (errno.EROFS, "cannot be written to"),
        (errno.EPERM, "cannot be written to"),
        (errno.ENOSPC, "is full"),
        (errno.EIO, "check the disk"),
    ],
    ids=lambda value: errno.errorcode.get(value, "") if isinstance(value, int) else "",
)
def test_a_folder_that_cannot_be_begun_is_refused_and_nothing_of_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, match: str
) -> None:
    replace = Path.replace

    def fails(path: Path, target: Path) -> Path:
        if target.name == DATABASE:
            raise OSError(number, os.strerror(number))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(StoreError, match=match):
        opened(tmp_path)
    assert files(tmp_path) == {}
    with pytest.raises(StoreError, match=match):
        opened(tmp_path / "some" / "where")
    assert not (tmp_path / "some").exists()
    monkeypatch.undo()
    opened(tmp_path).close()


def test_a_second_opener_in_the_same_process_is_refused(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(InUseError, match=rf"is in use by process {os.getpid()}; stop that process first"):
        opened(tmp_path)
    first.write([stored(1)])
    first.flush()
    first.close()
    opened(tmp_path).close()


def test_a_second_process_is_refused_and_the_first_one_is_not_disturbed(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.write([stored(1)])
    first.flush()
    assert first.holds(b"body")  # reading the files must not release the lock
    program = (
        "import sys; from pathlib import Path; from assay_broker.stores.sqlite import SqliteStore; "
        "SqliteStore(Path(sys.argv[1]), 'QM')"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with left_as_it_is(tmp_path):
        done = subprocess.run(  # noqa: S603 - our own interpreter, our own words
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, env=environment, check=False
        )
    assert f"InUseError: {tmp_path} is in use by process {os.getpid()}; stop that process first" in done.stderr.replace(
        "assay_broker.stores.errors.", ""
    )
    first.write([stored(2)])
    first.flush()
    first.drop()
    assert keys(first) == [1, 2]
    first.close()


def test_another_application_cannot_write_to_a_database_in_use(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write([stored(1)])
    store.flush()
    assert store.holds(b"body")
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('DELETE FROM message')"
    done = subprocess.run(  # noqa: S603 - our own interpreter, our own words
        [sys.executable, "-c", program, str(tmp_path / DATABASE)], capture_output=True, text=True, check=False
    )
    assert "database is locked" in done.stderr
    store.close()


# versions --------------------------------------------------------------------------------------------------------


def test_an_older_schema_is_brought_up_to_date_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    monkeypatch.setattr(schema, "VERSION", 3)
    monkeypatch.setattr(
        schema,
        "MIGRATIONS",
        MappingProxyType({1: ("CREATE TABLE two (x)",), 2: ("INSERT INTO two VALUES (2)", "DROP TABLE two")}),
    )
    store = opened(tmp_path)
    assert keys(store) == list(range(1, 21))
    store.close()
    with sqlite3.connect(tmp_path / DATABASE) as other:
        assert other.execute("PRAGMA user_version").fetchall() == [(3,)]
    other.close()


def test_a_migration_that_fails_leaves_the_schema_that_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", 2)
        patch.setattr(
            schema, "MIGRATIONS", MappingProxyType({1: ("CREATE TABLE two (x)", "DROP TABLE message, three")})
        )
        with pytest.raises(DamagedError):
            opened(tmp_path)
    store = opened(tmp_path)
    assert keys(store) == list(range(1, 21))
    store.close()


def test_every_older_version_has_its_migration() -> None:
    assert sorted(schema.MIGRATIONS) == list(range(1, schema.VERSION))


def test_what_two_crashes_leave_in_pieces_is_no_damage_either(tmp_path: Path) -> None:
    """In the log, a short incomplete transaction is followed by the rest of a longer one, which has a complete end."""
    log = tmp_path / LOG
    for key, pieces in ((1, 8), (2, 1)):
        store = opened(tmp_path)
        store.write([stored(key)])
        store.flush()
        before = log.read_bytes()
        store.write([stored(key + 10, b"x" * schema.PAGE_BYTES * pieces)])
        store.flush()
        store.abandon()
        after = log.read_bytes()
        first = next(at for at in range(32, len(after), FRAME) if after[at : at + FRAME] != before[at : at + FRAME])
        flip(log, first + 100)
    store = opened(tmp_path)
    assert keys(store) == [1, 2]
    store.close()
