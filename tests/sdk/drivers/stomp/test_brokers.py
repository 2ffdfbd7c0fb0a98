"""Tests of the driver with brokers that lack the extensions and have other conventions, by a scripted broker."""

from __future__ import annotations

import time

import pytest
from tests.sdk.drivers.stomp.peer import Client, Peer, connected

from assay_sdk import JmsErrorKind, Mqrc
from assay_sdk.driver import (
    Arrived,
    Begin,
    Browse,
    Cancel,
    Close,
    Closed,
    Commit,
    Credit,
    Done,
    Drain,
    Drained,
    DriverCommand,
    Durability,
    Enlist,
    Failed,
    LinkClosed,
    Opened,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Outcome,
    Prepare,
    Rollback,
    Send,
    Settle,
    Unsubscribe,
)
from assay_sdk.drivers.stomp.context import Names
from assay_sdk.drivers.stomp.messages import received
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.stomp import Frame, Version, encode_frame
from assay_sdk.stomp.conventions import RABBITMQ

QUEUE, TOPIC = Address(AddressKind.QUEUE, "Q"), Address(AddressKind.TOPIC, "T")
NOW_MS = 1_700_000_000_000


def receiving(client: Client, peer: Peer, **more: object) -> None:
    """Open a session 1 and a receiver 2."""
    client.submit(OpenSession(1, 1), OpenReceiver(token=2, session=1, link=2, address=QUEUE, **more))  # type: ignore[arg-type]  # fields by name
    peer.receipt(peer.next("SUBSCRIBE"))
    assert isinstance(client.answer(2), Done)


def message(peer: Peer, number: int, **headers: str) -> None:
    peer.say(
        "MESSAGE",
        b"x",
        subscription="receiver-2",
        destination="/queue/Q",
        message_id=f"m{number}",
        ack=f"a{number}",
        **headers,
    )


def test_messages_beyond_the_credit_wait_in_the_driver(peer: Peer) -> None:
    with connected(peer) as client:
        receiving(client, peer)
        for number in range(3):
            message(peer, number)
        client.submit(Credit(3, 2, 1))
        assert client.until(Arrived).message.message_id == "m0"
        client.submit(Credit(4, 2, 1))
        assert client.until(Arrived, 2).message.message_id == "m1"
        client.submit(Drain(5, 2))
        begin, fence = peer.next("BEGIN"), peer.next("ABORT")
        assert begin.headers["transaction"] == fence.headers["transaction"]
        peer.receipt(fence)
        assert isinstance(client.answer(5), Done)
        assert client.until(Drained).link == 2


def test_a_message_behind_two_heart_beats_that_came_with_it_is_delivered(peer: Peer) -> None:
    with connected(peer) as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 1))
        headers = {"subscription": "receiver-2", "destination": "/queue/Q", "message-id": "m1", "ack": "a1"}
        peer.raw(b"\n\n" + encode_frame(Frame("MESSAGE", headers), Version.V1_2))
        assert client.until(Arrived).message.message_id == "m1"


def test_a_message_with_properties_of_many_octets_arrives(peer: Peer) -> None:
    with connected(peer) as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 1))
        message(peer, 0, first="x" * 1_500_000, second="y" * 1_500_000)
        properties = client.until(Arrived).message.properties
        assert [len(str(properties[name])) for name in ("first", "second")] == [1_500_000, 1_500_000]


def test_octets_that_are_no_frame_end_the_connection(peer: Peer) -> None:
    with connected(peer) as client:
        peer.raw(b"HELLO\n\n\0")
        why = client.until(Closed).refused
        assert why is not None
        assert (why.kind, "no STOMP frame" in why.text) == (JmsErrorKind.CONNECTION_LOST, True)


