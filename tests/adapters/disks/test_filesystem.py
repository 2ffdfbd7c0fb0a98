"""Tests of a mounted disk: what programs can do with its files, and what a loss of power leaves."""

from __future__ import annotations

import fcntl
import mmap
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.waiting import until

from assay_adapters.disks.filesystem import FileSystem
from assay_adapters.disks.process import Disk
from assay_adapters.disks.undo import UndoLog
from assay_adapters.ports.backend import BackendError

NOBODY = 65534
"""The id of a user without rights."""


def run(program: str, *arguments: object) -> str:
    """Run a Python program that kills itself at its end, as the kit kills a broker; return what it has printed."""
    text = f"import os, signal, sys\n{program}\nsys.stdout.flush()\nos.kill(os.getpid(), signal.SIGKILL)"
    command = [sys.executable, "-c", text, *map(str, arguments)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)  # noqa: S603 - ours
    assert (ended.returncode, ended.stderr) == (-signal.SIGKILL, "")
    return ended.stdout


def write(path: Path, octets: bytes, flags: int = 0, *, flush: bool = False) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flags)
    os.write(descriptor, octets)
    if flush:
        os.fsync(descriptor)
    os.close(descriptor)


def contents(disk: Disk) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in disk.path.iterdir()}


# --- loss of power ---------------------------------------------------------------------------------------------------

COMMITS = """
import sqlite3
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA journal_mode = " + sys.argv[2])
database.execute("PRAGMA synchronous = " + sys.argv[3])
database.execute("CREATE TABLE IF NOT EXISTS numbers (n INTEGER)")
first = database.execute("SELECT count(*) FROM numbers").fetchone()[0]
for n in range(first, first + 20):
    database.execute("INSERT INTO numbers VALUES (?)", (n,))
print(first + 20)
"""


def rows(path: Path) -> int:
    database = sqlite3.connect(path)
    try:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return len(database.execute("SELECT n FROM numbers").fetchall())
    finally:
        database.close()


@pytest.mark.parametrize(
    ("journal", "synchronous"), [("DELETE", "EXTRA"), ("WAL", "FULL"), ("TRUNCATE", "FULL"), ("PERSIST", "FULL")]
)
def test_sqlite_with_flushes_loses_no_commit(disk: Disk, journal: str, synchronous: str) -> None:
    path = disk.path / "numbers.db"
    for round_ in range(1, 4):
        assert run(COMMITS, path, journal, synchronous) == f"{20 * round_}\n"
        disk.lose_power()
        assert rows(path) == 20 * round_


def test_sqlite_loses_the_last_commit_if_it_does_not_flush_the_removal_of_its_journal(disk: Disk) -> None:
    # SQLite documents this: only EXTRA flushes the folder after a commit in the mode DELETE (PRAGMA synchronous).
    path = disk.path / "numbers.db"
    run(COMMITS, path, "DELETE", "FULL")
    disk.lose_power()
    assert rows(path) == 19


def test_sqlite_without_flushes_loses_everything(disk: Disk) -> None:
    assert run(COMMITS, disk.path / "numbers.db", "DELETE", "OFF") == "20\n"
    assert (disk.path / "numbers.db").stat().st_size > 0
    disk.lose_power()
    assert contents(disk) == {}


def test_a_kill_alone_loses_nothing(disk: Disk) -> None:
    path = disk.path / "numbers.db"
    run(COMMITS, path, "DELETE", "OFF")
    assert rows(path) == 20


def test_a_rename_without_a_flush_is_undone(disk: Disk) -> None:
    write(disk.path / "name", b"old", flush=True)
    write(disk.path / "new", b"new", flush=True)
    (disk.path / "new").rename(disk.path / "name")
    assert (disk.path / "name").read_bytes() == b"new"
    disk.lose_power()
    assert (disk.path / "name").read_bytes() == b"old"
    assert (disk.path / "new").read_bytes() == b"new"


