"""Tests of the delivery, reception and confirmation of messages within the credit."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from tests.sdk.faces.mqlight.worlds import SECOND, World, bodies

from assay_sdk import Delivery, IllegalStateError, MessagingError, connect_mqlight
from assay_sdk.observer import Settled


def test_auto_confirm_confirms_before_the_callback(world: World) -> None:
    with world.client() as client:
        seen_settled: list[bool] = []

        def handle(_delivery: Delivery) -> None:
            seen_settled.append(any(isinstance(event, Settled) for event in world.events))

        client.subscribe("t", qos=1, on_message=handle)
        client.send("t", "x", qos=1)
        world.let(SECOND)
    assert seen_settled == [True]


def test_auto_confirm_confirms_before_receive_returns_the_message(world: World) -> None:
    with world.client() as client:
        subscription = client.subscribe("t", qos=1)
        client.send("t", "x", qos=1)
        world.let(SECOND)
        assert [event.handed.message.body for event in world.events if isinstance(event, Settled)] == ["x"]
        assert bodies(list(subscription.messages(0))) == ["x"]


def test_without_auto_confirm_only_the_application_confirms(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", qos=1, auto_confirm=False, on_message=got.append)
        client.send("t", "1", qos=1)
        client.send("t", "2", qos=1)
        world.let(SECOND)
        assert not [event for event in world.events if isinstance(event, Settled)]
        got[1].confirm()
        got[1].confirm()
    settled = [event.handed.message.body for event in world.events if isinstance(event, Settled)]
    assert settled == ["2"]


async def later(_given: object) -> None:
    """Do nothing until awaited: a callback that an asyncio program passes by mistake."""


@pytest.mark.parametrize(
    ("wrong", "said"), [(5, "on_message is 5: give a function"), (later, "is a coroutine function")]
)
def test_a_callback_that_would_handle_nothing_is_refused(world: World, wrong: Any, said: str) -> None:
    with world.client() as client:
        with pytest.raises(MessagingError, match=said):
            client.subscribe("t", on_message=wrong)
        subscription = client.subscribe("t")
        with pytest.raises(MessagingError, match=said):
            subscription.set_on_message(wrong)


@pytest.mark.parametrize("name", ["on_state_changed", "on_error"])
def test_a_clients_callback_that_would_handle_nothing_is_refused(world: World, name: str) -> None:
    wrong: Any = {name: later}
    with pytest.raises(MessagingError, match=f"{name} is a coroutine function"):
        connect_mqlight(world.broker.url, driver=world.broker.driver, runner=world.broker.runner, **wrong)


def test_a_callback_may_close_its_client(world: World) -> None:
    client = world.client()
    got: list[object] = []

    def handle(delivery: Delivery) -> None:
        client.close()
        got.append(delivery.data)

    client.subscribe("t", qos=1, on_message=handle)
    client.send("t", "1", qos=1)
    world.let(SECOND)
    assert got == ["1"]


@pytest.mark.parametrize(("qos", "auto_confirm", "why"), [(0, False, "at most once"), (1, True, "auto_confirm")])
def test_what_is_not_the_applications_to_confirm_is_said(world: World, qos: int, auto_confirm: bool, why: str) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", qos=qos, auto_confirm=auto_confirm, on_message=got.append)
        client.send("t", "x", qos=1)
        world.let(SECOND)
        with pytest.raises(IllegalStateError, match=why):
            got[0].confirm()


def test_messages_can_be_asked_for(world: World) -> None:
    with world.client() as client:
        subscription = client.subscribe("t", qos=1, auto_confirm=False)
        assert subscription.receive(5) is None
        client.send("t", "x")
        delivery = subscription.receive(SECOND)
        assert delivery is not None
        assert delivery.data == "x"
        delivery.confirm()
        assert subscription.receive(0) is None


def test_credit_is_how_many_may_be_unconfirmed(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        subscription = client.subscribe("t", qos=1, auto_confirm=False, credit=2, on_message=got.append)
        for number in range(5):
            client.send("t", str(number), qos=1)
        world.let(SECOND)
        assert bodies(got) == ["0", "1"]
        got[0].confirm()
        world.let(SECOND)
        assert bodies(got) == ["0", "1", "2"]
        subscription.credit = 10
        world.let(SECOND)
        assert bodies(got) == ["0", "1", "2", "3", "4"]


def test_with_credit_0_a_message_comes_when_it_is_asked_for(world: World) -> None:
    with world.client() as client:
        subscription = client.subscribe("t", qos=1, credit=0)
        client.send("t", "1", qos=1)
        client.send("t", "2", qos=1)
        world.let(SECOND)
        assert not [event for event in world.events if isinstance(event, Settled)]
        for body in ("1", "2"):
            delivery = subscription.receive(0)
            assert delivery is not None
            assert delivery.data == body
            assert len([event for event in world.events if isinstance(event, Settled)]) == int(body)
        assert subscription.receive(SECOND) is None
        client.send("t", "3", qos=1)
        world.let(SECOND)
        assert len([event for event in world.events if isinstance(event, Settled)]) == 2


def test_credit_can_be_taken_back_and_a_callback_exchanged(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        subscription = client.subscribe("t", on_message=got.append)
        subscription.credit = 0
        client.send("t", "1", qos=1)
        world.let(SECOND)
        assert got == []
        subscription.set_on_message(None)
        subscription.credit = 10
        world.let(SECOND)
        assert got == []
        subscription.set_on_message(got.append)
        world.let(SECOND)
        assert bodies(got) == ["1"]
        with pytest.raises(IllegalStateError, match="callback"):
            subscription.receive(0)


@pytest.mark.parametrize("qos", [0, 1])
def test_a_callback_that_removes_itself_leaves_the_next_messages_to_receive(world: World, qos: Literal[0, 1]) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        subscription = client.subscribe("t", qos=qos)

        def take_one(delivery: Delivery) -> None:
            got.append(delivery)
            subscription.set_on_message(None)

        for text in ("1", "2", "3"):
            client.send("t", text, qos=1)
        world.let(SECOND)
        subscription.set_on_message(take_one)
        world.let(SECOND)
        assert bodies(got) == ["1"]
        assert bodies(list(subscription.messages(0))) == ["2", "3"]


def test_credit_0_lets_nothing_come(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", credit=0, on_message=got.append)
        client.send("t", "x")
        world.let(SECOND)
    assert got == []


def test_a_callback_may_send_and_what_it_raises_is_told(world: World) -> None:
    with world.client() as client:
        replies: list[Delivery] = []

        def answer(delivery: Delivery) -> None:
            client.send("replies", f"re: {delivery.data}", qos=1)
            raise ValueError("enough")

        client.subscribe("t", on_message=answer)
        client.subscribe("replies", on_message=replies.append)
        client.send("t", "x", qos=1)
        world.let(SECOND)
    assert bodies(replies) == ["re: x"]
    assert world.complaints == ["a callback on t raised ValueError: enough"]


def test_callbacks_come_one_at_a_time(world: World) -> None:
    with world.client() as client:
        inside: list[str] = []
        order: list[str] = []

        def slow(delivery: Delivery) -> None:
            assert not inside
            inside.append("x")
            world.let(SECOND)
            order.append(str(delivery.data))
            inside.clear()

        client.subscribe("t", on_message=slow)
        for number in range(3):
            client.send("t", str(number))
        world.let(10 * SECOND)
    assert order == ["0", "1", "2"]


def test_a_loop_over_a_subscription_goes_on_until_no_message_comes_in_time(world: World) -> None:
    with world.client() as client:
        subscription = client.subscribe("t")
        client.send("t", "1")
        client.send("t", "2")
        assert [delivery.data for delivery in subscription.messages(timeout=5)] == ["1", "2"]
        with pytest.raises(MessagingError, match="timeout"):
            subscription.messages(timeout=-1)


@pytest.mark.parametrize("how", ["unsubscribe", "stop"])
def test_a_loop_over_a_subscription_ends_with_it(world: World, how: str) -> None:
    with world.client() as client:
        subscription = client.subscribe("t")
        client.send("t", "1")
        got = []
        for delivery in subscription:
            got.append(delivery.data)
            subscription.unsubscribe() if how == "unsubscribe" else client.close()
        assert got == ["1"]


def test_a_loop_over_a_subscription_of_a_stopped_client_is_refused(world: World) -> None:
    client = world.client()
    subscription = client.subscribe("t")
    client.close()
    with pytest.raises(IllegalStateError):
        next(iter(subscription))
