"""Tests of the REST client with a peer that gives prepared answers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.adapters.brokers.amqp.peer import LOGIN, Peer, peer

from assay_adapters.brokers.amqp.rest import Path, Rest
from assay_adapters.brokers.http import HttpServer
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Refused

ORDERS = Path("queue", "orders", ("queues", "/", "orders"))


def rest(there: Peer, quoted: int = 1) -> Rest:
    return Rest(there.server, title="Acme", root="/api", quoted=quoted)


def test_requests_carry_login_path_query_and_body() -> None:
    with peer(lambda *_: (200, [1, 2])) as there:
        acme = rest(there)
        assert acme.read(list[int], ORDERS, {"first": "1", "name": "a b"}) == Ok([1, 2])
        assert acme.octets(ORDERS) == Ok(b"[1, 2]")
        assert acme.change("PUT", ORDERS, {"durable": True}) == Ok(None)
        assert acme.change("DELETE", ORDERS) == Ok(None)
    assert [(one.method, one.path, one.body) for one in there.requests] == [
        ("GET", "/api/queues/%2F/orders?first=1&name=a+b", None),
        ("GET", "/api/queues/%2F/orders", None),
        ("PUT", "/api/queues/%2F/orders", {"durable": True}),
        ("DELETE", "/api/queues/%2F/orders", None),
    ]
    assert {one.authorization for one in there.requests} == {"Basic YWRtaW46b3BlbiBzZXNhbWU="}


@pytest.mark.parametrize(("quoted", "sent"), [(1, "a%2Fb%20%2B%25"), (2, "a%252Fb%2520%252B%2525")])
def test_names_are_quoted_as_often_as_the_product_undoes_it(quoted: int, sent: str) -> None:
    with peer(lambda *_: (204, b"")) as there:
        assert rest(there, quoted).change("POST", Path("queue", "a/b +%", ("a/b +%",)), {}) == Ok(None)
    assert [one.path for one in there.requests] == [f"/api/{sent}"]


@pytest.mark.parametrize(
    ("status", "body", "kind", "told"),
    [
        (401, b"<html>", JmsErrorKind.SECURITY, "Acme refuses the kit's administrator (HTTP 401)"),
        (403, b"", JmsErrorKind.SECURITY, "Acme refuses the kit's administrator (HTTP 403)"),
        (400, {"reason": "inequivalent arg"}, JmsErrorKind.MESSAGING, "(HTTP 400): "),
        (500, b"\xff" * 300, JmsErrorKind.MESSAGING, "Acme refuses GET /api/queues/%2F/orders (HTTP 500): "),
        (200, b"<html>", JmsErrorKind.MESSAGING, "the answer of Acme cannot be read"),
        (200, {"other": 1}, JmsErrorKind.MESSAGING, "the answer of Acme cannot be read"),
    ],
)
def test_what_the_peer_refuses_or_garbles_is_a_refusal(status: int, body: Any, kind: JmsErrorKind, told: str) -> None:
    with peer(lambda *_: (status, body)) as there:
        answer = rest(there).read(list[int], ORDERS)
    assert isinstance(answer, Refused)
    assert answer.kind is kind
    assert told in answer.text
    assert len(answer.text) < 300
    assert LOGIN.password not in repr(answer)


def test_an_answer_whose_texts_are_not_utf_8_is_a_refusal() -> None:
    with peer(lambda *_: (200, b'["\xff"]')) as there:
        answer = rest(there).read(list[str], ORDERS)
    assert isinstance(answer, Refused)
    assert "the answer of Acme cannot be read" in answer.text


def test_what_is_not_there_is_an_unknown_object() -> None:
    with peer(lambda *_: (404, b"")) as there:
        answer = rest(there).change("DELETE", ORDERS)
    assert isinstance(answer, Refused)
    assert (answer.mqrc, answer.objects) == (Mqrc.UNKNOWN_OBJECT_NAME, ("orders",))
    assert answer.text == "Acme has no queue orders"


def test_a_peer_that_is_not_there_is_a_refusal_without_the_password() -> None:
    with peer(lambda *_: (200, {})) as there:
        gone = there.port
    answer = Rest(HttpServer("127.0.0.1", lambda: gone, LOGIN), title="Acme", root="/api").octets(ORDERS)
    assert isinstance(answer, Refused)
    assert "does not answer its administrator" in answer.text
    assert LOGIN.password not in repr(answer)