def test_a_rename_with_a_flush_of_the_folder_stays(disk: Disk) -> None:
    write(disk.path / "name", b"old", flush=True)
    write(disk.path / "new", b"new", flush=True)
    with (disk.path / "name").open("rb") as reader:  # so libfuse hides the old file
        (disk.path / "new").rename(disk.path / "name")
        folder = os.open(disk.path, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        assert reader.read() == b"old"
    disk.lose_power()
    assert contents(disk) == {"name": b"new"}


def test_a_removal_without_a_flush_is_undone(disk: Disk) -> None:
    write(disk.path / "file", b"octets", flush=True)
    write(disk.path / "open", b"octets", flush=True)
    with (disk.path / "open").open("rb") as reader:
        (disk.path / "file").unlink()
        (disk.path / "open").unlink()
        assert not (disk.path / "file").exists()
        assert contents(disk) == {}
        assert os.fstat(reader.fileno()).st_size == 6
    disk.lose_power()
    assert (disk.path / "file").exists()
    assert contents(disk) == {"file": b"octets", "open": b"octets"}


def test_a_mapped_file_keeps_what_was_flushed(disk: Disk) -> None:
    write(disk.path / "mapped", bytes(3 * mmap.PAGESIZE), flush=True)
    program = """
import mmap
descriptor = os.open(sys.argv[1], os.O_RDWR)
mapped = mmap.mmap(descriptor, 0)
os.close(descriptor)
mapped[0:7] = b"flushed"
mapped.flush()
mapped[mmap.PAGESIZE : mmap.PAGESIZE + 4] = b"lost"
"""
    run(program, disk.path / "mapped")
    assert (disk.path / "mapped").read_bytes()[mmap.PAGESIZE :].startswith(b"lost")
    disk.lose_power()
    assert (disk.path / "mapped").read_bytes() == b"flushed".ljust(3 * mmap.PAGESIZE, b"\0")


@pytest.mark.parametrize(("flags", "left"), [(os.O_DSYNC, b"octets"), (os.O_SYNC, b"octets"), (0, None)])
def test_a_synchronous_write_is_a_flush(disk: Disk, flags: int, left: bytes | None) -> None:
    write(disk.path / "file", b"octets", flags)
    disk.lose_power()
    found = (disk.path / "file").read_bytes() if (disk.path / "file").exists() else None
    assert found == left


@pytest.mark.parametrize(("flags", "left"), [(os.O_DSYNC, b"new"), (0, b"old")])
def test_a_synchronous_write_is_a_flush_if_the_kernel_sends_none(tmp_path: Path, flags: int, left: bytes) -> None:
    (tmp_path / "removed").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    log = UndoLog(tmp_path / "removed")
    system = FileSystem(tmp_path, log, lambda: (0, 0, 0), lambda: None)
    descriptor = system.open("/file", os.O_WRONLY | flags)
    system.write("/file", b"new", 0, descriptor)
    log.undo()
    system.release("/file", descriptor)
    assert (tmp_path / "file").read_bytes() == left


def test_a_flush_through_another_descriptor_counts(disk: Disk) -> None:
    with (disk.path / "file").open("wb", buffering=0) as writer, (disk.path / "file").open("rb") as other:
        writer.write(b"octets")
        os.fdatasync(other.fileno())
        writer.write(b" lost")
        assert other.read() == b"octets lost"
    disk.lose_power()
    assert (disk.path / "file").read_bytes() == b"octets"


def test_truncations_and_extensions_are_undone(disk: Disk) -> None:
    for name in ("open", "path", "descriptor", "longer", "allocated"):
        write(disk.path / name, b"octets", flush=True)
    write(disk.path / "open", b"n", os.O_TRUNC)
    os.truncate(disk.path / "path", 2)
    for name, size in (("descriptor", 3), ("longer", 9)):
        with (disk.path / name).open("r+b") as file:
            os.ftruncate(file.fileno(), size)
    with (disk.path / "allocated").open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, 5_000)
    sizes = {path.name: path.stat().st_size for path in disk.path.iterdir()}
    assert sizes == {"open": 1, "path": 2, "descriptor": 3, "longer": 9, "allocated": 5_000}
    disk.lose_power()
    assert [path.read_bytes() for path in disk.path.iterdir()] == [b"octets"] * 5


