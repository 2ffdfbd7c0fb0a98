"""Tests of the server's SASL layer, byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scramp import ScramClient, ScramException

from assay_broker.amqp.connections import sasl
from assay_broker.amqp.connections.sasl import MAX_AHEAD, MAX_FRAME, Credentials, Phase, SaslServer
from assay_broker.security import Security, Users, keys_of
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER, Splitter, frame

OPEN = Security()
CLOSED = Security(Users({"alice": keys_of("secret", 4096)}))


def server(security: Security = CLOSED, *, private: bool = True) -> SaslServer:
    return SaslServer(security, private=private)


def fresh() -> Security:
    """Return a `Security` without earlier logins, so that it checks each password."""
    return Security(Users({"alice": keys_of("secret", 4096)}))


def told(one: SaslServer, octets: bytes) -> bytes:
    """Give bytes to the SASL layer, and return its answer after the password check."""
    answer = one.receive(octets)
    if one.phase is Phase.CHECKING:
        assert one.asked is not None
        assert CLOSED.users is not None
        answer += one.checked(CLOSED.users.check(one.asked.user, one.asked.password))
    return answer


def init(mechanism: str, response: bytes | None = None) -> bytes:
    fields = (types.symbol(mechanism), types.null() if response is None else types.binary(response))
    return frame(types.described(0x41, types.fields(fields)), sasl=True)


def response(octets: bytes) -> bytes:
    return frame(types.described(0x43, types.fields((types.binary(octets),))), sasl=True)


def parts(octets: bytes) -> list[tuple[int, list[object]]]:
    """Return the descriptors and fields of performatives; a protocol header has descriptor 0."""
    found: list[tuple[int, list[object]]] = []
    for part in Splitter().feed(octets):
        if part.startswith(b"AMQP"):
            found.append((0, [part]))
        else:
            value = types.decode(part[8:])
            assert isinstance(value, types.Described)
            assert isinstance(value.descriptor, int)
            assert isinstance(value.value, list)
            found.append((value.descriptor, value.value))
    return found


def outcome(octets: bytes) -> list[object]:
    ((descriptor, fields),) = parts(octets)
    assert descriptor == 0x44
    return fields


def refused(one: SaslServer, octets: bytes) -> int:
    """Give bytes to the SASL layer, and return the code of its outcome."""
    code = outcome(told(one, octets))[0]
    assert one.phase is Phase.REFUSED
    assert one.user is None
    assert one.rest == b""
    assert isinstance(code, int)
    return code


# --- headers


@pytest.mark.parametrize(
    ("security", "private", "offered"),
    [(OPEN, False, ["ANONYMOUS"]), (CLOSED, True, ["SCRAM-SHA-256", "PLAIN"]), (CLOSED, False, ["SCRAM-SHA-256"])],
)
def test_the_header_is_answered_with_the_mechanisms(security: Security, private: bool, offered: list[str]) -> None:
    one = server(security, private=private)
    assert parts(one.receive(SASL_HEADER)) == [(0, [SASL_HEADER]), (0x40, [offered])]
    assert one.phase is Phase.MECHANISM


def test_a_client_without_sasl_is_let_in_where_nobody_needs_to_log_in() -> None:
    one = server(OPEN)
    assert one.receive(PROTOCOL_HEADER + b"more") == b""
    assert (one.phase, one.user, one.rest) == (Phase.DONE, None, PROTOCOL_HEADER + b"more")


def test_a_client_without_sasl_is_told_to_use_it_where_it_has_to_log_in() -> None:
    one = server()
    assert one.receive(PROTOCOL_HEADER) == SASL_HEADER
    assert one.phase is Phase.REFUSED


@pytest.mark.parametrize("security", [OPEN, CLOSED])
@pytest.mark.parametrize(
    "octets", [b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"AMQP\x02\x01\x00\x00", b"AMQP\x00\x00\x09\x01"]
)
def test_another_protocol_is_told_ours(security: Security, octets: bytes) -> None:
    one = server(security)
    assert one.receive(octets) == SASL_HEADER
    assert one.phase is Phase.REFUSED
    assert one.refusal


# --- mechanisms


def test_without_users_every_client_is_anonymous() -> None:
    one = server(OPEN)
    assert outcome(one.receive(SASL_HEADER + init("ANONYMOUS", b"me@home") + b"rest")[len(greeting(OPEN)) :]) == [0]
    assert (one.phase, one.user, one.rest) == (Phase.DONE, None, b"rest")


def greeting(security: Security = CLOSED) -> bytes:
    return server(security).receive(SASL_HEADER)


def greeted(security: Security = CLOSED, *, private: bool = True) -> SaslServer:
    one = server(security, private=private)
    one.receive(SASL_HEADER)
    return one


@pytest.mark.parametrize("sent", [b"\0alice\0secret", b"alice\0alice\0secret", "\0\uff41lice\0secret".encode()])
def test_plain_accepts_a_user_with_the_right_password(sent: bytes) -> None:
    one = greeted()
    assert outcome(told(one, init("PLAIN", sent) + PROTOCOL_HEADER)) == [0]
    assert (one.phase, one.user, one.rest) == (Phase.DONE, "alice", PROTOCOL_HEADER)


def test_plain_may_wait_to_be_asked() -> None:
    one = greeted()
    assert parts(one.receive(init("PLAIN"))) == [(0x42, [b""])]
    assert outcome(told(one, response(b"\0alice\0secret"))) == [0]
    assert one.user == "alice"


def test_a_password_is_the_callers_to_check_and_shown_nowhere() -> None:
    one = greeted(fresh())
    assert one.receive(init("PLAIN", b"\0alice\0secret")) == b""
    assert (one.phase, one.user, one.asked) == (Phase.CHECKING, None, Credentials("alice", "secret"))
    assert repr(one.asked) == "Credentials('alice')"
    assert outcome(one.checked(right=True)) == [0]
    assert (one.phase, one.user, one.asked) == (Phase.DONE, "alice", None)


def test_a_password_that_was_right_before_is_not_checked_again() -> None:
    security = fresh()
    assert security.users is not None
    assert security.users.check("alice", "secret")
    one = greeted(security)
    assert outcome(one.receive(init("PLAIN", b"\0alice\0secret"))) == [0]
    assert (one.phase, one.user) == (Phase.DONE, "alice")
    other = greeted(security)
    assert other.receive(init("PLAIN", b"\0alice\0wrong")) == b""
    assert other.phase is Phase.CHECKING


def test_what_comes_before_the_outcome_is_kept_within_limits() -> None:
    one = greeted(fresh())
    one.receive(init("PLAIN", b"\0alice\0secret") + PROTOCOL_HEADER)
    assert one.receive(b"more") == b""
    one.checked(right=True)
    assert (one.phase, one.rest) == (Phase.DONE, PROTOCOL_HEADER + b"more")

    one = greeted(fresh())
    one.receive(init("PLAIN", b"\0alice\0secret"))
    one.receive(b"x" * MAX_AHEAD)
    assert one.phase is Phase.CHECKING
    one.receive(b"x")
    assert (one.phase, one.refusal) == (Phase.REFUSED, "more than 32768 octets before the login's outcome")
    assert one.checked(right=True) == b""
    assert (one.phase, one.user) == (Phase.REFUSED, None)


@pytest.mark.parametrize(
    "sent",
    [
        b"\0alice\0wrong",
        b"\0mallory\0secret",
        b"bob\0alice\0secret",
        b"\0alice",
        b"\0alice\0secret\0",
        b"",
        b"\xff\0alice\0secret",
    ],
)
def test_plain_refuses_everybody_else_alike(sent: bytes) -> None:
    assert refused(greeted(), init("PLAIN", sent)) == 1


def test_why_a_login_failed_is_for_the_log_and_holds_no_password() -> None:
    one = greeted()
    refused(one, init("PLAIN", b"\0alice\0wrong"))
    assert one.refusal == "wrong name or password of 'alice'"


@pytest.mark.parametrize(
    ("security", "private", "mechanism"),
    [
        (CLOSED, True, "ANONYMOUS"),
        (CLOSED, False, "PLAIN"),
        (OPEN, True, "PLAIN"),
        (OPEN, True, "SCRAM-SHA-256"),
        (CLOSED, True, "scram-sha-256"),
        (CLOSED, True, "EXTERNAL"),
    ],
)
def test_a_mechanism_that_was_not_offered_is_refused(security: Security, private: bool, mechanism: str) -> None:
    assert refused(greeted(security, private=private), init(mechanism, b"\0alice\0secret")) == 1


def scram(one: SaslServer, user: str, password: str, *, wait: bool = False) -> list[object]:
    """Log in with SCRAM, and return the fields of the outcome."""
    client = ScramClient(["SCRAM-SHA-256"], user, password)
    first = client.get_client_first().encode()
    if wait:
        assert parts(one.receive(init("SCRAM-SHA-256"))) == [(0x42, [b""])]
        answer = one.receive(response(first))
    else:
        answer = one.receive(init("SCRAM-SHA-256", first))
    ((descriptor, (challenge,)),) = parts(answer)
    assert descriptor == 0x42
    assert isinstance(challenge, bytes)
    client.set_server_first(challenge.decode())
    fields = outcome(one.receive(response(client.get_client_final().encode()) + b"rest"))
    if fields[0] == 0:
        assert isinstance(fields[1], bytes)
        client.set_server_final(fields[1].decode())
    return fields


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("private", [False, True])
def test_scram_accepts_a_user_with_the_right_password_and_proves_the_server(private: bool, wait: bool) -> None:
    one = greeted(private=private)
    assert scram(one, "alice", "secret", wait=wait)[0] == 0
    assert (one.phase, one.user, one.rest) == (Phase.DONE, "alice", b"rest")


@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("mallory", "secret")])
def test_scram_refuses_everybody_else_after_as_many_rounds(user: str, password: str) -> None:
    one = greeted()
    assert scram(one, user, password) == [1]
    assert one.phase is Phase.REFUSED
    assert one.user is None


@pytest.mark.parametrize(
    "first", [b"", b"n,,n=alice", b"p=tls-unique,,n=alice,r=x", b"\xff", b"n,,n=alice,r=", b",,,,"]
)
def test_scram_that_is_malformed_is_refused(first: bytes) -> None:
    assert refused(greeted(), init("SCRAM-SHA-256", first)) == 1


@pytest.mark.parametrize("final", [b"", b"c=biws", b"\xff", b"c=biws,r=x,p=AAAA"])
def test_a_scram_proof_that_is_malformed_is_refused(final: bytes) -> None:
    one = greeted()
    client = ScramClient(["SCRAM-SHA-256"], "alice", "secret")
    one.receive(init("SCRAM-SHA-256", client.get_client_first().encode()))
    assert refused(one, response(final)) == 1


def test_a_server_that_does_not_know_the_user_cannot_show_it() -> None:
    client = ScramClient(["SCRAM-SHA-256"], "alice", "secret")
    client.get_client_first()
    with pytest.raises(ScramException):
        client.set_server_first("r=nonce,s=QUFBQUFBQUFBQUFB,i=4096")


# --- bad input


@pytest.mark.parametrize(
    "octets",
    [
        b"\x00\x00\x00\x07\x02\x01\x00\x00",  # shorter than a frame header
        (MAX_FRAME + 1).to_bytes(4) + b"\x02\x01\x00\x00",
        frame(types.described(0x41, types.fields((types.symbol("PLAIN"),)))),  # an AMQP frame
        b"\x00\x00\x00\x08\x02\x01\x00\x00",  # an empty frame
        b"\x00\x00\x00\x08\x01\x01\x00\x00",  # a data offset inside the frame header
        b"\x00\x00\x00\x08\xff\x01\x00\x00",  # a data offset after the end
        frame(types.described(0x43, types.fields((types.binary(b""),))), sasl=True),  # a response without a challenge
        frame(types.described(0x41, types.fields(())), sasl=True),
        frame(types.described(0x41, types.fields((types.binary(b"PLAIN"),))), sasl=True),
        frame(types.described(0x41, types.fields((types.symbol("PLAIN"), types.string("x")))), sasl=True),
        frame(b"\x00\x53\x41" + b"\xc0\x03\x01" * 40, sasl=True),
        frame(types.described(0x41, types.fields((types.symbol("PLAIN"),))) + b"\x40", sasl=True),
        SASL_HEADER,
    ],
)
def test_frames_that_are_malformed_end_the_negotiation(octets: bytes) -> None:
    one = greeted()
    assert one.receive(octets) == b""
    assert (one.phase, one.user, one.rest) == (Phase.REFUSED, None, b"")


def test_a_login_does_not_go_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sasl, "MAX_ROUNDS", 1)
    one = SaslServer(CLOSED, private=True)
    one.receive(SASL_HEADER)
    client = ScramClient(["SCRAM-SHA-256"], "alice", "secret")
    one.receive(init("SCRAM-SHA-256", client.get_client_first().encode()))
    assert refused(one, response(b"x")) == 1
    assert one.refusal is not None
    assert "rounds" in one.refusal


@given(st.lists(st.integers(1, 60), max_size=12))
def test_octets_may_come_in_any_pieces(cuts: list[int]) -> None:
    stream = SASL_HEADER + init("PLAIN", b"\0alice\0secret") + b"rest"
    one, answer, rest, at = server(), b"", b"", 0
    for cut in [*cuts, len(stream)]:
        part, at = stream[at : at + cut], at + cut
        if one.phase is Phase.DONE:
            rest += part
        else:
            answer += told(one, part)
    assert one.phase is Phase.DONE
    assert answer.startswith(greeting())
    assert one.rest + rest == b"rest"


@given(
    st.lists(st.binary(max_size=40) | st.sampled_from([SASL_HEADER, init("PLAIN"), init("SCRAM-SHA-256")]), max_size=6)
)
def test_no_octets_break_it(octets: list[bytes]) -> None:
    for security in (OPEN, CLOSED):
        one = server(security)
        for part in octets:
            if one.phase in {Phase.DONE, Phase.REFUSED}:
                break
            one.receive(part)
        assert one.phase is not Phase.DONE or security is OPEN
