"""Tests of the publications of branches."""

from __future__ import annotations

import pytest
from tests.broker.core.clients.branches.work import worked
from tests.broker.core.harness import TOPIC, Bench, message
from tests.broker.core.managers import Manager, back_with

from assay_broker.core import commands
from assay_sdk.driver import Durability
from assay_sdk.model.properties import RETAIN
from assay_sdk.model.reasons import Mqrc


@pytest.mark.parametrize("commits", [True, False])
def test_publications_in_doubt_reach_their_subscribers_at_the_commit_alone(*, commits: bool) -> None:
    bench = Bench()
    bench.connect(1, "client")
    bench.sender(1, 1, TOPIC)
    bench.receiver(1, 2, TOPIC, durable="sub")
    bench.receiver(1, 3, TOPIC)
    manager = Manager(bench)
    worked(bench, manager, "a", "b")
    manager.end()
    manager.prepare()
    assert bench.bodies() == []
    manager = back_with(bench, kill=True)
    bench.connect(1, "client")
    bench.receiver(1, 2, TOPIC, durable="sub")
    assert bench.bodies() == []
    assert (manager.commit() if commits else manager.back_out()) is None
    assert bench.bodies(2) == (["a", "b"] if commits else [])


def test_an_at_most_once_subscriber_is_handed_a_branchs_publication_non_persistent(
    bench: Bench, manager: Manager
) -> None:
    bench.sender(1, 7, TOPIC)
    bench.receiver(1, 2, TOPIC, settled=True)
    unit = manager.start()
    bench.put(1, 7, message("a"), unit=unit)
    manager.end()
    manager.prepare()
    manager.commit()
    assert [(one.message.body, one.message.durable) for one in bench.delivered] == [("a", False)]  # QS-30


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("kill", [True, False])
def test_a_publication_is_retained_at_the_commit_alone(*, commits: bool, kill: bool) -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    manager = Manager(bench)
    unit = manager.start()
    bench.put(1, 1, message("kept", properties={RETAIN: 1}), unit=unit)
    manager.end()
    manager.prepare()
    if kill:
        manager = back_with(bench, kill=True)
    bench.connect(5)
    bench.receiver(5, 2, TOPIC)
    assert bench.bodies() == []
    assert (manager.commit() if commits else manager.back_out()) is None
    bench.restart()
    bench.connect(6)
    seen = len(bench.delivered)
    bench.receiver(6, 2, TOPIC)
    assert [one.message.body for one in bench.delivered[seen:]] == (["kept"] if commits else [])


def test_what_a_subscription_would_get_goes_with_it(bench: Bench, manager: Manager) -> None:
    bench.sender(1, 7, TOPIC)
    bench.receiver(1, 2, TOPIC, durable="sub")
    unit = manager.start()
    bench.put(1, 7, message("a"), unit=unit)
    manager.end()
    manager.prepare()
    bench.handle(commands.Detach(1, None, 2))
    token = bench.token()
    assert bench.ask(commands.Unsubscribe(1, token, "sub"), token) is None
    assert manager.commit() is None
    bench.at_rest()


@pytest.mark.parametrize("commits", [True, False])
def test_a_subscription_whose_end_is_not_stored_leaves_a_branch_in_doubt_what_it_had(
    bench: Bench, manager: Manager, *, commits: bool
) -> None:
    bench.sender(1, 7, TOPIC)
    mortal = commands.Attach(
        connection=1, token=None, link=2, address=TOPIC, durability=Durability.DURABLE, name="sub", timeout_ms=50
    )
    bench.handle(mortal)
    bench.handle(commands.Flow(1, None, 2, 1))
    bench.put(1, 7, message("in"))
    unit = manager.start()
    bench.settle(1, 2, bench.delivered[-1].delivery, unit=unit)
    bench.put(1, 7, message("out"), unit=unit)
    manager.end()
    manager.prepare()
    token = bench.token()
    refused = bench.ask(commands.Unsubscribe(1, token, "sub"), token)
    assert refused is not None
    assert refused.mqrc == Mqrc.SUBSCRIPTION_IN_USE
    bench.handle(commands.Detach(1, None, 2))
    bench.auto = False
    bench.now += 60
    bench.handle(commands.Tick())
    bench.fail()
    bench.auto = True
    bench.flush()
    (sub,) = (one for one in bench.core._state.queues if one.home.startswith("subscription://"))
    assert sub.waiting() == []
    assert (manager.commit() if commits else manager.back_out()) is None
    assert [entry.message.body for entry in sub.waiting()] == (["out"] if commits else ["in"])
