from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from tests.broker.stores.samples import kept, keys, opened, stored

from assay_broker.core.records import MessageRemoved, Record, RetainedSet
from assay_broker.stores import StoreError
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.watched import WatchedDisk
from assay_sdk.model.message import Address, AddressKind, Message


@pytest.fixture
def disk() -> Iterator[WatchedDisk]:
    made = WatchedDisk(through=False)
    yield made
    made.close()


def connected(disk: WatchedDisk, path: Path, synchronous: str = "FULL") -> apsw.Connection:
    connection = apsw.Connection(str(path), vfs=disk.vfs)
    connection.pragma("journal_mode", "DELETE")
    connection.pragma("synchronous", synchronous)
    connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
    return connection


def rows(path: Path) -> list[int]:
    connection = apsw.Connection(str(path))
    found = [int(x) for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]
    connection.close()
    return found


def test_a_crash_takes_back_what_was_not_flushed(disk: WatchedDisk, tmp_path: Path) -> None:
    connection = connected(disk, tmp_path / "t.db")
    connection.execute("INSERT INTO t VALUES (1)")
    assert disk.synced(tmp_path / "t.db")
    connection.pragma("synchronous", "OFF")
    connection.execute("INSERT INTO t VALUES (2)")
    assert not disk.synced(tmp_path / "t.db")
    connection.close()
    assert rows(tmp_path / "t.db") == [1, 2]
    disk.crash()
    assert rows(tmp_path / "t.db") == [1]
    assert disk.synced(tmp_path / "t.db")


def test_a_loss_of_power_takes_back_what_was_not_flushed_while_the_files_are_open(
    disk: WatchedDisk, tmp_path: Path
) -> None:
    connection = connected(disk, tmp_path / "t.db")
    connection.execute("INSERT INTO t VALUES (1)")
    connection.pragma("synchronous", "OFF")
    connection.execute("INSERT INTO t VALUES (2)")
    disk.lose_power()
    assert disk.lock.locked()  # so no other thread can write now
    assert rows(tmp_path / "t.db") == [1]
    disk.lock.release()
    connection.close()


def test_flushes_are_counted_and_seen_before_they_happen(disk: WatchedDisk, tmp_path: Path) -> None:
    connection = connected(disk, tmp_path / "t.db")
    before = disk.syncs["t.db"]
    seen: list[tuple[str, int]] = []
    disk.before_sync.append(lambda path: seen.append((path.name, disk.syncs[path.name])))
    connection.execute("INSERT INTO t VALUES (1)")
    assert ("t.db", before) in seen
    assert disk.syncs["t.db"] == before + 1
    connection.close()


def test_it_fails_as_often_as_it_is_told(disk: WatchedDisk, tmp_path: Path) -> None:
    connection = connected(disk, tmp_path / "t.db")
    disk.fail_syncs(1)
    with pytest.raises(apsw.IOError, match="could not flush"):
        connection.execute("INSERT INTO t VALUES (1)")
    disk.fail_writes(1)
    with pytest.raises(apsw.IOError, match="could not write"):
        connection.execute("INSERT INTO t VALUES (2)")
    connection.execute("INSERT INTO t VALUES (3)")
    connection.close()
    assert rows(tmp_path / "t.db") == [3]


def test_a_full_disk_takes_what_has_its_place_and_gives_room_when_a_file_is_cut(
    disk: WatchedDisk, tmp_path: Path
) -> None:
    connection = connected(disk, tmp_path / "t.db", "OFF")
    connection.pragma("journal_mode", "MEMORY")
    connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    disk.fill(10_000)
    assert disk.free_bytes(tmp_path) == 10_000
    with pytest.raises(apsw.FullError):
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.execute("INSERT INTO t VALUES (1)")
    connection.execute("DELETE FROM t WHERE x <> 1")
    connection.execute("VACUUM")
    assert disk.free_bytes(tmp_path) > 90_000
    connection.execute("INSERT INTO t VALUES (zeroblob(80000))")
    disk.fill(None)
    assert disk.free_bytes(tmp_path) > 100_000
    connection.close()


# compared with the simulated disk -------------------------------------------------------------------------------------


class Beside(RuleBasedStateMachine):
    """A random test: the watched disk keeps the same bytes as the simulated disk.

    After failed flushes, a crash may keep the writes of any one of them, or of none, but never a part.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.disk = WatchedDisk(through=False)
        self.luck = random.Random(0)  # noqa: S311 - a test's own dice
        self.disk.survives = lambda _: self.luck.random() < 0.5
        self.real = opened(Path(self.folder.name), self.disk)
        self.simulated = MemoryStore()
        self.waiting: list[Record] = []
        self.doubtful: list[list[Record]] = []
        self.key = 0

    @initialize(seed=st.integers(0, 1_000))
    def shuffle(self, seed: int) -> None:
        self.luck.seed(seed)

    @rule(size=st.sampled_from([1, 100, 3_000, 5_000, 90_000]))
    def store(self, size: int) -> None:
        self.key += 1
        self.write(stored(self.key, bytes([self.key % 256]) * size))

    @rule(back=st.integers(0, 12))
    def remove(self, back: int) -> None:
        self.write(MessageRemoved(self.key - back))

    @rule(topic=st.sampled_from("AB"), size=st.sampled_from([0, 10, 70_000]))
    def retain(self, topic: str, size: int) -> None:
        message = Message(body="r" * size) if size else None
        self.write(RetainedSet(topic=Address(AddressKind.TOPIC, topic), message=message))

    def write(self, record: Record) -> None:
        self.waiting.append(record)
        for store in (self.real, self.simulated):
            store.write([record])

    @rule(times=st.integers(0, 2))
    def fail_flushes(self, times: int) -> None:
        self.disk.fail_syncs(times)

    @rule(times=st.integers(0, 3))
    def fail_writes(self, times: int) -> None:
        self.disk.fail_writes(times)

    @rule()
    def flush(self) -> None:
        try:
            self.real.flush()
        except StoreError:
            self.simulated.drop()
            self.doubtful.append(self.waiting)
        else:
            self.simulated.flush()
            self.doubtful = [] if self.waiting else self.doubtful
        self.waiting = []

    @rule(orderly=st.booleans())
    def kill(self, *, orderly: bool) -> None:
        for store in (self.real, self.simulated):
            store.drop()
        self.waiting = []
        self.disk.fail_syncs(0)
        self.disk.fail_writes(0)
        self.compare()
        if orderly:
            self.real.close()
            self.real = opened(Path(self.folder.name), self.disk)
            self.compare()

    def compare(self) -> None:
        found = sorted(kept(self.real), key=repr)
        before = self.simulated.load()
        for failed in ([], *self.doubtful):
            self.simulated = MemoryStore()
            self.simulated.write([*before, *failed])
            self.simulated.flush()
            if found == sorted(kept(self.simulated), key=repr):
                break
        else:
            raise AssertionError(found)
        self.doubtful.clear()

    def teardown(self) -> None:
        self.kill(orderly=True)
        self.real.close()
        self.disk.close()
        self.folder.cleanup()


TestBeside = Beside.TestCase
TestBeside.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)


def test_a_store_on_it_knows_nothing_of_it(disk: WatchedDisk, tmp_path: Path) -> None:
    store = opened(tmp_path, disk)
    store.write([stored(1)])
    store.flush()
    store.close()
    again = opened(tmp_path)
    assert keys(again) == [1]
    again.close()
