"""Tests of flushes in another thread: the queue manager goes on, and dependent effects wait for the flush."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.broker.world import Line, World

from assay_broker.shell import QueueManager
from assay_broker.stores import StoreError
from assay_broker.stores.database import Database
from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.watched import WatchedDisk
from assay_sdk import driver
from assay_sdk.model.message import Message

MANY = 20
"""The number of messages in one send, enough for a flush on the second thread."""


class Waited(Future[Any]):
    """A fake future, whose job runs when the test asks for it, or when the result is needed."""

    def __init__(self, job: Callable[[], object]) -> None:
        super().__init__()
        self._job = job

    def work(self) -> None:
        """Run the job."""
        try:
            self.set_result(self._job())
        except Exception as error:  # noqa: BLE001  as an executor does
            self.set_exception(error)

    def result(self, timeout: float | None = None) -> Any:
        """Run the job if necessary, and return its result."""
        if not self.done():
            self.work()
        return super().result(timeout)


class Held(Executor):
    """A fake executor, whose jobs run when the test asks for them, or when a result is needed."""

    def __init__(self) -> None:
        self.begun: list[Waited] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.begun.append(Waited(partial(fn, *args, **kwargs)))
        return self.begun[-1]

    @property
    def under_way(self) -> int:
        """The number of jobs that have not run."""
        return sum(not one.done() for one in self.begun)

    def work(self) -> None:
        """Run one job."""
        next(one for one in self.begun if not one.done()).work()


@pytest.fixture
def disk() -> WatchedDisk:
    return WatchedDisk(through=False)


@pytest.fixture
def store(disk: WatchedDisk, tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "data", "ASSAY", disk)
    yield store
    store.abandon()


class Aside(World):
    """A queue manager with flushes in a fake thread."""

    def __init__(self, store: SqliteStore, executor: Executor) -> None:
        super().__init__(store)
        self.queue_manager = QueueManager(self.runner, store, aside=executor)
        self.driver = type(self.driver)(self.queue_manager)


@pytest.fixture
def other() -> Held:
    return Held()


@pytest.fixture
def world(store: SqliteStore, other: Held) -> Aside:
    return Aside(store, other)


def send_many(line: Line, first: str, many: int = MANY) -> list[int]:
    """Send a number of messages at once, and return their tokens."""
    tokens = [line.token() for _ in range(many)]
    for number, token in enumerate(tokens):
        line.wire.submit(driver.Send(token, 1, Message(message_id=f"{first}{number}", body=first, durable=True)))
    line.world.run()
    return tokens


def answered(line: Line, tokens: list[int]) -> int:
    """Return the number of tokens that were answered with success."""
    return sum(isinstance(event, driver.Done) and event.token in tokens for event in line.events)


def refused(line: Line, tokens: list[int]) -> int:
    """Return the number of tokens that were answered with a refusal."""
    return sum(isinstance(event, driver.Failed) and event.token in tokens for event in line.events)


def test_an_answer_waits_for_its_own_flush_only_and_others_go_on(world: Aside, other: Held) -> None:
    line = world.connect().ready(credit=0)
    first = send_many(line, "a")
    assert other.under_way == 1
    second = send_many(line, "b")
    assert isinstance(line.outcome(line.send("in memory", durable=False)), driver.Done)
    assert (answered(line, first), answered(line, second), other.under_way) == (0, 0, 1)

    other.work()
    world.run()
    assert (answered(line, first), answered(line, second), other.under_way) == (MANY, 0, 1)
    other.work()
    world.run()
    assert (answered(line, first), answered(line, second), other.under_way) == (MANY, MANY, 0)


def test_a_few_records_are_flushed_at_once(world: Aside, other: Held) -> None:
    line = world.connect().ready(credit=0)
    tokens = send_many(line, "a", 3)
    assert (answered(line, tokens), other.under_way) == (3, 0)


def test_a_delivery_waits_for_the_flush_of_its_message(world: Aside, other: Held) -> None:
    line = world.connect().ready(credit=100)
    send_many(line, "a")
    assert not line.arrived()
    other.work()
    world.run()
    assert len(line.arrived()) == MANY


def test_a_disk_that_fails_fails_what_was_written_meanwhile_too_and_the_next_flush_is_a_new_one(
    world: Aside, other: Held, disk: WatchedDisk
) -> None:
    line = world.connect().ready(credit=0)
    first = send_many(line, "a")
    second = send_many(line, "b")
    disk.fail_syncs()
    other.work()
    world.run()
    assert (refused(line, first), refused(line, second)) == (MANY, MANY)

    third = send_many(line, "c")
    other.work()
    world.run()
    assert answered(line, third) == MANY
    world.queue_manager.kill()
    world.run()
    again = world.connect().ready(credit=100)
    assert [one.message.body for one in again.arrived()] == ["c"] * MANY


def test_records_that_a_failed_flush_dropped_do_not_count_towards_the_next_one(
    world: Aside, other: Held, disk: WatchedDisk
) -> None:
    line = world.connect().ready(credit=0)
    send_many(line, "a")
    send_many(line, "b")
    disk.fail_syncs()
    other.work()
    world.run()
    third = send_many(line, "c", 3)
    assert (answered(line, third), other.under_way) == (3, 0)


def test_an_error_that_nobody_expects_is_a_flush_that_has_failed(
    world: Aside, other: Held, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = world.connect().ready(credit=0)
    first = send_many(line, "a")
    second = send_many(line, "b")

    def fails(_: Waited) -> None:
        raise MemoryError

    monkeypatch.setattr(other.begun[0], "_job", partial(fails, other.begun[0]))
    store.drop()  # the transaction is never committed
    other.work()
    world.run()
    assert (refused(line, first), refused(line, second)) == (MANY, MANY)


@pytest.mark.parametrize("fails_at", ["begin", "sync"])
def test_a_failed_flush_counts_in_the_statistics(
    world: Aside, other: Held, disk: WatchedDisk, monkeypatch: pytest.MonkeyPatch, fails_at: str
) -> None:
    def refuse(*_: object) -> None:
        raise StoreError("the disk is full")

    line = world.connect().ready(credit=0)
    counted, batches = world.queue_manager.flushes.count, world.queue_manager.flushes.batches
    if fails_at == "begin":
        monkeypatch.setattr(Database, "begin", refuse)
    else:
        disk.fail_syncs()
    tokens = send_many(line, "a")
    for _ in range(other.under_way):
        other.work()
    world.run()
    assert refused(line, tokens) == MANY
    assert (world.queue_manager.flushes.count, world.queue_manager.flushes.batches) == (counted + 1, batches + MANY)


@pytest.mark.parametrize("end", [QueueManager.stop, QueueManager.kill, QueueManager.restart])
def test_an_end_waits_for_the_flush_that_is_under_way(
    world: Aside, other: Held, end: Callable[[QueueManager], None]
) -> None:
    line = world.connect().ready(credit=0)
    send_many(line, "a")
    send_many(line, "b")
    end(world.queue_manager)
    assert other.under_way == 0
    world.queue_manager.start()
    kept = [one.message.body for one in world.connect().ready(credit=100).arrived()]
    assert kept == ["a"] * MANY + ["b"] * (0 if end is QueueManager.kill else MANY)
