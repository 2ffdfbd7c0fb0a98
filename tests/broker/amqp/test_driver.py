"""Tests of the SDK's AMQP driver with the server, from an application's view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.amqp.serving import Serving, serving

from assay_broker.core.administration.changes import AlterObject, DefineObject
from assay_broker.core.objects.model import Kind, Value
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk import AckMode, Context, Message, Queue, TemporaryQueue, Topic, connect
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.errors import (
    IllegalStateRuntimeError,
    InvalidClientIdRuntimeError,
    InvalidDestinationRuntimeError,
    InvalidSelectorRuntimeError,
    MessagingRuntimeError,
)


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    if request.param == "memory":
        with serving() as found:
            yield found
    else:
        with serving(store=lambda _: SqliteStore(tmp_path_factory.mktemp("data"), "ASSAY")) as found:
            yield found


@pytest.fixture
def context(server: Serving) -> Iterator[Context]:
    with connect(server.url, client_id="me", driver=AmqpDriver()) as found:
        yield found


def queue(request: pytest.FixtureRequest) -> Queue[str]:
    return Queue(request.node.name.replace("[", ".").replace("]", "")[:48], str)


def test_a_message_goes_through_a_queue(context: Context, request: pytest.FixtureRequest) -> None:
    to = queue(request)
    sent = Message("hello", properties={"colour": "red"})
    context.create_producer(to, priority=7, time_to_live=60_000).send(sent)
    with context.create_consumer(to) as consumer:
        found = consumer.receive(timeout=5_000)
    assert found is not None
    assert (found.body, found.properties["colour"], found.priority) == ("hello", "red", 7)
    assert (found.delivery_count, found.redelivered) == (1, False)


def test_a_delayed_message_comes_when_it_is_due(context: Context, request: pytest.FixtureRequest) -> None:
    to = queue(request)
    receipt = context.create_producer(to, delivery_delay=200).send("late")
    with context.create_consumer(to) as consumer:
        found = consumer.receive(timeout=5_000)
    assert found is not None
    assert found.delivery_time == receipt.delivery_time


def test_a_browser_shows_what_is_there(context: Context, request: pytest.FixtureRequest) -> None:
    to = queue(request)
    producer = context.create_producer(to)
    for text in ("one", "two", "three"):
        producer.send(text)
    assert [message.body for message in context.create_browser(to)] == ["one", "two", "three"]
    with context.create_consumer(to) as consumer:
        assert [consumer.receive_body(timeout=5_000) for _ in range(3)] == ["one", "two", "three"]


def test_a_unit_of_work_is_committed_and_rolled_back(context: Context, request: pytest.FixtureRequest) -> None:
    to = queue(request)
    with context.create_context(AckMode.TRANSACTED) as unit:
        producer = unit.create_producer(to)
        producer.send("never")
        unit.rollback()
        producer.send("kept")
        unit.commit()
        with unit.create_consumer(to) as consumer:
            first = consumer.receive(timeout=5_000)
            unit.rollback()
            second = consumer.receive(timeout=5_000)
            unit.commit()
            assert consumer.receive(timeout=100) is None
    assert first is not None
    assert second is not None
    assert [(one.body, one.delivery_count) for one in (first, second)] == [("kept", 1), ("kept", 2)]


def test_a_durable_subscription_is_kept_found_and_removed(context: Context) -> None:
    topic = Topic("news", str)
    context.create_durable_consumer(topic, "kept").close()
    context.create_producer(topic).send("one")
    with context.create_durable_consumer(topic, "kept") as consumer:
        assert consumer.receive_body(timeout=5_000) == "one"
    context.unsubscribe("kept")
    with pytest.raises(InvalidDestinationRuntimeError, match="MQRC_NO_SUBSCRIPTION"):
        context.unsubscribe("kept")


def test_a_shared_subscription_deals_its_messages_out(context: Context) -> None:
    topic = Topic("dealt", str)
    one = context.create_shared_durable_consumer(topic, "deal")
    two = context.create_shared_durable_consumer(topic, "deal")
    producer = context.create_producer(topic)
    producer.send("a")
    producer.send("b")
    assert {one.receive_body(timeout=5_000), two.receive_body(timeout=5_000)} == {"a", "b"}
    one.close()
    two.close()
    context.unsubscribe("deal")


def test_a_client_id_in_use_is_refused(server: Serving, context: Context) -> None:
    assert context.client_id == "me"
    with pytest.raises(InvalidClientIdRuntimeError), connect(server.url, client_id="me", driver=AmqpDriver()):
        pass


def test_a_selector_that_is_none_is_refused(context: Context, request: pytest.FixtureRequest) -> None:
    with pytest.raises(InvalidSelectorRuntimeError):
        context.create_consumer(queue(request), selector="colour = ")


def test_a_message_that_is_too_long_is_refused_with_its_reason(
    server: Serving, context: Context, request: pytest.FixtureRequest
) -> None:
    to = queue(request)
    server.administer(DefineObject(kind=Kind.QLOCAL, name=to.name, attributes={"MAXMSGL": 4_194_304}))
    producer = context.create_producer(to)
    with pytest.raises(MessagingRuntimeError) as caught:
        producer.send("x" * 5_000_000)
    assert caught.value.reason is not None
    assert caught.value.reason.name.startswith("MSG_TOO_BIG")


@pytest.mark.parametrize("boqname", ["BOQ", ""], ids=["back-out queue", "dead-letter queue"])
def test_a_client_heeds_the_back_out_threshold_of_the_queue(server: Serving, context: Context, boqname: str) -> None:
    to = Queue(f"THRESHOLD.{boqname}", str)
    server.administer(DefineObject(kind=Kind.QLOCAL, name="BOQ", attributes={}, replace=True))
    server.administer(DefineObject(kind=Kind.QLOCAL, name="BACKOUT.DLQ", attributes={}, replace=True))
    server.administer(AlterObject(Kind.QMGR, server.queue_manager.name, {"DEADQ": "BACKOUT.DLQ"}))
    limits: dict[str, Value] = {"BOTHRESH": 3, "BOQNAME": boqname}
    server.administer(DefineObject(kind=Kind.QLOCAL, name=to.name, attributes=limits))
    calls: list[int] = []

    def listener(message: Message[str]) -> None:
        calls.append(message.delivery_count)
        raise ValueError("as told")

    context.set_exception_listener(lambda _error: None)
    with context.create_consumer(to) as consumer, context.create_context(AckMode.AUTO) as other:
        consumer.set_message_listener(listener)
        other.create_producer(to).send("poison")
        assert other.create_consumer(Queue(boqname or "BACKOUT.DLQ", str)).receive_body(timeout=10_000) == "poison"
    assert calls == [1, 2, 3]


def test_a_long_message_comes_as_it_went(context: Context, request: pytest.FixtureRequest) -> None:
    to = queue(request)
    text = "0123456789" * 300_000
    context.create_producer(to).send(text)
    with context.create_consumer(to) as consumer:
        assert consumer.receive_body(timeout=10_000) == text


def test_what_was_answered_is_there_after_a_new_start(tmp_path: Path) -> None:
    to = Queue("LASTS", str)
    with serving(store=lambda _: SqliteStore(tmp_path, "ASSAY")) as server:
        with connect(server.url, driver=AmqpDriver()) as context:
            context.create_producer(to).send("lasts")
        server.do(server.queue_manager.restart)
        with connect(server.url, driver=AmqpDriver()) as context, context.create_consumer(to) as consumer:
            assert consumer.receive_body(timeout=5_000) == "lasts"


def test_a_request_is_answered_over_a_temporary_queue(server: Serving, context: Context) -> None:
    requests = Queue("TEMPORARY.REQUESTS", str)
    replies = context.create_temporary_queue()
    with connect(server.url, client_id="replier", driver=AmqpDriver()) as other:
        asked = Message("how many?", reply_to=replies)
        context.create_producer(requests).send(asked)
        with other.create_consumer(requests) as consumer:
            request = consumer.receive(timeout=5_000)
        assert request is not None
        assert request.reply_to == replies
        there = TemporaryQueue(replies.name)
        other.create_producer(there).send("three")
        with pytest.raises(MessagingRuntimeError):
            other.create_consumer(there)
        with context.create_consumer(replies) as consumer:
            assert consumer.receive_body(timeout=5_000) == "three"
            with pytest.raises(IllegalStateRuntimeError):
                context.delete_temporary(replies)
        context.delete_temporary(replies)
        with pytest.raises(InvalidDestinationRuntimeError):
            other.create_producer(there)
        with pytest.raises(InvalidDestinationRuntimeError):
            context.delete_temporary(replies)


def test_a_temporary_topic_outlives_its_session_and_goes_with_its_connection(server: Serving) -> None:
    with connect(server.url, client_id="owner", driver=AmqpDriver()) as owner:
        with owner.create_context(AckMode.AUTO) as inner:
            news = inner.create_temporary_topic(bytes)
        with owner.create_consumer(news) as consumer, connect(server.url, driver=AmqpDriver()) as other:
            other.create_producer(news).send(b"7")
            assert consumer.receive_body(timeout=5_000) == b"7"
    with connect(server.url, driver=AmqpDriver()) as other, pytest.raises(InvalidDestinationRuntimeError):
        other.create_producer(news)
