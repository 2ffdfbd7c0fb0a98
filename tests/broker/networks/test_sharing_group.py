"""Tests of queue-sharing groups: one shared queue, several queue managers (DD-45 to DD-47)."""

from __future__ import annotations

import pytest
from tests.broker.networks.world import World

from assay_broker.core.administration import changes
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind
from assay_sdk import driver
from assay_sdk.driver import DriverEvent
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.xa import XaEnd, Xid

SHARED = Address(AddressKind.QUEUE, "SHARED.Q")


@pytest.fixture(name="world")
def _world() -> World:
    return group()


def group() -> World:
    """Return a sharing group of QM1 and QM2 on z/OS, each with a staging queue, and a shared queue."""
    world = World("sharing-group", platform="zos")
    for name in world.members:
        world.define(name, STAGING_QUEUE, MSGDLVSQ="FIFO")
    world.define("QM1", SHARED.name, QSGDISP="SHARED")
    return world


def test_every_member_sees_a_shared_queue_and_what_is_on_it(world: World) -> None:
    assert world.line("QM1", sends=SHARED).send("a") is None
    assert [world.depth(member, SHARED.name) for member in world.members] == [1, 1]
    receiver = world.line("QM2", receives=SHARED)
    assert receiver.bodies() == ["a"]
    receiver.accept()
    assert [world.depth(member, SHARED.name) for member in world.members] == [0, 0]


