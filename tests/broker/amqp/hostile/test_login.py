"""Tests of all kinds of failed logins."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.broker.amqp.hostile.peers import last_words
from tests.broker.amqp.serving import DETACH, LIMIT_S, SENDER, Raw, Serving, performative, serving, target
from tests.waiting import until

from assay_broker.amqp.limits import AmqpLimits
from assay_broker.core.administration.changes import SetAuthority
from assay_broker.security import Security, Users, keys_of
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER, frame

CERTIFICATES = Path(__file__).parents[2] / "security" / "certificates"
USERS = Users({"alice": keys_of("secret", 4_096), "bob": keys_of("hidden", 4_096)})


@pytest.fixture(scope="module")
def guarded() -> Iterator[Serving]:
    """Provide a server that requires a login."""
    with serving(security=Security(USERS), limits=AmqpLimits(login_ms=2_000)) as server:
        yield server


@pytest.fixture(scope="module")
def encrypted() -> Iterator[Serving]:
    """Provide a server with TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "certificate.pem", CERTIFICATES / "key.pem")
    with serving(security=Security(tls=context), limits=AmqpLimits(login_ms=2_000)) as server:
        yield server


def hung_up(client: socket.socket) -> bool:
    """Check whether the server has ended the connection."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@contextmanager
def within_tls(server: Serving) -> Iterator[ssl.SSLSocket]:
    """Open a connection after its TLS handshake, without any AMQP bytes."""
    context = ssl.create_default_context(cafile=CERTIFICATES / "certificate.pem")
    context.check_hostname = False
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S) as line,
        context.wrap_socket(line) as client,
    ):
        yield client


def plain(user: str, password: str) -> bytes:
    first = types.symbol("PLAIN"), types.binary(f"\0{user}\0{password}".encode())
    return frame(performative(0x41, *first), sasl=True)


def login(server: Serving, user: str, password: str) -> tuple[Raw, int]:
    """Log in, and return the client and the code of the SASL outcome."""
    client = Raw(server.port, header=SASL_HEADER)
    client.wait(0x40)
    client.raw(plain(user, password))
    return client, client.wait(0x44).at(0)


@pytest.mark.parametrize(
    ("user", "password"),
    [("alice", "wrong"), ("alice", ""), ("nobody", "secret"), ("", ""), ("alice" * 200, "x" * 1_000)],
)
def test_a_wrong_password_is_an_outcome_and_the_end(guarded: Serving, user: str, password: str) -> None:
    client, code = login(guarded, user, password)
    with client:
        assert code == 1
        assert last_words(client) is None


def test_many_wrong_passwords_keep_nobody_from_coming_in_with_the_right_one(guarded: Serving) -> None:
    for number in range(100):
        client, code = login(guarded, "alice", f"guess {number}")
        client.socket.close()
        assert code == 1
    client, code = login(guarded, "alice", "secret")
    client.socket.close()
    assert code == 0


class HeldUsers(Users):
    """Users whose password checks wait until the test releases them, in the order of their arrival."""

    def __init__(self) -> None:
        super().__init__({"alice": keys_of("secret", 4_096), "bob": keys_of("hidden", 4_096)})
        self.begun: list[str] = []
        self.go = threading.Event()

    def check(self, user: str, password: str) -> bool:
        self.begun.append(password)
        assert self.go.wait(LIMIT_S)
        return super().check(user, password)


@contextmanager
def asking(server: Serving, user: str, password: str) -> Iterator[Raw]:
    """Connect a client that has sent its password."""
    with Raw(server.port, header=SASL_HEADER) as client:
        client.wait(0x40)
        client.raw(plain(user, password))
        yield client


def test_others_log_in_and_work_while_a_password_is_checked() -> None:
    users = HeldUsers()
    users.go.set()
    assert users.check("bob", "hidden")  # bob has logged in before, so no check is needed
    users.go.clear()
    with serving(security=Security(users)) as server, asking(server, "alice", "secret") as slow:
        until(lambda: "secret" in users.begun, "alice's password is being checked")
        other, code = login(server, "bob", "hidden")
        with other:
            assert code == 0
            other.raw(PROTOCOL_HEADER)
            other.open()
            other.begin()
            other.attach("in", SENDER, 0, target=target("Q"))
            other.close()
        users.go.set()
        assert slow.wait(0x44).at(0) == 0


def test_passwords_are_checked_a_few_at_a_time_and_not_for_those_who_have_gone() -> None:
    users = HeldUsers()
    with (
        serving(security=Security(users), limits=AmqpLimits(logins=2)) as server,
        asking(server, "alice", "guess 1") as first,
        asking(server, "alice", "guess 2") as second,
    ):
        until(lambda: len(users.begun) == 2, "two passwords are being checked")
        with asking(server, "alice", "guess 3"), asking(server, "alice", "guess 4"):
            until(lambda: server.do(lambda: len(server.listener._clients)) == 4, "four clients are there")
        until(lambda: server.do(lambda: len(server.listener._clients)) == 2, "the server has seen that two have gone")
        with asking(server, "alice", "secret") as last:
            users.go.set()
            assert [client.wait(0x44).at(0) for client in (first, second, last)] == [1, 1, 0]
    assert users.begun == ["guess 1", "guess 2", "secret"]


def test_a_client_that_goes_while_its_password_is_checked_leaves_nothing_behind() -> None:
    users = HeldUsers()
    with serving(security=Security(users)) as server:
        with asking(server, "alice", "secret"):
            until(lambda: bool(users.begun), "the password is being checked")
        until(lambda: server.do(lambda: not server.listener._clients), "the server has seen that the client has gone")
        users.go.set()
        with asking(server, "bob", "hidden") as other:
            assert other.wait(0x44).at(0) == 0


def test_a_server_can_be_stopped_while_a_password_is_checked() -> None:
    users = HeldUsers()
    with serving(security=Security(users)) as server, asking(server, "alice", "secret") as client:
        until(lambda: bool(users.begun), "the password is being checked")
        server.run(server.listener.close())
        assert client.read() is None
        users.go.set()


def test_a_client_without_sasl_is_answered_with_its_header(guarded: Serving) -> None:
    with Raw(guarded.port) as client:
        assert client.socket.recv(8) == SASL_HEADER
        assert client.socket.recv(8) == b""


def test_a_user_without_authority_is_refused_the_link_and_stays(guarded: Serving) -> None:
    guarded.administer(
        SetAuthority(profile="SECRET", object_type="QUEUE", groups=("nobody",), add=("NONE",), remove=("ALL",))
    )
    client, code = login(guarded, "bob", "hidden")
    assert code == 0
    with client:
        client.raw(PROTOCOL_HEADER)
        client.open()
        client.begin()
        client.attach("in", SENDER, 0, target=target("SECRET"))
        assert client.wait(DETACH).error(2)[0] == "amqp:unauthorized-access"
        client.close()


@pytest.mark.parametrize(
    "octets",
    [
        frame(performative(0x41, types.symbol("SCRAM-SHA-256"), types.binary(b"n,,n=alice,r=x")), sasl=True)
        + frame(performative(0x43, types.binary(b"")), sasl=True) * 50,
        frame(performative(0x41, types.symbol("NONE")), sasl=True),
    ],
    ids=["rounds", "mechanism"],
)
def test_a_login_that_comes_to_nothing_has_an_outcome(guarded: Serving, octets: bytes) -> None:
    with Raw(guarded.port, header=SASL_HEADER) as client:
        client.wait(0x40)
        client.raw(octets)
        assert client.wait(0x44).at(0) == 1
        assert last_words(client) is None


@pytest.mark.parametrize(
    "octets",
    [
        frame(performative(0x43, types.binary(b"x")), sasl=True) * 50,
        b"\xff\xff\xff\xff\x02\x01\0\0",
        b"\0\0\0\x07\x02\x01\0\0",
        frame(b"\x00\x53\x41" + b"\xc0\x02\x01" + b"\x00" * 3_000, sasl=True),
        frame(b"\x00\x53\x24" * 1_000 + b"\x40", sasl=True),
        frame(performative(0x41, types.symbol("PLAIN"), types.binary(b"x" * 5_000)), sasl=True),
        frame(performative(0x10, types.string("x"))),
    ],
    ids=["responses", "oversized", "short", "descriptors", "nested", "long", "open"],
)
def test_a_client_without_sasl_is_hung_up_on(guarded: Serving, octets: bytes) -> None:
    with Raw(guarded.port, header=SASL_HEADER) as client:
        client.wait(0x40)
        client.raw(octets)
        assert client.read() is None


def test_half_a_login_is_cut_off_after_its_time(guarded: Serving) -> None:
    began = time.monotonic()
    with Raw(guarded.port, header=SASL_HEADER[:3]) as client, Raw(guarded.port, header=SASL_HEADER) as other:
        assert last_words(other) is None
        assert client.socket.recv(10) == b""
    assert 1 < time.monotonic() - began < 10


@pytest.mark.parametrize(
    "octets",
    [
        PROTOCOL_HEADER,
        SASL_HEADER,
        b"\x16\x03\x01\xff\xff" + b"\0" * 600,
        b"\x16\x03\x01\0\x05hello",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0" * 100,
    ],
)
def test_what_is_no_tls_on_a_tls_port_is_hung_up_on(encrypted: Serving, octets: bytes) -> None:
    with socket.create_connection(("127.0.0.1", encrypted.port), timeout=LIMIT_S) as client:
        client.sendall(octets)
        client.shutdown(socket.SHUT_WR)
        try:
            while client.recv(1_000):
                pass
        except ConnectionResetError:
            pass  # the server ends this connection, too


def test_half_a_handshake_is_cut_off_after_its_time(encrypted: Serving) -> None:
    with socket.create_connection(("127.0.0.1", encrypted.port), timeout=LIMIT_S) as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        assert client.recv(100) == b""


def test_a_handshake_without_a_login_is_cut_off_after_its_time(encrypted: Serving) -> None:
    with within_tls(encrypted) as client:
        assert client.recv(100) == b""


def test_a_client_in_the_tls_handshake_counts_against_the_limit_of_connections() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "certificate.pem", CERTIFICATES / "key.pem")
    limits = AmqpLimits(connections=3, login_ms=3_000)
    with serving(security=Security(tls=context), limits=limits) as server:
        crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S) for _ in range(8)]
        began = time.monotonic()
        assert [hung_up(one) for one in crowd[3:]] == [True] * 5
        assert time.monotonic() - began < 2.5
        assert [hung_up(one) for one in crowd[:3]] == [True] * 3
        assert not server.do(lambda: dict(server.listener._clients))
        for one in crowd:
            one.close()
        client = ssl.create_default_context(cafile=CERTIFICATES / "certificate.pem")
        with (
            socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S) as plain_socket,
            client.wrap_socket(plain_socket, server_hostname="localhost") as secure,
        ):
            secure.sendall(PROTOCOL_HEADER + frame(performative(0x10, types.string("late"))))
            assert secure.recv(8) == PROTOCOL_HEADER


def test_garbage_within_tls_is_answered_as_it_is_without(encrypted: Serving) -> None:
    with within_tls(encrypted) as client:
        client.sendall(b"\xff" * 1_000)
        assert client.recv(8) == SASL_HEADER


def test_what_comes_in_many_pieces_of_tls_at_once_is_read_in_full(encrypted: Serving) -> None:
    context = ssl.create_default_context(cafile=CERTIFICATES / "certificate.pem")
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    secure = context.wrap_bio(coming, going, server_hostname="localhost")
    with socket.create_connection(("127.0.0.1", encrypted.port), timeout=LIMIT_S) as line:
        while True:
            try:
                secure.do_handshake()
                break
            except ssl.SSLWantReadError:
                line.sendall(going.read())
                coming.write(line.recv(65_536))

        def hear() -> bytes:
            while True:
                try:
                    return secure.read(65_536)
                except ssl.SSLWantReadError:
                    coming.write(line.recv(65_536))

        secure.write(PROTOCOL_HEADER)
        line.sendall(going.read())
        assert hear() == PROTOCOL_HEADER  # the handshake is over: later bytes arrive alone
        begin = performative(0x11, types.null(), types.uint(0), types.uint(9), types.uint(9))
        for piece in (frame(performative(0x10, types.string("many"))), *[frame(b"")] * 20, frame(begin)):
            secure.write(piece)
        line.sendall(going.read())
        said = b""
        while b"\0\x53\x11" not in said:
            said += hear()
            assert b"\0\x53\x18" not in said, "the connection was closed"


def test_tls_on_a_plain_port_is_answered_with_a_header(server: Serving) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S) as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500)
        assert client.recv(8) == SASL_HEADER