def test_a_settlement_names_the_ack_header_and_waits_for_the_receipt_of_the_last(peer: Peer) -> None:
    with connected(peer) as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 3))
        for number in range(3):
            message(peer, number)
        last = client.until(Arrived, 3)
        first = client.until(Arrived)
        client.submit(Settle(4, 2, (first.delivery, last.delivery), Outcome.ACCEPTED))
        assert peer.next("ACK").headers == {"id": "a0"}
        ack = peer.next("ACK")
        assert ack.headers["id"] == "a2"
        peer.receipt(ack)
        assert isinstance(client.answer(4), Done)
        client.submit(Settle(5, 2, (first.delivery,), Outcome.ACCEPTED))
        again = client.answer(5)
        assert isinstance(again, Failed)
        assert again.refused.kind is JmsErrorKind.ILLEGAL_STATE


def test_1_1_names_a_message_by_its_id_and_subscription(peer: Peer) -> None:
    with connected(peer, version="1.1") as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 1))
        message(peer, 0, redelivered="true")
        came = client.until(Arrived)
        assert (came.count, came.redelivered) == (1, True)
        client.submit(Settle(4, 2, (came.delivery,), Outcome.MODIFIED))
        nack = peer.next("NACK")
        assert (nack.headers["message-id"], nack.headers["subscription"]) == ("m0", "receiver-2")


def test_units_of_work_are_transactions(peer: Peer) -> None:
    with connected(peer) as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 1), OpenSender(4, 1, 4, QUEUE), Begin(5, 1, 9))
        begin = peer.next("BEGIN")
        peer.receipt(begin)
        message(peer, 0)
        came = client.until(Arrived)
        client.submit(Enlist(6, 2, (came.delivery,), 9), Send(7, 4, Message(to=QUEUE, body="x"), unit=9))
        assert peer.next("ACK").headers == {"id": "a0", "transaction": begin.headers["transaction"]}
        send = peer.next("SEND")
        assert send.headers["transaction"] == begin.headers["transaction"]
        peer.receipt(send)
        client.submit(Rollback(8, 9))
        peer.receipt(peer.next("ABORT"))
        assert isinstance(client.answer(8), Done)
        client.submit(Settle(9, 2, (came.delivery,), Outcome.MODIFIED))
        peer.receipt(peer.next("NACK"))
        assert isinstance(client.answer(9), Done)


