"""Tests of temporary destinations on ActiveMQ, whose owner and other connections have different texts for them."""

from __future__ import annotations

import pytest
from tests.sdk.drivers.stomp.peer import Client, Peer, connected

from assay_sdk.driver import Arrived, Credit, Done, OpenReceiver, OpenSender, OpenSession, Send
from assay_sdk.model.message import Address, AddressKind, Message

QUEUE = Address(AddressKind.QUEUE, "Q")
TEMPORARY = Address(AddressKind.TEMPORARY_QUEUE, "")
CONNECTION = "ID:broker-40000-1700000000000-5:2"


def created(client: Client, peer: Peer, link: int, message_id: str = f"{CONNECTION}:-1:1:7") -> tuple[str, str]:
    """Create a temporary queue; return its name, and the text that its connection has for it."""
    client.submit(OpenSender(link, 1, link, TEMPORARY, dynamic=True))
    subscribe = peer.next("SUBSCRIBE")
    text = subscribe.headers["destination"]
    send = peer.next("SEND")
    assert send.headers["reply-to"] == text
    peer.receipt(subscribe)
    peer.receipt(send)
    peer.say(
        "MESSAGE",
        subscription=subscribe.headers["id"],
        destination=text,
        reply_to=text,
        message_id=message_id,
        ack="a",
    )
    peer.next("UNSUBSCRIBE")
    answer = client.answer(link)
    assert isinstance(answer, Done)
    assert isinstance(answer.value, str)
    return answer.value, text


def test_the_name_of_a_temporary_queue_is_that_of_other_connections(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ/6.3.1") as client:
        client.submit(OpenSession(1, 1), OpenSender(2, 1, 2, QUEUE))
        assert created(client, peer, 3)[0] == f"{CONNECTION}:1"
        name, text = created(client, peer, 4)
        assert name == f"{CONNECTION}:2"
        mine = Address(AddressKind.TEMPORARY_QUEUE, name)
        client.submit(Send(5, 2, Message(to=QUEUE, body="x", reply_to=mine)))
        assert peer.next("SEND").headers["reply-to"] == text
        client.submit(OpenReceiver(token=6, session=1, link=6, address=mine), Credit(7, 6, 1))
        subscribe = peer.next("SUBSCRIBE")
        assert subscribe.headers["destination"] == text
        peer.say("MESSAGE", subscription="receiver-6", destination=text, reply_to=text, message_id="m", ack="a")
        message = client.until(Arrived).message
        assert (message.to, message.reply_to) == (mine, mine)


def test_an_id_of_another_form_leaves_the_name_as_the_connection_has_it(peer: Peer) -> None:
    with connected(peer, server="ActiveMQ/6.3.1") as client:
        client.submit(OpenSession(1, 1))
        name, text = created(client, peer, 3, message_id="another")
        assert text == name


@pytest.mark.parametrize("kind", ["queue", "topic"])
def test_an_answer_goes_to_the_temporary_destination_of_another_connection(peer: Peer, kind: str) -> None:
    with connected(peer, server="ActiveMQ/6.3.1") as client:
        client.submit(
            OpenSession(1, 1),
            OpenSender(2, 1, 2, None),
            OpenReceiver(token=3, session=1, link=3, address=QUEUE),
            Credit(4, 3, 1),
        )
        peer.receipt(peer.next("SUBSCRIBE"))
        text = f"/remote-temp-{kind}/{CONNECTION}:1"
        peer.say("MESSAGE", subscription="receiver-3", destination="/queue/Q", reply_to=text, message_id="m", ack="a")
        reply_to = client.until(Arrived).message.reply_to
        assert reply_to == Address(AddressKind(f"temporary-{kind}"), f"{CONNECTION}:1")
        client.submit(Send(5, 2, Message(to=reply_to, body="answer")))
        assert peer.next("SEND").headers["destination"] == text
