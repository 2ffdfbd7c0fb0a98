"""Tests of the server's extensions: credit instead of a window, and messages that go back uncounted."""

from __future__ import annotations

import pytest
from tests.broker.stomp.frames import left, numbered
from tests.broker.stomp.serving import Raw, StompServing, raw


def test_connected_names_the_extensions(client: Raw) -> None:
    assert client.connected.headers["extensions"] == "credit,delivery-failed"


@pytest.mark.parametrize("ack", ["auto", "client-individual"])
def test_credit_lets_so_many_messages_come(client: Raw, queue: str, ack: str) -> None:
    numbered(client, queue, 4)
    client.send("SUBSCRIBE", id="0", destination=queue, ack=ack, credit="1", receipt="1")
    client.receipt("1")
    assert client.read("MESSAGE").body == b"0"
    client.nothing()
    client.send("SUBSCRIBE", id="0", destination=queue, credit="2")
    assert [client.read("MESSAGE").body for _ in range(2)] == [b"1", b"2"]
    client.nothing()


def test_settled_messages_give_no_credit(client: Raw, queue: str) -> None:
    numbered(client, queue, 2)
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client-individual", credit="1")
    client.send("ACK", id=client.read("MESSAGE").headers["ack"])
    client.nothing()


def test_a_drain_sends_what_waits_and_takes_the_rest_back(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client-individual", credit="5")
    numbered(client, queue, 1)
    client.send("SUBSCRIBE", id="0", destination=queue, drain="true", receipt="1")
    assert client.read("MESSAGE").body == b"0"
    client.receipt("1")
    numbered(client, queue, 1)
    client.nothing()


def test_the_credit_goes_with_the_subscription(server: StompServing, client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client-individual", credit="5")
    client.send("UNSUBSCRIBE", id="0", receipt="1")
    client.receipt("1")
    numbered(client, queue, 1)
    client.nothing()
    assert left(server, queue) == ["0"]


@pytest.mark.parametrize("credit", ["x", "-1", "1.5", "9" * 30])
def test_an_invalid_credit_is_an_error(client: Raw, queue: str, credit: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, credit=credit)
    assert client.error().headers["mqrc"] == "2046"


def test_a_second_subscribe_needs_a_subscription_with_credit(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue)
    client.send("SUBSCRIBE", id="0", destination=queue, credit="1")
    assert "has a subscription '0' already" in client.error().headers["message"]


@pytest.mark.parametrize(("failed", "again"), [("false", None), ("true", "true")])
def test_a_message_may_go_back_uncounted(client: Raw, queue: str, failed: str, again: str | None) -> None:
    numbered(client, queue, 1)
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client-individual", credit="2")
    client.send("NACK", id=client.read("MESSAGE").headers["ack"], delivery_failed=failed)
    assert client.read("MESSAGE").headers.get("redelivered") == again


def test_a_client_id_in_use_is_told_by_its_kind(server: StompServing) -> None:
    with raw(server, client_id="c"):
        second = Raw(server)
        with pytest.raises(AssertionError, match="error-kind': 'invalid-client-id'"):
            second.open(client_id="c")
        second.close()
