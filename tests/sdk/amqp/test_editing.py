"""Tests of editing encoded messages: a few values change, and all other bytes stay the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.amqp import codec, sections, types
from assay_sdk.amqp.editing import parts, with_entries, with_fields, with_map
from assay_sdk.amqp.types import DecodeError
from assay_sdk.model.message import Address, AddressKind, Message

TO = Address(AddressKind.QUEUE, "ORDERS")
NAMES = st.text("abc", max_size=3)


@given(st.dictionaries(NAMES, st.integers(0, 300)), st.dictionaries(NAMES, st.integers(0, 300)), st.sets(NAMES))
def test_application_properties_change_as_a_mapping_does(
    before: dict[str, int], added: dict[str, int], dropped: set[str]
) -> None:
    message = Message(to=TO, durable=True, properties={**before}, body=b"hello")
    octets = with_entries(
        codec.encode(message),
        sections.APPLICATION_PROPERTIES,
        {name: types.integer(value) for name, value in added.items()},
        dropped,
        name=types.string,
    )
    kept = {name: value for name, value in before.items() if name not in dropped}
    expected = codec.encode(Message(to=TO, durable=True, properties={**kept, **added}, body=b"hello"))
    assert codec.decode(octets) == codec.decode(expected)


def test_values_that_stay_keep_their_types() -> None:
    float32, uuid = b"\x72\x3f\x80\x00\x00", b"\x98" + bytes(16)
    section = types.described(
        sections.APPLICATION_PROPERTIES,
        types.mapping({types.string("a"): float32, types.string("b"): types.uint(1), types.string("c"): uuid}),
    )
    octets = with_entries(section, sections.APPLICATION_PROPERTIES, {}, {"b"}, name=types.string)
    assert octets == types.described(
        sections.APPLICATION_PROPERTIES, types.mapping({types.string("a"): float32, types.string("c"): uuid})
    )


def test_a_section_that_is_not_there_comes_to_stand_at_its_place() -> None:
    message = Message(to=TO, durable=True, body="hello")
    octets = with_entries(
        codec.encode(message), sections.APPLICATION_PROPERTIES, {"a": types.string("1")}, (), name=types.string
    )
    assert codec.decode(octets).message.properties == {"a": "1"}
    assert with_entries(b"", sections.FOOTER, {"a": types.uint(0)}, (), name=types.symbol) == types.described(
        sections.FOOTER, types.mapping({types.symbol("a"): types.uint(0)})
    )


@given(st.dictionaries(NAMES, st.integers(0, 300)), st.dictionaries(NAMES, st.integers(0, 300)))
def test_a_map_is_put_into_annotations_as_into_a_mapping(before: dict[str, int], added: dict[str, int]) -> None:
    def encoded(entries: dict[str, int]) -> bytes:
        return types.mapping({types.symbol(name): types.integer(value) for name, value in entries.items()})

    body = types.described(sections.VALUE, types.string("hello"))
    section = types.described(sections.MESSAGE_ANNOTATIONS, encoded(before)) if before else b""
    changed = with_map(section + body, sections.MESSAGE_ANNOTATIONS, encoded(added))
    expected = {name: value for name, value in before.items() if name not in added} | added
    section = types.described(sections.MESSAGE_ANNOTATIONS, encoded(expected)) if expected else b""
    assert changed == section + body


def test_of_a_key_that_a_map_has_twice_the_last_value_counts() -> None:
    twice = types.compound((types.symbol("a"), types.uint(1), types.symbol("a"), types.uint(2)), of_map=True)
    assert with_map(b"", sections.FOOTER, twice) == with_map(
        b"", sections.FOOTER, types.mapping({types.symbol("a"): types.uint(2)})
    )


def test_a_list_comes_apart_into_what_it_holds() -> None:
    values = [types.null(), types.mapping({types.symbol("a"): types.fields((types.uint(1),))}), types.string("x")]
    assert parts(types.compound(values)) == values
    assert parts(types.null() + types.fields(()), 1) == []


def test_a_section_without_entries_is_left_out() -> None:
    message = Message(to=TO, properties={"a": 1}, body="hello")
    octets = with_entries(codec.encode(message), sections.APPLICATION_PROPERTIES, {}, {"a"}, name=types.string)
    assert octets == codec.encode(Message(to=TO, body="hello"))


@given(st.text(max_size=9), st.none() | st.text(max_size=9), st.none() | st.text(max_size=9))
def test_fields_change_by_position(new: str, other: str | None, subject: str | None) -> None:
    message = Message(message_id="old", to=TO, subject=subject, group_id="g", body="hello")
    octets = with_fields(
        codec.encode(message),
        sections.PROPERTIES,
        {0: types.string(new), 5: types.null() if other is None else types.string(other)},
    )
    expected = Message(message_id=new, correlation_id=other, to=TO, subject=subject, group_id="g", body="hello")
    assert octets == codec.encode(expected)


def test_fields_of_a_section_that_is_not_there_come_to_stand_at_its_place() -> None:
    body = types.described(sections.DATA, types.binary(b"x"))
    octets = with_fields(body, sections.PROPERTIES, {2: types.string("to")})
    assert octets == types.described(sections.PROPERTIES, types.fields((b"\x40", b"\x40", types.string("to")))) + body


@pytest.mark.parametrize("octets", [b"\x00\x53\x73\xc0\x03\x01\x40\x40", b"\x00\x53\x73\xc0\x02\x01\xa1"])
def test_fields_that_are_malformed_are_refused(octets: bytes) -> None:
    with pytest.raises(DecodeError):
        with_fields(octets, sections.PROPERTIES, {0: types.null()})


@pytest.mark.parametrize("octets", [b"\x00\x53\x74\xc1\x04\x02\x40\x40\x40", b"\x00\x53\x74\xc1\x03\x02\x40\xa1"])
def test_entries_that_are_malformed_are_refused(octets: bytes) -> None:
    with pytest.raises(DecodeError):
        with_entries(octets, sections.APPLICATION_PROPERTIES, {"a": types.null()}, (), name=types.string)
