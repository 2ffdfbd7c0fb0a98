"""Tests of publish/subscribe hierarchies and proxy subscriptions (DD-81, DD-84)."""

from __future__ import annotations

import pytest
from tests.broker.networks.world import World

from assay_broker.core.administration import changes
from assay_broker.core.administration.changes import Change
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE
from assay_broker.core.objects.model import Kind
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.properties import RETAIN, RETAIN_PUBLICATION

TOPIC = Address(AddressKind.TOPIC, "prices/gold")
ALL_PRICES = Address(AddressKind.TOPIC, "prices/#")


@pytest.fixture(name="world")
def _world() -> World:
    return World("hierarchy")


def down(world: World, member: str) -> None:
    """Stop a queue manager."""
    world.members[member].stop()
    world.run()


def up(world: World, member: str) -> None:
    """Start a queue manager again."""
    world.members[member].start()
    world.run()


@pytest.mark.parametrize(("publisher", "subscriber"), [("QM1", "QM2"), ("QM2", "QM1")])
@pytest.mark.parametrize("durable", [True, False])
def test_a_publication_reaches_subscribers_on_the_other_queue_manager(
    world: World, publisher: str, subscriber: str, durable: bool
) -> None:
    lines = [world.line(member, receives=TOPIC) for member in (subscriber, publisher, subscriber)]
    assert world.line(publisher, sends=TOPIC).send("p", durable=durable) is None
    world.run()
    assert [line.bodies() for line in lines] == [["p"]] * 3


def test_a_unit_retains_a_publication_although_only_the_neighbour_has_a_subscriber(world: World) -> None:
    there = world.line("QM2", receives=TOPIC)
    sender = world.line("QM1", sends=TOPIC)
    sender.submit(driver.Begin(sender.token(), 1, 1))
    assert sender.send("kept", unit=1, properties={RETAIN: RETAIN_PUBLICATION}) is None
    sender.submit(driver.Commit(sender.token(), 1))
    world.run()
    assert (there.bodies(), world.line("QM1", receives=TOPIC).bodies()) == (["kept"], ["kept"])


def test_a_subscriber_of_overlapping_topics_gets_one_copy_for_each_of_its_subscriptions(world: World) -> None:
    exact, wild = world.line("QM2", receives=TOPIC), world.line("QM2", receives=ALL_PRICES)
    world.line("QM1", sends=TOPIC).send("p")
    world.run()
    assert (exact.bodies(), wild.bodies()) == (["p"], ["p"])


def test_a_delayed_publication_has_one_staged_copy_for_the_neighbour_and_fans_out_after_the_delay(world: World) -> None:
    lines = [world.line("QM2", receives=topic) for topic in (TOPIC, ALL_PRICES)]
    world.line("QM1", sends=TOPIC).send("d", delay_ms=1_000)
    assert [world.depth(member, STAGING_QUEUE) for member in ("QM1", "QM2")] == [1, 0]
    during = world.line("QM2", receives=TOPIC)
    same = world.line("QM1", receives=TOPIC)
    world.run(700)
    assert [line.bodies() for line in (*lines, during)] == [[], [], []]
    world.run(300)
    assert [line.bodies() for line in lines] == [["d"], ["d"]]
    assert during.bodies() == ["d"], "DD-84: where the proxy is, the fan-out is after the delay"
    assert same.bodies() == [], "DD-51: here it is not"


def test_with_nobody_there_at_the_send_nothing_is_staged_for_the_neighbour(world: World) -> None:
    world.line("QM1", sends=TOPIC).send("d", delay_ms=1_000)
    assert world.depth("QM1", STAGING_QUEUE) == 0
    late = world.line("QM2", receives=TOPIC)
    world.run(2_000)
    assert late.bodies() == []


