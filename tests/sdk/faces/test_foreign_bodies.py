"""Tests of message bodies of other AMQP clients in each face."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event

import pytest
from proton import Message as ProtonMessage
from proton import symbol
from proton.utils import BlockingConnection
from tests.broker.amqp.serving import serving

from assay_sdk import Message, MessageFormatError, Queue, connect, connect_mqlight

SOON_MS = 5_000
ORDER = {"order": 1, "item": "nails"}


@dataclass
class Order:
    order: int
    item: str


@pytest.fixture
def url() -> Iterator[str]:
    with serving() as server:
        yield server.url


def send(url: str, name: str, *bodies: object) -> None:
    connection = BlockingConnection(url, timeout=10)
    sender = connection.create_sender(name)
    for body in bodies:
        sender.send(ProtonMessage(body=body, durable=True))
    connection.close()


def test_a_map_is_received_listened_to_and_browsed(url: str) -> None:
    send(url, "MAPS", ORDER, ORDER, ORDER)
    heard: list[Message[Order]] = []
    called = Event()

    def listen(message: Message[Order]) -> None:
        heard.append(message)
        called.set()

    with connect(url) as context:
        assert [seen.body for seen in context.create_browser(Queue("MAPS", dict))] == [ORDER] * 3
        with context.create_consumer(Queue("MAPS", dict)) as consumer:
            message = consumer.receive(SOON_MS)
            assert message is not None
            assert (message.body, message.raw_body) == (ORDER, '{"order":1,"item":"nails"}')
        with context.create_consumer(Queue("MAPS", Order)) as orders:
            assert orders.receive_body(SOON_MS) == Order(1, "nails")
            orders.set_message_listener(listen)
            assert called.wait(10)
            assert heard[0].body == Order(1, "nails")


def test_a_body_that_is_not_of_the_type_stays_in_raw_body(url: str) -> None:
    send(url, "MIXED", 42, symbol("sym"), [1, 2])
    with connect(url) as context, context.create_consumer(Queue("MIXED", dict)) as consumer:
        for raw in ("42", "sym", "[1,2]"):
            message = consumer.receive(SOON_MS)
            assert message is not None
            with pytest.raises(MessageFormatError, match=f"text of length {len(raw)}"):
                assert message.body
            assert message.raw_body == raw


def test_a_symbol_is_text(url: str) -> None:
    send(url, "SYMBOLS", symbol("sym"))
    with connect(url) as context, context.create_consumer(Queue("SYMBOLS")) as consumer:
        body = consumer.receive_body(SOON_MS)
    assert (body, type(body)) == ("sym", str)


def test_a_map_is_a_value_for_mqlight(url: str) -> None:
    with connect_mqlight(url) as client:
        subscription = client.subscribe("maps")
        send(url, "topic://maps", ORDER)
        found = subscription.receive(SOON_MS)
        assert found is not None
        assert found.data == ORDER
