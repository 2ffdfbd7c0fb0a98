"""Tests of Broker-J's administrator with prepared answers of its REST interface, as Broker-J 10.1.0 gave them."""

from __future__ import annotations

from typing import Any

from tests.adapters.brokers.amqp.peer import Peer, peer

from assay_adapters.brokers.amqp.administration import Administrator
from assay_adapters.brokers.broker_j.administration import MANAGEMENT
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Refused

QUEUES = "/api/latest/queue/default/default"
STEADY = "qpidsub_/ann_/steady_/durable"
PLAIN = {
    "correlationId": "order 7",
    "messageType": "AMQP 1.0",
    "initialRoutingAddress": "",
    "deliveryCount": 0,
    "priority": 4,
    "id": 1,
    "state": "Available",
    "size": 16,
    "headerSize": 100,
    "persistent": True,
    "messageId": "ID:5475923B1A8637E66107297A664A1C880000000000000002",
    "arrivalTime": 1795698170205,
    "headers": {"colour": "red", "size": 7, "assay_kid": "abc/2", "weight": 1.5},
}
BARE = {"priority": 7, "id": 2, "state": "Acquired", "persistent": False, "headers": {}}
HELD = {"priority": 4, "id": 3, "state": "Held", "persistent": True, "notValidBefore": 1795698770236, "headers": {}}
GONE = {"priority": 4, "id": 4, "state": "", "persistent": True, "headers": {}}
EXCHANGE = {
    "name": "amq.topic",
    "bindings": [
        {"destination": STEADY, "name": "news", "type": "binding", "arguments": {}, "bindingKey": "news"},
        {"destination": "another", "name": "news", "type": "binding", "arguments": {}, "bindingKey": "news"},
        {"destination": "sports", "name": "sport", "type": "binding", "arguments": {}, "bindingKey": "sport"},
    ],
}


def answering(method: str, path: str, _body: Any) -> tuple[int, Any]:
    if "/absent" in path:
        return 404, {"errorMessage": "There was an error when performing request, see log file for details"}
    if method != "GET":
        return 200, None
    if path == "/api/latest/exchange/default/default/amq.topic":
        return 200, EXCHANGE
    if path == f"{QUEUES}/orders/getMessageContent?messageId=2&limit=500":
        return 200, b"\x00\x53\x77\xa1\x0babc/3 hello"
    if path == f"{QUEUES}/empty/getMessageInfo?includeHeaders=true":
        return 200, [HELD]
    return 200, [PLAIN, BARE, HELD, GONE]


def broker(there: Peer) -> Administrator:
    return MANAGEMENT.open(there.server)


def test_a_look_shows_what_the_steps_ask_for_and_neither_bodies_nor_what_is_not_there_yet() -> None:
    with peer(answering) as there:
        seen = broker(there).browse("orders")
    assert isinstance(seen, Ok)
    plain, bare = seen.value
    assert plain.descriptor == {
        "MsgId": "5475923b1a8637e66107297a664a1c880000000000000002",
        "CorrelId": b"order 7".hex().ljust(48, "0"),
        "Persistence": 1,
        "Priority": 4,
        "Expiry": -1,
    }
    assert (plain.properties, plain.body) == ({"colour": "red", "size": 7, "assay_kid": "abc/2"}, None)
    assert (bare.properties, bare.descriptor["Persistence"]) == ({"assay_kid": "abc/3"}, 0)


def test_the_depth_leaves_out_what_waits_for_the_end_of_its_delay() -> None:
    with peer(answering) as there:
        assert broker(there).depth("orders") == Ok(2)


def test_a_clear_removes_what_the_depth_counts() -> None:
    with peer(answering) as there:
        assert broker(there).clear("orders") == Ok(None)
        assert broker(there).clear("empty") == Ok(None)
    changed = [(one.method, one.path, one.body) for one in there.requests if one.method != "GET"]
    assert changed == [("POST", f"{QUEUES}/orders/deleteMessages", {"messageIds": [1, 2]})]


def test_commands_name_the_queue() -> None:
    with peer(answering) as there:
        qpid = broker(there)
        assert [qpid.define("new"), qpid.limit("new", 0), qpid.delete("new")] == [Ok(None)] * 3
    assert [(one.method, one.path, one.body) for one in there.requests] == [
        ("PUT", f"{QUEUES}/new", {}),
        ("POST", f"{QUEUES}/new", {"overflowPolicy": "REJECT", "maximumQueueDepthMessages": 0}),
        ("DELETE", f"{QUEUES}/new", None),
    ]


def test_subscriptions_are_named_by_their_queues() -> None:
    with peer(answering) as there:
        assert broker(there).subscriptions("news") == Ok(("another", STEADY))
        assert broker(there).subscriptions("weather") == Ok(())
        assert isinstance(broker(there).browse_subscription(STEADY), Ok)
    assert "/qpidsub_%252Fann_%252Fsteady_%252Fdurable/getMessageInfo" in [one.path for one in there.requests][2]


def test_a_queue_that_is_not_there_has_no_messages_and_no_depth() -> None:
    with peer(answering) as there:
        assert broker(there).browse("absent") == Ok(())
        answers = [broker(there).depth("absent"), broker(there).clear("absent"), broker(there).delete("absent")]
    for answer in answers:
        assert isinstance(answer, Refused)
        assert (answer.mqrc, answer.objects) == (Mqrc.UNKNOWN_OBJECT_NAME, ("absent",))


def test_a_refused_request_is_a_refusal() -> None:
    with peer(lambda *_: (401, b"")) as there:
        qpid = broker(there)
        answers = [qpid.browse("orders"), qpid.depth("orders"), qpid.clear("orders"), qpid.subscriptions("news")]
    assert {answer.kind for answer in answers if isinstance(answer, Refused)} == {JmsErrorKind.SECURITY}
    assert all(isinstance(answer, Refused) for answer in answers)


def test_a_message_that_leaves_its_queue_during_the_look_has_no_key() -> None:
    def leaving(method: str, path: str, body: Any) -> tuple[int, Any]:
        return (404, None) if "getMessageContent" in path else answering(method, path, body)

    with peer(leaving) as there:
        seen = broker(there).browse("orders")
    assert isinstance(seen, Ok)
    assert seen.value[1].properties == {}
