"""Tests of the frames of clients: sending, subscribing, settling, transactions, receipts."""

from __future__ import annotations

import socket
from typing import cast

import pytest
from tests.broker.stomp.serving import Raw, StompServing, raw, serving

from assay_broker.core.administration.changes import DefineObject, NativeBrowse
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.model import Kind
from assay_broker.stomp.limits import StompLimits
from assay_sdk.stomp import Version

OLD, MIDDLE, NEW = Version.V1_0, Version.V1_1, Version.V1_2


# --- connecting


@pytest.mark.parametrize(
    ("octets", "version"),
    [
        (b"CONNECT\naccept-version:1.0,1.1,2.0\nhost:a\n\n\0", "1.1"),
        (b"CONNECT\naccept-version:1.2\nhost:a\n\n\0", "1.2"),
        (b"STOMP\naccept-version:1.2, 1.1\nhost:a\n\n\0", "1.2"),
        (b"STOMP\r\naccept-version:1.2\r\nhost:a\r\n\r\n\0", "1.2"),
        (b"CONNECT\nlogin:a\npasscode:b\n\n\0\n", "1.0"),
        (b"\n\nCONNECT\naccept-version:1.2\n\n\0", "1.2"),
    ],
)
def test_the_highest_common_version_is_negotiated(server: StompServing, octets: bytes, version: str) -> None:
    client = Raw(server)
    client.write(octets)
    frame = client.read("CONNECTED")
    assert frame.headers["version"] == version
    assert frame.headers["session"]
    assert frame.headers["server"].startswith("assay/")
    client.close()


def test_a_client_without_a_common_version_learns_the_versions(server: StompServing) -> None:
    client = Raw(server)
    client.write(b"CONNECT\naccept-version:2.0,2.1\nhost:a\n\n\0")
    assert client.error().headers["version"] == "1.0,1.1,1.2"
    client.close()


def test_frames_behind_connect_are_handled_by_the_negotiated_version(server: StompServing) -> None:
    client = Raw(server)
    client.write(
        b"CONNECT\naccept-version:1.1\nhost:a\n\n\0SEND\ndestination:/queue/p\nx:a\\cb\r\nreceipt:1\n\n\0"
        b"SUBSCRIBE\nid:0\ndestination:/queue/p\n\n\0"
    )
    client.read("CONNECTED")
    client.receipt("1")
    client._reader.version = MIDDLE
    assert client.read("MESSAGE").headers["x"] == "a:b\r"
    client.close()


def test_a_client_id_belongs_to_one_connection(server: StompServing) -> None:
    with raw(server, client_id="billing"):
        client = Raw(server)
        client.write(b"CONNECT\naccept-version:1.2\nhost:a\nclient-id:billing\n\n\0")
        assert "billing" in client.error().body.decode()
        client.close()


def test_disconnect_is_answered_and_the_connection_closed(server: StompServing, queue: str) -> None:
    with raw(server) as client:
        for number in range(50):
            client.send("SEND", b"x", destination=queue, persistent="true", receipt=str(number))
        client.send("DISCONNECT", receipt="bye")
        for number in range(50):
            client.receipt(str(number))
        client.receipt("bye")
        assert client.next() is None


def test_disconnect_without_a_receipt_closes_the_connection(client: Raw) -> None:
    client.send("DISCONNECT")
    assert client.next() is None


@pytest.mark.parametrize("unsettled", [False, True])
def test_a_client_that_sends_no_more_still_gets_its_answers(
    server: StompServing, queue: str, *, unsettled: bool
) -> None:
    with raw(server) as client:
        if unsettled:
            client.send("SUBSCRIBE", id="0", destination=f"{queue}-b", ack="client")
            client.send("SEND", b"x", destination=f"{queue}-b")
            client.read("MESSAGE")
        client.send("SEND", b"x", destination=queue, persistent="true", receipt="1")
        client.socket.shutdown(socket.SHUT_WR)
        client.receipt("1")
        assert client.next() is None
    if unsettled:
        with raw(server) as other:
            other.send("SUBSCRIBE", id="0", destination=f"{queue}-b")
            other.read("MESSAGE")


# --- sending and subscribing


