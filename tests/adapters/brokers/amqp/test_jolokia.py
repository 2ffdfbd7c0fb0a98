"""Tests of the Jolokia client with a peer that gives prepared answers."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct
from tests.adapters.brokers.amqp.peer import LOGIN, Peer, peer

from assay_adapters.brokers.amqp.jolokia import Jolokia, Mbeans, quoted
from assay_adapters.brokers.http import HttpServer
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Refused

PATH = "/api/jolokia/"


def test_requests_carry_the_login_and_name_the_mbean() -> None:
    with peer(lambda *_: (200, {"status": 200, "value": ["b", "a"]})) as there:
        jolokia = Jolokia(there.server, PATH)
        assert jolokia.read("broker:type=Queue", "Size") == Ok(["b", "a"])
        assert jolokia.run("broker:type=Queue", "remove(java.lang.String,int)", "q", 1) == Ok(["b", "a"])
        assert jolokia.search("broker:*") == Ok(("a", "b"))
    assert [request.body for request in there.requests] == [
        {"type": "read", "mbean": "broker:type=Queue", "attribute": "Size"},
        {
            "type": "exec",
            "mbean": "broker:type=Queue",
            "operation": "remove(java.lang.String,int)",
            "arguments": ["q", 1],
        },
        {"type": "search", "mbean": "broker:*"},
    ]
    assert {(request.method, request.path) for request in there.requests} == {("POST", PATH)}
    assert {request.authorization for request in there.requests} == {"Basic YWRtaW46b3BlbiBzZXNhbWU="}


@pytest.mark.parametrize(
    ("status", "body", "kind", "told"),
    [
        (401, b"", JmsErrorKind.SECURITY, "refuses the kit's administrator (HTTP 401)"),
        (403, b"<html>", JmsErrorKind.SECURITY, "refuses the kit's administrator (HTTP 403)"),
        (404, b"<html>not here</html>", JmsErrorKind.MESSAGING, "cannot be read (HTTP 404)"),
        (200, b"", JmsErrorKind.MESSAGING, "cannot be read (HTTP 200)"),
        (200, b'{"status": 200, "value": "\xff"}', JmsErrorKind.MESSAGING, "cannot be read (HTTP 200)"),
        (200, {"value": 1}, JmsErrorKind.MESSAGING, "cannot be read"),
        (200, {"status": 500, "error": "java.lang.Problem : full"}, JmsErrorKind.MESSAGING, "java.lang.Problem : full"),
        (200, {"status": 500}, JmsErrorKind.MESSAGING, "status 500"),
    ],
)
def test_what_the_peer_refuses_or_garbles_is_a_refusal(status: int, body: Any, kind: JmsErrorKind, told: str) -> None:
    with peer(lambda *_: (status, body)) as there:
        answer = Jolokia(there.server, PATH).read("broker:type=Queue", "Size")
    assert isinstance(answer, Refused)
    assert answer.kind is kind
    assert told in answer.text
    assert LOGIN.password not in repr(answer)


def test_a_missing_mbean_is_an_unknown_object() -> None:
    missing = {"status": 404, "error": "gone", "error_type": "javax.management.InstanceNotFoundException"}
    with peer(lambda *_: (200, missing)) as there:
        answer = Jolokia(there.server, PATH).read("broker:type=Queue", "Size")
    assert isinstance(answer, Refused)
    assert (answer.mqrc, answer.objects) == (Mqrc.UNKNOWN_OBJECT_NAME, ("broker:type=Queue",))


def test_a_peer_that_is_not_there_is_a_refusal_without_the_password() -> None:
    with peer(lambda *_: (200, {})) as there:
        gone = there.port
    answer = Jolokia(HttpServer("127.0.0.1", lambda: gone, LOGIN), PATH).search("broker:*")
    assert isinstance(answer, Refused)
    assert "does not answer its administrator" in answer.text
    assert LOGIN.password not in repr(answer)


class _Shown(Struct):
    size: int


@pytest.mark.parametrize("value", [None, 3, "text", {"size": 1}, [{"size": "large"}], [1]])
def test_messages_in_another_form_are_a_refusal(value: Any) -> None:
    def answering(_method: str, _path: str, body: Any) -> tuple[int, Any]:
        return 200, {"status": 200, "value": ["broker:q"] if body["type"] == "search" else value}

    with peer(answering) as there:
        answer = _mbeans(there).browse("q", list[_Shown])
    assert isinstance(answer, Refused)
    assert (answer.kind, "cannot be read" in answer.text) == (JmsErrorKind.MESSAGING, True)


@pytest.mark.parametrize("value", [None, 3, [1]])
def test_names_in_another_form_are_a_refusal(value: Any) -> None:
    with peer(lambda *_: (200, {"status": 200, "value": value})) as there:
        answer = _mbeans(there).browse("q", list[_Shown])
    assert isinstance(answer, Refused)
    assert (answer.kind, "cannot be read" in answer.text) == (JmsErrorKind.MESSAGING, True)


def _mbeans(there: Peer) -> Mbeans:
    return Mbeans(Jolokia(there.server, PATH), title="Acme", broker="broker:*", queue="broker:{}".format, shown=400)


def test_names_in_quotation_marks_are_escaped() -> None:
    assert quoted("plain.queue") == '"plain.queue"'
    assert quoted('a"b*c?d\\e') == '"a\\"b\\*c\\?d\\\\e"'
