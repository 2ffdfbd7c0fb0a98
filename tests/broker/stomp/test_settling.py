"""Tests of ACK, NACK and transactions."""

from __future__ import annotations

import pytest
from tests.broker.stomp.frames import acknowledge, dead, left, numbered
from tests.broker.stomp.serving import Raw, StompServing, raw, serving

from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.objects.model import Kind
from assay_broker.stomp.limits import StompLimits
from assay_sdk.stomp import Version

MIDDLE, NEW = Version.V1_1, Version.V1_2

# --- settling


@pytest.mark.parametrize("version", [MIDDLE, NEW])
@pytest.mark.parametrize(("mode", "rest"), [("client", ["2"]), ("client-individual", ["0", "2"])])
def test_ack_is_cumulative_in_the_mode_client_only(
    server: StompServing, queue: str, version: Version, mode: str, rest: list[str]
) -> None:
    with raw(server, version) as client:
        client.send("SUBSCRIBE", id="0", destination=queue, ack=mode)
        numbered(client, queue, 3)
        frames = [client.read("MESSAGE") for _ in range(3)]
        acknowledge(client, "ACK", frames[1].headers, receipt="1")
        client.receipt("1")
    assert sorted(left(server, queue)) == rest


def test_a_cumulative_ack_leaves_other_subscriptions_alone(server: StompServing, client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
    client.send("SUBSCRIBE", id="1", destination=queue + "-b", ack="client")
    client.send("SEND", b"a", destination=queue)
    client.read("MESSAGE")
    client.send("SEND", b"b", destination=queue + "-b")
    acknowledge(client, "ACK", client.read("MESSAGE").headers, receipt="1")
    client.receipt("1")
    client.send("DISCONNECT", receipt="2")
    client.receipt("2")
    assert left(server, queue) == ["a"]
    assert left(server, queue + "-b") == []


def test_messages_in_the_mode_auto_are_gone_when_sent(server: StompServing, client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue)
    numbered(client, queue, 3)
    for _ in range(3):
        assert "ack" not in client.read("MESSAGE").headers
    client.sync()
    assert left(server, queue) == []


@pytest.mark.parametrize("version", [MIDDLE, NEW])
def test_nack_delivers_again_and_counts(server: StompServing, queue: str, version: Version) -> None:
    with raw(server, version) as client:
        client.send("SUBSCRIBE", id="0", destination=queue, ack="client-individual")
        client.send("SEND", b"x", destination=queue)
        first = client.read("MESSAGE")
        assert "redelivered" not in first.headers
        acknowledge(client, "NACK", first.headers)
        again = client.read("MESSAGE")
        assert again.headers["redelivered"] == "true"
        assert again.headers["JMSXDeliveryCount"] == "2"
        assert again.headers["message-id"] == first.headers["message-id"]
        acknowledge(client, "ACK", again.headers, receipt="1")
        client.receipt("1")


def test_nack_is_cumulative_in_the_mode_client(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
    numbered(client, queue, 3)
    frames = [client.read("MESSAGE") for _ in range(3)]
    acknowledge(client, "NACK", frames[1].headers)
    assert sorted(client.read("MESSAGE").body for _ in range(2)) == [b"0", b"1"]
    client.nothing()


@pytest.mark.parametrize("transaction", [False, True])
def test_nack_moves_a_message_to_the_backout_queue_at_the_threshold(
    server: StompServing, client: Raw, queue: str, transaction: bool
) -> None:
    name = queue.removeprefix("/queue/").replace("-", ".").upper()
    server.administer(DefineObject(kind=Kind.QLOCAL, name=f"{name}.BACK"))
    back = {"BOTHRESH": 2, "BOQNAME": f"{name}.BACK"}
    server.administer(DefineObject(kind=Kind.QLOCAL, name=name, attributes=back))
    client.send("SUBSCRIBE", id="0", destination=f"/queue/{name}", ack="client-individual")
    client.send("SEND", b"x", destination=f"/queue/{name}", colour="red")
    acknowledge(client, "NACK", client.read("MESSAGE").headers)
    second = client.read("MESSAGE").headers
    if transaction:
        client.send("BEGIN", transaction="t")
        acknowledge(client, "NACK", second, transaction="t")
        client.send("COMMIT", transaction="t", receipt="1")
    else:
        acknowledge(client, "NACK", second, receipt="1")
    client.receipt("1")
    assert left(server, f"/queue/{name}") == []
    assert left(server, f"/queue/{name}.BACK") == ["x"]


def test_nack_ends_on_the_dead_letter_queue_without_a_threshold(queue: str) -> None:
    with serving(limits=StompLimits(redeliveries=2)) as server, raw(server) as client:
        client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
        client.send("SEND", b"x", destination=queue)
        for _ in range(3):
            acknowledge(client, "NACK", client.read("MESSAGE").headers)
        client.sync()
        assert left(server, queue) == []
        assert dead(server) == [b"x"]


def test_nack_with_requeue_false_moves_at_once(server: StompServing, client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
    client.send("SEND", queue.encode(), destination=queue)
    acknowledge(client, "NACK", client.read("MESSAGE").headers, requeue="false", receipt="1")
    client.receipt("1")
    assert queue.encode() in dead(server)


def test_a_lost_connection_gives_back_its_messages(server: StompServing, client: Raw, queue: str) -> None:
    with raw(server) as lost:
        lost.send("SUBSCRIBE", id="0", destination=queue, ack="client")
        lost.send("SEND", b"x", destination=queue)
        lost.read("MESSAGE")
    client.send("SUBSCRIBE", id="0", destination=queue)
    assert client.read("MESSAGE").headers["redelivered"] == "true"


def test_a_window_limits_the_messages_that_are_not_acknowledged(client: Raw, queue: str) -> None:
    client.frame(
        "SUBSCRIBE", {"id": "0", "destination": queue, "ack": "client-individual", "activemq.prefetchSize": "2"}
    )
    numbered(client, queue, 4)
    first, _ = client.read("MESSAGE"), client.read("MESSAGE")
    client.nothing()
    acknowledge(client, "ACK", first.headers)
    assert client.read("MESSAGE").body == b"2"


# --- transactions


def test_sends_of_a_transaction_come_at_its_commit(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue)
    client.send("BEGIN", transaction="t")
    for number in range(3):
        client.send("SEND", str(number).encode(), destination=queue, transaction="t", receipt=f"s{number}")
        client.receipt(f"s{number}")
    client.nothing()
    client.send("COMMIT", transaction="t", receipt="1")
    commands = [frame.command for frame in (client.next() for _ in range(4)) if frame is not None]
    assert sorted(commands) == ["MESSAGE", "MESSAGE", "MESSAGE", "RECEIPT"]


def test_sends_of_an_aborted_transaction_never_come(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue)
    client.send("BEGIN", transaction="t")
    client.send("SEND", b"x", destination=queue, transaction="t")
    client.send("ABORT", transaction="t", receipt="1")
    client.receipt("1")
    client.nothing()


def test_acks_of_a_transaction_count_at_its_commit(server: StompServing, queue: str) -> None:
    with raw(server) as client:
        client.send("SUBSCRIBE", id="0", destination=queue, ack="client-individual")
        numbered(client, queue, 2)
        frames = [client.read("MESSAGE") for _ in range(2)]
        client.send("BEGIN", transaction="t")
        acknowledge(client, "ACK", frames[0].headers, transaction="t", receipt="1")
        client.receipt("1")
        client.send("COMMIT", transaction="t", receipt="2")
        client.receipt("2")
    assert left(server, queue) == ["1"]


@pytest.mark.parametrize("version", [MIDDLE, NEW])
@pytest.mark.parametrize("command", ["ACK", "NACK"])
def test_after_an_abort_the_message_can_be_settled_again(
    server: StompServing, queue: str, command: str, version: Version
) -> None:
    with raw(server, version) as client:
        client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
        numbered(client, queue, 2)
        frames = [client.read("MESSAGE") for _ in range(2)]
        client.send("BEGIN", transaction="t")
        acknowledge(client, command, frames[1].headers, transaction="t")
        client.send("ABORT", transaction="t", receipt="1")
        client.receipt("1")
        client.nothing()
        acknowledge(client, "ACK", frames[1].headers, receipt="2")
        client.receipt("2")
    assert left(server, queue) == []


def test_nack_in_a_transaction_counts_at_its_commit(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
    client.send("SEND", b"x", destination=queue)
    first = client.read("MESSAGE")
    client.send("BEGIN", transaction="t")
    acknowledge(client, "NACK", first.headers, transaction="t")
    client.nothing()
    client.send("COMMIT", transaction="t")
    assert client.read("MESSAGE").headers["redelivered"] == "true"


def test_a_lost_connection_aborts_its_transactions(server: StompServing, queue: str) -> None:
    with raw(server) as client:
        client.send("BEGIN", transaction="t")
        client.send("SEND", b"x", destination=queue, transaction="t", receipt="1")
        client.receipt("1")
    assert left(server, queue) == []


def test_a_name_of_a_transaction_can_be_used_again(client: Raw, queue: str) -> None:
    for _ in range(3):
        client.send("BEGIN", transaction="t", receipt="b")
        client.receipt("b")
        client.send("SEND", b"x", destination=queue, transaction="t")
        client.send("COMMIT", transaction="t", receipt="c")
        client.receipt("c")