def test_a_message_has_the_headers_of_its_send(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="my sub", destination=queue, ack="client")
    client.frame(
        "SEND",
        {"destination": queue, "content-type": "text/plain", "a:b": "c\nd\\e\rf", "receipt": "1", "priority": "7"},
        "grün\0".encode(),
    )
    frames = {frame.command: frame for frame in (client.next(), client.next()) if frame is not None}
    headers = frames["MESSAGE"].headers
    assert headers["subscription"] == "my sub"
    assert headers["destination"] == queue
    assert headers["message-id"]
    assert headers["ack"] not in {"", headers["message-id"]}
    assert headers["a:b"] == "c\nd\\e\rf"
    assert headers["content-type"] == "text/plain"
    assert headers["priority"] == "7"
    assert "receipt" not in headers
    assert frames["MESSAGE"].body == "grün\0".encode()
    assert headers["content-length"] == "6"


@pytest.mark.parametrize(
    "spelled", ["/queue/spell", "queue://spell", "spell", "/topic/a/b", "topic://a", "/temp-queue/x", "/temp-topic/x"]
)
def test_a_destination_is_repeated_in_the_words_of_the_client(client: Raw, spelled: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=spelled, receipt="1")
    client.receipt("1")
    client.send("SEND", b"x", destination=spelled)
    assert client.read("MESSAGE").headers["destination"] == spelled


def test_the_receipt_of_a_subscribe_comes_before_its_first_message(client: Raw, queue: str) -> None:
    for _ in range(10):
        client.send("SEND", b"x", destination=queue)
    client.send("SUBSCRIBE", id="0", destination=queue, receipt="1")
    client.receipt("1")
    for _ in range(10):
        client.read("MESSAGE")


def test_a_subscription_with_a_selector_gets_the_messages_that_it_selects(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue, selector="colour = 'red'")
    for colour in ("blue", "red", "green"):
        client.send("SEND", colour.encode(), destination=queue, colour=colour)
    assert client.read("MESSAGE").body == b"red"
    client.nothing()


def test_a_topic_delivers_to_every_subscription(client: Raw, other: Raw) -> None:
    client.send("SUBSCRIBE", id="0", destination="/topic/news/+", receipt="1")
    client.receipt("1")
    other.send("SUBSCRIBE", id="0", destination="/topic/news/de", receipt="1")
    other.receipt("1")
    client.send("SEND", b"x", destination="/topic/news/de")
    assert client.read("MESSAGE").headers["destination"] == "/topic/news/de"
    other.read("MESSAGE")


def test_no_local_leaves_out_own_messages(client: Raw, other: Raw) -> None:
    client.send("SUBSCRIBE", id="0", destination="/topic/local", no_local="true", receipt="1")
    client.receipt("1")
    client.send("SEND", b"own", destination="/topic/local", receipt="2")
    client.receipt("2")
    other.send("SEND", b"other", destination="/topic/local")
    assert client.read("MESSAGE").body == b"other"


def test_unsubscribe_ends_the_messages(client: Raw, queue: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue)
    client.send("UNSUBSCRIBE", id="0", receipt="1")
    client.receipt("1")
    client.send("SEND", b"x", destination=queue, receipt="2")
    client.receipt("2")
    client.nothing()
    client.send("SUBSCRIBE", id="0", destination=queue)
    client.read("MESSAGE")


def test_unsubscribe_gives_back_what_is_not_acknowledged(client: Raw, queue: str) -> None:
    client.send("SEND", b"x", destination=queue)
    client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
    client.read("MESSAGE")
    client.send("UNSUBSCRIBE", id="0")
    client.send("SUBSCRIBE", id="1", destination=queue)
    frame = client.read("MESSAGE")
    assert (frame.headers["subscription"], frame.headers["redelivered"]) == ("1", "true")


def test_in_1_0_a_subscription_needs_no_id(server: StompServing, queue: str) -> None:
    with raw(server, OLD) as client:
        client.send("SUBSCRIBE", destination=queue, ack="client")
        client.send("SEND", b"x", destination=queue)
        frame = client.read("MESSAGE")
        assert "subscription" not in frame.headers
        client.send("ACK", message_id=frame.headers["message-id"], receipt="1")
        client.receipt("1")
        client.send("UNSUBSCRIBE", destination=queue, receipt="2")
        client.receipt("2")


# --- settling


def numbered(client: Raw, queue: str, count: int) -> None:
    for number in range(count):
        client.send("SEND", str(number).encode(), destination=queue)


def acknowledge(client: Raw, command: str, frame_headers: dict[str, str], **more: str) -> None:
    if client.version is NEW:
        client.send(command, id=frame_headers["ack"], **more)
    else:
        client.send(command, message_id=frame_headers["message-id"], subscription=frame_headers["subscription"], **more)