def test_the_disk_remembers_nothing_of_a_file_that_was_lost(disk: Disk) -> None:
    write(disk.path / "file", b"durable", flush=True)
    write(disk.path / "file", b"changed octets")
    write(disk.path / "other", b"octets")
    assert (disk.path / "file").read_bytes() == b"changed octets"
    disk.lose_power()
    assert (disk.path / "file").stat().st_size == 7
    assert (disk.path / "file").read_bytes() == b"durable"
    assert not (disk.path / "other").exists()
    write(disk.path / "other", b"new", flush=True)
    disk.lose_power()
    assert (disk.path / "other").read_bytes() == b"new"


def test_a_file_that_was_opened_before_a_loss_cannot_be_changed(disk: Disk) -> None:
    with (disk.path / "file").open("w+b", buffering=0) as file:
        file.write(b"octets")
        os.fsync(file.fileno())
        disk.lose_power()
        for change in (lambda: file.write(b"new"), lambda: os.fsync(file.fileno())):
            with pytest.raises(OSError, match=r"\[Errno 5\]"):
                change()
    assert (disk.path / "file").read_bytes() == b"octets"


def test_after_a_stop_nothing_becomes_durable(disk: Disk) -> None:
    write(disk.path / "file", b"durable", flush=True)
    file = os.open(disk.path / "file", os.O_RDWR)
    os.pwrite(file, b"changed", 0)
    disk.stop()
    for change in (lambda: os.fsync(file), lambda: os.pwrite(file, b"x", 0), (disk.path / "new").touch):
        with pytest.raises(OSError, match=r"\[Errno 5\]"):
            change()
    os.close(file)
    disk.lose_power()
    assert (disk.path / "file").read_bytes() == b"durable"
    write(disk.path / "file", b"again", flush=True)


def test_a_slow_flush_that_a_stop_interrupts_is_not_durable(disk: Disk) -> None:
    write(disk.path / "file", b"durable", flush=True)
    file = os.open(disk.path / "file", os.O_RDWR)
    os.pwrite(file, b"changed", 0)
    disk.slow(1_000)
    with ThreadPoolExecutor(1) as pool:
        flush = pool.submit(os.fsync, file)
        disk.stop()
        assert isinstance(flush.exception(), OSError)
    os.close(file)
    disk.lose_power()
    assert (disk.path / "file").read_bytes() == b"durable"


def test_a_kill_keeps_what_was_written_and_drops_what_was_being_written(disk: Disk) -> None:
    file = os.open(disk.path / "file", os.O_RDWR | os.O_CREAT)
    os.pwrite(file, b"kept", 0)
    disk.slow(1_000)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(os.pwrite, file, b"late", 0)
        disk.stop()
        disk.go_on()
        assert isinstance(late.exception(), OSError)
    os.close(file)
    disk.slow(0)
    assert (disk.path / "file").read_bytes() == b"kept"
    write(disk.path / "file", b"again", flush=True)
    disk.lose_power()
    assert (disk.path / "file").read_bytes() == b"again"


def test_a_sync_makes_everything_durable(disk: Disk) -> None:
    write(disk.path / "file", b"octets")
    write(disk.path / "old", b"renamed")
    (disk.path / "old").rename(disk.path / "new")
    disk.sync()
    write(disk.path / "file", b"later!")
    disk.lose_power()
    assert {path.name: path.read_bytes() for path in disk.path.iterdir()} == {"file": b"octets", "new": b"renamed"}


# --- slowness --------------------------------------------------------------------------------------------------------


def test_a_slow_disk_delays_writes_and_flushes(disk: Disk) -> None:
    disk.slow(20)
    with (disk.path / "file").open("wb", buffering=0) as file:
        start = time.monotonic()
        for _ in range(20):
            os.fsync(file.fileno())
        assert time.monotonic() - start >= 0.4
        start = time.monotonic()
        for _ in range(20):
            file.write(b"octets")
        assert time.monotonic() - start >= 0.4
    folder = os.open(disk.path, os.O_RDONLY)
    start = time.monotonic()
    os.fsync(folder)
    assert time.monotonic() - start >= 0.02
    os.close(folder)


def test_a_disk_says_how_long_it_has_rested(disk: Disk) -> None:
    before = time.monotonic()
    write(disk.path / "file", b"octets")
    assert disk.rest_ms <= (time.monotonic() - before) * 1_000
    until(lambda: disk.rest_ms > 50, "the disk rests")
    write(disk.path / "file", b"octets", flush=True)
    assert disk.rest_ms <= (time.monotonic() - before) * 1_000 - 50


