from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
import time
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest
from tests.broker.http.conftest import CSRF, ORDERS, Guards, KnownUsers, Serve, Served, basic
from tests.waiting import until

from assay_broker.http import HttpLimits, HttpListener, HttpListenError
from assay_sdk.model.reasons import Mqrc


def listener(served: Served, security: Guards) -> HttpListener:
    return HttpListener(served.queue_manager, served.runner, security=security)


def start(served: Served, host: str, port: int, security: Guards) -> str:
    async def begin() -> str:
        made = listener(served, security)
        try:
            await made.start(host, port)
        except HttpListenError as error:
            return str(error)
        url = made.url
        await made.close()
        return url

    return served.on_loop(begin())


def test_a_port_in_use_is_told_in_one_sentence(served: Served) -> None:
    said = start(served, "127.0.0.1", served.port, Guards())
    advice = "end the program that listens there, or name another address."
    assert said == f"HTTP cannot listen on 127.0.0.1:{served.port}: Address already in use; {advice}"


def test_an_address_that_is_none_is_told_too(served: Served) -> None:
    said = start(served, "no.such.host.invalid", 0, Guards(KnownUsers(mqm="x")))
    assert said.startswith("HTTP cannot listen on no.such.host.invalid:0: ")
    assert "give a users' file" in start(served, "no.such.host.invalid", 0, Guards())


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104  the server refuses it
def test_without_users_it_listens_for_this_machine_alone(served: Served, host: str) -> None:
    assert "give a users' file" in start(served, host, 0, Guards())


def test_with_users_it_listens_for_others_too(served: Served) -> None:
    assert start(served, "0.0.0.0", 0, Guards(KnownUsers(mqm="x"))).startswith("http://0.0.0.0:")  # noqa: S104  what users permit


def test_before_it_is_started_it_has_no_address(served: Served) -> None:
    made = served.do(lambda: listener(served, Guards()))
    with pytest.raises(RuntimeError, match="not been started"):
        _ = made.address
    served.on_loop(made.close())
    served.on_loop(made.drain())


def test_many_requests_come_on_one_connection(served: Served) -> None:
    line = served.line()
    for number in range(20):
        assert served.ask("POST", ORDERS, f"m{number}", line=line).status == 201
    assert served.ask("DELETE", ORDERS, line=line).text == "m0"
    line.close()


def test_requests_that_come_together_are_answered_in_order(served: Served) -> None:
    one = f"GET {ORDERS} HTTP/1.1\r\nHost: localhost\r\n".encode()
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(one + b"\r\n" + one + b"Connection: close\r\n\r\n")
        got = b""
        while part := line.recv(65_536):
            got += part
    assert got.count(b"HTTP/1.1 204 ") == 2


def test_a_drained_listener_answers_what_is_under_way_and_lets_nobody_in(served: Served) -> None:
    idle, waiting = served.line(), served.line()
    idle.request("GET", "/ready")
    assert idle.getresponse().read() == b'{"status":"ready"}'
    waiting.request("DELETE", f"{ORDERS}?wait=20000", headers=CSRF)
    until(lambda: bool(served.queue_manager.after_turn), "the request waits")
    begun = time.monotonic()
    served.on_loop(served.listener.drain())
    assert time.monotonic() < begun + 4
    answer = waiting.getresponse()
    assert answer.status == 503  # not 204, because the queue was not watched for the rest of the time
    (error,) = json.loads(answer.read())["error"]
    assert (error["msgId"], error["reasonCode"]) == ("MQWB0300E", int(Mqrc.CONNECTION_QUIESCING))
    with pytest.raises(OSError, match="refused"):
        served.ask("GET", "/health")
    served.on_loop(served.listener.drain())
    idle.close()
    waiting.close()


