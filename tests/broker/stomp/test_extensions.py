"""Tests of the server's extensions: credit instead of a window, and messages that go back uncounted."""

from __future__ import annotations

import pytest
from tests.broker.stomp.frames import left, numbered
from tests.broker.stomp.serving import Raw, StompServing, raw

from assay_broker.core.administration.changes import AlterObject, DefineObject
from assay_broker.core.effects import CloseLink
from assay_broker.core.objects.model import Kind
from assay_broker.stomp.session import StompSession
from assay_sdk.model.reasons import Mqrc, refused


def test_connected_names_the_extensions(client: Raw) -> None:
    assert client.connected.headers["extensions"] == "credit,delivery-failed,open-errors"


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


def test_a_refusal_leaves_the_connection_open_if_the_client_asks_for_that(server: StompServing, queue: str) -> None:
    with raw(server, extensions="open-errors") as client:
        for _ in range(2):
            client.send("SEND", b"x", destination="/remote-temp-queue/AMQ.TEMPORARY.QUEUE.9.9", receipt="1")
            error = client.read("ERROR").headers
            assert (error["receipt-id"], error["connection"], error["mqrc"]) == ("1", "open", "2085")
        client.send("SUBSCRIBE", id="0", destination=queue, selector="a = =", receipt="2")
        assert client.read("ERROR").headers["mqrc"] == "2459"
        client.send("SUBSCRIBE", id="0", destination=queue, receipt="3")
        client.receipt("3")
        client.send("SEND", b"x", destination=queue)
        assert client.read("MESSAGE").body == b"x"
        client.send("SEND", destination="/remote-temp-queue/AMQ.TEMPORARY.QUEUE.9.9")
        assert "connection" not in client.error().headers


def end_subscriptions(server: StompServing) -> None:
    """End all subscriptions, as the queue manager does when it cannot store them."""
    why = refused(Mqrc.Q_DELETED, "ended has been deleted", "ended")
    for one in server.listener._clients:
        session = getattr(one, "session", None)
        if isinstance(session, StompSession):
            for link in tuple(session.context.links):
                session.close_link(CloseLink(session.context.number, link, why))


def test_the_end_of_a_subscription_is_told_if_the_client_asks_for_that(server: StompServing) -> None:
    with raw(server, extensions="open-errors") as client:
        client.send("SUBSCRIBE", id="0", destination="/queue/ended", ack="client-individual", receipt="1")
        client.receipt("1")
        server.do(lambda: end_subscriptions(server))
        error = client.read("ERROR").headers
        assert (error["subscription"], error["connection"], error["mqrc"]) == ("0", "open", "2052")
        client.sync()
    with raw(server) as client:
        client.send("SUBSCRIBE", id="0", destination="/queue/ended", receipt="1")
        client.receipt("1")
        server.do(lambda: end_subscriptions(server))
        assert client.error().headers["mqrc"] == "2052"


def test_a_client_id_in_use_is_told_by_its_kind(server: StompServing) -> None:
    with raw(server, client_id="c"):
        second = Raw(server)
        with pytest.raises(AssertionError, match="error-kind': 'invalid-client-id'"):
            second.open(client_id="c")
        second.close()


@pytest.mark.parametrize("refused", ["SEND", "ACK"])
def test_the_commit_tells_of_a_refused_frame_without_receipt(server: StompServing, queue: str, refused: str) -> None:
    most = 2 if refused == "ACK" else 10_000
    server.administer(DefineObject(kind=Kind.QLOCAL, name="SHUT", attributes={"PUT": "DISABLED"}, replace=True))
    with raw(server, extensions="open-errors") as client:
        numbered(client, queue, 3)
        client.send("SUBSCRIBE", id="0", destination=queue, ack="client-individual")
        keys = [client.read("MESSAGE").headers["ack"] for _ in range(3)]
        server.administer(AlterObject(Kind.QMGR, server.queue_manager.name, {"MAXUMSGS": most}))
        client.send("BEGIN", transaction="t")
        for key in keys:
            client.send("ACK", id=key, transaction="t")
        if refused == "SEND":
            client.send("SEND", b"x", destination="/queue/SHUT", transaction="t")
        client.send("COMMIT", transaction="t", receipt="1")
        error = client.read("ERROR").headers
        assert (error["receipt-id"], error["connection"]) == ("1", "open")
        assert error["mqrc"] == str(int(Mqrc.SYNCPOINT_LIMIT_REACHED if refused == "ACK" else Mqrc.PUT_INHIBITED))
        server.administer(AlterObject(Kind.QMGR, server.queue_manager.name, {"MAXUMSGS": 10_000}))
        client.send("BEGIN", transaction="again")
        for key in keys:
            client.send("ACK", id=key, transaction="again")
        client.send("COMMIT", transaction="again", receipt="2")
        client.receipt("2")
    assert left(server, queue) == []


def test_a_refused_commit_leaves_no_copy_on_the_backout_queue(server: StompServing) -> None:
    server.administer(DefineObject(kind=Kind.QLOCAL, name="SHUT", attributes={"PUT": "DISABLED"}, replace=True))
    server.administer(DefineObject(kind=Kind.QLOCAL, name="WORK.BACK"))
    back = {"BOTHRESH": 2, "BOQNAME": "WORK.BACK"}
    server.administer(DefineObject(kind=Kind.QLOCAL, name="WORK", attributes=back))
    with raw(server, extensions="open-errors") as client:
        client.send("SUBSCRIBE", id="0", destination="/queue/WORK", ack="client-individual")
        client.send("SEND", b"x", destination="/queue/WORK")
        client.send("NACK", id=client.read("MESSAGE").headers["ack"])
        second = client.read("MESSAGE").headers["ack"]
        client.send("BEGIN", transaction="t")
        client.send("NACK", id=second, transaction="t")
        client.send("SEND", b"y", destination="/queue/SHUT", transaction="t")
        client.send("COMMIT", transaction="t", receipt="1")
        assert client.read("ERROR").headers["receipt-id"] == "1"
        assert left(server, "/queue/WORK.BACK") == []
        client.send("NACK", id=second, receipt="2")
        client.receipt("2")
    assert left(server, "/queue/WORK.BACK") == ["x"]
