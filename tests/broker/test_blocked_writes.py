"""Tests of a store whose write for one queue waits: dependent answers wait, and the order of writes stays."""

from __future__ import annotations

import pytest
from tests.broker.world import Line, World

from assay_sdk import driver
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind, Message

TOPIC = Address(AddressKind.TOPIC, "T")
SECOND = "SYSTEM.MANAGED.DURABLE.2"


@pytest.fixture
def world() -> World:
    """Provide a broker with two inactive durable subscriptions."""
    made = World()
    for name in ("first", "second"):
        line = made.connect(name)
        line.submit(driver.OpenSession(line.token(), 1), subscribe(line, name), driver.Close(line.token()))
    return made


def subscribe(line: Line, name: str) -> driver.OpenReceiver:
    return driver.OpenReceiver(
        token=line.token(), session=1, link=2, address=TOPIC, durability=Durability.DURABLE, name=name
    )


def sender(world: World, to: Address = TOPIC) -> Line:
    line = world.connect()
    line.submit(driver.OpenSession(line.token(), 1), driver.OpenSender(line.token(), 1, 1, to))
    return line


def send(line: Line, body: str, *, durable: bool = True) -> int:
    token = line.token()
    line.submit(driver.Send(token, 1, Message(message_id=body, body=body, durable=durable)))
    return token


def answered(line: Line, token: int) -> bool:
    return any(isinstance(event, driver.Done) and event.token == token for event in line.events)


def stored(world: World, body: str) -> int:
    return sum(f"'{body}'" in repr(record) for record in world.store.load())


def test_a_send_is_answered_once_what_it_waits_for_is_written(world: World) -> None:
    line = sender(world)
    unblock = world.queue_manager.block_writes(SECOND)
    token = send(line, "m")
    world.run(60_000)
    assert not answered(line, token)
    assert stored(world, "m") == 0
    unblock()
    world.run()
    assert answered(line, token)
    assert stored(world, "m") == 2


def test_what_comes_after_waits_too_and_what_needs_no_disk_does_not(world: World) -> None:
    line, other = sender(world), sender(world, Address(AddressKind.QUEUE, "Q"))
    unblock = world.queue_manager.block_writes(SECOND)
    first, second, light = send(line, "m"), send(other, "n"), send(other, "light", durable=False)
    assert [answered(line, first), answered(other, second), answered(other, light)] == [False, False, True]
    unblock()
    world.run()
    assert [answered(line, first), answered(other, second)] == [True, True]
    assert [stored(world, "m"), stored(world, "n")] == [2, 1]


def test_another_queue_is_written_as_ever(world: World) -> None:
    world.queue_manager.block_writes("ANOTHER")
    line, queue = sender(world), sender(world, Address(AddressKind.QUEUE, "Q"))
    assert answered(line, send(line, "m"))
    assert answered(queue, send(queue, "n"))


def test_a_queue_of_an_application_is_blocked_by_its_name(world: World) -> None:
    unblock = world.queue_manager.block_writes("Q")
    line = sender(world, Address(AddressKind.QUEUE, "Q"))
    token = send(line, "m")
    assert not answered(line, token)
    unblock()
    world.run()
    assert answered(line, token)


def test_a_kill_loses_what_waits_and_heals(world: World) -> None:
    line = sender(world)
    unblock = world.queue_manager.block_writes(SECOND)
    token = send(line, "lost")
    world.queue_manager.kill()
    world.run()
    assert isinstance(line.outcome(token), driver.Failed)
    again = sender(world)
    assert answered(again, send(again, "kept"))
    unblock()
    world.run()
    assert [stored(world, "lost"), stored(world, "kept")] == [0, 2]


def test_what_the_store_refuses_in_the_end_is_refused(world: World) -> None:
    line = sender(world)
    unblock = world.queue_manager.block_writes(SECOND)
    tokens = [send(line, "m"), send(line, "n")]
    world.store.fail()
    unblock()
    world.run()
    assert all(isinstance(line.outcome(token), driver.Failed) for token in tokens)
    assert [stored(world, "m"), stored(world, "n")] == [0, 0]
