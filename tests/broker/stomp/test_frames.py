"""Tests of connecting, sending, subscribing and time."""

from __future__ import annotations

import socket

import pytest
from tests.broker.stomp.serving import Raw, StompServing, raw, serving

from assay_sdk.stomp import Version

OLD, MIDDLE = Version.V1_0, Version.V1_1


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


# --- time


def test_the_receipt_of_a_persistent_message_waits_for_the_disk(queue: str) -> None:
    with serving() as server, raw(server) as client:
        server.do(lambda: server.queue_manager.slow_disk(1_500_000_000))
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
        server.do(lambda: server.queue_manager.slow_disk(1_500_000_000))
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
        client.socket.settimeout(20)
        assert [client.socket.recv(1) for _ in range(20)] == [b"\n"] * 20


def test_a_client_that_breaks_its_promise_of_heart_beats_is_disconnected(server: StompServing) -> None:
    with raw(server, heart_beat="100,0") as client:
        client.socket.settimeout(20)
        assert "100 ms" in client.error().body.decode()


def test_a_client_that_keeps_its_promise_stays_connected(server: StompServing) -> None:
    with raw(server, heart_beat="700,0") as client:
        client.socket.settimeout(0.2)
        for _ in range(8):
            client.write(b"\n")
            with pytest.raises(TimeoutError):
                client.socket.recv(1)
        client.socket.settimeout(10)
        client.sync()
