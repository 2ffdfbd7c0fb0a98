"""Tests of the driver with a broker that returns unsettled messages only when a connection ends (RabbitMQ)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.sdk.drivers.stomp.peer import Client, Peer, connected

from assay_sdk import JmsErrorKind
from assay_sdk.driver import (
    Arrived,
    Begin,
    Close,
    Closed,
    CloseLink,
    CloseSession,
    Commit,
    Credit,
    Done,
    Drain,
    Drained,
    Enlist,
    Failed,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Outcome,
    Rollback,
    Send,
    Settle,
)
from assay_sdk.model.message import Address, AddressKind, Message

QUEUE = Address(AddressKind.QUEUE, "Q")
SERVER = "RabbitMQ/4.0.5"


@contextmanager
def further(peer: Peer) -> Iterator[Peer]:
    """Accept a further connection of the client."""
    found = Peer(peer.listener)
    found.accept(SERVER)
    yield found
    found.close()


def receiving(client: Client, peer: Peer, link: int, token: int = 2) -> None:
    """Answer the SUBSCRIBE of a receiver that was asked for with a token."""
    subscribe = peer.next("SUBSCRIBE")
    assert subscribe.headers["id"] == f"receiver-{link}"
    peer.receipt(subscribe)
    assert isinstance(client.answer(token), Done)


def message(peer: Peer, link: int, name: str) -> None:
    peer.say("MESSAGE", b"x", subscription=f"receiver-{link}", destination="/queue/Q", message_id=name, ack=name)


def opened(token: int, session: int, link: int) -> OpenReceiver:
    return OpenReceiver(token=token, session=session, link=link, address=QUEUE)


def test_each_receiver_has_a_connection_which_ends_with_it(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1), OpenSender(3, 1, 3, QUEUE), opened(2, 1, 2), Credit(4, 2, 2))
        with further(peer) as own:
            receiving(client, own, 2)
            client.submit(Send(5, 3, Message(to=QUEUE, body="x")))
            peer.receipt(peer.next("SEND"))
            assert isinstance(client.answer(5), Done)
            message(own, 2, "a")
            message(own, 2, "b")
            client.until(Arrived, 2)
            client.submit(Settle(6, 2, (client.until(Arrived).delivery,), Outcome.ACCEPTED))
            own.receipt(own.next("ACK"))
            assert isinstance(client.answer(6), Done)
            client.submit(CloseLink(7, 2))
            own.receipt(own.next("DISCONNECT"))
            assert isinstance(client.answer(7), Done)
            assert own.closed()


def test_a_transacted_session_has_one_connection(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1, transacted=True), opened(2, 1, 2), OpenSender(3, 1, 3, QUEUE), Credit(4, 2, 1))
        with further(peer) as own:
            receiving(client, own, 2)
            client.submit(Begin(5, 1, 9))
            begin = own.next("BEGIN")
            own.receipt(begin)
            message(own, 2, "a")
            delivery = client.until(Arrived).delivery
            client.submit(Enlist(6, 2, (delivery,), 9), Send(7, 3, Message(to=QUEUE, body="x"), unit=9))
            assert own.next("ACK").headers == {"id": "a", "transaction": begin.headers["transaction"]}
            assert own.next("SEND").headers["transaction"] == begin.headers["transaction"]
            client.submit(Commit(8, 9))
            own.receipt(own.next("COMMIT"))
            assert isinstance(client.answer(8), Done)
            client.submit(Drain(10, 2))
            own.next("BEGIN")
            own.receipt(own.next("ABORT"))
            assert client.until(Drained).link == 2
            client.submit(CloseSession(11, 1))
            own.receipt(own.next("DISCONNECT"))
            assert isinstance(client.answer(11), Done)


def test_the_last_receiver_of_a_transacted_session_ends_its_connection_and_the_next_command_opens_another(
    peer: Peer,
) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1, transacted=True), opened(2, 1, 2), OpenSender(3, 1, 3, QUEUE))
        with further(peer) as own:
            receiving(client, own, 2)
            client.submit(CloseLink(4, 2))
            disconnect = own.next("DISCONNECT")
            assert not [event for event in client.events if isinstance(event, Done) and event.token == 4]
            own.receipt(disconnect)
            assert isinstance(client.answer(4), Done)
            assert own.closed()
        client.submit(Begin(5, 1, 9), Send(6, 3, Message(to=QUEUE, body="x"), unit=9), CloseSession(7, 1))
        with further(peer) as own:
            own.receipt(own.next("BEGIN"))
            assert own.next("SEND").headers["destination"] == "/queue/Q"
            own.receipt(own.next("DISCONNECT"))
            assert isinstance(client.answer(7), Done)


@pytest.mark.parametrize("end", [Commit, Rollback])
def test_a_closed_receivers_messages_return_before_the_answer_to_the_end_of_the_unit_of_work(
    peer: Peer, end: type[Commit | Rollback]
) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1, transacted=True), opened(2, 1, 2), OpenSender(3, 1, 3, QUEUE))
        with further(peer) as own:
            receiving(client, own, 2)
            client.submit(Begin(4, 1, 9), Send(5, 3, Message(to=QUEUE, body="x"), unit=9), CloseLink(6, 2))
            own.receipt(own.next("BEGIN"))
            own.next("SEND")
            own.receipt(own.next("UNSUBSCRIBE"))
            assert isinstance(client.answer(6), Done)
            client.submit(end(7, 9))
            own.receipt(own.next("COMMIT" if end is Commit else "ABORT"))
            disconnect = own.next("DISCONNECT")
            assert not [event for event in client.events if isinstance(event, Done) and event.token == 7]
            own.receipt(disconnect)
            assert isinstance(client.answer(7), Done)
            client.submit(CloseSession(8, 1))
            assert isinstance(client.answer(8), Done)


def test_another_receiver_keeps_the_connection_of_a_transacted_session(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1, transacted=True), opened(2, 1, 2))
        refused = OpenReceiver(token=3, session=1, link=3, address=QUEUE, selector="a = 1")
        with further(peer) as own:
            receiving(client, own, 2)
            client.submit(refused, opened(4, 1, 4))
            assert isinstance(client.answer(3), Failed)
            receiving(client, own, 4, token=4)
            client.submit(CloseLink(5, 2))
            own.receipt(own.next("UNSUBSCRIBE"))
            assert isinstance(client.answer(5), Done)
            client.submit(CloseLink(6, 4))
            own.receipt(own.next("DISCONNECT"))
            assert isinstance(client.answer(6), Done)


def test_the_end_of_a_session_ends_the_connections_of_its_receivers_only(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1), OpenSession(3, 2), opened(2, 1, 2))
        with further(peer) as first:
            receiving(client, first, 2)
            client.submit(opened(4, 2, 4))
            with further(peer) as second:
                receiving(client, second, 4, token=4)
                client.submit(CloseSession(5, 1))
                disconnect = first.next("DISCONNECT")
                assert not [event for event in client.events if isinstance(event, Done) and event.token == 5]
                first.receipt(disconnect)
                assert isinstance(client.answer(5), Done)
                client.submit(Close(6))
                second.receipt(second.next("DISCONNECT"))
                peer.receipt(peer.next("DISCONNECT"))
                assert isinstance(client.answer(6), Done)
                assert client.until(Closed).refused is None


def test_the_loss_of_a_further_connection_is_the_loss_of_the_connection(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1), opened(2, 1, 2))
        with further(peer) as own:
            receiving(client, own, 2)
            client.submit(Drain(3, 2))
            own.next("BEGIN")
            own.hang_up()
            lost = client.answer(3)
            assert isinstance(lost, Failed)
            assert lost.refused.kind is JmsErrorKind.CONNECTION_LOST
            closed = client.until(Closed)
            assert closed.refused is not None
            assert peer.closed()


def test_the_loss_of_the_connection_ends_the_further_connections(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1), opened(2, 1, 2))
        with further(peer) as own:
            receiving(client, own, 2)
            peer.hang_up()
            assert client.until(Closed).refused is not None
            assert own.closed()
            assert len([event for event in client.events if isinstance(event, Closed)]) == 1


def test_a_receiver_that_is_refused_leaves_the_connection_open(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        refused = OpenReceiver(token=2, session=1, link=2, address=QUEUE, selector="a = 1")
        client.submit(OpenSession(1, 1), refused)
        with further(peer) as own:
            answer = client.answer(2)
            assert isinstance(answer, Failed)
            assert answer.refused.kind is JmsErrorKind.UNSUPPORTED
            own.receipt(own.next("DISCONNECT"))
            assert own.closed()
        client.submit(CloseLink(3, 2), OpenSession(4, 2))
        assert isinstance(client.answer(4), Done)


def test_a_receiver_of_an_unknown_session_is_refused(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(opened(2, 1, 2))
        answer = client.answer(2)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.ILLEGAL_STATE


def test_the_loss_of_a_connection_with_an_unanswered_commit_is_no_close(peer: Peer) -> None:
    """The commit is in doubt, so the client must not go on as if the session's connection had ended normally."""
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1, transacted=True), opened(2, 1, 2))
        with further(peer) as own:
            receiving(client, own, 2)
            client.submit(Begin(3, 1, 9), CloseLink(4, 2))
            own.receipt(own.next("BEGIN"))
            own.receipt(own.next("UNSUBSCRIBE"))
            assert isinstance(client.answer(4), Done)
            client.submit(Commit(5, 9))
            own.next("COMMIT")
            own.hang_up()
            answer = client.answer(5)
            assert isinstance(answer, Failed)
            assert answer.refused.kind is JmsErrorKind.CONNECTION_LOST
            assert client.until(Closed).refused is not None
            assert peer.closed()


def test_the_loss_of_a_connection_before_it_is_open_is_no_close_of_its_receiver(peer: Peer) -> None:
    with connected(peer, server=SERVER) as client:
        client.submit(OpenSession(1, 1), opened(2, 1, 2), CloseLink(3, 2))
        line, _ = peer.listener.accept()
        line.close()
        for token in (2, 3):
            answer = client.answer(token)
            assert isinstance(answer, Failed)
            assert answer.refused.kind is JmsErrorKind.CONNECTION_LOST
        assert client.until(Closed).refused is not None
