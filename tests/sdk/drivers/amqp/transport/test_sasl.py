"""Tests of the client's SASL layer, byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scramp import ScramMechanism

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER, frame
from assay_sdk.driver import Login
from assay_sdk.drivers.amqp.transport.sasl import Phase, SaslClient
from assay_sdk.model.reasons import JmsErrorKind, Refused

LOGIN = Login("me", "secret")
PLAIN_INIT = b"\x00\x00\x00\x21\x02\x01\x00\x00\x00\x53\x41\xc0\x14\x02\xa3\x05PLAIN\xa0\x0a\x00me\x00secret"


def offer(*names: str) -> bytes:
    return frame(types.described(0x40, types.fields((types.symbols(names),))), sasl=True)


def outcome(code: int) -> bytes:
    return frame(types.described(0x44, types.fields((types.ubyte(code),))), sasl=True)


def refusal(client: SaslClient) -> Refused:
    assert client.phase is Phase.REFUSED
    assert client.refused is not None
    return client.refused


def test_plain_sends_name_and_password_once_it_is_offered() -> None:
    client = SaslClient(LOGIN, private=True)
    assert client.start() == b"AMQP\x03\x01\x00\x00"
    sent = client.receive(SASL_HEADER + offer("EXTERNAL", "PLAIN"))
    assert sent == PLAIN_INIT
    assert client.receive(outcome(0) + PROTOCOL_HEADER) == b""
    assert client.is_done()
    assert client.rest == PROTOCOL_HEADER


@given(st.lists(st.integers(1, 200), max_size=8))
def test_octets_may_come_in_any_pieces(cuts: list[int]) -> None:
    stream = SASL_HEADER + offer("ANONYMOUS") + outcome(0) + b"rest"
    client = SaslClient(None, private=False)
    client.start()
    answer, at, rest = b"", 0, b""
    for cut in [*cuts, len(stream)]:
        part, at = stream[at : at + cut], at + cut
        if client.is_done():
            rest += part
        else:
            answer += client.receive(part)
    assert client.is_done()
    assert b"ANONYMOUS" in answer
    assert client.rest + rest == b"rest"


def test_a_single_mechanism_may_come_without_an_array() -> None:
    client = SaslClient(None, private=True)
    client.start()
    client.receive(SASL_HEADER + frame(types.described(0x40, types.fields((types.symbol("ANONYMOUS"),))), sasl=True))
    assert client.phase is Phase.OUTCOME


def test_a_password_is_not_sent_in_clear_text_beyond_this_machine() -> None:
    client = SaslClient(LOGIN, private=False)
    assert client.start() == SASL_HEADER
    assert client.receive(SASL_HEADER + offer("PLAIN")) == b""
    assert refusal(client).kind is JmsErrorKind.SECURITY
    assert "clear text" in refusal(client).text
    assert "secret" not in refusal(client).text


@pytest.mark.parametrize(
    ("login", "offered", "says"), [(LOGIN, "ANONYMOUS", "PLAIN"), (None, "PLAIN", "user and a pass")]
)
def test_a_mechanism_that_is_not_offered_is_named(login: Login | None, offered: str, says: str) -> None:
    client = SaslClient(login, private=True)
    client.start()
    client.receive(SASL_HEADER + offer(offered))
    assert refusal(client).kind is JmsErrorKind.SECURITY
    assert says in refusal(client).text
    assert offered in refusal(client).text


@pytest.mark.parametrize(("code", "kind"), [(1, JmsErrorKind.SECURITY), (4, JmsErrorKind.CONNECTION_LOST)])
def test_a_refused_outcome_is_told_by_its_code(code: int, kind: JmsErrorKind) -> None:
    client = SaslClient(LOGIN, private=True)
    client.start()
    client.receive(SASL_HEADER + offer("PLAIN"))
    client.receive(outcome(code))
    assert refusal(client).kind is kind
    assert "secret" not in refusal(client).text


@pytest.mark.parametrize(
    "octets",
    [
        PROTOCOL_HEADER,
        b"HTTP/1.1 400 Bad",
        SASL_HEADER + b"\xff\xff\xff\xff\x02\x01\x00\x00",
        SASL_HEADER + b"\x00\x00\x00\x04\x02\x01\x00\x00",
        SASL_HEADER + outcome(0),
        SASL_HEADER + frame(types.described(0x40, types.null()), sasl=True),
        SASL_HEADER + frame(b"\x3f", sasl=True),
        SASL_HEADER + frame(types.described(0x40, types.fields((types.symbol("PLAIN"),)))),
    ],
)
def test_a_peer_that_speaks_something_else_cannot_be_talked_to(octets: bytes) -> None:
    client = SaslClient(LOGIN, private=True)
    client.start()
    client.receive(octets)
    assert refusal(client).kind is JmsErrorKind.CONNECTION_LOST


@given(st.binary(max_size=80))
def test_any_octets_end_in_a_phase_and_never_in_an_exception(octets: bytes) -> None:
    client = SaslClient(LOGIN, private=True)
    client.start()
    client.receive(SASL_HEADER + octets)
    assert client.phase in Phase


# --- SCRAM-SHA-256

KEYS = ScramMechanism("SCRAM-SHA-256").make_auth_info("secret", iteration_count=4096)


def challenge(text: str) -> bytes:
    return frame(types.described(0x42, types.fields((types.binary(text.encode()),))), sasl=True)


def proven(code: int, proof: str | None) -> bytes:
    fields = (types.ubyte(code), types.null() if proof is None else types.binary(proof.encode()))
    return frame(types.described(0x44, types.fields(fields)), sasl=True)


def said(sent: bytes, descriptor: int) -> str:
    """Return the text in a client's SASL frame."""
    value = types.decode(sent[8:])
    assert isinstance(value, types.Described)
    assert value.descriptor == descriptor
    assert isinstance(value.value, list)
    octets = value.value[-1]
    assert isinstance(octets, bytes)
    return octets.decode()


