"""Tests of an MQ Light client and its messages after a lost connection."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.sdk.faces.mqlight.worlds import MS, SECOND, World, bodies

from assay_sdk import Backoff, ConnectionLostError, Delivery, StaleDeliveryError


def test_who_waits_for_a_message_gets_it_after_the_line_was_lost(world: World) -> None:
    with world.client() as client, world.client("other") as other:

        def send_later() -> None:
            other.send("t", "x")

        for credit in (0, 10):
            subscription = client.subscribe("t", credit=credit)
            now = world.broker.runner.clock.monotonic_ns()
            world.broker.runner.call_at(now + 10 * MS, world.cut)
            world.broker.runner.call_at(now + 9_000 * MS, send_later)
            delivery = subscription.receive(30 * SECOND)
            assert delivery is not None
            subscription.unsubscribe()


def test_a_lost_connection_comes_back_after_a_random_part_of_a_second(world: World) -> None:
    with world.client() as client:
        world.cut()
        world.let(700)
        assert client.state == "retrying"
        world.let(300)
        assert client.state == "started"
        assert world.states == [("started", None), ("retrying", "connection-lost"), ("started", None)]
    assert world.states[3:] == [("stopping", None), ("stopped", None)]


def test_waits_grow_up_to_a_minute_while_the_service_is_away(world: World) -> None:
    client = world.client()
    world.broker.queue_manager.stop()
    world.let(600 * SECOND)
    assert client.state == "retrying"
    world.broker.queue_manager.start()
    world.let(60 * SECOND)
    assert client.state == "started"
    client.close()


@pytest.mark.parametrize("limit_ms", [4_000, 10_000, 70_000])
def test_a_client_that_gives_up_stops_in_time_and_refuses_waiting_calls(world: World, limit_ms: int) -> None:
    client = world.client(backoff=Backoff(give_up_ms=limit_ms))
    runner = world.broker.runner
    world.broker.queue_manager.stop()
    began_ns = runner.clock.monotonic_ns()
    with pytest.raises(ConnectionLostError):
        client.send("t", "x", qos=1)
    assert limit_ms * MS <= runner.clock.monotonic_ns() - began_ns <= (limit_ms + 100) * MS
    assert client.state == "stopped"
    world.broker.queue_manager.start()
    with pytest.raises(ConnectionLostError):
        client.send("t", "y")


def test_a_client_whose_connections_never_last_gives_up_too(world: World) -> None:
    client = world.client(backoff=Backoff(give_up_ms=10_000))
    world.broker.queue_manager.before_answer.append(lambda _message: world.broker.queue_manager.cut())
    with pytest.raises(ConnectionLostError):
        client.send("t", "x", qos=1)
    assert client.state == "stopped"


def test_a_first_connection_that_is_cut_at_once_is_no_reason_to_give_up(world: World) -> None:
    world.let(60 * SECOND)
    client = world.client(backoff=Backoff(give_up_ms=10_000))
    world.cut()
    world.let(5 * SECOND)
    assert client.state == "started"
    client.close()


def test_an_unanswered_send_at_least_once_is_sent_again_and_an_answered_one_is_not(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        world.client("shop").subscribe("t", on_message=got.append, qos=1)
        answered = client.send("t", "answered", qos=1)
        world.broker.queue_manager.before_answer.append(lambda _message: world.broker.queue_manager.cut())
        world.broker.runner.call_at(
            world.broker.runner.clock.monotonic_ns() + 1, world.broker.queue_manager.before_answer.clear
        )
        again = client.send("t", "unanswered", qos=1)
    assert world.transfers() == [(answered, False), (again, False), (again, False)]


def test_a_send_at_most_once_is_not_sent_again(world: World) -> None:
    with world.client() as client:
        sent = client.send("t", "x")
        world.cut()
        world.let(5 * SECOND)
    assert world.transfers() == [(sent, True)]


def test_a_send_at_most_once_is_not_sent_again_if_the_cut_comes_before_its_call_returns(world: World) -> None:
    after_turn = world.broker.queue_manager.after_turn

    def cut() -> None:
        after_turn.remove(cut)
        world.cut()

    with world.client() as client:
        opening = client.send("t", "opens the link")
        after_turn.append(cut)  # the broker has published the message, and the driver has not yet answered the client
        sent = client.send("t", "x")
        assert client.state == "retrying"
        world.let(5 * SECOND)
        assert client.state == "started"
    assert world.transfers() == [(opening, True), (sent, True)]


def test_subscriptions_are_attached_again(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", on_message=got.append)
        client.subscribe("t", share="s", on_message=got.append)
        world.cut()
        client.send("t", "x", qos=1)
        world.let(SECOND)
    assert bodies(got) == ["x", "x"]


def test_a_confirm_over_an_earlier_connection_is_stale(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", qos=1, auto_confirm=False, ttl=timedelta(minutes=1), on_message=got.append)
        client.send("t", "x", qos=1)
        world.let(SECOND)
        world.cut()
        world.let(SECOND)
        with pytest.raises(StaleDeliveryError, match="when the broker delivers it again"):
            got[0].confirm()
        assert (got[1].data, got[1].redelivered, got[1].delivery_count) == ("x", True, 2)
        got[1].confirm()


def test_of_what_was_received_and_not_handed_over_only_the_confirmed_is_kept_when_the_line_breaks(world: World) -> None:
    with world.client() as client:
        sure: list[Delivery] = []
        unsure: list[Delivery] = []

        def slow(delivery: Delivery) -> None:
            (sure if delivery.topic == "sure" else unsure).append(delivery)
            if len(sure) == 1 and not unsure:
                world.let(SECOND)
                world.cut()
                world.let(5 * SECOND)

        first = client.subscribe("sure", qos=1, ttl=60_000, credit=0, on_message=slow)
        second = client.subscribe("unsure", qos=1, auto_confirm=False, ttl=60_000, credit=0, on_message=slow)
        for number in range(3):
            client.send("sure", str(number), qos=1)
            client.send("unsure", str(number), qos=1)
        first.credit = second.credit = 10
        world.let(10 * SECOND)
    assert bodies(sure) == ["0", "1", "2"]
    assert bodies(unsure) == ["0", "1", "2"]
    assert [delivery.redelivered for delivery in sure + unsure] == [False] * 3 + [True] * 3


def test_a_confirm_whose_answer_is_lost_says_so(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", qos=1, auto_confirm=False, on_message=got.append)
        client.send("t", "x", qos=1)
        world.let(SECOND)
        world.broker.runner.call_soon(world.cut)
        with pytest.raises(ConnectionLostError):
            got[0].confirm()


@pytest.mark.parametrize("share", [None, "s"])
def test_a_subscription_whose_first_connection_is_lost_is_attached_once_on_the_next(
    world: World, share: str | None
) -> None:
    after_turn = world.broker.queue_manager.after_turn

    def cut() -> None:
        after_turn.remove(cut)
        world.cut()

    with world.client() as client:
        after_turn.append(cut)  # the broker has attached the subscription, and the client does not get the answer
        got: list[Delivery] = []
        client.subscribe("t", qos=1, share=share, credit=1, auto_confirm=False, on_message=got.append)
        client.send("t", "first", qos=1)
        client.send("t", "second", qos=1)
        world.let(SECOND)
        assert bodies(got) == ["first"]  # a second attach would have a credit of its own
    assert world.complaints == []
