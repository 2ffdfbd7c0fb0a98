"""Tests of clusters: one queue name with instances on several queue managers."""

from __future__ import annotations

import pytest
from tests.broker.networks.world import World

from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

ORDERS = Address(AddressKind.QUEUE, "ORDERS")
HOMES = ("QM2", "QM3")


def cluster(defbind: str) -> World:
    """Return a cluster of QM1, QM2 and QM3; QM2 and QM3 have the queue."""
    world = World("cluster", ("QM1", *HOMES))
    for member in HOMES:
        world.define(member, ORDERS.name, CLUSTER="C", DEFBIND=defbind)
    return world


def depths(world: World) -> list[int]:
    """Return the number of messages on each instance."""
    return [world.depth(member, ORDERS.name) for member in HOMES]


@pytest.mark.parametrize(("defbind", "spread"), [("OPEN", [0, 4]), ("NOTFIXED", [2, 2])])
def test_open_keeps_a_sender_at_one_instance_and_notfixed_takes_turns(defbind: str, spread: list[int]) -> None:
    world = cluster(defbind)
    sender = world.line("QM1", sends=ORDERS)
    for body in "abcd":
        assert sender.send(body) is None
    world.run()
    assert sorted(depths(world)) == spread


def test_a_group_of_messages_goes_to_one_instance() -> None:
    world = cluster("GROUP")
    sender = world.line("QM1", sends=ORDERS)
    for index in range(4):
        message = Message(message_id=str(index), body="m", group_id="g", group_sequence=index + 1)
        sender.submit(driver.Send(sender.token(), 1, message))
    world.run()
    assert sorted(depths(world)) == [0, 4]


def test_an_instance_of_its_own_is_preferred() -> None:
    world = cluster("NOTFIXED")
    sender = world.line("QM2", sends=ORDERS)
    for body in "ab":
        sender.send(body)
    world.run()
    assert depths(world) == [2, 0]


@pytest.mark.parametrize("durable", [True, False])
def test_a_delayed_message_is_staged_by_its_sender_and_goes_to_an_instance_when_the_delay_is_over(
    durable: bool,
) -> None:
    world = cluster("NOTFIXED")
    receivers = [world.line(member, receives=ORDERS) for member in HOMES]
    sender = world.line("QM1", sends=ORDERS)
    for body in "ab":
        assert sender.send(body, durable=durable, delay_ms=1_000) is None
    assert world.depth("QM1", STAGING_QUEUE) == 2
    world.run(900)
    assert [line.bodies() for line in receivers] == [[], []]
    world.run(200)
    assert sorted(line.bodies() for line in receivers) == [["a"], ["b"]]


@pytest.mark.parametrize("defbind", ["OPEN", "GROUP"])
def test_a_delay_to_an_instance_elsewhere_needs_notfixed_too(defbind: str) -> None:
    refused = cluster(defbind).line("QM1", sends=ORDERS).send("d", delay_ms=1_000)
    assert refused is not None
    assert refused.mqrc == Mqrc.OPTIONS_ERROR


def test_instances_that_run_come_before_those_that_do_not() -> None:
    world = cluster("NOTFIXED")
    world.members["QM2"].stop()
    world.run()
    sender = world.line("QM1", sends=ORDERS)
    for body in "ab":
        sender.send(body)
    world.run()
    assert world.depth("QM3", ORDERS.name) == 2


def test_what_was_bound_to_an_instance_that_is_down_waits_for_it() -> None:
    world = World("cluster")
    world.define("QM2", ORDERS.name, CLUSTER="C")
    sender = world.line("QM1", sends=ORDERS)
    world.members["QM2"].stop()
    world.run()
    assert sender.send("m") is None
    world.members["QM1"].kill()
    world.run()
    world.members["QM2"].start()
    world.run()
    assert world.line("QM2", receives=ORDERS).bodies() == ["m"]


def test_an_instance_that_cannot_take_a_message_has_the_say_what_becomes_of_it() -> None:
    world = World("cluster")
    world.define("QM2", ORDERS.name, CLUSTER="C", MAXDEPTH=1)
    sender = world.line("QM1", sends=ORDERS)
    for body in "ab":
        assert sender.send(body) is None
    world.run()
    assert world.depth("QM2", "SYSTEM.DEAD.LETTER.QUEUE") == 1


def test_a_queue_elsewhere_cannot_be_read_from_here() -> None:
    world = cluster("OPEN")
    line = world.line("QM1")
    line.submit(driver.OpenReceiver(token=(token := line.token()), session=1, link=3, address=ORDERS))
    (failed,) = [event for event in line.events if isinstance(event, driver.Failed) and event.token == token]
    assert failed.refused.mqrc == Mqrc.UNKNOWN_OBJECT_NAME
