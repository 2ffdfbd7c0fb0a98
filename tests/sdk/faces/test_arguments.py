"""Tests that the faces refuse arguments of a wrong type before they connect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay_broker.inprocess import in_process_broker
from assay_sdk import (
    ConnectionFactory,
    Context,
    InvalidClientIdError,
    InvalidDestinationRuntimeError,
    Message,
    MessageFormatRuntimeError,
    MessagingError,
    MessagingRuntimeError,
    Queue,
    Topic,
    connect,
    connect_mqlight,
)
from assay_sdk.model.message import Property

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"url": None}, "url is None: give text, such as 'amqp://127.0.0.1:5672'"),
    ({"client_id": 5}, "client_id is 5: give text"),
    ({"client_id": ""}, "client_id is empty"),
    ({"login": "me"}, "login is 'me': give Login(user, password)"),
    ({"prefetch": "5"}, "prefetch is '5': give an integer from 0"),
    ({"prefetch": 2**31}, "prefetch must be from 0 to 1073741824, and the listener window from 1"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_connect_names_the_wrong_argument(given: dict[str, Any], said: str) -> None:
    with pytest.raises(MessagingRuntimeError) as refusal:
        connect(**{"url": "amqp://127.0.0.1:1", **given})
    assert said in str(refusal.value)


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_a_factory_does_so_with_the_checked_exception(given: dict[str, Any], said: str) -> None:
    with pytest.raises(MessagingError) as refusal:
        ConnectionFactory(**{"url": "amqp://127.0.0.1:1", **given}).create_connection()
    assert said in str(refusal.value)


@pytest.mark.parametrize("client_id", [None, "of-the-factory"])
def test_an_empty_client_id_is_refused_by_a_factory_with_and_without_its_own(client_id: str | None) -> None:
    with in_process_broker() as broker, pytest.raises(InvalidClientIdError, match="client_id is empty"):
        ConnectionFactory(broker.url, client_id=client_id).create_connection(client_id="")


def test_a_connection_without_a_client_id_of_its_own_has_that_of_its_factory() -> None:
    with (
        in_process_broker() as broker,
        ConnectionFactory(broker.url, client_id="of-the-factory").create_connection() as connection,
    ):
        assert connection.client_id == "of-the-factory"


@pytest.mark.parametrize("name", ["größe", "_p", "$p", "p9", "JMS_IBM_Report_COA", "JMSXAppID", "¢", "p\u0301"])
def test_a_property_may_have_each_name_that_a_selector_can_have(name: str) -> None:
    with in_process_broker() as broker, connect(broker.url) as context:
        queue = Queue("Q")
        context.create_producer(queue).send(Message("a", properties={name: "x"}))
        assert context.create_consumer(queue, f"{name} = 'x'").receive_body(1_000) == "a"


def test_a_foreign_message_with_any_names_is_received_sent_on_and_moved_away() -> None:
    topic, parked = Topic("shops", str), Queue("PARKED", str)

    def fail(_message: Message[str]) -> None:
        raise KeyError("the listener's own mistake")

    with (
        in_process_broker() as broker,
        connect_mqlight(broker.url, driver=broker.driver, runner=broker.runner) as foreign,
        connect(broker.url) as context,
    ):
        consumer = context.create_consumer(topic)
        named: dict[str, Property] = {"shop name": "north", "x-opt.y": 1, "like": True}
        foreign.send("shops", "nails", properties=named)
        message = consumer.receive(timeout=1_000)
        assert message is not None
        assert dict(message.properties) == named
        context.create_producer(parked).send(message)
        consumer.close()
        refusing = context.create_consumer(topic, max_delivery_count=2, on_poison=parked)
        refusing.set_message_listener(fail)
        foreign.send("shops", "screws", properties=named)
        arrived = list(context.create_consumer(parked).messages(timeout=60_000))
        assert [(found.body, dict(found.properties)) for found in arrived] == [("nails", named), ("screws", named)]
        with pytest.raises(MessageFormatRuntimeError, match="has no valid name"):
            context.create_producer(parked).send(Message("copy", properties=message.properties))


@pytest.mark.parametrize("what", ["connection", "session"])
def test_a_listener_cannot_close_what_it_belongs_to_in_the_classic_face(what: str) -> None:
    with in_process_broker() as broker, ConnectionFactory(broker.url).create_connection() as connection:
        session = connection.create_session()
        told: list[str] = []

        def listen(_message: Message[str]) -> None:
            try:
                (connection if what == "connection" else session).close()
            except MessagingError as refusal:
                told.append(str(refusal))

        session.create_consumer(Queue("Q")).set_message_listener(listen)
        connection.start()
        connection.create_session().create_producer(Queue("Q")).send("a")
        broker.runner.run_until(lambda: bool(told), None)
        assert told == [f"a listener cannot close the {what} it belongs to: let it return first"]


def test_properties_are_a_mapping() -> None:
    wrong: Any = [1]
    with pytest.raises(TypeError, match=r"properties is \[1\]: give a mapping of names to values"):
        Message("a", properties=wrong)


def test_a_converter_encodes_and_decodes() -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="converter is 5: give an object with encode and decode"):
        Queue("Q", converter=wrong)


QUEUE: Any = Queue("Q")
TOPIC: Any = Topic("T")


@pytest.mark.parametrize(
    ("create", "said"),
    [
        (lambda it: it.create_durable_consumer(QUEUE, "S"), "queue://Q was given, and a subscription is on a topic"),
        (lambda it: it.create_shared_consumer(QUEUE, "S"), "queue://Q was given, and a subscription is on a topic"),
        (lambda it: it.create_shared_durable_consumer(QUEUE, "S"), "and a subscription is on a topic: give a Topic"),
        (lambda it: it.create_browser(TOPIC), "topic://T was given, and only a queue can be browsed: give a Queue"),
    ],
)
def test_a_destination_of_the_wrong_kind_is_refused(create: Callable[[Context], object], said: str) -> None:
    """The SDK itself refuses the destination: over AMQP a broker accepts both kinds, and no message would arrive."""
    with (
        in_process_broker() as broker,
        connect(broker.url, client_id="me") as context,
        pytest.raises(InvalidDestinationRuntimeError) as refusal,
    ):
        create(context)
    assert said in str(refusal.value)
