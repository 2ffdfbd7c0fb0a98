"""Tests of RabbitMQ's administrator with prepared answers of its management API, as RabbitMQ 4.0 gave them."""

from __future__ import annotations

from typing import Any

from tests.adapters.brokers.amqp.peer import Peer, peer

from assay_adapters.brokers.amqp.administration import Administrator
from assay_adapters.brokers.rabbitmq.administration import MANAGEMENT
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Refused

QUEUES = "/api/queues/%2F"
POLICIES = "/api/policies/%2F"
SHOWN = {"name": "orders", "durable": True, "messages": 5, "messages_ready": 3, "messages_unacknowledged": 2}
BINDINGS = [
    {"source": "amq.topic", "vhost": "/", "destination": "amq.gen-2", "routing_key": "news", "arguments": {}},
    {"source": "amq.topic", "vhost": "/", "destination": "amq.gen-1", "routing_key": "news", "arguments": {}},
    {"source": "amq.topic", "vhost": "/", "destination": "amq.gen-3", "routing_key": "sport", "arguments": {}},
]


def answering(method: str, path: str, _body: Any) -> tuple[int, Any]:
    if "absent" in path:
        return 404, {"error": "Object Not Found", "reason": "Not Found"}
    if method != "GET":
        return 204, b""
    return 200, BINDINGS if path == "/api/exchanges/%2F/amq.topic/bindings/source" else SHOWN


def broker(there: Peer) -> Administrator:
    return MANAGEMENT.open(there.server)


def test_the_depth_is_asked_for_without_the_statistics() -> None:
    with peer(answering) as there:
        assert broker(there).depth("orders") == Ok(5)
    assert [one.path for one in there.requests] == [f"{QUEUES}/orders?disable_stats=true&enable_queue_totals=true"]


def test_commands_name_queue_and_policy() -> None:
    with peer(answering) as there:
        rabbit = broker(there)
        done = [rabbit.define("a.b/c"), rabbit.limit("a.b/c", 2), rabbit.clear("a.b/c"), rabbit.delete("a.b/c")]
    assert done == [Ok(None)] * 4
    assert [(one.method, one.path, one.body) for one in there.requests] == [
        ("PUT", f"{QUEUES}/a.b%2Fc", {"durable": True, "arguments": {"x-queue-type": "classic"}}),
        (
            "PUT",
            f"{POLICIES}/a.b%2Fc",
            {
                "pattern": r"^a\.b/c$",
                "apply-to": "queues",
                "definition": {"max-length": 2, "overflow": "reject-publish"},
            },
        ),
        ("DELETE", f"{QUEUES}/a.b%2Fc/contents", None),
        ("DELETE", f"{POLICIES}/a.b%2Fc", None),
        ("DELETE", f"{QUEUES}/a.b%2Fc", None),
    ]


def test_a_queue_without_a_limit_is_deleted() -> None:
    def unlimited(method: str, path: str, body: Any) -> tuple[int, Any]:
        return (404, None) if path.startswith(POLICIES) else answering(method, path, body)

    with peer(unlimited) as there:
        assert broker(there).delete("orders") == Ok(None)


def test_subscriptions_are_named_by_their_queues() -> None:
    with peer(answering) as there:
        assert broker(there).subscriptions("news") == Ok(("amq.gen-1", "amq.gen-2"))
        assert broker(there).subscriptions("weather") == Ok(())


def test_what_would_change_messages_is_not_offered() -> None:
    with peer(answering) as there:
        answers = [broker(there).browse("orders"), broker(there).browse_subscription("amq.gen-1")]
    assert all(isinstance(answer, Refused) and answer.kind is JmsErrorKind.UNSUPPORTED for answer in answers)
    assert not there.requests


def test_a_queue_that_is_not_there_has_no_depth() -> None:
    with peer(answering) as there:
        answers = [broker(there).depth("absent"), broker(there).clear("absent"), broker(there).delete("absent")]
    for answer in answers:
        assert isinstance(answer, Refused)
        assert (answer.mqrc, answer.objects) == (Mqrc.UNKNOWN_OBJECT_NAME, ("absent",))


def test_a_refused_request_is_a_refusal() -> None:
    with peer(lambda *_: (401, b"")) as there:
        answers = [broker(there).depth("orders"), broker(there).delete("orders"), broker(there).subscriptions("news")]
    assert all(isinstance(answer, Refused) and answer.kind is JmsErrorKind.SECURITY for answer in answers)
