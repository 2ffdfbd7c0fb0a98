"""Tests of TLS connections: byte by byte with the standard library as the other end, and over a socket.

The certificate is self-signed, for localhost and 127.0.0.1, and used only in tests.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.sdk.drivers.amqp.peer import LIMIT_MS, Peer

from assay_sdk.driver import Closed, DriverEvent, Login, Opened, Target
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.drivers.amqp.driver import host_port_of
from assay_sdk.drivers.certificates import client_context, refusal_of
from assay_sdk.drivers.tls import TlsClient
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.runners.real import RealRunner

FOLDER = Path(__file__).parents[4] / "broker" / "security" / "certificates"
CERTIFICATE, KEY = str(FOLDER / "certificate.pem"), str(FOLDER / "key.pem")


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    return context


class Server:
    """The server's end of TLS, without a socket."""

    def __init__(self) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.end = server_context().wrap_bio(self._incoming, self._outgoing, server_side=True)

    def take(self, octets: bytes) -> bytes:
        """Take bytes of the handshake, and return the answer."""
        self._incoming.write(octets)
        with suppress(ssl.SSLWantReadError):
            self.end.do_handshake()
        return self._outgoing.read()

    def say(self, octets: bytes) -> bytes:
        self.end.write(octets)
        return self._outgoing.read()

    def hear(self, octets: bytes) -> bytes:
        self._incoming.write(octets)
        return self.end.read(100_000)


def agreed(host: str = "localhost", ca_file: str | None = CERTIFICATE) -> tuple[TlsClient, Server]:
    client, server = TlsClient(client_context(ca_file), host, "amqp"), Server()
    sent = client.start()
    for _ in range(4):
        if sent and not client.refused:
            _, sent = client.receive(server.take(sent))
    return client, server


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_both_ends_agree_and_hear_each_other(host: str) -> None:
    client, server = agreed(host)
    assert client.ready
    assert server.hear(client.send(b"hello")) == b"hello"
    assert client.receive(server.say(b"x" * 90_000))[0] == b"x" * 90_000


def test_octets_may_come_one_by_one() -> None:
    client, server = agreed()
    said = b"".join(client.receive(bytes((octet,)))[0] for octet in server.say(b"hello"))
    assert said == b"hello"


@pytest.mark.parametrize(("host", "ca_file"), [("localhost", None), ("elsewhere.example", CERTIFICATE)])
def test_a_certificate_that_is_not_believed_is_refused_with_what_to_do(host: str, ca_file: str | None) -> None:
    client, _ = agreed(host, ca_file)
    assert client.refused is not None
    assert client.refused.kind is JmsErrorKind.SECURITY
    assert "ca_file" in client.refused.text


def test_a_peer_that_speaks_no_tls_is_told_of() -> None:
    client = TlsClient(client_context(CERTIFICATE), "localhost", "amqp")
    client.start()
    client.receive(b"AMQP\x03\x01\x00\x00")
    assert client.refused is not None
    assert "has no TLS on this port" in client.refused.text


def test_a_line_that_is_tampered_with_breaks() -> None:
    client, server = agreed()
    octets = bytearray(server.say(b"hello"))
    octets[-1] ^= 1
    client.receive(bytes(octets))
    assert client.refused is not None
    assert "broke" in client.refused.text


def test_a_goodbye_is_heard_and_said() -> None:
    client, server = agreed()
    assert server.hear(client.close()) == b""
    assert client.receive(server.say(b"late"))[0] == b"late"


@pytest.mark.parametrize("name", ["none.pem", "key.pem"])
def test_a_ca_file_without_certificates_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} has no readable certificate"):
        client_context(str(FOLDER / name))


def test_a_url_says_whether_the_line_is_encrypted() -> None:
    assert (host_port_of("amqps://h").port, host_port_of("amqps://h").tls) == (5671, True)
    assert (host_port_of("amqp://h").port, host_port_of("amqp://h").tls) == (5672, False)


@contextmanager
def door(to: str) -> Iterator[str]:
    """Provide a TLS port, which decrypts the bytes and forwards them."""
    host_port = host_port_of(to)
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while octets := source.recv(65_536):
                sink.sendall(octets)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with suppress(OSError):
            plain, _ = listener.accept()
            with (
                plain,
                server_context().wrap_socket(plain, server_side=True) as line,
                socket.create_connection((host_port.host, host_port.port)) as beyond,
            ):
                back = threading.Thread(target=pump, args=(beyond, line))
                back.start()
                pump(line, beyond)
                back.join()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"amqps://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()
        thread.join()


@pytest.fixture
def runner() -> Iterator[RealRunner]:
    runner = RealRunner()
    yield runner
    runner.close()


def opened(runner: RealRunner, target: Target) -> DriverEvent:
    """Return the first event of a connection attempt, and drop the connection."""
    events: list[DriverEvent] = []
    wire = AmqpDriver().connect(target, events.append, runner)
    limit = runner.clock.monotonic_ns() + LIMIT_MS * 1_000_000
    assert runner.run_until(lambda: bool(events), limit)
    first = events[0]
    wire.abort()
    runner.run_until(lambda: isinstance(events[-1], Closed), limit)
    return first


def test_a_connection_opens_over_tls_and_may_send_its_password(runner: RealRunner) -> None:
    peer = Peer(runner)
    with door(peer.url) as url:
        first = opened(runner, Target(url=url, login=Login("me", "secret"), ca_file=CERTIFICATE))
    peer.close()
    assert isinstance(first, Opened)
    assert b"secret" in peer.initial[0]


@pytest.mark.parametrize(
    ("code", "advice"), [(9, "correct the clock"), (10, "ask the administrator"), (18, "name its authority in ca_file")]
)
def test_the_advice_is_about_what_is_wrong_with_the_certificate(code: int, advice: str) -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_code, error.verify_message = code, "no"
    assert advice in refusal_of(error, "amqp").text


def test_a_broker_that_is_not_believed_closes_the_attempt(runner: RealRunner) -> None:
    peer = Peer(runner)
    with door(peer.url) as url:
        first = opened(runner, Target(url=url))
    peer.close()
    assert isinstance(first, Closed)
    assert first.refused is not None
    assert "does not trust the broker's certificate" in first.refused.text