def test_a_message_given_back_comes_again_where_a_nack_would_not_return_it(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ/6.1") as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 2))
        for number in range(3):
            message(peer, number)
        second, first = client.until(Arrived, 2), client.until(Arrived)
        client.submit(
            Settle(4, 2, (second.delivery,), Outcome.RELEASED), Settle(5, 2, (first.delivery,), Outcome.MODIFIED)
        )
        assert isinstance(client.answer(5), Done)
        client.submit(Credit(6, 2, 3))
        last = client.until(Arrived, 5)
        came = [event for event in client.events if isinstance(event, Arrived)][2:]
        assert [(event.message.message_id, event.count, event.redelivered) for event in came] == [
            ("m0", 1, True),
            ("m1", 0, False),
            ("m2", 0, False),
        ]
        client.submit(Settle(7, 2, (came[0].delivery, last.delivery), Outcome.ACCEPTED))
        assert [peer.next("ACK").headers["id"] for _ in range(2)] == ["a0", "a2"]


def test_a_message_given_back_comes_again_at_once_if_credit_is_left(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ/6.1") as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 5))
        for number in range(2):
            message(peer, number)
        client.until(Arrived, 2)
        first = client.until(Arrived)
        client.submit(Settle(4, 2, (first.delivery,), Outcome.MODIFIED))
        again = client.until(Arrived, 3)
        assert (again.message.message_id, again.redelivered) == ("m0", True)
        message(peer, 2)
        assert client.until(Arrived, 4).message.message_id == "m2"


def test_a_message_that_expires_in_the_driver_is_dropped(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ/6.1") as client:
        receiving(client, peer)
        soon_ms = int(time.time() * 1_000) + 1_500
        message(peer, 0, expires=str(soon_ms))
        message(peer, 1, expires=str(soon_ms + 60_000))
        client.submit(Drain(3, 2))
        peer.next("BEGIN")
        peer.receipt(peer.next("ABORT"))
        assert isinstance(client.answer(3), Done)
        while time.time() * 1_000 <= soon_ms:
            client.runner.run_until(lambda: False, client.runner.clock.monotonic_ns() + 100_000_000)
        client.submit(Credit(4, 2, 1))
        assert client.until(Arrived).message.message_id == "m1"
        assert peer.next("ACK").headers == {"id": "a0"}


def test_a_message_that_came_expired_is_delivered(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ/6.1") as client:
        receiving(client, peer)
        message(peer, 0, expires=str(int(time.time() * 1_000) - 1_000))
        client.submit(Credit(3, 2, 1))
        assert client.until(Arrived).message.message_id == "m0"


def test_headers_that_a_broker_adds_are_no_properties(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ-Artemis/2.56.0") as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 1))
        added = {"_AMQ_SCHED_DELIVERY": "1", "_AMQ_GROUP_ID": "g", "mine": "x"}
        headers = {"subscription": "receiver-2", "destination": "/queue/Q", "message-id": "m", "ack": "a", **added}
        peer.raw(encode_frame(Frame("MESSAGE", headers), Version.V1_2))
        came = client.until(Arrived).message
        assert (came.delivery_time_ms, came.group_id, came.properties) == (1, "g", {"mine": "x"})


def test_rabbitmq_has_another_slash_and_its_virtual_host_if_the_application_says_so(peer: Peer) -> None:
    queue, topic = Address(AddressKind.QUEUE, "a/b"), Address(AddressKind.TOPIC, "a/b")
    with connected(peer, server="RabbitMQ/4.0.9", conventions=RABBITMQ) as client:
        assert peer.asked is not None
        assert peer.asked.headers["host"] == "/"
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, queue))
        client.submit(Send(3, 2, Message(to=queue, reply_to=topic)))
        headers = peer.next("SEND").headers
        assert (headers["destination"], headers["reply-to"]) == ("/queue/a%2Fb", "/topic/a%2Fb")
        client.submit(OpenReceiver(token=4, session=1, link=5, address=QUEUE), Credit(5, 5, 1))
        own = Peer(peer.listener)
        own.accept("RabbitMQ/4.0.9")
        own.receipt(own.next("SUBSCRIBE"))
        named = {name.replace("-", "_"): headers[name] for name in ("destination", "reply-to")}
        own.say("MESSAGE", subscription="receiver-5", message_id="m", ack="a", **named)
        came = client.until(Arrived).message
        own.close()
        assert (came.to, came.reply_to) == (queue, topic)


def test_an_error_without_the_receipt_answers_the_only_frame_that_waits_if_its_kind_is_known(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ-Artemis/2.56.0") as client:
        client.submit(OpenSession(1, 1), OpenReceiver(token=2, session=1, link=2, address=QUEUE, selector="a = ="))
        peer.next("SUBSCRIBE")
        peer.say("ERROR", b"a = =\nat some place", message='Invalid selector "a = ="')
        answer = client.answer(2)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.INVALID_SELECTOR
        assert answer.refused.text.endswith(': Invalid selector "a = =": a = =')


def test_rabbitmqs_receipt_of_a_send_in_a_transaction_is_not_waited_for(peer: Peer) -> None:
    with connected(peer, server="RabbitMQ/4.0.9") as client:
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, QUEUE), Begin(3, 1, 9))
        peer.receipt(peer.next("BEGIN"))
        message = Message(
            message_id="ID:1",
            to=QUEUE,
            body="x",
            ttl_ms=500,
            expiry_ms=NOW_MS + 500,
            creation_ms=NOW_MS,
            priority=4,
            durable=True,
        )
        client.submit(Send(4, 2, message, unit=9))
        send = peer.next("SEND")
        assert isinstance(client.answer(4), Done)
        assert send.receipt is None
        assert (send.headers["expiration"], send.headers["persistent"]) == ("500", "true")
        assert send.headers["durable"] == "true"
        assert "expires" not in send.headers
        assert (send.headers["amqp-message-id"], send.headers.get("message-id")) == ("ID:1", None)
        client.submit(Commit(5, 9))
        peer.receipt(peer.next("COMMIT"))
        assert isinstance(client.answer(5), Done)


@pytest.mark.parametrize(
    ("timestamp", "expiry_ms"),
    [
        pytest.param({"timestamp": str(NOW_MS - 20)}, NOW_MS + 480, id="from the time that the sender wrote"),
        pytest.param({}, NOW_MS + 500, id="from the arrival, if the sender wrote no time"),
        pytest.param({"timestamp": str(NOW_MS // 1_000)}, NOW_MS + 500, id="from the arrival, if it is in seconds"),
        pytest.param({"timestamp": str(NOW_MS + 9)}, NOW_MS + 500, id="from the arrival, if it is ahead"),
        pytest.param({"timestamp": str(NOW_MS - 500)}, NOW_MS + 500, id="from the arrival, if it would be over"),
    ],
)
def test_rabbitmqs_messages_have_the_senders_id_and_a_duration_until_their_expiry(
    timestamp: dict[str, str], expiry_ms: int
) -> None:
    headers = {"message-id": "T_1@@2", "amqp-message-id": "ID:1", "expiration": "500", **timestamp}
    frame = Frame("MESSAGE", headers, b"")
    for _ in range(2):  # the driver reads a message again that the application has given back
        message = received(frame, QUEUE, "/queue/Q", Names(RABBITMQ), NOW_MS)
        assert (message.message_id, message.expiry_ms, message.properties) == ("ID:1", expiry_ms, {})


def test_activemqs_delay_is_a_duration(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ/6.1") as client:
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, QUEUE))
        client.submit(Send(3, 2, Message(to=QUEUE, creation_ms=NOW_MS, delivery_time_ms=NOW_MS + 70, durable=False)))
        headers = peer.next("SEND").headers
        assert headers["AMQ_SCHEDULED_DELAY"] == "70"
        assert headers["persistent"] == "false"
        assert "AMQ_SCHEDULED_TIME" not in headers
        assert "priority" not in headers


def test_a_message_without_a_priority_asks_our_server_for_the_default_of_the_queue(peer: Peer) -> None:
    with connected(peer, server="assay/1") as client:
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, QUEUE))
        client.submit(Send(3, 2, Message(to=QUEUE, creation_ms=NOW_MS, durable=False)))
        assert peer.next("SEND").headers["priority"] == "as-defined"


@pytest.mark.parametrize(
    ("server", "command"),
    [
        ("RabbitMQ/4", OpenReceiver(token=9, session=1, link=2, address=QUEUE, selector="a = 1")),
        ("RabbitMQ/4", OpenReceiver(token=9, session=1, link=2, address=TOPIC, no_local=True)),
        (
            "RabbitMQ/4",
            OpenReceiver(token=9, session=1, link=2, address=TOPIC, name="s", durability=Durability.DURABLE),
        ),
        ("ActiveMQ/6", OpenReceiver(token=9, session=1, link=2, address=TOPIC, name="s", shared=True)),
        ("test/1", OpenReceiver(token=9, session=1, link=2, address=TOPIC, timeout_ms=1_000)),
        ("ActiveMQ/6", Unsubscribe(9, 1, "s", shared=True)),
        ("ActiveMQ-Artemis/2", Browse(9, 1, QUEUE)),
        ("ActiveMQ-Artemis/2", OpenSender(9, 1, 2, Address(AddressKind.TEMPORARY_QUEUE, ""), dynamic=True)),
        ("test/1", Cancel(9, 1, "ID:1")),
        ("test/1", Prepare(9, b"xid")),
        ("test/1", Begin(9, 1, 1, xid=b"xid")),
    ],
)
def test_what_a_broker_lacks_is_refused_before_anything_is_sent(
    peer: Peer, server: str, command: DriverCommand
) -> None:
    with connected(peer, server=server) as client:
        client.submit(OpenSession(1, 1), command)
        own = Peer(peer.listener)
        if server == "RabbitMQ/4":  # a receiver has a connection of its own
            own.accept(server)
        answer = client.answer(9)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.UNSUPPORTED
        client.submit(Close(10))
        if server == "RabbitMQ/4":
            own.receipt(own.next("DISCONNECT"))
        peer.receipt(peer.next("DISCONNECT"))
        assert client.until(Closed).refused is None
        own.close()


def test_an_error_answers_its_frame_with_the_reason_and_all_others_with_the_loss(peer: Peer) -> None:
    with connected(peer) as client:
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, QUEUE))
        for token in (3, 4):
            client.submit(Send(token, 2, Message(to=QUEUE, body="x")))
        peer.next("SEND")
        send = peer.next("SEND")
        peer.say("ERROR", mqrc="2053", mqrc_objects="Q", message="full", receipt_id=str(send.receipt))
        full, other = client.answer(4), client.answer(3)
        assert isinstance(full, Failed)
        assert (full.refused.mqrc, full.refused.objects) == (Mqrc.Q_FULL, ("Q",))
        assert full.refused.kind is JmsErrorKind.RESOURCE_ALLOCATION
        assert isinstance(other, Failed)
        assert other.refused.kind is JmsErrorKind.CONNECTION_LOST
        closed = client.until(Closed)
        assert closed.refused is not None
        assert "full" in closed.refused.text
        assert peer.closed()