def test_a_receiver_that_waits_on_one_member_gets_what_another_one_is_sent(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    sender = world.line("QM1", sends=SHARED)
    for body, durable in (("p", True), ("n", False)):
        sender.send(body, durable=durable)
    assert receiver.bodies() == ["p", "n"]


XID = Xid(1, b"g").encoded()


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("end", [driver.CommitXa, driver.RollbackXa])
def test_a_branch_in_doubt_keeps_a_shared_queue_through_a_kill_of_its_member(
    world: World, end: type[driver.CommitXa | driver.RollbackXa], *, durable: bool
) -> None:
    one = world.line("QM1", sends=SHARED)
    one.send("in", durable=durable)
    one.receive(SHARED)
    (came,) = one.arrived()
    one.submit(driver.Begin(one.token(), 1, 5, XID), driver.Enlist(one.token(), 2, (came.delivery,), 5))
    one.send("out", unit=5)
    one.submit(driver.EndXa(one.token(), XID, XaEnd.SUCCESS), driver.Prepare(one.token(), XID))
    world.members["QM1"].kill()
    world.run()
    other = world.line("QM2", receives=SHARED)
    assert other.bodies() == []
    assert world.depth("QM2", SHARED.name) == 2
    manager = world.line("QM1")
    manager.submit(end(manager.token(), XID))
    assert other.bodies() == (["out"] if end is driver.CommitXa else ["in"])
    assert [one.redelivered for one in other.arrived()] == [end is driver.RollbackXa]


def test_a_delayed_message_is_staged_where_it_was_sent_and_delivered_on_the_other_member(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    assert world.line("QM1", sends=SHARED).send("d", delay_ms=1_000) is None
    assert [world.depth(member, STAGING_QUEUE) for member in ("QM1", "QM2")] == [1, 0]
    world.run(900)
    assert receiver.bodies() == []
    world.run(200)
    assert receiver.bodies() == ["d"]
    assert world.depth("QM1", STAGING_QUEUE) == 0


def test_a_member_that_is_down_when_the_delay_ends_delivers_once_it_is_back(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    world.line("QM1", sends=SHARED).send("d", delay_ms=1_000)
    world.members["QM1"].stop()
    world.run(5_000)
    assert receiver.bodies() == []
    world.members["QM1"].start()
    world.run()
    assert receiver.bodies() == ["d"]
    world.members["QM1"].restart()
    world.run()
    assert receiver.bodies() == ["d"]


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_non_persistent_message_survives_its_member_on_the_shared_queue_and_not_under_delay(
    world: World, ending: str
) -> None:
    sender = world.line("QM1", sends=SHARED)
    sender.send("there", durable=False)
    sender.send("delayed", durable=False, delay_ms=1_000)
    if ending == "kill":
        world.members["QM1"].kill()
    else:
        world.members["QM1"].restart()
    world.run(2_000)
    assert world.line("QM2", receives=SHARED).bodies() == ["there"]


def test_what_a_killed_member_had_not_on_disk_was_never_there(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    sender = world.line("QM1", sends=SHARED)
    sender.send("kept")
    sender.wire.submit(driver.Send(sender.token(), 1, Message(message_id="x", body="lost", durable=True)))
    written: list[str] = []
    world.stores["QM1"].observe(lambda operation, _: written.append(operation))
    world.runner.run_until(lambda: "write" in written, None)
    assert "flush" not in written
    world.members["QM1"].kill()
    world.run(1_000)
    assert receiver.bodies() == ["kept"]
    assert world.depth("QM2", SHARED.name) == 1


def test_what_clients_of_a_killed_member_held_goes_back_for_others(world: World) -> None:
    world.line("QM2", sends=SHARED).send("m")
    first = world.line("QM1", receives=SHARED)
    assert first.bodies() == ["m"]
    second = world.line("QM2", receives=SHARED)
    assert second.bodies() == []
    world.members["QM1"].kill()
    world.run()
    (again,) = second.arrived()
    assert (again.message.body, again.redelivered) == ("m", True)


def test_a_unit_of_work_that_its_member_does_not_finish_puts_nothing_on_a_shared_queue(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    sender = world.line("QM1", sends=SHARED)
    sender.submit(driver.Begin(sender.token(), 1, 1))
    sender.send("never", unit=1)
    world.members["QM1"].kill()
    sender = world.line("QM1", sends=SHARED)
    sender.submit(driver.Begin(sender.token(), 1, 1))
    sender.send("once", unit=1)
    assert receiver.bodies() == []
    sender.submit(driver.Commit(sender.token(), 1))
    assert receiver.bodies() == ["once"]


def test_a_name_that_is_private_and_shared_too_cannot_be_opened_there(world: World) -> None:
    world.define("QM2", "BOTH")
    world.define("QM1", "BOTH", QSGDISP="SHARED")
    name = Address(AddressKind.QUEUE, "BOTH")
    refused = world.line("QM2").sender_refused(name)
    assert refused is not None
    assert refused.mqrc == Mqrc.OBJECT_NOT_UNIQUE
    assert world.line("QM1").sender_refused(name) is None


def test_a_changed_or_deleted_definition_holds_for_every_member_and_outlives_a_restart(world: World) -> None:
    alter = changes.AlterObject(Kind.QLOCAL, SHARED.name, {"PUT": "DISABLED"})
    assert world.ask("QM2", alter).refused is None
    world.members["QM1"].kill()
    refused = world.line("QM1", sends=SHARED).send("m")
    assert refused is not None
    assert refused.mqrc == Mqrc.PUT_INHIBITED
    in_use = world.ask("QM2", changes.DeleteObject(Kind.QLOCAL, SHARED.name)).refused
    assert in_use is not None
    assert in_use.mqrc == Mqrc.OBJECT_IN_USE
    world.members["QM1"].cut()
    assert world.ask("QM2", changes.DeleteObject(Kind.QLOCAL, SHARED.name)).refused is None
    world.members["QM1"].kill()
    assert world.ask("QM1", changes.DisplayObjects(kinds=(Kind.QLOCAL,), name=SHARED.name)).value in {(), None}


def test_the_same_story_is_told_twice_alike() -> None:
    def story() -> list[DriverEvent]:
        world = group()
        receiver = world.line("QM2", receives=SHARED)
        sender = world.line("QM1", sends=SHARED)
        sender.send("a", delay_ms=50)
        sender.send("b")
        world.members["QM1"].kill()
        world.run(100)
        return receiver.events

    assert story() == story()


def test_what_expires_on_a_shared_queue_goes_although_its_member_is_down(world: World) -> None:
    sender = world.line("QM1", sends=SHARED)
    sender.submit(driver.Send(sender.token(), 1, Message(body="m", durable=True, ttl_ms=1_000)))
    world.members["QM1"].stop()
    world.run(2_000)
    assert world.depth("QM2", SHARED.name) == 0
