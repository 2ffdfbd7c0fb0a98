from __future__ import annotations

import logging

import pytest
from tests.broker.http.conftest import CSRF, ORDERS, QMGR, KnownUsers, Serve, Served, basic

from assay_sdk.model.reasons import Mqrc

ALICE = basic("alice", "wonder:land")
MQM = basic("mqm", "secret")
PATHS = (("GET", ORDERS), ("POST", ORDERS), ("DELETE", ORDERS), ("GET", f"{ORDERS}list"), ("GET", "/"))


@pytest.fixture
def users() -> KnownUsers:
    return KnownUsers(alice="wonder:land", mqm="secret", bob="grüße")


@pytest.fixture
def guarded(serve: Serve, users: KnownUsers) -> Served:
    return serve(users)


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize(
    "login",
    [
        {},
        basic("alice", "wrong"),
        basic("nobody", "wonder:land"),
        basic("", ""),
        {"Authorization": "Bearer abc"},
        {"Authorization": "Basic %%%"},
        {"Authorization": "Basic /w=="},
        {"Authorization": f"Basic {'QUFB' * 1000}"},
    ],
)
def test_a_wrong_login_is_refused(guarded: Served, method: str, path: str, login: dict[str, str]) -> None:
    reply = guarded.ask(method, path, "m" if method == "POST" else None, login)
    assert reply.error == (401, "MQWB0104E", 0)
    assert reply.headers["www-authenticate"] == 'Basic realm="Assay", charset="UTF-8"'


def test_a_right_login_is_checked_once_for_a_while(guarded: Served, users: KnownUsers) -> None:
    for _ in range(3):
        assert guarded.ask("GET", ORDERS, None, ALICE).status == 204
    assert users.checked == 1
    assert guarded.ask("GET", ORDERS, None, basic("bob", "grüße")).status == 204
    assert guarded.ask("GET", ORDERS, None, basic("alice", "wrong")).status == 401
    assert guarded.ask("GET", ORDERS, None, basic("alice", "wrong")).status == 401
    assert users.checked == 4


@pytest.mark.parametrize("path", ["/health", "/ready", "/openapi.json"])
def test_pages_without_data_need_no_login(guarded: Served, path: str) -> None:
    assert guarded.ask("GET", path).status == 200


@pytest.mark.parametrize(("method", "path"), [one for one in PATHS if one[0] != "GET"])
def test_a_request_that_changes_something_needs_the_csrf_token(served: Served, method: str, path: str) -> None:
    assert served.ask(method, path, "m", csrf=False).error == (403, "MQWB0100E", 0)
    assert served.ask("POST", "/ibmmq/rest/v2/admin/action/qmgr/ASSAY/mqsc", "{}", csrf=False).status == 403


def test_a_request_that_changes_nothing_needs_no_csrf_token(served: Served) -> None:
    assert served.ask("GET", ORDERS, csrf=False).status == 204


@pytest.mark.parametrize("host", ["broker.example", "127.0.0.1.example", "10.0.0.1", "", "[::2]:80"])
def test_without_users_nobody_is_answered_under_a_name_of_somebody_else(served: Served, host: str) -> None:
    for method, path in PATHS:
        assert served.ask(method, path, None, {"Host": host}).error == (403, "ASWB0009E", 0)
    assert served.ask("GET", "/health", None, {"Host": host}).status == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9443", "127.0.0.1:1", "[::1]:9443"])
def test_its_own_names_are_answered(served: Served, host: str) -> None:
    assert served.ask("GET", ORDERS, None, {"Host": host}).status == 204


# authority -----------------------------------------------------------------------------------------------------------


def test_a_user_has_the_authorities_of_its_records_and_no_others(guarded: Served) -> None:
    assert guarded.mqsc("SET AUTHREC PROFILE(ORDERS) OBJTYPE(QUEUE) GROUP('nobody') AUTHADD(NONE)", MQM).status == 200
    denied = (403, "MQWB0103E", Mqrc.NOT_AUTHORIZED)

    def grant(what: str) -> None:
        reply = guarded.mqsc(f"SET AUTHREC PROFILE(ORDERS) OBJTYPE(QUEUE) PRINCIPAL('alice') AUTHADD({what})", MQM)
        assert reply.json["overallCompletionCode"] == 0

    for authority, method, path, status in (
        ("PUT", "POST", ORDERS, 201),
        ("BROWSE", "GET", ORDERS, 200),
        ("INQ", "GET", f"{ORDERS}list", 200),
        ("GET", "DELETE", ORDERS, 200),
    ):
        if authority != "INQ":
            assert guarded.ask(method, path, "m" if method == "POST" else None, ALICE).error == denied
            grant(authority)
        assert guarded.ask(method, path, "m" if method == "POST" else None, ALICE).status == status


def test_publishing_needs_authority_too(guarded: Served) -> None:
    topic = f"{QMGR}/topic/t/message"
    assert guarded.ask("POST", topic, "m", ALICE).status == 201
    guarded.mqsc("SET AUTHREC PROFILE('**') OBJTYPE(TOPIC) GROUP('nobody') AUTHRMV(PUB)", MQM)
    assert guarded.ask("POST", topic, "m", ALICE).error == (403, "MQWB0103E", Mqrc.NOT_AUTHORIZED)


def test_an_ordinary_user_administers_nothing_until_he_may(guarded: Served) -> None:
    def refused(command: str) -> bool:
        (item,) = guarded.mqsc(command, ALICE).json["commandResponse"]
        return bool(item["reasonCode"] == Mqrc.NOT_AUTHORIZED and item["text"][0].startswith("AMQ8135E"))

    for command in ("DEFINE QLOCAL(A)", "ALTER QMGR DESCR(X)", "DISPLAY QLOCAL(ORDERS)", "CLEAR QLOCAL(ORDERS)"):
        assert refused(command)
    assert refused("SET AUTHREC PROFILE('**') OBJTYPE(QUEUE) PRINCIPAL('alice') AUTHADD(ALL)")
    guarded.mqsc("SET AUTHREC PROFILE('A*') OBJTYPE(QUEUE) PRINCIPAL('alice') AUTHADD(CRT,DSP)", MQM)
    assert not refused("DEFINE QLOCAL(A)")
    assert not refused("DISPLAY QLOCAL(A)")
    assert refused("DEFINE QLOCAL(A) REPLACE")


def test_a_user_without_authority_to_connect_is_refused(guarded: Served) -> None:
    guarded.mqsc("SET AUTHREC OBJTYPE(QMGR) GROUP('nobody') AUTHRMV(CONNECT)", MQM)
    assert guarded.ask("GET", ORDERS, None, ALICE).error == (403, "MQWB0103E", Mqrc.NOT_AUTHORIZED)
    assert guarded.ask("GET", ORDERS, None, MQM | CSRF).status == 204


def test_no_connection_is_left_behind(guarded: Served) -> None:
    before = len(list(guarded.queue_manager._life.core._state.connections))
    for method, path in PATHS:
        guarded.ask(method, path, None, MQM)
        guarded.ask(method, path, None, ALICE)
    assert len(list(guarded.queue_manager._life.core._state.connections)) == before


def test_a_wrong_password_is_logged_without_it_and_without_the_name(
    guarded: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert guarded.ask("GET", ORDERS, None, basic("alice", "wrong-secret")).status == 401
    (told,) = [
        record.getMessage() for record in caplog.records if record.name == "assay_broker.http.requests.authentication"
    ]
    assert told.startswith("127.0.0.1:")
    assert told.endswith(" was refused: user or password is wrong")
    assert "alice" not in told
    assert "wrong-secret" not in told
