"""The MQ Light face against the reference broker in the same process, under its virtual clock."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

from assay_broker.inprocess import InProcessBroker, in_process_broker
from assay_sdk import (
    Client,
    ConnectionLostError,
    Delivery,
    IllegalStateError,
    InvalidClientIdError,
    InvalidDestinationError,
    MessageFormatError,
    MessagingError,
    StaleDeliveryError,
    connect,
    connect_mqlight,
)
from assay_sdk.driver import OpenReceiver, OpenSender, Send
from assay_sdk.observer import FrameSeen, SdkEvent, Seen, Settled

MS = 1_000_000
SECOND = 1_000


class World:
    """A broker, and clients of it."""

    def __init__(self, broker: InProcessBroker) -> None:
        self.broker = broker
        self.events: list[SdkEvent] = []
        self.states: list[tuple[str, str | None]] = []
        self.complaints: list[str] = []

    def client(self, client_id: str | None = "desk") -> Client:
        return connect_mqlight(
            self.broker.url,
            client_id=client_id,
            driver=self.broker.driver,
            runner=self.broker.runner,
            chance=random.Random(7),  # noqa: S311  exact runs, no secrets
            observer=self.events.append,
            trace=True,
            on_state_changed=lambda state, why: self.states.append((state, None if why is None else why.kind.value)),
            on_error=lambda error: self.complaints.append(error.text),
        )

    def let(self, span_ms: int) -> None:
        clock = self.broker.runner.clock
        self.broker.runner.run_until(lambda: False, clock.monotonic_ns() + span_ms * MS)

    def cut(self) -> None:
        self.broker.queue_manager.cut()

    def transfers(self) -> list[tuple[str | None, bool]]:
        """What went over the wire, with whether it was settled."""
        frames = [event.frame for event in self.events if isinstance(event, FrameSeen)]
        return [(frame.transfer.message.message_id, frame.transfer.settled) for frame in frames if frame.transfer]


@pytest.fixture
def world() -> Iterator[World]:
    with in_process_broker() as broker:
        yield World(broker)


def bodies(got: list[Delivery]) -> list[object]:
    return [delivery.data for delivery in got]


@pytest.mark.parametrize("data", ["text", b"\x00\xff", {"cents": 12}, [1, None], 3])
def test_what_was_sent_comes(world: World, data: object) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("prices/#", on_message=got.append)
        sent = client.send("prices/nails", data, ttl=timedelta(minutes=1), properties={"shop": "north"})
        world.let(SECOND)
    (delivery,) = got
    assert delivery.data == data
    assert (delivery.topic, delivery.pattern, delivery.share) == ("prices/nails", "prices/#", None)
    assert delivery.properties == {"shop": "north"}
    assert delivery.message_id == sent
    assert delivery.ttl == 59 * SECOND
    assert (delivery.redelivered, delivery.delivery_count) == (False, 1)


def test_at_most_once_is_settled_on_the_wire_and_at_least_once_is_not(world: World) -> None:
    with world.client() as client:
        zero = client.send("t", "0")
        one = client.send("t", "1", qos=1)
    assert world.transfers() == [(zero, True), (one, False)]


def test_a_send_has_no_word_of_persistence_or_priority(world: World) -> None:
    with world.client() as client:
        client.send("t", "x", qos=1)
    (transfer,) = (
        event.frame.transfer for event in world.events if isinstance(event, FrameSeen) and event.frame.transfer
    )
    assert (transfer.message.durable, transfer.message.priority) == (None, None)


def test_auto_confirm_confirms_before_the_callback(world: World) -> None:
    with world.client() as client:
        seen_settled: list[bool] = []

        def handle(_delivery: Delivery) -> None:
            seen_settled.append(any(isinstance(event, Settled) for event in world.events))

        client.subscribe("t", qos=1, on_message=handle)
        client.send("t", "x", qos=1)
        world.let(SECOND)
    assert seen_settled == [True]


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


def test_credit_0_lets_nothing_come(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", credit=0, on_message=got.append)
        client.send("t", "x")
        world.let(SECOND)
    assert got == []


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
        with pytest.raises(StaleDeliveryError, match="comes again"):
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


def test_a_confirm_whose_answer_is_lost_says_so(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", qos=1, auto_confirm=False, on_message=got.append)
        client.send("t", "x", qos=1)
        world.let(SECOND)
        world.broker.runner.call_soon(world.cut)
        with pytest.raises(ConnectionLostError):
            got[0].confirm()


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


def test_unsubscribing_ends_it(world: World) -> None:
    with world.client() as client:
        got: list[Delivery] = []
        subscription = client.subscribe("t", on_message=got.append)
        subscription.unsubscribe()
        client.send("t", "x", qos=1)
        world.let(SECOND)
        assert got == []
        client.subscribe("t", on_message=got.append)


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
        client.subscribe("t", **options)  # type: ignore[arg-type]  # what is tried
    assert sentence in caught.value.text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"qos": 2}, "qos is 2"),
        ({"ttl": 0}, "ttl is 0"),
        ({"ttl": -1}, "ttl is -1 ms"),
        ({"ttl": 2**32}, "ttl is 4294967296 ms; the longest is 4294967295 ms"),
        ({"data": object()}, "data for t is object"),
        ({"topic": ""}, ""),
    ],
)
def test_a_send_names_the_argument_that_is_wrong(world: World, options: dict[str, object], sentence: str) -> None:
    with world.client() as client, pytest.raises(MessagingError) as caught:
        client.send(**{"topic": "t", "data": "x", **options})  # type: ignore[arg-type]  # what is tried
    assert sentence in caught.value.text


def test_an_empty_topic_is_no_destination(world: World) -> None:
    with world.client() as client, pytest.raises(InvalidDestinationError):
        client.subscribe("")


@pytest.mark.parametrize("client_id", ["", "a b", "x" * 257])
def test_a_client_id_has_only_certain_characters(world: World, client_id: str) -> None:
    with pytest.raises(InvalidClientIdError, match="client_id is"):
        world.client(client_id)


def test_no_service_is_a_mistake() -> None:
    with pytest.raises(MessagingError, match="service is empty"):
        connect_mqlight([])


def test_the_first_of_several_services_that_answers_is_taken(world: World) -> None:
    broker = world.broker
    client = connect_mqlight(["in-process://a", broker.url], driver=broker.driver, runner=broker.runner)
    assert client.state == "started"
    client.close()


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


def test_what_is_called_json_and_is_none_says_so(world: World) -> None:
    broker = world.broker
    with world.client() as client:
        got: list[Delivery] = []
        client.subscribe("t", on_message=got.append)
        with connect(broker.url, driver=broker.driver, runner=broker.runner) as context:
            from assay_sdk import Topic
            from assay_sdk.model.converters import JSON

            class Broken:
                def encode(self, value: str) -> tuple[str, str]:
                    return value, JSON

                def decode(self, body: object, content_type: object) -> str:
                    raise NotImplementedError

            context.create_producer(Topic("t", converter=Broken())).send("{")
        world.let(SECOND)
    with pytest.raises(MessageFormatError, match="called application/json and is none"):
        _ = got[0].data


def test_each_quality_has_a_link_of_its_own_and_each_topic_one(world: World) -> None:
    with world.client() as client:
        for qos in (0, 1, 0, 1):
            client.send("t", "x", qos=qos)
        client.subscribe("t", qos=0)
        client.subscribe("u", qos=1)
    out = [
        event.frame.text for event in world.events if isinstance(event, FrameSeen) and event.frame.direction == "out"
    ]
    assert len([text for text in out if text.startswith(OpenSender.__name__ + "(")]) == 2
    assert len([text for text in out if text.startswith(Send.__name__ + "(")]) == 4
    receivers = [text for text in out if text.startswith(OpenReceiver.__name__ + "(")]
    assert ["settled=True" in text for text in receivers] == [True, False]


def test_what_was_seen_is_told_to_the_observer(world: World) -> None:
    with world.client() as client:
        client.subscribe("t", on_message=lambda _delivery: None)
        client.send("t", "x")
        world.let(SECOND)
    assert [event.handed.message.body for event in world.events if isinstance(event, Seen)] == ["x"]
