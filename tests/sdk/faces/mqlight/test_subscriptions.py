"""Tests of the begin, sharing, time to live and end of subscriptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sdk.faces.mqlight.worlds import SECOND, World, bodies

from assay_sdk import Delivery, IllegalStateError, MessagingError, connect_mqlight
from assay_sdk.driver import Done, Driver, DriverCommand, DriverEvent, LinkClosed, OpenReceiver, Target
from assay_sdk.time import Runner


def test_a_subscription_with_a_time_to_live_outlives_its_client_and_one_without_does_not(world: World) -> None:
    sender = world.client("sender")
    for ttl in (0, 10_000):
        client = world.client()
        client.subscribe("t", ttl=ttl)
        client.close()
        sender.send("t", "meanwhile", qos=1)
        world.let(9_900)
        got: list[Delivery] = []
        with world.client() as again:
            again.subscribe("t", ttl=ttl, on_message=got.append)
            world.let(SECOND)
        assert bodies(got) == (["meanwhile"] if ttl else [])


def test_unsubscribing_leaves_the_time_to_live_unless_told_otherwise(world: World) -> None:
    with world.client() as client:
        for share in (None, "s"):
            for ttl in (None, 0):
                client.subscribe("t", share=share, ttl=10_000)
                client.unsubscribe("t", share, ttl=ttl)
                client.send("t", "meanwhile", qos=1)
                got: list[Delivery] = []
                client.subscribe("t", share=share, ttl=10_000, on_message=got.append)
                world.let(SECOND)
                assert bodies(got) == (["meanwhile"] if ttl is None else [])
                client.unsubscribe("t", share, ttl=0)


def test_clients_with_different_ids_share_a_subscription(world: World) -> None:
    one: list[Delivery] = []
    two: list[Delivery] = []
    with world.client("one") as first, world.client("two") as second, world.client(None) as sender:
        first.subscribe("t", share="s", credit=1, qos=1, auto_confirm=False, on_message=one.append)
        second.subscribe("t", share="s", credit=1, qos=1, auto_confirm=False, on_message=two.append)
        for number in range(2):
            sender.send("t", str(number), qos=1)
        world.let(SECOND)
    assert sorted(str(one) for one in bodies(one + two)) == ["0", "1"]
    assert len(one) == len(two) == 1


def test_unsubscribing_ends_it(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        subscription = client.subscribe("t", on_message=got.append)
        subscription.unsubscribe()
        client.send("t", "x", qos=1)
        world.let(SECOND)
        assert got == []
        client.subscribe("t", on_message=got.append)


def test_the_end_of_a_subscription_without_a_reason_is_reported(world: World) -> None:
    with world.client() as client:
        client.subscribe("t")
        (subscription,) = client._engine.subscriptions.values()
        subscription.peer_closed(None)  # no driver of ours gives no reason, but `LinkClosed` permits it
        world.let(0)
        assert world.complaints == ["the broker has ended the subscription private:t: subscribe again"]


def test_an_on_error_that_raises_is_logged_and_disturbs_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    def on_error(error: MessagingError) -> None:
        raise RuntimeError(error.text)

    with world.client(on_error=on_error) as client:
        got: list[Delivery] = []
        client.subscribe("other", on_message=got.append)
        client.subscribe("t")
        client._engine.subscriptions["private:t"].peer_closed(None)
        client.send("other", "x", qos=1)
        world.let(SECOND)
        assert bodies(got) == ["x"]
    assert "the exception listener raised" in caplog.text


class _Ending:
    """A wire on which the broker closes each subscription directly behind its answer to the attach."""

    def __init__(self, sink: Callable[[DriverEvent], None]) -> None:
        self.wire: Any = None
        self._sink = sink
        self._opening: dict[int, int] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self.wire, name)

    def submit(self, command: DriverCommand) -> None:
        if isinstance(command, OpenReceiver):
            self._opening[command.token] = command.link
        self.wire.submit(command)

    def receive(self, event: DriverEvent) -> None:
        self._sink(event)
        if isinstance(event, Done) and event.token in self._opening:
            self._sink(LinkClosed(self._opening.pop(event.token), None))


class _EndingDriver:
    """A driver with such wires."""

    name = "ending"

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Any:
        ending = _Ending(sink)
        ending.wire = self._driver.connect(target, ending.receive, runner)
        return ending


def test_a_subscription_that_the_broker_ends_at_once_is_forgotten(world: World) -> None:
    complaints: list[str] = []
    broker = world.broker
    with connect_mqlight(
        broker.url,
        driver=_EndingDriver(broker.driver),
        runner=broker.runner,
        on_error=lambda error: complaints.append(error.text),
    ) as client:
        subscription = client.subscribe("t")
        assert subscription.receive(0) is None
        assert client._engine.subscriptions == {}
    assert complaints == ["the broker has ended the subscription private:t: subscribe again"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"qos": 2}, "qos is 2: give 0"),
        ({"qos": True}, "qos is True"),
        ({"ttl": -1}, "ttl is -1 ms; a duration cannot be negative"),
        ({"ttl": 2**32 * 1000}, "ttl is 4294967296000 ms; the longest is"),
        ({"ttl": 1.5}, "ttl is 1.5; give a timedelta"),
        ({"share": "a:b"}, "share is 'a:b'"),
        ({"share": ""}, "share is ''"),
        ({"credit": -1}, "credit is -1"),
    ],
)
def test_a_subscribe_names_the_argument_that_is_wrong(world: World, options: dict[str, object], sentence: str) -> None:
    with world.client() as client, pytest.raises(MessagingError) as caught:
        client.subscribe("t", **options)  # type: ignore[arg-type]  # the test gives a wrong value
    assert sentence in caught.value.text


def test_subscribing_twice_and_unsubscribing_what_is_unknown_are_refused(world: World) -> None:
    with world.client() as client:
        client.subscribe("t")
        with pytest.raises(IllegalStateError, match="already"):
            client.subscribe("t", qos=1)
        client.subscribe("t", share="s")
        with pytest.raises(IllegalStateError, match="not subscribed"):
            client.unsubscribe("other")
        with pytest.raises(MessagingError, match="only 0"):
            client.unsubscribe("t", ttl=5)
