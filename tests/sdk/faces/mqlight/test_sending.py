"""Tests of sent messages, and of their form on the wire."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.sdk.faces.mqlight.worlds import SECOND, World

from assay_sdk import Delivery, InvalidDestinationError, MessageFormatError, MessagingError, connect
from assay_sdk.driver import OpenReceiver, OpenSender, Send
from assay_sdk.observer import FrameSeen, Seen


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
        client.send(**{"topic": "t", "data": "x", **options})  # type: ignore[arg-type]  # the test gives a wrong value
    assert sentence in caught.value.text


def test_an_empty_topic_is_no_destination(world: World) -> None:
    with world.client() as client, pytest.raises(InvalidDestinationError):
        client.subscribe("")


@pytest.mark.parametrize("body", ["{", b'"\xff"', "[" * 100_000])
def test_what_is_called_json_and_is_none_says_so(world: World, body: Any) -> None:
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
                    return f"{body!s} of {content_type!s}"

            context.create_producer(Topic("t", converter=Broken())).send(body)
        world.let(SECOND)
    with pytest.raises(MessageFormatError, match="its body is not valid JSON"):
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