class Broker:
    """The broker's side of SCRAM, up to the check of the client's proof."""

    def __init__(self, client: SaslClient, *offered: str, keys: tuple[bytes, bytes, bytes, int] = KEYS) -> None:
        salt, stored_key, server_key, iterations = keys
        self.server = ScramMechanism("SCRAM-SHA-256").make_server(
            lambda _user: (salt, stored_key, server_key, iterations)
        )
        client.start()
        self.server.set_client_first(said(client.receive(SASL_HEADER + offer(*offered)), 0x41))
        answer = client.receive(challenge(self.server.get_server_first()))
        if client.prove is not None:
            assert answer == b""
            answer = client.proved(client.prove())
        self.server.set_client_final(said(answer, 0x43))


@pytest.mark.parametrize("private", [False, True])
def test_scram_is_taken_on_any_line_and_its_proof_comes_with_the_outcome(private: bool) -> None:
    client = SaslClient(LOGIN, private=private)
    broker = Broker(client, "PLAIN", "SCRAM-SHA-256")
    assert client.receive(proven(0, broker.server.get_server_final()) + PROTOCOL_HEADER) == b""
    assert client.is_done()
    assert client.rest == PROTOCOL_HEADER


def test_a_broker_may_ask_for_as_many_iterations_as_owasp_recommends() -> None:
    client = SaslClient(LOGIN, private=False)
    keys = ScramMechanism("SCRAM-SHA-256").make_auth_info("secret", iteration_count=600_000)
    broker = Broker(client, "SCRAM-SHA-256", keys=keys)
    client.receive(proven(0, broker.server.get_server_final()))
    assert client.is_done()


def proving() -> SaslClient:
    """Return a client that has been asked for a slow proof."""
    client = SaslClient(LOGIN, private=False)
    client.start()
    nonce = said(client.receive(SASL_HEADER + offer("SCRAM-SHA-256")), 0x41).partition("r=")[2]
    assert client.receive(challenge(f"r={nonce}y,s=QUFBQUFBQUFBQUFB,i=20001")) == b""
    assert client.phase is Phase.PROVING
    return client