def test_an_error_of_an_open_connection_answers_one_frame_only(peer: Peer) -> None:
    with connected(peer, server="assay/1", extensions="open-errors") as client:
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, QUEUE))
        client.submit(Send(3, 2, Message(to=QUEUE, body="x")), Send(4, 2, Message(to=QUEUE, body="y")))
        first, second = peer.next("SEND"), peer.next("SEND")
        peer.say("ERROR", mqrc="2053", connection="open", receipt_id=str(first.receipt))
        peer.receipt(second)
        full = client.answer(3)
        assert isinstance(full, Failed)
        assert full.refused.mqrc == Mqrc.Q_FULL
        assert isinstance(client.answer(4), Done)


def test_a_subscription_that_the_broker_ends_is_a_closed_link(peer: Peer) -> None:
    with connected(peer, server="assay/1", extensions="open-errors") as client:
        receiving(client, peer)
        peer.say("ERROR", mqrc="2052", connection="open", subscription="receiver-2")
        closed = client.until(LinkClosed)
        assert closed.link == 2
        assert closed.refused is not None
        client.submit(OpenReceiver(token=5, session=1, link=3, address=QUEUE, selector="a = ="))
        peer.say("ERROR", mqrc="2459", connection="open", receipt_id=str(peer.next("SUBSCRIBE").receipt))
        answer = client.answer(5)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.INVALID_SELECTOR
        client.submit(Credit(6, 3, 1))
        assert isinstance(client.answer(6), Failed)


def test_a_message_that_cannot_be_read_is_rejected(peer: Peer) -> None:
    with connected(peer) as client:
        receiving(client, peer)
        client.submit(Credit(3, 2, 1))
        message(peer, 0, priority="high")
        assert peer.next("NACK").headers == {"id": "a0", "requeue": "false"}
        message(peer, 1)
        assert client.until(Arrived).message.message_id == "m1"


def test_a_property_with_the_name_of_a_header_is_refused(peer: Peer) -> None:
    with connected(peer) as client:
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, QUEUE))
        client.submit(Send(3, 2, Message(to=QUEUE, properties={"ack": "x"})))
        answer = client.answer(3)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.MESSAGE_FORMAT
        assert "the properties ack have the names of STOMP headers" in answer.refused.text


@pytest.mark.parametrize(
    ("server", "kept"), [("assay/1", True), ("RabbitMQ/4.0.5", True), ("ActiveMQ/6.3.1", False), ("", True)]
)
def test_the_client_learns_whether_the_broker_keeps_its_message_ids(peer: Peer, server: str, *, kept: bool) -> None:
    with connected(peer, server=server) as client:
        (opened,) = [event for event in client.events if isinstance(event, Opened)]
        assert opened.message_ids == kept
