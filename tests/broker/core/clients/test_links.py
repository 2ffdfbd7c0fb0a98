"""Tests that a refused attach has no effect: every check comes before the first change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.broker.core.harness import QUEUE, TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.objects.factory import DURABLE_MODEL, MODEL_DEFAULT
from assay_broker.core.settings import Settings
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.properties import RETAIN
from assay_sdk.model.reasons import Mqrc, Refused

EVERY_TOPIC = Address(AddressKind.TOPIC, "#")
MINE = Address(AddressKind.TEMPORARY_QUEUE, "MINE")
MY_TOPIC = Address(AddressKind.TEMPORARY_TOPIC, "MINE")


def reason(refused: Refused | None) -> int | None:
    """Return the reason code of a refusal."""
    assert refused is not None
    return refused.mqrc


def deleted(bench: Bench, connection: int, address: Address) -> Refused | None:
    """Delete a temporary destination, and return the refusal, or None."""
    token = bench.token()
    return bench.ask(commands.DeleteTemporary(connection, token, address), token)


def with_subscription(settings: Settings) -> Bench:
    """Return a bench with a durable subscription "d" to T, which has no receiver and holds a message."""
    bench = Bench(settings)
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    bench.connect(2, "c")
    bench.receiver(2, 1, TOPIC, durable="d")
    bench.disconnect(2)
    bench.put(1, 1, message("kept"))
    bench.connect(2, "c")
    return bench


def retain_two(bench: Bench) -> None:
    """Retain two publications, more than the queue of a subscription with MAXDEPTH(1) can take."""
    for link, name in ((2, "A"), (3, "B")):
        bench.sender(1, link, Address(AddressKind.TOPIC, name))
        bench.put(1, link, message(name, properties={RETAIN: 1}))


def delete_model(bench: Bench) -> None:
    """Delete the model of the queues of durable subscriptions."""
    bench.delete(DURABLE_MODEL)


@pytest.mark.parametrize(
    ("obstruct", "why"), [(retain_two, Mqrc.RETAINED_NOT_DELIVERED), (delete_model, Mqrc.UNKNOWN_OBJECT_NAME)]
)
def test_a_subscription_that_cannot_be_replaced_keeps_its_messages(
    obstruct: Callable[[Bench], None], why: Mqrc
) -> None:
    bench = with_subscription(limited(MAXDEPTH=1))
    obstruct(bench)
    disk = len(bench.disk)
    assert reason(bench.receiver(2, 1, EVERY_TOPIC, durable="d")) == why
    assert len(bench.disk) == disk
    assert bench.receiver(2, 1, TOPIC, durable="d") is None
    assert bench.bodies() == ["kept"]


def test_a_subscription_can_be_replaced_at_the_limit_of_queues() -> None:
    bench = with_subscription(limited(settings=Settings(max_queues=1)))
    assert reason(bench.receiver(2, 1, TOPIC, durable="other")) == Mqrc.RESOURCE_PROBLEM
    assert bench.receiver(2, 1, EVERY_TOPIC, durable="d") is None
    bench.put(1, 1, message("new"))
    assert bench.bodies() == ["new"]


def test_a_refused_receiver_does_not_change_the_time_to_live_of_its_subscription() -> None:
    bench = Bench(limited(settings=Settings(max_selectors=1)))
    bench.connect(1, "c")
    bench.sender(1, 1, TOPIC)
    bench.receiver(1, 2, TOPIC, durable="d", shared="d")
    bench.put(1, 1, message("a"))
    bench.settle(1, 2, 1, outcome=Outcome.MODIFIED, leave_out=True)  # the receiver has a waiting line of its own now
    disk = len(bench.disk)
    refused = bench.receiver(1, 3, TOPIC, durable="d", shared="d", timeout_ms=1_000)
    assert reason(refused) == Mqrc.RESOURCE_PROBLEM
    assert len(bench.disk) == disk


@pytest.mark.parametrize("opened", [Bench.sender, Bench.receiver])
def test_a_refused_link_makes_nobody_the_owner_of_a_temporary_queue(opened: Callable[..., Refused | None]) -> None:
    bench = Bench(limited(settings=Settings(max_queues=1)))
    bench.connect(1)
    bench.connect(2)
    bench.sender(1, 1, QUEUE)
    assert reason(opened(bench, 1, 2, MINE)) == Mqrc.RESOURCE_PROBLEM
    bench.handle(commands.Detach(1, None, 1))
    assert bench.receiver(2, 1, MINE) is None


@pytest.mark.parametrize("opened", [Bench.sender, Bench.receiver])
def test_a_temporary_queue_without_its_model_has_no_owner(opened: Callable[..., Refused | None]) -> None:
    bench = Bench()
    bench.connect(1)
    bench.delete(MODEL_DEFAULT)
    assert reason(opened(bench, 1, 1, MINE)) == Mqrc.UNKNOWN_OBJECT_NAME
    assert reason(deleted(bench, 1, MINE)) == Mqrc.UNKNOWN_OBJECT_NAME


def test_a_refused_subscriber_is_not_the_owner_of_a_temporary_topic() -> None:
    bench = Bench()
    bench.connect(1, "c")
    bench.connect(2)
    bench.receiver(1, 1, TOPIC, durable="d")
    assert reason(bench.receiver(1, 2, MY_TOPIC, durable="d")) == Mqrc.SUBSCRIPTION_IN_USE
    assert bench.receiver(2, 1, MY_TOPIC) is None