# --- what programs can do with files ---------------------------------------------------------------------------------


def test_a_locked_file_is_locked_for_other_processes(disk: Disk) -> None:
    program = """
import fcntl
file = open(sys.argv[1], "r+b")
for lock in (fcntl.lockf, fcntl.flock):
    try:
        lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("free")
    except BlockingIOError:
        print("locked")
"""
    write(disk.path / "lock", b"")
    with (disk.path / "lock").open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        fcntl.flock(file, fcntl.LOCK_EX)
        assert run(program, disk.path / "lock") == "locked\nlocked\n"
    assert run(program, disk.path / "lock") == "free\nfree\n"


def test_other_users_own_their_files_and_cannot_change_those_of_root(disk: Disk) -> None:
    (disk.path / "theirs").mkdir()
    os.chown(disk.path / "theirs", NOBODY, NOBODY)
    write(disk.path / "ours", b"octets")
    program = f"""
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
os.umask(0o005)
os.mkdir(sys.argv[1] + "/theirs/folder")
open(sys.argv[1] + "/theirs/folder/file", "w").close()
os.symlink("file", sys.argv[1] + "/theirs/folder/link")
try:
    open(sys.argv[1] + "/ours", "a")
except PermissionError:
    print("refused")
"""
    (disk.path / "ours").chmod(0o644)
    disk.path.parent.chmod(0o711)
    assert run(program, disk.path) == "refused\n"
    for name, mode in (("folder", 0o772), ("folder/file", 0o662)):
        status = (disk.path / "theirs" / name).stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (NOBODY, NOBODY, mode)
    assert (disk.path / "theirs/folder/link").lstat().st_uid == NOBODY
    assert (disk.path / "theirs/folder/link").readlink() == Path("file")


def test_links_pipes_times_and_space(disk: Disk) -> None:
    path = disk.path / "file"
    write(path, b"octets")
    os.link(path, disk.path / "link")
    assert path.stat().st_nlink == 2
    assert path.stat().st_ino == (disk.path / "link").stat().st_ino
    os.utime(path, ns=(1_000_000_001, 2_000_000_002))
    assert (path.stat().st_atime_ns, path.stat().st_mtime_ns) == (1_000_000_001, 2_000_000_002)
    os.utime(path)
    assert path.stat().st_mtime_ns > 2_000_000_002
    os.mkfifo(disk.path / "pipe")
    assert sorted(path.name for path in disk.path.iterdir()) == ["file", "link", "pipe"]
    (disk.path / "folder").mkdir()
    (disk.path / "folder").rmdir()
    assert os.statvfs(disk.path).f_bavail > 0


def test_programs_append_and_write_past_the_caches(disk: Disk) -> None:
    path = disk.path / "file"
    write(path, b"one ")
    write(path, b"two", os.O_APPEND)
    write(path, b"X", os.O_DIRECT)
    assert path.read_bytes() == b"Xne two"


def test_refused_calls_report_the_error_of_the_system(disk: Disk) -> None:
    with pytest.raises(FileNotFoundError):
        (disk.path / "absent").read_bytes()
    (disk.path / "folder").mkdir()
    (disk.path / "folder/file").touch()
    with pytest.raises(OSError, match="not empty"):
        (disk.path / "folder").rmdir()
    with pytest.raises(FileExistsError):
        (disk.path / "folder").mkdir()


def test_many_threads_use_the_disk_at_once(disk: Disk) -> None:
    def work(number: int) -> bool:
        path = disk.path / str(number)
        for octet in range(20):
            write(path, bytes([octet]) * 10_000, flush=octet % 2 == 0)
            path.rename(path.with_suffix(".new"))
            path.with_suffix(".new").rename(path)
        return path.read_bytes() == bytes([19]) * 10_000

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    write(disk.path / "last", b"", flush=True)
    disk.lose_power()
    assert {path.read_bytes() for path in disk.path.glob("?")} == {bytes([18]) * 10_000}


# --- orders ----------------------------------------------------------------------------------------------------------


def test_an_order_to_a_disk_that_was_not_started_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="has not been started"):
        Disk(tmp_path).slow(1)