def test_the_last_subscription_takes_the_proxy_with_it(world: World) -> None:
    first, second = world.line("QM2", receives=TOPIC), world.line("QM2", receives=TOPIC)
    sender = world.line("QM1", sends=TOPIC)
    first.submit(driver.CloseLink(first.token(), 2))
    sender.send("one", delay_ms=1_000)
    assert world.depth("QM1", STAGING_QUEUE) == 1
    second.submit(driver.CloseLink(second.token(), 2))
    sender.send("none", delay_ms=1_000)
    assert world.depth("QM1", STAGING_QUEUE) == 1


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("delay_ms", [0, 1_000])
def test_what_comes_for_a_neighbour_that_is_down_is_kept_for_it(world: World, delay_ms: int, durable: bool) -> None:
    world.line("QM2").receive(TOPIC, "sub")
    down(world, "QM2")
    world.line("QM1", sends=TOPIC).send("d", durable=durable, delay_ms=delay_ms)
    world.run(5_000)
    up(world, "QM2")
    line = world.line("QM2")
    line.receive(TOPIC, "sub")
    assert line.bodies() == ["d"]


@pytest.mark.parametrize("victim", ["QM1", "QM2"])
@pytest.mark.parametrize("after_ms", range(6))
def test_a_persistent_publication_comes_once_whoever_is_killed_on_its_way(
    world: World, victim: str, after_ms: int
) -> None:
    world.line("QM2").receive(TOPIC, "sub")
    world.run()
    sender = world.line("QM1", sends=TOPIC)
    sender.send("d", delay_ms=500)
    world.run(490)  # 490 ms, because the send took 10 ms
    world.run(after_ms)
    world.members[victim].kill()
    world.run(100)
    world.members[victim].kill()
    world.run(3_000)
    line = world.line("QM2")
    line.receive(TOPIC, "sub")
    line.accept()
    world.members["QM1"].restart()
    world.members["QM2"].restart()
    world.run(100)
    line2 = world.line("QM2")
    line2.receive(TOPIC, "sub")
    assert line.bodies() + line2.bodies() == ["d"]


def test_a_store_that_refuses_at_the_receiver_leads_to_another_try_and_one_copy(world: World) -> None:
    line = world.line("QM2")
    line.receive(TOPIC, "sub")
    world.run()
    world.stores["QM2"].fail(2)
    world.line("QM1", sends=TOPIC).send("p")
    world.run(5_000)
    assert line.bodies() == ["p"]


def test_a_publication_goes_through_a_queue_manager_without_subscribers_and_never_back() -> None:
    world = World("hierarchy", ("QM1", "QM2", "QM3"))
    lines = [world.line(member, receives=TOPIC) for member in ("QM2", "QM3")]
    world.run()
    world.line("QM3", sends=TOPIC).send("p")
    world.run(100)
    assert [line.bodies() for line in lines] == [["p"], ["p"]]
    assert all(world.depth(member, STAGING_QUEUE) == 0 for member in world.members)


def alter(kind: Kind, name: str, **attributes: str) -> Change:
    """Return an ALTER command."""
    return changes.AlterObject(kind, name, dict(attributes))


def test_an_administrator_makes_and_breaks_the_hierarchy(world: World) -> None:
    line = world.line("QM2", receives=TOPIC)
    sender = world.line("QM1", sends=TOPIC)
    assert world.ask("QM2", alter(Kind.QMGR, "QM2", PARENT="")).refused is None
    sender.send("apart")
    assert world.ask("QM1", alter(Kind.QMGR, "QM1", PARENT="QM2")).refused is None
    sender.send("together")
    world.run()
    assert line.bodies() == ["together"]


@pytest.mark.parametrize(("member", "keyword"), [("QM1", "PUBSCOPE"), ("QM2", "SUBSCOPE")])
def test_the_scope_of_a_topic_keeps_publications_or_subscriptions_at_home(
    world: World, member: str, keyword: str
) -> None:
    assert world.ask(member, alter(Kind.TOPIC, BASE_TOPIC, **{keyword: "QMGR"})).refused is None
    line = world.line("QM2", receives=TOPIC)
    world.line("QM1", sends=TOPIC).send("p")
    world.run()
    assert line.bodies() == []