def messages_before_sync(client: Raw) -> list[str]:
    """Return the bodies of the messages that come before the answer to a new frame."""
    client.send("BEGIN", transaction="all")
    client.send("ABORT", transaction="all", receipt="all")
    bodies: list[str] = []
    while (frame := client.next()) is not None and frame.command == "MESSAGE":
        bodies.append(frame.body.decode())
    return bodies


def dead(server: StompServing) -> list[object]:
    """Return the bodies on the dead-letter queue."""
    answer = server.administer(NativeBrowse(server.queue_manager.dead_letter_queue))
    return [one.message.body for one in cast("tuple[Described, ...]", answer.value)]


def left(server: StompServing, queue: str) -> list[str]:
    """Return the bodies that a new client gets."""
    with raw(server) as looker:
        looker.send("SUBSCRIBE", id="b", destination=queue, browser="true")
        bodies: list[str] = []
        while "browser" not in (frame := looker.read("MESSAGE")).headers:
            bodies.append(frame.body.decode())
        return bodies


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


# --- time


def test_the_receipt_of_a_persistent_message_waits_for_the_disk(queue: str) -> None:
    with serving() as server, raw(server) as client:
        server.do(lambda: server.queue_manager.slow_disk(300_000_000))
        client.send("SEND", b"x", destination=queue, persistent="true", receipt="slow")
        client.send("SEND", b"x", destination="/topic/none", receipt="quick")
        client.receipt("quick")
        client.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.next()
        client.socket.settimeout(10)
        client.receipt("slow")


def test_the_receipt_of_a_commit_waits_for_the_disk(queue: str) -> None:
    with serving() as server, raw(server) as client:
        server.do(lambda: server.queue_manager.slow_disk(300_000_000))
        client.send("BEGIN", transaction="t")
        client.send("SEND", b"x", destination=queue, persistent="true", transaction="t", receipt="s")
        client.receipt("s")
        client.send("COMMIT", transaction="t", receipt="c")
        client.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.next()
        client.socket.settimeout(10)
        client.receipt("c")


@pytest.mark.parametrize("name", ["AMQ_SCHEDULED_DELAY", "x-delay", "delivery-delay"])
def test_a_delayed_message_comes_after_its_delay(client: Raw, queue: str, name: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue)
    client.frame("SEND", {"destination": queue, name: "150"}, b"late")
    client.send("SEND", b"early", destination=queue)
    assert client.read("MESSAGE").body == b"early"
    assert client.read("MESSAGE").body == b"late"


@pytest.mark.parametrize(("name", "value"), [("expires", "1"), ("expiration", "1"), ("ttl", "1")])
def test_an_expired_message_never_comes(client: Raw, queue: str, name: str, value: str) -> None:
    client.frame("SEND", {"destination": queue, name: value}, b"x")
    client.frame("SEND", {"destination": queue, "AMQ_SCHEDULED_DELAY": "30"}, b"later")
    client.send("SUBSCRIBE", id="0", destination=queue)
    frame = client.read("MESSAGE")
    while frame.body == b"x" and name != "expires":  # delivered within its millisecond
        frame = client.read("MESSAGE")
    assert frame.body == b"later"


@pytest.mark.parametrize("name", ["expires", "expiration", "AMQ_SCHEDULED_DELAY", "AMQ_SCHEDULED_TIME"])
@pytest.mark.parametrize("value", ["0", "-1"])
def test_times_of_zero_or_less_mean_none(client: Raw, queue: str, name: str, value: str) -> None:
    client.send("SUBSCRIBE", id="0", destination=queue)
    client.frame("SEND", {"destination": queue, name: value}, b"x")
    assert "expires" not in client.read("MESSAGE").headers


def test_heart_beats_go_both_ways(server: StompServing) -> None:
    with raw(server, heart_beat="0,100") as client:
        assert client.connected.headers["heart-beat"] == "100,100"
        octets = client.socket.recv(10)
        assert set(octets) == {10}


def test_a_client_that_breaks_its_promise_of_heart_beats_is_disconnected(server: StompServing) -> None:
    with raw(server, heart_beat="100,0") as client:
        assert "100 ms" in client.error().body.decode()


def test_a_client_that_keeps_its_promise_stays_connected(server: StompServing) -> None:
    with raw(server, heart_beat="200,0") as client:
        client.socket.settimeout(0.1)
        for _ in range(8):
            client.write(b"\n")
            with pytest.raises(TimeoutError):
                client.socket.recv(1)
        client.socket.settimeout(10)
        client.sync()
