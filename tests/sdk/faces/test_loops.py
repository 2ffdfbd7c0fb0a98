"""Tests of loops over a consumer, in both faces, with the broker in the same process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from assay_broker.inprocess import InProcessBroker, InProcessDriver, in_process_broker
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk import (
    AckMode,
    ConnectionFactory,
    IllegalStateError,
    IllegalStateRuntimeError,
    MessagingRuntimeError,
    Queue,
    StalledError,
    Topic,
    connect,
)
from assay_sdk.faces.consumer import ConsumerBase
from assay_sdk.runners.real import RealRunner

ORDERS: Queue[str] = Queue("ORDERS")


@pytest.fixture
def broker() -> Iterator[InProcessBroker]:
    with in_process_broker() as broker:
        yield broker


def send(broker: InProcessBroker, *bodies: str) -> None:
    with connect(broker.url) as context:
        for body in bodies:
            context.create_producer(ORDERS).send(body)


@pytest.fixture(params=["simplified", "classic"])
def consumer(request: pytest.FixtureRequest, broker: InProcessBroker) -> Iterator[ConsumerBase[str]]:
    """Provide a consumer of either face."""
    if request.param == "simplified":
        with connect(broker.url) as context:
            yield context.create_consumer(ORDERS)
    else:
        with ConnectionFactory(broker.url).create_connection() as connection:
            connection.start()
            yield connection.create_session().create_consumer(ORDERS)


def test_a_loop_ends_when_its_body_closes_the_consumer(broker: InProcessBroker, consumer: ConsumerBase[str]) -> None:
    send(broker, "a", "b")
    got = []
    for message in consumer:
        got.append(message.body)
        consumer.close()
    assert got == ["a"]


def test_a_closed_consumer_cannot_be_iterated(consumer: ConsumerBase[str]) -> None:
    consumer.close()
    with pytest.raises((IllegalStateError, IllegalStateRuntimeError), match="the consumer is closed"):
        next(iter(consumer))


def test_a_loop_that_nothing_can_go_on_is_an_error_in_virtual_time(
    broker: InProcessBroker, consumer: ConsumerBase[str]
) -> None:
    send(broker, "a")
    loop = iter(consumer)
    assert next(loop).body == "a"
    with pytest.raises(StalledError, match=r"would never end: it has no timeout.*; give a timeout, or send"):
        next(loop)
    send(broker, "b")
    assert [message.body for message in consumer.messages(0)] == ["b"], "the consumer can still be used"


def test_the_timeout_counts_for_each_message_anew(broker: InProcessBroker) -> None:
    with connect(broker.url) as context:
        for delay_s in (2, 4, 6, 9):
            context.create_producer(ORDERS, delivery_delay=timedelta(seconds=delay_s)).send(f"after {delay_s} s")
        begun_ns = broker.runner.clock.monotonic_ns()
        got = [message.body for message in context.create_consumer(ORDERS).messages(timedelta(seconds=2.5))]
        assert got == ["after 2 s", "after 4 s", "after 6 s"]
        assert broker.runner.clock.monotonic_ns() - begun_ns == 8_500_000_000


@pytest.mark.parametrize("timeout", [-1, timedelta(microseconds=1), 1.5])
def test_a_wrong_timeout_is_refused_before_the_first_step(broker: InProcessBroker, timeout: Any) -> None:
    with connect(broker.url) as context, pytest.raises(MessagingRuntimeError, match="a receive timeout"):
        context.create_consumer(ORDERS).messages(timeout)


def test_a_consumer_with_a_listener_cannot_be_iterated_not_even_in_the_middle_of_a_loop(
    broker: InProcessBroker,
) -> None:
    send(broker, "a")
    with connect(broker.url) as context:
        consumer = context.create_consumer(ORDERS)
        loop = iter(consumer)
        next(loop)
        consumer.set_message_listener(print)
        with pytest.raises(IllegalStateRuntimeError, match="has a listener"):
            next(loop)


def test_each_message_of_a_loop_is_the_sessions_to_acknowledge(broker: InProcessBroker) -> None:
    send(broker, "a", "b")
    with connect(broker.url, session_mode=AckMode.TRANSACTED) as context:
        assert [message.body for message in context.create_consumer(ORDERS).messages(0)] == ["a", "b"]
        context.rollback()
        again = [(message.body, message.redelivered) for message in context.create_consumer(ORDERS).messages(0)]
        assert again == [("a", True), ("b", True)]
        context.commit()


def test_a_subscription_is_iterated_as_a_queue_is(broker: InProcessBroker) -> None:
    news: Topic[str] = Topic("news")
    with connect(broker.url) as context:
        consumer = context.create_consumer(news)
        context.create_producer(news).send("one")
        assert [message.body for message in consumer.messages(timeout=100)] == ["one"]


def test_another_thread_ends_a_loop_by_closing_the_consumer() -> None:
    runner = RealRunner()
    queue_manager = QueueManager(runner, MemoryStore())
    with connect("in-process://qm", runner=runner, driver=InProcessDriver(queue_manager)) as context:
        consumer = context.create_consumer(ORDERS)
        context.create_producer(ORDERS).send("a")
        got: list[str] = []
        begun = threading.Event()

        def work() -> None:
            for message in consumer:
                got.append(message.body)
                begun.set()

        thread = threading.Thread(target=work)
        thread.start()
        assert begun.wait(30)
        consumer.close()
        thread.join(30)
        assert not thread.is_alive()
        assert got == ["a"]
    runner.close()
