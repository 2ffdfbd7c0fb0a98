"""Tests of clients of a queue manager whose disk is full, fails, or is removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.world import Line, World

from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.watched import WatchedDisk
from assay_sdk import driver
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc


class OnDisk:
    """A world whose queue manager has a watched disk."""

    def __init__(self, folder: Path) -> None:
        self.disk = WatchedDisk(through=False)
        self.store = SqliteStore(folder, "ASSAY", self.disk, log_bytes=1 << 18)
        self.world = World(self.store)
        self.line = self.world.connect().ready(credit=0)

    def taken_by(self, line: Line) -> list[str]:
        """Accept the messages of a connection, and return their bodies."""
        line.submit(driver.Credit(line.token(), 2, 10))
        for one in line.arrived():
            line.submit(driver.Settle(line.token(), 2, (one.delivery,), Outcome.ACCEPTED))
        return [str(one.message.body) for one in line.arrived()]


@pytest.fixture
def on(tmp_path: Path) -> Iterator[OnDisk]:
    made = OnDisk(tmp_path / "QM")
    yield made
    made.store.abandon()
    made.disk.close()


def test_a_full_disk_refuses_sends_with_a_reason_hands_out_what_it_has_and_is_well_again(on: OnDisk) -> None:
    on.line.send("before")
    on.disk.fill()
    refused = on.line.refused(on.line.send("while"))
    assert refused.mqrc == Mqrc.STORAGE_MEDIUM_FULL
    assert "is full except for 8 MiB that are kept free" in refused.text
    assert isinstance(on.line.outcome(on.line.send("volatile", durable=False)), driver.Done)
    assert on.taken_by(on.world.connect().ready(credit=0)) == ["before", "volatile"]
    on.disk.fill(None)
    assert isinstance(on.line.outcome(on.line.send("after")), driver.Done)
    on.world.queue_manager.kill()
    on.world.run()
    assert on.taken_by(on.world.connect().ready(credit=0)) == ["after"]


def test_a_disk_that_cannot_flush_refuses_everybody_who_waited_and_nobody_later(on: OnDisk) -> None:
    on.disk.fail_syncs()
    tokens = [on.line.token() for _ in range(3)]
    for token in tokens:
        message = Message(message_id=str(token), body=str(token), durable=True)
        on.line.wire.submit(driver.Send(token, 1, message))
    on.world.run()
    assert {on.line.refused(token).mqrc for token in tokens} == {Mqrc.STORAGE_MEDIUM_FULL}
    assert "could not flush" in on.line.refused(tokens[0]).text
    assert isinstance(on.line.outcome(on.line.send("next")), driver.Done)
    on.world.queue_manager.kill()
    on.world.run()
    assert on.taken_by(on.world.connect().ready(credit=0)) == ["next"]


def test_the_first_refusal_of_a_full_disk_is_logged_and_the_next_after_it_was_well_again(on: OnDisk) -> None:
    said: list[str] = []
    on.world.queue_manager.traces.append(lambda trace: said.append(trace.text))
    for body in ("one", "two"):
        on.disk.fill()
        on.line.refused(on.line.send(body))
    assert len(said) == 1
    assert said[0].startswith("The store could not take a batch of records: the disk of ")
    on.disk.fill(None)
    on.line.send("three")
    assert said[1:] == ["The store takes records again."]
    on.disk.fill()
    on.line.refused(on.line.send("four"))
    assert len(said) == 3


def test_files_that_were_deleted_refuse_sends_with_a_reason(on: OnDisk) -> None:
    on.line.send("before")
    (on.store.folder / "assay.db").unlink()
    for body in ("one", "two"):
        refused = on.line.refused(on.line.send(body))
        assert refused.mqrc == Mqrc.STORAGE_MEDIUM_FULL
        assert "assay.db was deleted or replaced while in use" in refused.text
    assert isinstance(on.line.outcome(on.line.send("volatile", durable=False)), driver.Done)
