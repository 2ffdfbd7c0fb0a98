"""Tests of AMQP's types: the decoder reads proton's output, and reports malformed bytes."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.amqp import types

proton = pytest.importorskip("proton", reason="proton is not installed")

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=600)
    | st.uuids(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_what_proton_encodes_is_read_as_proton_meant_it(value: object) -> None:
    data = proton.Data()
    data.put_object(value)
    assert types.decode(data.encode()) == value


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1), st.floats())
def test_numbers_come_back(small: int, large: int, signed: int, real: float) -> None:
    assert types.decode(types.uint(small)) == small
    assert types.decode(types.ulong(large)) == large
    assert types.decode(types.long(signed)) == signed
    assert types.decode(types.timestamp(signed)) == signed
    assert struct.pack(">d", types.decode(types.double(real))) == struct.pack(">d", real)


@given(st.text(max_size=400), st.binary(max_size=400), st.lists(st.text("abc:-", max_size=90), max_size=5))
def test_text_octets_and_symbols_come_back(text: str, octets: bytes, names: list[str]) -> None:
    assert types.decode(types.string(text)) == text
    assert types.decode(types.binary(octets)) == octets
    assert types.decode(types.symbols(names)) == names
    assert types.decode(types.mapping({types.string(text): types.binary(octets)})) == {text: octets}


def test_the_nulls_at_the_end_of_a_composite_are_left_out() -> None:
    assert types.fields((types.uint(1), types.null(), types.null())) == b"\xc0\x03\x01\x52\x01"
    assert types.fields((types.null(),)) == b"\x45"


@pytest.mark.parametrize(
    ("octets", "says"),
    [
        (b"", "missing"),
        (b"\xa1\x05ab", "missing"),
        (b"\x3f", "format code 0x3f"),
        (b"\xa1\x01\xff", "utf-8"),
        (b"\xc0\x02\xff\x40", "255 values"),
        (b"\xc1\x02\x01\x40", "no value"),
        (b"\xc1\x04\x02\x45\x40\x40", "as its key|ends at"),
        (b"\xc0\x05\x01\x40\x40\x40\x40", "ends at"),
        (b"\x40\x40", "too many"),
        (b"\x73\xff\xff\xff\xff", "char"),
        (b"\xe0\x05\x01\x40\x00\x00\x00", "ends at"),
        (b"\xe0\x09\x01\x40", "missing"),
        (b"\xe0\x01\xff", "255 values"),
    ],
)
def test_malformed_octets_are_named(octets: bytes, says: str) -> None:
    with pytest.raises(types.DecodeError, match=says):
        types.decode(octets)


@given(st.binary(max_size=60))
def test_any_octets_are_a_value_or_a_decode_error(octets: bytes) -> None:
    with contextlib.suppress(types.DecodeError):
        types.decode(octets)


@pytest.mark.parametrize("layer", [b"\x00\x53\x01", b"\xd0\xff\xff\xff\xff\x00\x00\x00\x01"])
def test_a_bomb_of_nested_values_is_refused(layer: bytes) -> None:
    with pytest.raises(types.DecodeError):
        types.decode(layer * 10_000)


def test_nested_lists_within_their_sizes_are_refused_from_a_depth_on() -> None:
    value = types.null()
    for _ in range(types.MAX_DEPTH + 1):
        value = types.compound([value])
    with pytest.raises(types.DecodeError, match="deeper"):
        types.decode(value)
    array = b"\xe0\x03\x01\x00\x53" * 40
    with pytest.raises(types.DecodeError):
        types.decode(array)


def test_described_arrays_are_read() -> None:
    octets = b"\xe0\x06\x01\x00\x53\x24\x50\x07"
    assert types.decode(octets) == [types.Described(0x24, 7)]
