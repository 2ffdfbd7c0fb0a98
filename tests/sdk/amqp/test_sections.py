"""Tests of encoded message sections: found without decoding, and refused if malformed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.amqp import bodies, codec, sections, types, values
from assay_sdk.amqp.sections import Span
from assay_sdk.amqp.types import DecodeError
from assay_sdk.model.message import Address, AddressKind, Message

TO = Address(AddressKind.QUEUE, "ORDERS")
DATA = types.described(sections.DATA, types.binary(b"hello"))


def test_sections_are_found_where_they_lie() -> None:
    octets = codec.encode(Message(to=TO, durable=True, properties={"a": 1}, body="hello"))
    spans = sections.split(octets)
    assert [span.code for span in spans] == [0x70, 0x72, 0x73, 0x74, 0x77]
    assert [span.begin for span in spans] == [0, *(span.end for span in spans)][:-1]
    assert spans[-1].end == len(octets)


def test_nothing_is_a_message_without_sections() -> None:
    assert sections.split(b"") == []
    assert bodies.body(b"") is None
    assert bodies.body_size(b"") == 0
    assert bodies.is_plain(b"")


@given(st.none() | st.text(max_size=300) | st.binary(max_size=300))
def test_a_plain_body_is_had_without_the_rest(body: str | bytes | None) -> None:
    octets = codec.encode(Message(to=TO, body=body))
    assert bodies.body(octets) == body
    assert bodies.is_plain(octets)
    size = 0 if body is None else len(body.encode() if isinstance(body, str) else body)
    assert bodies.body_size(octets) == size


@pytest.mark.parametrize("length", [10, 255, 256, 70_000])
def test_data_in_several_sections_is_one_body(length: int) -> None:
    octets = DATA + types.described(sections.DATA, types.binary(b"x" * length))
    assert bodies.body(octets) == b"hello" + b"x" * length
    assert bodies.body_size(octets) == 5 + length


@pytest.mark.parametrize(
    ("octets", "plain"),
    [
        (types.described(sections.VALUE, types.binary(b"x")), True),
        (types.described(sections.VALUE, types.null()), True),
        (types.described(sections.VALUE, types.uint(1)), False),
        (types.described(sections.VALUE, types.mapping({})), False),
        (types.described(sections.VALUE, types.described(1, types.string("x"))), False),
        (types.described(sections.SEQUENCE, types.compound(())) * 2, False),
    ],
)
def test_a_body_that_is_neither_text_nor_octets_is_told_from_one_that_is(octets: bytes, plain: bool) -> None:
    assert bodies.is_plain(octets) is plain
    if not plain:
        assert bodies.body(octets) is None
        assert bodies.body_size(octets) == len(octets)


def test_what_follows_the_body_is_not_of_it() -> None:
    footer = types.described(sections.FOOTER, types.mapping({types.symbol("crc"): types.uint(1)}))
    assert bodies.body(DATA + footer) == b"hello"
    assert bodies.body_size(DATA + footer) == 5


def test_a_text_that_is_none_is_refused_when_it_is_asked_for() -> None:
    octets = b"\x00\x53\x77\xa1\x01\xff"
    assert bodies.body_size(octets) == 1
    with pytest.raises(DecodeError, match="text"):
        bodies.body(octets)


VALUES = st.recursive(
    st.sampled_from(
        [types.null(), types.uint(7), types.ulong(2**40), types.string("x" * 300), types.symbol("s"), types.double(1.5)]
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(types.compound)
        | st.lists(inner, max_size=2).map(lambda items: types.compound(items * 2, of_map=True))
        | inner.map(lambda value: types.described(5, value))
    ),
    max_leaves=8,
)


@given(VALUES, st.binary(max_size=5))
def test_a_value_is_stepped_over_and_one_that_is_looked_at_ends_at_the_same_place(value: bytes, more: bytes) -> None:
    assert values.skip(value + more, 0) == len(value)
    assert values.check(value + more, 0, 32) == len(value)


@given(VALUES.filter(lambda value: len(value) > 1), st.data())
def test_a_value_that_is_cut_off_is_noticed(value: bytes, data: st.DataObject) -> None:
    cut = value[: data.draw(st.integers(0, len(value) - 1))]
    with pytest.raises((DecodeError, IndexError)):
        values.check(cut, 0, 32)


@given(st.binary(max_size=60), st.sampled_from([sections.fields, sections.entries]))
def test_any_octets_are_read_or_refused(octets: bytes, read: object) -> None:
    code = sections.HEADER if read is sections.fields else sections.FOOTER
    octets = bytes((0x00, 0x53, code)) + octets
    try:
        (span,) = sections.split(octets)
    except (DecodeError, ValueError):
        return
    try:
        sections.fields(octets, span) if read is sections.fields else sections.entries(octets, span)
    except DecodeError:
        return


def test_keys_of_different_types_are_different_keys() -> None:
    octets = types.described(
        sections.FOOTER, types.mapping({types.boolean(value=True): types.uint(1), types.uint(1): types.uint(2)})
    )
    (span,) = sections.split(octets)
    assert sections.simple_entries(octets, span, 4)  # not refused as a repeated key


def test_a_list_says_how_many_values_it_has() -> None:
    octets = types.described(sections.HEADER, types.compound([types.uint(1)] * 300))
    (span,) = sections.split(octets)
    assert span == Span(sections.HEADER, 0, 3, len(octets))
    assert sections.fields(octets, span) == [1] * 300
    empty = types.described(sections.HEADER, types.fields(()))
    assert sections.fields(empty, sections.split(empty)[0]) == []


LONG = "x" * 300


def test_wide_lists_maps_and_texts_are_read_as_narrow_ones() -> None:
    properties = types.described(
        sections.PROPERTIES,
        types.compound((types.string(LONG), types.null(), types.symbol(LONG), types.binary(b"x" * 300))),
    )
    assert sections.fields(properties, sections.split(properties)[0]) == [LONG, None, LONG, b"x" * 300]
    entries = types.described(
        sections.FOOTER, types.mapping({types.symbol(LONG): types.string(LONG), types.string("a"): types.string("b")})
    )
    (span,) = sections.split(entries)
    assert sections.entries(entries, span) == sections.simple_entries(entries, span, 4) == {LONG: LONG, "a": "b"}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"\xc0\x00", "without a count"),
        (b"\xc0\x02\x01\xb1", "cut off"),
        (b"\xc0\x04\x01\xb1\x00\x00", "cut off"),
        (b"\xc0\x06\x01\xb1\xff\xff\xff\xff", "cut off"),
    ],
)
def test_fields_that_are_cut_off_are_refused(value: bytes, why: str) -> None:
    octets = b"\x00\x53\x73" + value
    with pytest.raises(DecodeError, match=why):
        sections.fields(octets, sections.split(octets)[0])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"\xc1\x03\x01\xa1\x00", "no value"),
        (b"\xc1\x04\x02\x43\x43", "missing|cut off|ends at"),
        (b"\xc1\x04\x02\xa1\x00\xa1", "cut off"),
        (b"\xc1\x05\x02\xa1\x00\x40\x40", "ends at"),
        (b"\xc1\x06\x02\xa1\x00\xa1\x01\xff", "no utf-8"),
        (b"\xc1\x07\x04\xa1\x00\x40\xa1\x00\x40", "twice"),
    ],
)
def test_entries_that_are_malformed_are_refused(value: bytes, why: str) -> None:
    octets = b"\x00\x53\x78" + value
    for read in (sections.entries, lambda octets, span: sections.simple_entries(octets, span, 4)):
        with pytest.raises(DecodeError, match=why + "|none"):
            read(octets, sections.split(octets)[0])


def test_a_list_that_does_not_end_where_it_says_is_noticed_when_it_is_looked_at() -> None:
    with pytest.raises(DecodeError, match="ends at"):
        values.check(b"\xc0\x03\x01\x40\x40", 0, 4)
    with pytest.raises(IndexError):
        values.check(b"\xc0\x03\x01\x40", 0, 4)
    with pytest.raises(IndexError):
        values.skip(b"\xd0\x00\x00", 0)
