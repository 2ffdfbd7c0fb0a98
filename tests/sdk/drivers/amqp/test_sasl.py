"""The login, octet by octet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.driver import Login
from assay_sdk.drivers.amqp import types
from assay_sdk.drivers.amqp.frames import PROTOCOL_HEADER, SASL_HEADER, frame
from assay_sdk.drivers.amqp.sasl import Phase, SaslClient
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
    assert client.start() == b""
    assert refusal(client).kind is JmsErrorKind.SECURITY
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
