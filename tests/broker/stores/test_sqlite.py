from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.broker.stores.samples import LOG_BYTES, TOPIC, kept, keys, opened, stored

from assay_broker.core.records import MessageRemoved, MessageStored, RetainedSet
from assay_broker.stores import StoreError, opening, schema
from assay_broker.stores.errors import DamagedError, FullError, GoneError
from assay_broker.stores.watched import WatchedDisk
from assay_sdk.model.message import Message

MIB = 1 << 20


def size_of(path: Path) -> int:
    return path.stat().st_size


def test_what_was_flushed_is_there_after_an_orderly_end_and_after_a_kill(tmp_path: Path) -> None:
    for folder, orderly in ((tmp_path / "a", True), (tmp_path / "b", False)):
        store = opened(folder)
        store.write([stored(1), stored(2)])
        store.flush()
        store.write([stored(3)])
        if orderly:
            store.close()
        else:
            store.abandon()
        again = opened(folder)
        assert kept(again) == (stored(1), stored(2))
        again.close()


@given(gone=st.sets(st.integers(1, 12)))
def test_what_is_removed_together_goes_and_nothing_between_it(gone: set[int]) -> None:
    with TemporaryDirectory() as folder:
        store = opened(Path(folder))
        store.write([stored(key) for key in range(1, 13)])
        store.flush()
        store.write([MessageRemoved(key) for key in sorted(gone, reverse=True)])
        store.flush()
        assert set(keys(store)) == set(range(1, 13)) - gone
        store.close()


