"""Tests of Artemis's administrator with prepared answers of Jolokia, as Artemis 2.56.0 gave them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.adapters.brokers.amqp.peer import peer

from assay_adapters.brokers.amqp.jolokia import Jolokia
from assay_adapters.brokers.artemis.administration import ArtemisAdministrator
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Refused

BROKER = 'org.apache.activemq.artemis:broker="assay"'
ORDERS = (
    'org.apache.activemq.artemis:address="orders",broker="assay",component=addresses,queue="orders",'
    'routing-type="anycast",subcomponent=queues'
)
NEWS = (
    'org.apache.activemq.artemis:address="news",broker="assay",component=addresses,queue="ann.news \\"x\\"",'
    'routing-type="multicast",subcomponent=queues'
)
SHOWN = {
    "userID": "ID:6319A3395E3DB107285D45D6E87245030000000000000002",
    "durable": True,
    "priority": 7,
    "expiration": 0,
    "text": "abc/2 hello",
    "StringProperties": {
        "applicationProperties.assay_kid": "abc/2",
        "properties.to": "orders",
        "properties.correlationId": "ID:000000000000000000000000000000000000000000000007",
    },
    "type": 3,
}
FROM_STOMP = {
    "userID": None,
    "durable": True,
    "priority": 4,
    "expiration": 0,
    "text": "hello",
    "StringProperties": {"assay_kid": "abc/4", "colour": "red", "JMSCorrelationID": "order 7", "_AMQ_GROUP_ID": "g"},
}
BARE = {"userID": None, "durable": False, "priority": 4, "text": "abc/3 hello", "StringProperties": None}


def answering(_method: str, _path: str, body: Any) -> tuple[int, Any]:
    match body:
        case {"type": "search", "mbean": mbean}:
            found = [BROKER] if mbean.endswith("broker=*") else []
            found += [ORDERS] if 'queue="orders"' in mbean else []
            found += [NEWS] if 'address="news"' in mbean else []
            value: Any = found
        case {"type": "read", "attribute": attribute}:
            value = {"MessageCount": 5, "ScheduledCount": 2}[attribute]
        case {"operation": "browse()"}:
            value = [SHOWN, BARE, FROM_STOMP]
        case _:
            value = None
    return 200, {"status": 200, "value": value}


def test_a_look_shows_what_the_steps_ask_for_and_no_bodies() -> None:
    with peer(answering) as there:
        seen = ArtemisAdministrator(Jolokia(there.server, "/")).browse("orders")
    assert isinstance(seen, Ok)
    first, bare, stomp = seen.value
    assert first.descriptor == {
        "MsgId": "6319a3395e3db107285d45d6e87245030000000000000002",
        "CorrelId": "0" * 47 + "7",
        "Persistence": 1,
        "Priority": 7,
        "Expiry": -1,
    }
    assert (first.properties, first.body) == ({"assay_kid": "abc/2"}, None)
    assert (bare.properties, bare.descriptor["Persistence"]) == ({"assay_kid": "abc/3"}, 0)
    assert stomp.properties == {"assay_kid": "abc/4", "colour": "red"}
    assert stomp.descriptor["CorrelId"] == b"order 7".hex().ljust(48, "0")


def test_the_depth_leaves_out_what_waits_for_the_end_of_its_delay() -> None:
    with peer(answering) as there:
        assert ArtemisAdministrator(Jolokia(there.server, "/")).depth("orders") == Ok(3)


def test_commands_name_queue_and_broker() -> None:
    with peer(answering) as there:
        artemis = ArtemisAdministrator(Jolokia(there.server, "/"))
        done = [artemis.define("orders"), artemis.define("new"), artemis.delete("new"), artemis.clear("orders")]
        done += [artemis.hold("orders", held=True), artemis.hold("orders", held=False)]
    assert done == [Ok(None)] * 6
    carried_out = [request.body for request in there.requests if request.body["type"] == "exec"]
    assert [(one["mbean"], one["operation"].partition("(")[0]) for one in carried_out] == [
        (BROKER, "createQueue"),  # the administrator does not create an existing queue again
        (BROKER, "destroyQueue"),
        (ORDERS, "removeAllMessages"),
        (ORDERS, "pause"),
        (ORDERS, "resume"),
    ]


def test_subscriptions_are_named_by_their_queues() -> None:
    with peer(answering) as there:
        artemis = ArtemisAdministrator(Jolokia(there.server, "/"))
        assert artemis.subscriptions("news") == Ok(('ann.news "x"',))
        assert artemis.subscriptions("sport") == Ok(())
        assert artemis.browse_subscription("orders") == artemis.browse("orders")


def test_a_queue_that_is_not_there_has_no_messages_and_no_depth() -> None:
    with peer(answering) as there:
        artemis = ArtemisAdministrator(Jolokia(there.server, "/"))
        assert artemis.browse("absent") == Ok(())
        depth = artemis.depth("absent")
    assert isinstance(depth, Refused)
    assert (depth.mqrc, depth.objects) == (Mqrc.UNKNOWN_OBJECT_NAME, ("absent",))


def test_a_look_that_may_be_incomplete_is_refused() -> None:
    def many(method: str, path: str, body: Any) -> tuple[int, Any]:
        full = {"status": 200, "value": [SHOWN] * 200}
        return (200, full) if body.get("operation") == "browse()" else answering(method, path, body)

    with peer(many) as there:
        answer = ArtemisAdministrator(Jolokia(there.server, "/")).browse("orders")
    assert isinstance(answer, Refused)
    assert answer.kind is JmsErrorKind.UNSUPPORTED


def test_a_broker_without_mbeans_is_a_refusal() -> None:
    with peer(lambda *_: (200, {"status": 200, "value": []})) as there:
        answer = ArtemisAdministrator(Jolokia(there.server, "/")).define("orders")
    assert isinstance(answer, Refused)
    assert "is JMX switched on?" in answer.text


@pytest.mark.parametrize("value", [None, "no JSON", "{}", '[{"user": "alice"}]'])
def test_users_in_another_form_are_a_refusal(value: object) -> None:
    def odd(method: str, path: str, body: Any) -> tuple[int, Any]:
        status, answer = answering(method, path, body)
        return status, answer | {"value": value} if body.get("operation", "").startswith("listUser") else answer

    with peer(odd) as there:
        refused = ArtemisAdministrator(Jolokia(there.server, "/")).withhold("orders")
    assert isinstance(refused, Refused)
    assert "listUser(java.lang.String) cannot be read" in refused.text


def test_a_broker_without_the_ordinary_users_is_told_where_they_are() -> None:
    def without(method: str, path: str, body: Any) -> tuple[int, Any]:
        status, answer = answering(method, path, body)
        users = '[{"username": "artemis", "roles": ["amq"]}, {"username": "alice", "roles": []}]'
        return status, answer | {"value": users} if body.get("operation", "").startswith("listUser") else answer

    with peer(without) as there:
        refused = ArtemisAdministrator(Jolokia(there.server, "/")).withhold("orders")
    assert isinstance(refused, Refused)
    assert refused.kind is JmsErrorKind.UNSUPPORTED
    assert "bob, carol, mallory, monitor" in refused.text
    assert "images/artemis/etc" in refused.text
