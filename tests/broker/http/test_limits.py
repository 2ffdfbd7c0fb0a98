"""Tests of the server's limits for one caller, which other callers must not notice."""

from __future__ import annotations

import logging
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.broker.http.conftest import CSRF, ORDERS, KnownUsers, Serve, Served, basic
from tests.broker.http.handlers.test_messaging import send_later
from tests.waiting import until

from assay_broker.http import HttpLimits


def works(served: Served) -> bool:
    """Check whether the server serves another caller."""
    return served.ask("GET", "/health").status == 200


@contextmanager
def caller(served: Served, octets: bytes) -> Iterator[socket.socket]:
    """Provide a connection on which some bytes have been sent."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(octets)
        yield line


def hears(line: socket.socket) -> bytes:
    """Read all bytes until the server closes the connection."""
    parts: list[bytes] = []
    try:
        while part := line.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


HEAD = f"POST {ORDERS} HTTP/1.1\r\nHost: localhost\r\nibm-mq-rest-csrf-token: x\r\n".encode()


def test_a_body_may_be_so_long_and_no_longer(serve: Serve) -> None:
    served = serve(limits=HttpLimits(body=1_000))
    assert served.ask("POST", ORDERS, b"x" * 1_000).status == 201
    assert served.ask("POST", ORDERS, b"x" * 1_001).error == (413, "ASWB0003E", 0)
    with caller(served, HEAD + b"Content-Length: 99999999999999999999\r\n\r\n") as line:
        assert hears(line).startswith(b"HTTP/1.1 413 ")
    with caller(
        served, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"3e8\r\n" + b"x" * 1_000 + b"\r\n1\r\nx\r\n"
    ) as line:
        assert hears(line).startswith(b"HTTP/1.1 413 ")


def test_all_bodies_together_have_a_limit(serve: Serve) -> None:
    served = serve(limits=HttpLimits(body=1_000, bodies=1_500))
    with caller(served, HEAD + b"Content-Length: 1000\r\n\r\n" + b"x" * 999) as line:
        until(lambda: served.ask("POST", ORDERS, b"x" * 900).status == 503, "the other body is there")
        line.sendall(b"x")
        assert line.recv(100).startswith(b"HTTP/1.1 201 ")
    assert served.ask("POST", ORDERS, b"x" * 900).status == 201


def test_a_head_has_a_limit(serve: Serve) -> None:
    served = serve(limits=HttpLimits(head=4_096))
    with caller(served, b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 8_000) as line:
        assert hears(line).startswith(b"HTTP/1.1 400 ")
    assert works(served)


def test_a_head_that_comes_in_one_piece_has_the_same_limit(serve: Serve) -> None:
    served = serve(limits=HttpLimits(head=4_096))
    for padding, status in ((3_000, 200), (8_000, 431)):
        reply = served.ask("GET", "/health", headers={"X": "x" * padding})
        assert reply.status == status
    assert reply.json["error"][0]["msgId"] == "ASWB0011E"


@pytest.mark.parametrize("sent", [b"", b"GET /health HT", HEAD])
def test_a_caller_that_does_not_finish_its_head_is_cut_off(serve: Serve, sent: bytes) -> None:
    served = serve(limits=HttpLimits(head_ms=1_000))
    with caller(served, sent) as line:
        assert hears(line) == b""
    assert works(served)


def test_a_caller_that_sends_its_head_octet_by_octet_is_cut_off(serve: Serve) -> None:
    served = serve(limits=HttpLimits(head_ms=200))
    begun = time.monotonic()
    with caller(served, b"GET ") as line, pytest.raises(ConnectionError):
        drip(line, begun + 15)


def drip(line: socket.socket, end: float) -> None:
    """Send one byte after the other, until a given time."""
    while time.monotonic() < end:
        line.sendall(b"/")
        time.sleep(0.02)  # the server's time limit runs in real time


def test_a_caller_that_does_not_finish_its_body_is_refused_and_cut_off(serve: Serve) -> None:
    served = serve(limits=HttpLimits(exchange_ms=1_500))
    with caller(served, HEAD + b"Content-Length: 10\r\n\r\nx") as line:
        assert hears(line).startswith(b"HTTP/1.1 408 ")
    assert works(served)


def test_a_caller_that_does_not_read_its_answer_is_cut_off(serve: Serve) -> None:
    served = serve(limits=HttpLimits(exchange_ms=3_000))
    served.must("DEFINE QLOCAL(ORDERS) MAXMSGL(104857600)", "ALTER QMGR MAXMSGL(104857600)")
    send_later(served, "ORDERS", "x" * 15_000_000, 0)
    with caller(served, f"GET {ORDERS} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) as line:
        assert line.recv(1)
        until(lambda: served.lines == 0, "he is cut off")
        assert works(served)
        assert len(hears(line)) < 15_000_000


def test_an_idle_connection_is_closed(serve: Serve) -> None:
    served = serve(limits=HttpLimits(idle_ms=1_000))
    with caller(served, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") as line:
        assert hears(line).endswith(b'{"status":"alive"}')


def test_too_many_connections_are_turned_away(serve: Serve) -> None:
    served = serve(limits=HttpLimits(connections=2))
    with caller(served, b"GET /hea") as one, caller(served, b"GET /hea") as two:
        until(lambda: served.lines == 2, "both are there")
        with caller(served, b"") as three:
            assert hears(three) == b""
        for line in (one, two):
            line.sendall(b"lth HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert hears(line).startswith(b"HTTP/1.1 200 ")
    until(lambda: served.lines == 0, "there is room again")
    assert works(served)


def test_too_many_requests_are_told_to_come_again(serve: Serve) -> None:
    served = serve(limits=HttpLimits(requests=1))
    line = served.line()
    line.request("DELETE", f"{ORDERS}?wait=20000", headers=CSRF)
    until(lambda: served.under_way == 1, "the first is there")
    reply = served.ask("GET", ORDERS)
    assert reply.error == (503, "ASWB0004E", 0)
    assert reply.headers["retry-after"] == "1"
    assert works(served)
    line.close()
    until(lambda: served.ask("GET", ORDERS).status == 204, "the first is over")


def test_a_list_has_a_limit_in_messages_and_in_octets(serve: Serve) -> None:
    served = serve(limits=HttpLimits(messages=3, answer=2_500))
    for _ in range(5):
        served.put("x" * 1_000)
    listed = served.ask("GET", f"{ORDERS}list?limit=100").json
    assert (len(listed["messages"]), listed["more"]) == (3, True)
    whole = served.ask("GET", f"{ORDERS}list?detail=full").json
    assert (len(whole["messages"]), whole["more"]) == (2, True)


def test_a_wait_that_is_longer_than_the_limit_is_refused_and_takes_nothing(serve: Serve) -> None:
    served = serve(limits=HttpLimits(wait_ms=20))
    served.put("m")
    refused = served.ask("DELETE", f"{ORDERS}?wait=21")
    assert refused.error == (400, "ASWB0006E", 0)
    assert "wait is at most 20 ms here" in refused.text
    assert served.ask("DELETE", f"{ORDERS}?wait=20").text == "m"
    assert served.ask("DELETE", f"{ORDERS}?wait=20").status == 204


def test_passwords_are_checked_a_few_at_a_time(serve: Serve) -> None:
    class SlowUsers(KnownUsers):
        most = now = 0

        def check(self, user: str, password: str) -> bool:
            self.now += 1
            self.most = max(self.most, self.now)
            time.sleep(0.2)  # a password check takes real time
            self.now -= 1
            return super().check(user, password)

    users = SlowUsers(mqm="x")
    served = serve(users, limits=HttpLimits(logins=2))
    lines = [served.line() for _ in range(8)]
    for number, line in enumerate(lines):
        line.request("GET", ORDERS, headers=basic("mqm", f"wrong{number}"))
    assert works(served)
    for line in lines:
        assert line.getresponse().status == 401
        line.close()
    assert users.most == 2


NONSENSE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\x00" * 10_000,
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nzz",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"AMQP\x00\x01\x00\x00",
)


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_nonsense_does_not_harm_others(serve: Serve, nonsense: bytes, caplog: pytest.LogCaptureFixture) -> None:
    served = serve(limits=HttpLimits(head_ms=1_000, idle_ms=1_000))
    with caplog.at_level(logging.INFO), caller(served, nonsense) as line:
        hears(line)
    assert works(served)
    assert served.failed == []
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_fault_of_ours_is_told_and_logged_and_harms_nobody_else(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise OSError(name)

    served.views.append(Broken())
    assert served.ask("GET", "/").error == (500, "ASWB0007E", 0)
    assert any(record.exc_info for record in caplog.records)
    assert works(served)


def test_the_page_names_every_limit() -> None:
    page = (Path(__file__).parents[3] / "docs" / "http.md").read_text(encoding="utf-8")
    named = {word for row in re.findall(r"^\| ([a-z_, ]+) \|", page, re.MULTILINE) for word in row.split(", ")}
    assert set(HttpLimits.__struct_fields__) <= named
