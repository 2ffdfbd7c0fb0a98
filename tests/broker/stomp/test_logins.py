"""Tests of logins and TLS: the users are those of AMQP."""

from __future__ import annotations

import logging
import ssl

import pytest
from tests.broker.security.test_tls import CERTIFICATE, KEY
from tests.broker.stomp.serving import Raw, raw, serving

from assay_broker.security import Security, Users, server_context
from assay_broker.security.users import keys_of
from assay_broker.stomp.sockets import StompSocket
from assay_sdk.stomp import Frame, encode_frame

USERS = Users({"alice": keys_of("secret", 4_096)})


def test_a_user_logs_in_with_the_password() -> None:
    with serving(security=Security(USERS)) as server, raw(server, login="alice", passcode="secret") as client:
        (view,) = server.do(lambda: server.listener.connections)
        assert (view.user, view.protocol) == ("alice", "STOMP 1.2")
        client.sync()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"login": "alice"},
        {"passcode": "secret"},
        {"login": "alice", "passcode": "wrong"},
        {"login": "bob", "passcode": "secret"},
        {"login": "", "passcode": ""},
        {"login": "alice", "passcode": " secret"},
    ],
)
def test_a_wrong_or_missing_login_is_refused_and_not_logged(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(security=Security(USERS)) as server:
        client = Raw(server)
        client.write(encode_frame(Frame("CONNECT", {"accept-version": "1.2", "host": "h", **headers}), None))
        frame = client.error()
        assert frame.headers["mqrc"] == "2035"
        assert "secret" not in f"{frame}{caplog.text}"
        client.close()


def test_a_login_without_users_is_not_needed_and_not_checked() -> None:
    with serving() as server, raw(server, login="guest", passcode="guest") as client:
        client.sync()


def test_frames_behind_connect_wait_for_the_check_of_the_password() -> None:
    with serving(security=Security(USERS)) as server:
        client = Raw(server)
        client.write(
            b"CONNECT\naccept-version:1.2\nhost:h\nlogin:alice\npasscode:secret\n\n\0"
            b"SEND\ndestination:/queue/a\nreceipt:1\n\n\0"
        )
        client.read("CONNECTED")
        client.receipt("1")
        client.close()


def test_tls_carries_stomp() -> None:
    security = Security(USERS, server_context(CERTIFICATE, KEY))
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    with serving(security=security) as server, raw(server, tls=trusting, login="alice", passcode="secret") as client:
        client.send("SUBSCRIBE", id="0", destination="/queue/tls")
        client.send("SEND", b"x" * 100_000, destination="/queue/tls")
        assert len(client.read("MESSAGE").body) == 100_000
        client.leave()


def test_passwords_from_other_machines_need_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = StompSocket.begin
    monkeypatch.setattr(StompSocket, "begin", lambda self, transport, _: begin(self, transport, "192.0.2.1"))
    connect = b"CONNECT\naccept-version:1.2\nhost:h\nlogin:alice\npasscode:secret\n\n\0"
    with serving(security=Security(USERS)) as server:
        client = Raw(server)
        client.write(connect)
        assert "TLS" in client.error().body.decode()
        client.close()
    with serving(security=Security(USERS, clear_passwords=True)) as server:
        client = Raw(server)
        client.write(connect)
        client.read("CONNECTED")
        client.close()


def test_an_authority_is_that_of_the_user() -> None:
    with serving(security=Security(USERS)) as server, raw(server, login="alice", passcode="secret") as client:
        client.send("SEND", b"x", destination="/queue/SYSTEM.DEAD.LETTER.QUEUE")
        assert client.error().headers["mqrc"] == "2035"
