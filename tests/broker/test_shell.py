from __future__ import annotations

import pytest
from tests.broker.world import MS, Line, World

from assay_broker.core.records import Record
from assay_broker.stores import StoreError
from assay_broker.stores.memory import MemoryStore
from assay_sdk import driver
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc


class BrokenDisk(MemoryStore):
    """A store whose flushes fail while ``broken`` is True."""

    broken = False

    def flush(self) -> None:
        if self.broken:
            self.drop()
            raise StoreError("the disk is broken")
        super().flush()


def bodies(line: Line) -> list[str]:
    return [str(one.message.body) for one in line.arrived()]


def test_sends_at_one_time_share_a_flush() -> None:
    world = World()
    line = world.connect().ready()
    told: list[tuple[str, tuple[Record, ...]]] = []
    world.store.observe(lambda operation, records: told.append((operation, records)))
    for body in "abc":
        line.wire.submit(driver.Send(line.token(), 1, Message(body=body, durable=True)))
    world.run()
    assert [(operation, len(records)) for operation, records in told] == [
        ("write", 1),
        ("write", 1),
        ("write", 1),
        ("flush", 3),
    ]
    assert bodies(line) == ["a", "b", "c"]


def test_an_answer_waits_for_the_flush_and_for_nothing_without_one() -> None:
    world = World()
    line = world.connect().ready()
    for durable, waits_ms in ((True, 1), (False, 0)):
        begin = world.runner.clock.monotonic_ns()
        token = line.token()
        line.wire.submit(driver.Send(token, 1, Message(body="m", durable=durable)))
        world.runner.run_until(lambda token=token: any(getattr(e, "token", 0) == token for e in line.events), None)  # type: ignore[misc]  # a default binds the loop's value
        assert world.runner.clock.monotonic_ns() - begin == waits_ms * MS


def test_a_slow_disk_has_answers_and_deliveries_wait_after_a_restart_too() -> None:
    world = World()
    world.queue_manager.slow_disk(30 * MS)
    for _ in range(2):
        line = world.connect().ready()
        token = line.token()
        line.wire.submit(driver.Send(token, 1, Message(body="m", durable=True)))
        world.run(29)
        assert bodies(line) == []
        assert not any(isinstance(event, driver.Done) and event.token == token for event in line.events)
        world.run(2)
        assert bodies(line) == ["m"]
        line.submit(driver.Settle(line.token(), 2, (line.arrived()[0].delivery,), driver.Outcome.ACCEPTED))
        world.queue_manager.restart()
        world.run()


def test_a_kill_keeps_what_was_flushed_and_loses_the_rest() -> None:
    world = World()
    line = world.connect().ready(credit=0)
    line.send("flushed")
    line.send("in memory", durable=False)
    line.wire.submit(driver.Send(token := line.token(), 1, Message(body="written", durable=True)))
    world.runner.run_until(lambda: False, world.runner.clock.monotonic_ns())
    world.queue_manager.kill()
    world.run()
    assert line.refused(token).kind is JmsErrorKind.CONNECTION_LOST
    assert isinstance(line.events[-1], driver.Closed)
    assert bodies(world.connect().ready()) == ["flushed"]


def test_an_orderly_restart_flushes_marks_what_was_held_and_loses_what_is_not_persistent() -> None:
    world = World()
    line = world.connect().ready()
    line.send("held")
    line.send("in memory", durable=False)
    line.wire.submit(driver.Send(line.token(), 1, Message(body="written", durable=True)))
    world.runner.run_until(lambda: False, world.runner.clock.monotonic_ns())
    world.queue_manager.restart()
    world.run()
    assert isinstance(line.events[-1], driver.Closed)
    again = world.connect().ready()
    assert [(one.message.body, one.redelivered) for one in again.arrived()] == [("held", True), ("written", False)]


def test_a_cut_drops_connections_and_nothing_else() -> None:
    world = World()
    line = world.connect("c").ready(credit=0)
    line.send("a", durable=False)
    world.queue_manager.cut()
    world.run()
    assert isinstance(line.events[-1], driver.Closed)
    assert bodies(world.connect("c").ready()) == ["a"]


def test_a_kill_before_the_answer_leaves_the_send_unanswered() -> None:
    world = World()
    line = world.connect().ready()
    world.queue_manager.before_answer.append(lambda _message: world.queue_manager.kill())
    token = line.send("a")
    assert line.refused(token).kind is JmsErrorKind.CONNECTION_LOST
    world.queue_manager.before_answer.clear()
    assert bodies(world.connect().ready()) == ["a"]


@pytest.mark.parametrize("settled", [False, True])
def test_a_cut_after_a_put_comes_before_the_end_of_the_send(*, settled: bool) -> None:
    world = World()
    line = world.connect().ready(credit=0)
    world.queue_manager.after_put.append(lambda _message: world.queue_manager.cut())
    token = line.send("a", settled=settled)
    assert line.refused(token).kind is JmsErrorKind.CONNECTION_LOST
    world.queue_manager.after_put.clear()
    assert bodies(world.connect().ready()) == ["a"]


def test_a_kill_after_the_answer_finds_the_message_on_disk() -> None:
    world = World()
    line = world.connect().ready(credit=0)
    world.queue_manager.after_answer.append(lambda _message: world.queue_manager.kill())
    token = line.send("a")
    assert isinstance(line.outcome(token), driver.Done)
    assert isinstance(line.events[-1], driver.Closed)
    world.queue_manager.after_answer.clear()
    assert bodies(world.connect().ready()) == ["a"]


def test_a_delayed_message_comes_at_its_time_and_one_flush() -> None:
    world = World()
    line = world.connect().ready()
    due_ms = world.runner.clock.wall_ns() // MS + 12_345
    line.wire.submit(driver.Send(line.token(), 1, Message(body="a", durable=True, delivery_time_ms=due_ms)))
    world.runner.run_until(lambda: bool(line.arrived()), None)
    assert world.runner.clock.wall_ns() == (due_ms + 1) * MS


def test_a_full_disk_refuses_and_forgets_the_send() -> None:
    world = World(MemoryStore(capacity_bytes=10))
    line = world.connect().ready()
    refused = line.refused(line.send("too big for it"))
    assert refused.mqrc == Mqrc.STORAGE_MEDIUM_FULL
    assert bodies(line) == []
    line.send("in memory", durable=False)
    assert bodies(line) == ["in memory"]


def test_a_failing_flush_refuses_everything_that_waited_for_it() -> None:
    disk = BrokenDisk()
    world = World(disk)
    line = world.connect().ready()
    disk.broken = True
    tokens = [line.token() for _ in range(3)]
    for token in tokens:
        line.wire.submit(driver.Send(token, 1, Message(body=str(token), durable=True)))
    world.run()
    assert {line.refused(token).mqrc for token in tokens} == {int(Mqrc.STORAGE_MEDIUM_FULL)}
    disk.broken = False
    line.send("mended")
    assert bodies(line) == ["mended"]


def test_a_hook_is_called_after_each_turn_and_may_remove_itself() -> None:
    world = World()
    line = world.connect().ready()
    seen: list[str] = []

    def once() -> None:
        seen.append("once")
        world.queue_manager.after_turn.remove(once)

    world.queue_manager.after_turn.extend([once, lambda: seen.append("each time")])
    line.send("a")
    assert seen.count("once") == 1
    assert seen.count("each time") >= 1
    before = len(seen)
    line.send("b")
    assert len(seen) > before
