"""Tests of subscriptions that last, temporary destinations and browsers."""

from __future__ import annotations

import pytest
from tests.broker.stomp.frames import left, messages_before_sync, numbered
from tests.broker.stomp.serving import Raw, StompServing, raw

# --- subscriptions that last, and temporary destinations


@pytest.mark.parametrize("name", ["durable-subscription-name", "durable-subscriber-name", "activemq.subscriptionName"])
def test_a_durable_subscription_outlives_its_connection(server: StompServing, client: Raw, name: str) -> None:
    topic = f"/topic/durable/{name}"
    subscribing = {"id": "0", "destination": topic, name: "N", "receipt": "1"}
    with raw(server, client_id=name) as first:
        first.frame("SUBSCRIBE", subscribing)
        first.receipt("1")
        first.leave()
    client.send("SEND", b"x", destination=topic, persistent="true", receipt="1")
    client.receipt("1")
    with raw(server, client_id=name) as second:
        second.frame("SUBSCRIBE", subscribing)
        second.receipt("1")
        assert second.read("MESSAGE").body == b"x"
        second.frame("UNSUBSCRIBE", {"id": "0", name: "N", "receipt": "2"})
        second.receipt("2")
        second.leave()
    client.send("SEND", b"y", destination=topic, persistent="true", receipt="2")
    client.receipt("2")
    with raw(server, client_id=name) as third:
        third.frame("SUBSCRIBE", subscribing)
        third.receipt("1")
        third.nothing()
        third.frame("UNSUBSCRIBE", {"id": "0", name: "N", "receipt": "2"})
        third.receipt("2")


def test_a_durable_subscription_can_be_removed_without_a_subscribe(server: StompServing) -> None:
    with raw(server, client_id="remover") as client:
        client.frame("SUBSCRIBE", {"id": "0", "destination": "/topic/r", "activemq.subscriptionName": "N"})
        client.frame("UNSUBSCRIBE", {"id": "0"})
        client.frame("UNSUBSCRIBE", {"id": "0", "activemq.subscriptionName": "N", "receipt": "1"})
        client.receipt("1")
        client.frame("UNSUBSCRIBE", {"id": "0", "activemq.subscriptionName": "N"})
        assert client.error().headers["mqrc"] == "2428"


def test_rabbitmqs_durable_subscription_belongs_to_its_id(server: StompServing, client: Raw) -> None:
    subscribing = {"id": "r", "destination": "/topic/rabbit", "durable": "true", "auto-delete": "false", "receipt": "1"}
    with raw(server) as first:
        first.frame("SUBSCRIBE", subscribing)
        first.receipt("1")
        first.leave()
    client.send("SEND", b"x", destination="/topic/rabbit", receipt="1")
    client.receipt("1")
    with raw(server) as second:
        second.frame("SUBSCRIBE", subscribing)
        second.receipt("1")
        second.read("MESSAGE")
        second.frame("UNSUBSCRIBE", {"id": "r", "durable": "true", "auto-delete": "false", "receipt": "2"})
        second.receipt("2")


def test_a_shared_subscription_gives_each_message_to_one_client(client: Raw, other: Raw) -> None:
    for one in (client, other):
        one.frame(
            "SUBSCRIBE",
            {"id": "0", "destination": "/topic/shared", "shared-subscription-name": "N", "receipt": "1"},
        )
        one.receipt("1")
    for _ in range(4):
        client.send("SEND", b"x", destination="/topic/shared")
    assert sum(len(messages_before_sync(one)) for one in (client, other)) == 4


def test_a_request_is_answered_on_a_temporary_queue(client: Raw, other: Raw, queue: str) -> None:
    other.send("SUBSCRIBE", id="0", destination=queue)
    client.send("SUBSCRIBE", id="0", destination="/temp-queue/answers")
    client.send("SEND", b"?", destination=queue, reply_to="/temp-queue/answers", correlation_id="7")
    request = other.read("MESSAGE")
    assert request.headers["reply-to"].startswith("/remote-temp-queue/")
    other.send("SEND", b"!", destination=request.headers["reply-to"], correlation_id=request.headers["correlation-id"])
    answer = client.read("MESSAGE")
    assert (answer.body, answer.headers["correlation-id"]) == (b"!", "7")
    assert answer.headers["destination"] == "/temp-queue/answers"


def test_a_reply_to_may_come_before_the_subscription(client: Raw, other: Raw, queue: str) -> None:
    other.send("SUBSCRIBE", id="0", destination=queue)
    client.send("SEND", b"?", destination=queue, reply_to="/temp-queue/late")
    other.send("SEND", b"!", destination=other.read("MESSAGE").headers["reply-to"], receipt="1")
    other.receipt("1")
    client.send("SUBSCRIBE", id="0", destination="/temp-queue/late")
    assert client.read("MESSAGE").body == b"!"


def test_nobody_else_receives_from_a_temporary_queue(client: Raw, other: Raw, queue: str) -> None:
    client.send("SEND", b"?", destination=queue, reply_to="/temp-queue/mine")
    client.send("SUBSCRIBE", id="0", destination=queue)
    name = client.read("MESSAGE").headers["reply-to"]
    other.send("SUBSCRIBE", id="0", destination=name)
    assert other.error().headers["mqrc"] == "2042"


def test_a_browser_gets_copies_and_an_end(server: StompServing, client: Raw, queue: str) -> None:
    numbered(client, queue, 3)
    client.send("SUBSCRIBE", id="0", destination=queue, browser="true", receipt="1")
    client.receipt("1")
    assert [client.read("MESSAGE").body for _ in range(3)] == [b"0", b"1", b"2"]
    end = client.read("MESSAGE")
    assert (end.headers["browser"], end.headers["subscription"]) == ("end", "0")
    client.send("UNSUBSCRIBE", id="0", receipt="2")
    client.receipt("2")
    assert left(server, queue) == ["0", "1", "2"]


def test_an_own_temporary_queue_can_be_browsed_first(client: Raw) -> None:
    client.send("SUBSCRIBE", id="0", destination="/temp-queue/new", browser="true")
    assert client.read("MESSAGE").headers["browser"] == "end"