def test_draining_waits_only_so_long(serve: Serve) -> None:
    served = serve(limits=HttpLimits(drain_ms=100))
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(f"POST {ORDERS} HTTP/1.1\r\nHost: localhost\r\n".encode())
        line.sendall(b"ibm-mq-rest-csrf-token: x\r\nContent-Length: 9\r\n\r\n")
        until(lambda: served.under_way == 1, "the request has begun")
        begun = time.monotonic()
        served.on_loop(served.listener.drain())
        assert time.monotonic() < begun + 4
    assert served.failed == []


def test_not_ready_is_told_while_the_queue_manager_is_stopped(served: Served) -> None:
    served.do(served.queue_manager.stop)
    reply = served.ask("GET", "/ready")
    assert (reply.status, reply.json) == (503, {"status": "not ready", "reason": "the queue manager is stopped"})
    assert served.ask("GET", "/health").status == 200


def test_it_touches_no_signals_and_leaves_no_task_behind(serve: Serve) -> None:
    served = serve()
    assert threading.main_thread() is threading.current_thread()
    served.ask("GET", "/health")
    served.on_loop(served.listener.close())

    async def left() -> int:
        await asyncio.sleep(0)
        return len(asyncio.all_tasks()) - 1

    assert served.on_loop(left()) == 0


def test_passwords_from_elsewhere_come_by_tls_only() -> None:
    """The test uses the machine's own address, if it has one besides loopback."""
    own = _own_address()
    if own is None:
        pytest.skip("this machine has no address but loopback")
    for clear in (False, True):
        served = Served(Guards(KnownUsers(mqm="x")), HttpLimits(), {"clear_passwords": clear})
        try:
            said = served.on_loop(_ask_from(served, own, clear_passwords=clear))
        finally:
            served.stop()
        assert said == (204 if clear else 403)


async def _ask_from(served: Served, own: str, *, clear_passwords: bool) -> int:
    made = HttpListener(
        served.queue_manager, served.runner, security=Guards(KnownUsers(mqm="x")), clear_passwords=clear_passwords
    )
    await made.start(own, 0)

    def ask() -> int:
        line = HTTPConnection(own, made.address[1], timeout=20)
        line.request("GET", ORDERS, headers=basic("mqm", "x"))
        status = line.getresponse().status
        line.close()
        return status

    try:
        return await asyncio.to_thread(ask)
    finally:
        await made.close()


def _own_address() -> str | None:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            found = str(probe.getsockname()[0])
    except OSError:
        return None
    return None if found.startswith("127.") else found


# TLS -----------------------------------------------------------------------------------------------------------------

CERTIFICATES = Path(__file__).with_name("certificates")
"""The folder of a certificate for localhost, signed by itself and used only here."""


def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "certificate.pem", CERTIFICATES / "key.pem")
    return context


def test_it_speaks_tls_to_a_client_that_trusts_its_certificate(serve: Serve) -> None:
    served = serve(KnownUsers(mqm="x"), tls=tls())
    assert served.listener.url == f"https://127.0.0.1:{served.port}"
    trusting = ssl.create_default_context(cafile=str(CERTIFICATES / "certificate.pem"))
    line = HTTPSConnection("localhost", served.port, timeout=20, context=trusting)
    line.request("GET", ORDERS, headers=basic("mqm", "x"))
    assert line.getresponse().status == 204
    line.close()


def test_a_client_without_tls_or_a_whole_handshake_does_not_harm_others(serve: Serve) -> None:
    served = serve(KnownUsers(mqm="x"), tls=tls())
    for nonsense in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05\x01", b"\x00" * 100):
        with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
            line.sendall(nonsense)
    trusting = ssl.create_default_context(cafile=str(CERTIFICATES / "certificate.pem"))
    line = HTTPSConnection("localhost", served.port, timeout=20, context=trusting)
    line.request("GET", "/health")
    assert line.getresponse().status == 200
    line.close()
    assert served.failed == []


def test_a_client_that_does_not_finish_its_handshake_is_cut_off(serve: Serve) -> None:
    served = serve(KnownUsers(mqm="x"), HttpLimits(head_ms=200), tls=tls())
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(b"\x16\x03\x01\x02\x00\x01")
        assert line.recv(100) == b""
    assert served.failed == []
