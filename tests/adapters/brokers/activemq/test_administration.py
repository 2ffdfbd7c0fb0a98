"""Tests of ActiveMQ's administrator with prepared answers of Jolokia, as ActiveMQ 6.3.1 gave them."""

from __future__ import annotations

from typing import Any

from tests.adapters.brokers.amqp.peer import peer

from assay_adapters.brokers.activemq.administration import ActiveMqAdministrator
from assay_adapters.brokers.amqp.jolokia import Jolokia
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Refused

BROKER = "org.apache.activemq:brokerName=localhost,type=Broker"
ORDERS = "org.apache.activemq:brokerName=localhost,destinationName=orders,destinationType=Queue,type=Broker"
NEWS = (
    "org.apache.activemq:brokerName=localhost,clientId=ann,consumerId=Durable(ann_news),destinationName=news,"
    "destinationType=Topic,endpoint=Consumer,type=Broker"
)
ENCODED = b"\x00\x53\x70\xc0\x02\x01\x42\x00\x53\x77\xa1\x0babc/3 hello"
SHOWN = {
    "JMSMessageID": "ID:5475923B1A8637E66107297A664A1C880000000000000002",
    "JMSCorrelationID": "order 7",
    "JMSDeliveryMode": "PERSISTENT",
    "JMSPriority": 4,
    "JMSExpiration": 0,
    "StringProperties": {"colour": "red", "JMS_AMQP_ContentType": "text/plain", "assay_kid": "abc/2"},
    "BodyPreview": [0, 83, 112, -64],
}
BARE = SHOWN | {
    "JMSCorrelationID": None,
    "JMSDeliveryMode": "NON-PERSISTENT",
    "StringProperties": {},
    "BodyPreview": [octet - 256 if octet > 127 else octet for octet in ENCODED],
}


def answering(_method: str, _path: str, body: Any) -> tuple[int, Any]:
    match body:
        case {"type": "search", "mbean": mbean}:
            found = [BROKER] if mbean.endswith("brokerName=*") else []
            found += [ORDERS] if mbean.endswith("destinationName=orders") else []
            found += [NEWS] if "destinationName=news,endpoint=Consumer" in mbean else []
            value: Any = found
        case {"type": "read"}:
            value = 5
        case {"operation": "browse()"}:
            value = [SHOWN, BARE]
        case _:
            value = None
    return 200, {"status": 200, "value": value}


def test_a_look_shows_what_the_steps_ask_for_and_no_bodies() -> None:
    with peer(answering) as there:
        seen = ActiveMqAdministrator(Jolokia(there.server, "/")).browse("orders")
    assert isinstance(seen, Ok)
    first, bare = seen.value
    assert first.descriptor == {
        "MsgId": "5475923b1a8637e66107297a664a1c880000000000000002",
        "CorrelId": b"order 7".hex().ljust(48, "0"),
        "Persistence": 1,
        "Priority": 4,
        "Expiry": -1,
    }
    assert (first.properties, first.body) == ({"colour": "red", "assay_kid": "abc/2"}, None)
    assert (bare.properties, bare.descriptor["Persistence"]) == ({"assay_kid": "abc/3"}, 0)


def test_subscriptions_are_listed_and_not_looked_at() -> None:
    with peer(answering) as there:
        active = ActiveMqAdministrator(Jolokia(there.server, "/"))
        assert active.subscriptions("news") == Ok((NEWS,))
        looked = active.browse_subscription(NEWS)
    assert isinstance(looked, Refused)
    assert looked.kind is JmsErrorKind.UNSUPPORTED


def test_commands_name_queue_and_broker() -> None:
    with peer(answering) as there:
        active = ActiveMqAdministrator(Jolokia(there.server, "/"))
        done = [active.define("new"), active.delete("new"), active.clear("orders")]
        done += [active.hold("orders", held=True), active.hold("orders", held=False)]
        assert active.depth("orders") == Ok(5)
    assert done == [Ok(None)] * 5
    carried_out = [request.body for request in there.requests if request.body["type"] == "exec"]
    assert [(one["mbean"], one["operation"]) for one in carried_out] == [
        (BROKER, "addQueue"),
        (BROKER, "removeQueue"),
        (ORDERS, "purge()"),
        (ORDERS, "pause()"),
        (ORDERS, "resume()"),
    ]


def test_a_queue_that_is_not_there_has_no_messages_and_no_depth() -> None:
    with peer(answering) as there:
        active = ActiveMqAdministrator(Jolokia(there.server, "/"))
        assert active.browse("absent") == Ok(())
        depth = active.depth("absent")
    assert isinstance(depth, Refused)
    assert (depth.mqrc, depth.objects) == (Mqrc.UNKNOWN_OBJECT_NAME, ("absent",))


def test_a_look_that_may_be_incomplete_is_refused() -> None:
    def many(method: str, path: str, body: Any) -> tuple[int, Any]:
        full = {"status": 200, "value": [SHOWN] * 400}
        return (200, full) if body.get("operation") == "browse()" else answering(method, path, body)

    with peer(many) as there:
        answer = ActiveMqAdministrator(Jolokia(there.server, "/")).browse("orders")
    assert isinstance(answer, Refused)
    assert answer.kind is JmsErrorKind.UNSUPPORTED
