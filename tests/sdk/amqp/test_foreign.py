"""Tests of message bodies that only other clients send."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proton import Message as ProtonMessage
from proton import int32, symbol, timestamp, ubyte

from assay_sdk.amqp import codec
from assay_sdk.amqp.foreign import shown_body
from assay_sdk.model.message import Message

JSON = "application/json"
UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")


def shown(body: object, *, inferred: bool = False) -> tuple[str | bytes | None, str | None]:
    octets = ProtonMessage(body=body, inferred=inferred).encode()
    return shown_body(codec.decode(octets).message)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"order": int32(1), "item": "nails"}, ('{"order":1,"item":"nails"}', JSON)),
        ({"deep": [{"a": symbol("b")}, UUID, None]}, (f'{{"deep":[{{"a":"b"}},"{UUID}",null]}}', JSON)),
        ({1: "one"}, ('{"1":"one"}', JSON)),
        ({"octets": b"\0\1"}, ('{"octets":"AAE="}', JSON)),
        ([1, 2], ("[1,2]", JSON)),
        ([], ("[]", JSON)),
        (42, ("42", JSON)),
        (ubyte(7), ("7", JSON)),
        (2.5, ("2.5", JSON)),
        (True, ("true", JSON)),
        (timestamp(1_700_000_000_000), ("1700000000000", JSON)),
        (symbol("sym"), ("sym", None)),
        (UUID, (str(UUID), None)),
        ("text", ("text", None)),
        (None, (None, None)),
    ],
)
def test_a_body_of_another_client_is_shown(body: object, expected: tuple[str, str | None]) -> None:
    assert shown(body) == expected


def test_the_items_of_sequences_are_one_list() -> None:
    assert shown([1, "a"], inferred=True) == ('[1,"a"]', JSON)


def test_several_sections_of_data_are_joined() -> None:
    octets = b"\x00\x53\x75\xa0\x01a\x00\x53\x75\xa0\x01b"
    assert shown_body(codec.decode(octets).message) == (b"ab", None)


def test_several_sequences_are_one_list() -> None:
    sequence = b"\x00\x53\x76\xc0\x03\x01\x54"
    assert shown_body(codec.decode(sequence + b"\x01" + sequence + b"\x02").message) == ("[1,2]", JSON)


@pytest.mark.parametrize("body", [float("nan"), {2.5: "no JSON key"}, {1: "a", "1": "b"}])
def test_what_json_cannot_write_is_shown_in_its_sections(body: object) -> None:
    octets, content_type = shown(body)
    assert isinstance(octets, bytes)
    assert octets.startswith(b"\x00\x53\x77")
    assert content_type is None


@given(st.binary(min_size=1))
def test_octets_that_are_no_message_are_shown_as_they_are(octets: bytes) -> None:
    shown_body(Message(encoded=octets))  # raises no exception
    assert shown_body(Message(encoded=b"\xff" + octets)) == (b"\xff" + octets, None)