def test_what_the_broker_says_while_the_client_computes_is_read_afterwards() -> None:
    client = proving()
    assert client.receive(outcome(1)) == b""
    assert client.phase is Phase.PROVING
    assert client.prove is not None
    assert said(client.proved(client.prove()), 0x43).startswith("c=biws,r=")
    assert "wrong name or password" in refusal(client).text


def test_a_broker_that_says_too_much_while_the_client_computes_is_refused() -> None:
    client = proving()
    prove = client.prove
    assert prove is not None
    client.receive(b"x" * 70_000)
    assert "sends more frames before the client has answered" in refusal(client).text
    assert client.prove is None
    assert client.proved(prove()) == b""
    assert client.phase is Phase.REFUSED


def test_the_brokers_proof_may_come_before_the_outcome() -> None:
    client = SaslClient(LOGIN, private=False)
    broker = Broker(client, "SCRAM-SHA-256")
    assert said(client.receive(challenge(broker.server.get_server_final())), 0x43) == ""
    client.receive(proven(0, None))
    assert client.is_done()


@pytest.mark.parametrize("proof", [None, "", "v=AAAA", "e=other-error", "\0", "v=" + "A" * 43 + "="])
def test_a_broker_that_does_not_know_the_user_is_not_believed(proof: str | None) -> None:
    client = SaslClient(LOGIN, private=False)
    Broker(client, "SCRAM-SHA-256")
    client.receive(proven(0, proof))
    assert refusal(client).kind is JmsErrorKind.SECURITY
    assert "does not prove that it knows user 'me'" in refusal(client).text


def test_a_wrong_password_is_told_as_with_plain() -> None:
    client = SaslClient(LOGIN, private=False)
    Broker(client, "SCRAM-SHA-256")
    client.receive(outcome(1))
    assert "wrong name or password" in refusal(client).text


@pytest.mark.parametrize(
    "first", ["", "r=x,s=QUFB,i=4096", "r={nonce}y,s=QUFBQUFBQUFBQUFB,i=2000000", "e=unknown-user"]
)
def test_a_challenge_that_makes_no_sense_or_too_much_work_is_refused(first: str) -> None:
    client = SaslClient(LOGIN, private=False)
    client.start()
    nonce = said(client.receive(SASL_HEADER + offer("SCRAM-SHA-256")), 0x41).partition("r=")[2]
    client.receive(challenge(first.format(nonce=nonce)))
    assert refusal(client).kind is JmsErrorKind.SECURITY


def test_a_challenge_that_is_no_text_cannot_be_talked_to() -> None:
    for octets in (types.binary(b"\xff"), types.string("x")):
        client = SaslClient(LOGIN, private=False)
        client.start()
        client.receive(SASL_HEADER + offer("SCRAM-SHA-256"))
        client.receive(frame(types.described(0x42, types.fields((octets,))), sasl=True))
        assert refusal(client).kind is JmsErrorKind.CONNECTION_LOST


def test_a_password_that_no_broker_can_take_is_not_sent() -> None:
    client = SaslClient(Login("me", "sec\0ret"), private=False)
    client.start()
    assert client.receive(SASL_HEADER + offer("SCRAM-SHA-256")) == b""
    assert "correct the name or the password" in refusal(client).text
    assert "sec" not in refusal(client).text


@given(st.binary(max_size=80))
def test_any_challenge_ends_in_a_phase_and_never_in_an_exception(octets: bytes) -> None:
    client = SaslClient(LOGIN, private=False)
    client.start()
    client.receive(SASL_HEADER + offer("SCRAM-SHA-256"))
    client.receive(frame(types.described(0x42, types.fields((types.binary(octets),))), sasl=True))
    assert client.phase in {Phase.OUTCOME, Phase.REFUSED}