def test_it_writes_where_other_applications_can_read_it_and_keeps_no_third_file(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write([stored(1)])
    store.flush()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["assay.db", "assay.db-wal", "assay.lock"]
    store.close()
    with sqlite3.connect(f"file:{tmp_path / 'assay.db'}?mode=ro&immutable=1", uri=True) as reader:
        assert reader.execute("SELECT number FROM message").fetchall() == [(1,)]
        assert reader.execute("PRAGMA application_id").fetchall() == [(schema.APPLICATION_ID,)]
        assert reader.execute("PRAGMA user_version").fetchall() == [(schema.VERSION,)]
    reader.close()


@pytest.mark.parametrize("unit", ["x", "ä", "€", "😀", b"\x00\xff"], ids=["ascii", "latin", "euro", "emoji", "bytes"])
def test_a_long_body_comes_back_as_it_was_also_in_a_retained_publication(tmp_path: Path, unit: str | bytes) -> None:
    body = unit * 200_001
    retained = RetainedSet(topic=TOPIC, message=Message(body=body, encoded=b"w" * 70_000))
    store = opened(tmp_path)
    store.write([retained, stored(1, body), stored(2, "short")])
    store.flush()
    assert kept(store) == (retained, stored(1, body), stored(2, "short"))
    store.write([stored(1, "shorter"), RetainedSet(topic=TOPIC, message=Message(body="r"))])
    store.flush()
    store.drop()
    assert [record.message for record in kept(store) if isinstance(record, RetainedSet)] == [Message(body="r")]
    store.close()
    with sqlite3.connect(tmp_path / "assay.db") as reader:
        assert reader.execute("SELECT count(*) FROM piece").fetchall() == [(0,)]
    reader.close()


@pytest.mark.parametrize(
    "body", [b"b" * (32 * MIB), "t" * (32 * MIB), "ä" * (32 * MIB)], ids=["bytes", "text", "latin"]
)
def test_a_long_body_is_never_copied_as_a_whole(tmp_path: Path, body: str | bytes) -> None:
    store = opened(tmp_path)
    record = stored(1, body)
    tracing = sys.gettrace()
    sys.settrace(None)  # under a tracer such as coverage, Python does not extend strings in place
    tracemalloc.start()
    try:
        store.write([record])
        store.flush()
        _, writing = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        loaded = kept(store)
        _, reading = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        sys.settrace(tracing)
    assert writing < MIB
    assert reading < 1.25 * len(body)
    assert loaded == (record,)
    store.close()


def test_a_message_of_100_mib_can_be_kept(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write([stored(1, bytes(100 * MIB))])
    store.flush()
    [record] = kept(store)
    assert isinstance(record, MessageStored)
    assert len(record.message.body) == 100 * MIB
    store.close()


def test_what_is_removed_gives_its_room_back_and_the_log_stays_short(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for key in range(1, 9):
        store.write([stored(key, bytes(MIB))])
        store.flush()
    assert size_of(tmp_path / "assay.db") > 8 * MIB
    store.write([MessageRemoved(key) for key in range(1, 9)])
    store.flush()
    for key in range(10, 20):
        store.write([stored(key), MessageRemoved(key - 1)])
        store.flush()
    assert store.trouble is None
    assert size_of(tmp_path / "assay.db") < MIB
    assert size_of(tmp_path / "assay.db-wal") == LOG_BYTES
    assert keys(store) == [19]
    store.close()


def test_the_log_does_not_grow_with_the_number_of_flushes(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for key in range(1, 201):
        store.write([stored(key), MessageRemoved(key - 1)])
        store.flush()
    assert size_of(tmp_path / "assay.db-wal") <= 2 * LOG_BYTES
    assert size_of(tmp_path / "assay.db") < 16 * schema.PAGE_BYTES
    assert keys(store) == [200]
    store.close()


def test_every_flush_is_the_disks_and_nobody_is_told_of_one_that_was_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for synchronous, told, there in (("FULL", [1], [1]), ("OFF", [], [])):
        monkeypatch.setattr(opening, "_SYNCHRONOUS", synchronous)
        disk = WatchedDisk()
        store = opened(tmp_path / synchronous, disk)
        flushed: list[int] = []
        store.observe(
            lambda operation, records, flushed=flushed: (
                flushed.extend(getattr(record, "key", 0) for record in records) if operation == "flush" else None
            )
        )
        store.write([stored(1)])
        store.flush()
        assert flushed == told
        assert bool(disk.syncs) == bool(told)
        store.drop()
        assert keys(store) == there
        store.close()


# the disk refuses ------------------------------------------------------------------------------------------------


def test_a_flush_that_fails_keeps_nothing_of_it_even_if_the_process_dies_then(tmp_path: Path) -> None:
    disk = WatchedDisk()
    store = opened(tmp_path, disk)
    store.write([stored(1)])
    store.flush()
    disk.fail_syncs()
    store.write([stored(2), MessageRemoved(1)])
    with pytest.raises(StoreError, match="could not flush"):
        store.flush()
    assert keys(store) == [1]
    store.write([stored(3)])
    store.flush()
    store.drop()
    assert keys(store) == [1, 3]
    store.close()


def test_what_a_failed_flush_has_left_in_the_log_does_not_come_back(tmp_path: Path) -> None:
    """The process dies after the operating system has the log; SQLite alone would take its content as committed."""
    disk = WatchedDisk()
    store = opened(tmp_path, disk)
    store.write([stored(1)])
    store.flush()
    disk.fail_syncs()
    store.write([stored(2, "ghost")])
    with pytest.raises(StoreError):
        store.flush()
    store.write([MessageRemoved(7)])
    store.flush()
    store._disk = type("KilledOnly", (WatchedDisk,), {"crash": lambda _: None})()
    store.drop()
    assert keys(store) == [1]
    store.close()


def test_a_write_that_fails_fails_its_flush_and_no_other(tmp_path: Path) -> None:
    disk = WatchedDisk()
    store = opened(tmp_path, disk)
    disk.fail_writes()
    store.write([stored(1)])
    with pytest.raises(StoreError, match="could not write"):
        store.flush()
    store.write([stored(2)])
    store.flush()
    store.drop()
    assert keys(store) == [2]
    store.close()


def test_a_full_disk_refuses_what_is_added_takes_removals_and_is_well_when_there_is_room(tmp_path: Path) -> None:
    disk = WatchedDisk()
    store = opened(tmp_path, disk)
    for key in range(1, 6):
        store.write([stored(key, bytes(20_000))])
        store.flush()
    disk.fill()
    with pytest.raises(FullError, match="is full; free some space"):
        store.write([stored(6, bytes(20_000))])
    store.write([MessageRemoved(1)])
    store.flush()
    assert keys(store) == [2, 3, 4, 5]
    disk.fill(None)
    store.write([stored(7)])
    store.flush()
    store.drop()
    assert keys(store) == [2, 3, 4, 5, 7]
    store.close()


def test_a_disk_that_fills_up_under_a_flush_loses_only_that_flush(tmp_path: Path) -> None:
    disk = WatchedDisk()
    store = opened(tmp_path, disk)
    store.write([stored(1)])
    store.flush()
    store.write([stored(2, bytes(2 * LOG_BYTES))])
    disk.fill(LOG_BYTES)
    with pytest.raises(FullError):
        store.flush()
    assert keys(store) == [1]
    store.write([MessageRemoved(1), stored(3)])
    store.flush()
    disk.fill(None)
    store.write([stored(4, bytes(2 * LOG_BYTES))])
    store.flush()
    store.drop()
    assert keys(store) == [3, 4]
    store.close()


def test_some_of_the_disk_is_left_to_removals(tmp_path: Path) -> None:
    disk = WatchedDisk()
    disk.fill(100_000)
    store = opened(tmp_path, disk, reserve_bytes=90_000)
    store.write([stored(1, bytes(2_000))])
    with pytest.raises(FullError):
        store.write([stored(2, bytes(4_000))])
    store.flush()
    store.close()


def test_what_the_log_cannot_be_copied_for_is_told_and_harms_nobody(tmp_path: Path) -> None:
    disk = WatchedDisk()
    store = opened(tmp_path, disk)
    for key in range(1, 15):
        store.write([stored(key)])
        store.flush()

    def full_at_the_database(path: Path) -> None:
        if path.name == "assay.db":
            disk.fail_syncs(1)

    disk.before_sync.append(full_at_the_database)
    key = 15
    while store.trouble is None:
        store.write([stored(key)])
        store.flush()
        key += 1
    assert "could not flush" in str(store.trouble)
    disk.before_sync.clear()
    store.write([stored(key)])
    store.flush()
    assert store.trouble is None
    store.drop()
    assert keys(store) == list(range(1, key + 1))
    store.close()


@pytest.mark.parametrize("name", ["assay.db", "assay.db-wal"])
@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_files_that_are_taken_away_are_missed_at_the_next_flush(tmp_path: Path, name: str, how: str) -> None:
    store = opened(tmp_path)
    store.write([stored(1)])
    store.flush()
    octets = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    if how == "replaced":
        (tmp_path / "other").write_bytes(octets)
        (tmp_path / "other").rename(tmp_path / name)
    assert not store.is_there()
    for _ in range(2):
        store.write([stored(2)])
        with pytest.raises(GoneError, match=f"{name} was deleted or replaced while in use"):
            store.flush()
    store.abandon()


def test_a_folder_that_is_taken_away_is_missed_at_the_next_write(tmp_path: Path) -> None:
    store = opened(tmp_path / "data")
    store.write([stored(1)])
    store.flush()
    assert store.is_there()
    shutil.rmtree(tmp_path / "data")
    assert not store.is_there()
    for _ in range(2):
        with pytest.raises(GoneError, match="data was deleted or replaced while in use"):
            store.write([stored(2)])
    store.abandon()


def test_a_row_that_was_altered_behind_its_back_is_found_when_it_is_loaded(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write([stored(1, "a" * 70_000)])
    store.flush()
    store.close()
    other = sqlite3.connect(tmp_path / "assay.db", isolation_level=None)
    other.execute("UPDATE piece SET octets = zeroblob(65536) WHERE number = (SELECT min(number) FROM piece)")
    other.close()
    (tmp_path / "assay.db-wal").write_bytes(bytes(LOG_BYTES))
    store = opened(tmp_path)
    with pytest.raises(DamagedError, match=r"piece \d+ has been altered"):
        kept(store)
    store.abandon()


# contents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [0, 300, 4_000, 4_050, 4_060, 8_100, 12_200, 65_530, 70_000])
def test_octets_are_found_wherever_a_page_or_a_piece_cuts_them(tmp_path: Path, before: int) -> None:
    needle = b"the needle in the stack of hay"
    store = opened(tmp_path)
    for shift in range(0, 60, 5):
        store.write([stored(1, b"." * (before + shift) + needle + b"." * 5_000)])
        store.flush()
        assert store.holds(needle)
        assert not store.holds(needle[::-1])
        assert not store.holds(needle + b"?")
    store.close()


def test_octets_are_found_in_what_is_removed_in_what_waits_and_in_any_file(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write([stored(1, "removed needle")])
    store.flush()
    store.write([MessageRemoved(1)])
    store.flush()
    store.write([stored(2, "waiting needle")])
    (tmp_path / "beside").write_bytes(b"beside needle")
    assert store.holds(b"removed needle")
    assert store.holds(b"waiting needle")
    assert store.holds(b"beside needle")
    assert not store.holds(b"no needle")
    store.close()


def test_what_is_kept_is_nobody_elses_business_on_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / "qm"
    before = os.umask(0)
    try:
        store = opened(folder)
        store.write([stored(1)])
        store.flush()
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
        store.close()
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert modes == dict.fromkeys(("assay.db", "assay.db-wal", "assay.lock"), 0o600)
