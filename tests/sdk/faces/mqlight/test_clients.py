"""Tests of starting and stopping MQ Light clients."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sdk.faces.mqlight.worlds import SECOND, World, bodies

from assay_sdk import Delivery, IllegalStateError, InvalidClientIdError, MessagingError, connect_mqlight
from assay_sdk.observer import Settled


@pytest.mark.parametrize("client_id", ["", "a b", "x" * 257])
def test_a_client_id_has_only_certain_characters(world: World, client_id: str) -> None:
    with pytest.raises(InvalidClientIdError, match="client_id is"):
        world.client(client_id)


def test_no_service_is_a_mistake() -> None:
    with pytest.raises(MessagingError, match="service is empty"):
        connect_mqlight([])


@pytest.mark.parametrize("service", [None, 5, b"amqp://127.0.0.1", [None]])
def test_a_service_is_a_url_or_several(service: Any) -> None:
    with pytest.raises(MessagingError, match=r"service is .*: give a URL"):
        connect_mqlight(service)


@pytest.mark.parametrize(
    ("share", "said"), [("n\0A", "is U\\+0000"), ("\ud800", "is U\\+D800"), ("x" * 70_000, "70008 bytes")]
)
def test_a_share_that_no_frame_carries_is_refused(world: World, share: str, said: str) -> None:
    with world.client() as client:
        with pytest.raises(MessagingError, match=said):
            client.subscribe("t", share=share)
        assert client.state == "started"


def test_the_first_of_several_services_that_answers_is_taken(world: World) -> None:
    broker = world.broker
    client = connect_mqlight(["in-process://a", broker.url], driver=broker.driver, runner=broker.runner)
    assert client.state == "started"
    client.close()


@pytest.mark.parametrize("qos", [0, 1])
def test_what_was_received_and_confirmed_is_handed_over_before_the_client_is_closed(world: World, qos: int) -> None:
    client = world.client()
    got: list[Delivery] = []

    def slow(delivery: Delivery) -> None:
        world.let(SECOND)
        got.append(delivery)

    slowly = client.subscribe("t", qos=qos, ttl=60_000, credit=0, on_message=slow)
    asked = client.subscribe("t", share="s", qos=qos, credit=0)
    for number in range(3):
        client.send("t", str(number), qos=1)
    slowly.credit = asked.credit = 10
    world.let(1)
    assert len(got) == 1
    client.close()
    assert bodies(got) == ["0", "1", "2"]
    first = asked.receive(0)
    assert first is not None
    assert first.data == "0"


def test_what_is_still_to_come_when_a_subscription_is_ended_stays_with_the_broker(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        subscription = client.subscribe("t", qos=1, ttl=60_000, credit=0, on_message=got.append)
        for number in range(3):
            client.send("t", str(number), qos=1)
        subscription.credit = 10
        subscription.unsubscribe()
        before = len(got)
        assert not [event for event in world.events if isinstance(event, Settled)][before:]
        client.subscribe("t", qos=1, ttl=60_000, on_message=got.append)
        world.let(SECOND)
    assert bodies(got) == ["0", "1", "2"]


def test_a_callback_may_close_its_client_and_then_has_the_rest(world: World) -> None:
    client = world.client()
    got: list[Delivery] = []

    def close(delivery: Delivery) -> None:
        got.append(delivery)
        client.close()

    subscription = client.subscribe("t", qos=1, credit=0, on_message=close)
    for number in range(3):
        client.send("t", str(number), qos=1)
    subscription.credit = 10
    world.let(SECOND)
    assert client.state == "stopped"
    assert bodies(got) == ["0", "1", "2"]


def test_closing_while_retrying_is_over_at_once(world: World) -> None:
    client = world.client()
    world.broker.queue_manager.stop()
    world.let(SECOND)
    client.close()
    world.broker.queue_manager.start()
    world.let(600 * SECOND)
    assert client.state == "stopped"
    assert world.states[-1] == ("stopped", None)


def test_a_stopped_client_says_so(world: World) -> None:
    client = world.client()
    subscription = client.subscribe("t")
    client.close()
    client.close()
    for action in (
        lambda: client.send("t", "x"),
        lambda: client.subscribe("u"),
        lambda: client.unsubscribe("t"),
        lambda: subscription.receive(5),
    ):
        with pytest.raises(IllegalStateError, match="the client is stopped"):
            action()


def test_an_id_that_is_in_use_is_refused_at_the_start(world: World) -> None:
    with world.client("desk"), pytest.raises(InvalidClientIdError):
        world.client("desk")


def test_a_client_that_was_abandoned_says_nothing_and_does_not_come_back(world: World) -> None:
    client = world.client()
    client.abandon()
    world.let(600 * SECOND)
    assert client.state == "stopped"
    with world.client("desk") as again:
        assert again.state == "started"
