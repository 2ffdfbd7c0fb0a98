"""Tests of opening and closing: URLs, logins, versions, refusals, and TLS."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from tests.broker.security.test_tls import CERTIFICATE, KEY
from tests.broker.stomp.serving import serving
from tests.sdk.drivers.stomp.peer import Client, Peer, connected

from assay_broker.security import Security, server_context
from assay_sdk import JmsErrorKind, Queue, SecurityRuntimeError, connect
from assay_sdk.driver import Close, Closed, Frame, Login, Opened, Target, TargetError
from assay_sdk.drivers.stomp import StompDriver
from assay_sdk.drivers.stomp.errors import refusal
from assay_sdk.runners.real import RealRunner
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.stomp import Frame as StompFrame
from assay_sdk.stomp import HeartBeat


@pytest.fixture
def runner() -> Iterator[RealRunner]:
    found = RealRunner()
    yield found
    found.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("amqp://h", r"not a STOMP URL: write stomp://host:port \(amqp was given\)$"),
        ("stomp://u:secret@h", "pass login="),
        ("stomp://h/Q", "goes on after host and port"),
    ],
)
def test_a_malformed_url_is_refused(runner: RealRunner, url: str, says: str) -> None:
    with pytest.raises(TargetError, match=says):
        StompDriver().connect(Target(url=url), print, runner)


def test_a_ca_file_needs_tls_and_the_driver_a_real_runner(runner: RealRunner) -> None:
    with pytest.raises(TargetError, match="connect with stomps://"):
        StompDriver().connect(Target(url="stomp://h", ca_file="x"), print, runner)
    with pytest.raises(TypeError, match="RealRunner"):
        StompDriver().connect(Target(url="stomp://h"), print, VirtualRunner())


def closed(runner: RealRunner, url: str, limit_ms: int = 5_000) -> Closed:
    """Try to connect, and return the reason why the attempt fails."""
    return Client(runner, Target(url=url, open_timeout_ms=limit_ms), StompDriver()).until(Closed)


def test_no_broker_and_a_silent_one_are_told(runner: RealRunner, peer: Peer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    why = closed(runner, f"stomp://127.0.0.1:{port}").refused
    assert why is not None
    assert "start the broker" in why.text
    why = closed(runner, peer.url, limit_ms=200).refused
    assert why is not None
    assert "did not open the connection within 200 ms" in why.text


def test_a_broker_of_version_1_0_is_refused(runner: RealRunner, peer: Peer) -> None:
    client = Client(runner, Target(url=peer.url), StompDriver())
    peer.accept(version="1.0")
    why = client.until(Closed).refused
    assert why is not None
    assert (why.kind, "speaks only STOMP 1.0" in why.text) == (JmsErrorKind.UNSUPPORTED, True)


def test_connect_has_login_client_id_and_heart_beats_and_a_trace_has_no_password(
    runner: RealRunner, peer: Peer
) -> None:
    target = Target(url=peer.url, client_id="billing", login=Login("u", "secret"), trace=True)
    client = Client(runner, target, StompDriver())
    headers = peer.accept().headers
    assert (headers["client-id"], headers["login"], headers["passcode"]) == ("billing", "u", "secret")
    assert (headers["accept-version"], headers["heart-beat"]) == ("1.1,1.2", "10000,10000")
    opened = client.until(Opened)
    assert opened.properties == {"product": "test", "version": "1"}
    traced = [event.text for event in client.events if isinstance(event, Frame)]
    assert [text.split()[0] for text in traced] == ["CONNECT", "CONNECTED"]
    assert "secret" not in str(client.events)
    client.wire.abort()
    client.until(Closed)


def test_a_broker_that_hangs_up_ends_the_connection(peer: Peer) -> None:
    with connected(peer) as client:
        peer.hang_up()
        why = client.until(Closed).refused
        assert why is not None
        assert why.kind is JmsErrorKind.CONNECTION_LOST


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("User name [x] or password is invalid.", JmsErrorKind.SECURITY),
        ("Broker: b - Client: c already connected from x", JmsErrorKind.INVALID_CLIENT_ID),
        ("Invalid selector: a = =", JmsErrorKind.INVALID_SELECTOR),
        ("something else", JmsErrorKind.MESSAGING),
    ],
)
def test_an_error_without_a_reason_code_is_told_by_its_words(text: str, kind: JmsErrorKind) -> None:
    assert refusal(StompFrame("ERROR", {"message": text})).kind is kind


def test_a_second_connected_frame_ends_the_connection(peer: Peer) -> None:
    with connected(peer) as client:
        peer.say("CONNECTED", version="1.2", server="test/1")
        closed = client.until(Closed)
        assert closed.refused is not None
        assert "sent CONNECTED twice" in closed.refused.text


def test_tls_carries_messages_both_ways_and_a_wrong_authority_is_refused() -> None:
    with serving(security=Security(None, server_context(CERTIFICATE, KEY))) as server:
        url = f"stomps://localhost:{server.port}"
        with connect(url, ca_file=str(CERTIFICATE), driver=StompDriver()) as ctx:
            producer, consumer = ctx.create_producer(Queue[str]("TLS")), ctx.create_consumer(Queue[str]("TLS"))
            for body in ("a", "x" * 300_000):
                producer.send(body)
                assert consumer.receive_body(5_000) == body
        with pytest.raises(SecurityRuntimeError, match="does not trust the broker's certificate"):
            connect(url, driver=StompDriver())


def test_a_url_with_the_wrong_security_is_refused_with_the_right_one(runner: RealRunner) -> None:
    with serving(security=Security(None, server_context(CERTIFICATE, KEY))) as server:
        why = closed(runner, f"stomp://localhost:{server.port}").refused
        assert why is not None
        assert "if it expects TLS, connect with stomps://" in why.text
    with serving() as server:
        target = Target(url=f"stomps://localhost:{server.port}", ca_file=str(CERTIFICATE))
        why = Client(runner, target, StompDriver()).until(Closed).refused
        assert why is not None
        assert "has no TLS on this port" in why.text
        assert "connect with stomp://" in why.text


def test_heart_beats_keep_a_connection_with_tls_open() -> None:
    with serving(security=Security(None, server_context(CERTIFICATE, KEY))) as server:
        url = f"stomps://localhost:{server.port}"
        runner = RealRunner()
        client = Client(runner, Target(url=url, ca_file=str(CERTIFICATE)), StompDriver(None, HeartBeat(800, 800)))
        client.until(Opened)
        due_ns = runner.clock.monotonic_ns() + 2_000_000_000
        assert not runner.run_until(lambda: any(isinstance(event, Closed) for event in client.events), due_ns)
        client.submit(Close(1))
        assert client.until(Closed).refused is None
        runner.close()
