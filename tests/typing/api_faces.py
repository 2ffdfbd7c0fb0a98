"""The types of the faces, as a user's type checker infers them; mypy and pyright check this file."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, assert_type

from msgspec import Struct

from assay_sdk import (
    AckMode,
    Client,
    ConnectionFactory,
    Consumer,
    Context,
    Delivery,
    DeliveryMode,
    Message,
    MessageConsumer,
    MessageProducer,
    MessagingError,
    Mqrc,
    Producer,
    Queue,
    Receipt,
    Session,
    Subscription,
    Topic,
    connect,
    connect_mqlight,
)


class Order(Struct):
    """A struct for message bodies."""

    number: str


orders: Queue[Order] = Queue("ORDERS", Order)
news = Topic("NEWS")


def simplified() -> None:
    """Use the simplified face."""
    with connect("amqp://127.0.0.1:5672", client_id="billing") as ctx:
        assert_type(ctx, Context)
        producer = ctx.create_producer(orders, delivery_delay=timedelta(seconds=5), time_to_live=60_000)
        assert_type(producer, Producer[Order])
        assert_type(producer.send(Order("1"), priority=7), Receipt)
        assert_type(producer.set_priority(7).set_time_to_live(timedelta(minutes=1)), Producer[Order])
        producer.send("no order")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # must be seen
        anywhere = ctx.create_producer()
        assert_type(anywhere, Producer[Any])
        anywhere.send_to(orders, Order("1"))
        with ctx.create_consumer(orders) as consumer:
            assert_type(consumer, Consumer[Order])
            message = consumer.receive(timeout=10_000)
            assert_type(message, Message[Order] | None)
            assert_type(consumer.receive_body(timedelta(seconds=1)), Order | None)
            for one in consumer:
                assert_type(one, Message[Order])
            assert_type(list(consumer.messages(timeout=timedelta(seconds=1))), list[Message[Order]])
            if message is not None:
                assert_type(message.body, Order)
                assert_type(message.delivery_mode, DeliveryMode)

        def handle(batch: list[Message[Order]]) -> None:
            assert_type(batch[0].body.number, str)

        consumer.set_batch_listener(handle, batch_size=100, batch_timeout=200)
        consumer.set_message_listener(lambda one: print(one.body.number))  # noqa: T201  a user's listener
        assert_type(ctx.create_shared_durable_consumer(news, "S").receive_body(), str | None)
        for seen in ctx.create_browser(orders):
            assert_type(seen, Message[Order])


def classic() -> None:
    """Use the classic face."""
    connection = ConnectionFactory("amqp://127.0.0.1:5672").create_connection()
    session = connection.create_session(AckMode.CLIENT)
    assert_type(session, Session)
    assert_type(session.create_producer(orders), MessageProducer[Order])
    assert_type(session.create_durable_consumer(news, "S"), MessageConsumer[str])
    assert_type(list(session.create_consumer(orders)), list[Message[Order]])
    try:
        session.commit()
    except MessagingError as error:
        assert_type(error.reason, Mqrc | None)


def mqlight() -> None:
    """Use the MQ Light face."""
    with connect_mqlight("amqp://127.0.0.1:5672", client_id="desk") as client:
        assert_type(client, Client)
        assert_type(client.send("prices/nails", {"cents": 12}, qos=1, ttl=timedelta(minutes=1)), str)
        client.send("prices/nails", "12", durable=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]  # must be seen
        subscription = client.subscribe("prices/#", qos=1, auto_confirm=False, ttl=60_000)
        assert_type(subscription, Subscription)
        assert_type(subscription.receive(timeout=1_000), Delivery | None)
        assert_type(list(subscription.messages(timeout=1_000)), list[Delivery])

        def handle(delivery: Delivery) -> None:
            assert_type(delivery.data, object)
            assert_type(delivery.ttl, int | None)
            delivery.confirm()

        client.subscribe("prices/+", share="clerks", credit=10, on_message=handle)
