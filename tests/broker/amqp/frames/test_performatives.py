"""Tests of the table of performatives: missing fields, fields of a wrong type and extra fields are found in each."""

from __future__ import annotations

import pytest

from assay_broker.amqp.frames.performatives import ATTACH, BEGIN, DETACH, END, FIELDS, FLOW, OPEN, check
from assay_sdk.amqp import types
from assay_sdk.amqp.types import DecodeError

_VALUES = {
    0x41: types.boolean(value=True),
    0x50: types.ubyte(0),
    0x60: b"\x60\0\1",
    0x43: types.uint(0),
    0x44: types.ulong(0),
    0xA0: types.binary(b"x"),
    0xA1: types.string("x"),
    0xA3: types.symbol("x"),
    0xC1: types.mapping({}),
    0x00: types.described(0x24, b"\x45"),
}


def value(codes: frozenset[int]) -> bytes:
    """Return an encoded value with one of these format codes."""
    return next(octets for code, octets in _VALUES.items() if code in codes)


def full(code: int) -> list[bytes]:
    return [value(field.codes) for field in FIELDS[code]]


def said(items: list[bytes]) -> bytes:
    return types.compound(items)


@pytest.mark.parametrize("code", FIELDS)
def test_with_all_its_fields_it_is_right_and_so_it_is_with_those_that_must_be_there(code: int) -> None:
    check(code, said(full(code)), 0)
    check(code, said([value(field.codes) if field.needed else types.null() for field in FIELDS[code]]), 0)


@pytest.mark.parametrize(("code", "position"), [(code, place) for code in FIELDS for place in range(len(FIELDS[code]))])
def test_a_field_of_another_type_is_found_and_one_that_must_be_there_is_missed(code: int, position: int) -> None:
    items = full(code)
    items[position] = types.double(1.0)
    field = FIELDS[code][position]
    with pytest.raises(DecodeError, match=f"{field.name} of"):
        check(code, said(items), 0)
    if field.needed:
        items[position] = types.null()
        with pytest.raises(DecodeError, match=f"without {field.name}"):
            check(code, said(items), 0)
        with pytest.raises(DecodeError, match="without"):
            check(code, said(items[:position]), 0)


@pytest.mark.parametrize("code", FIELDS)
def test_a_field_too_many_is_found(code: int) -> None:
    with pytest.raises(DecodeError, match="fields and not"):
        check(code, said([*full(code), types.null()]), 0)


@pytest.mark.parametrize("code", [OPEN, BEGIN, FLOW, END])
def test_fields_that_are_no_list_are_found(code: int) -> None:
    with pytest.raises(DecodeError, match="not a list"):
        check(code, types.mapping({}), 0)


@pytest.mark.parametrize(
    "descriptor", [types.ulong(0x28), types.symbol("amqp:source:list"), b"\x80" + bytes(7) + b"\x28"]
)
def test_a_composite_inside_a_field_is_checked(descriptor: bytes) -> None:
    items = full(ATTACH)
    items[5] = b"\0" + descriptor + types.compound((types.double(1.0),))
    with pytest.raises(DecodeError, match="address of"):
        check(ATTACH, said(items), 0)


def test_an_error_without_a_condition_is_found() -> None:
    with pytest.raises(DecodeError, match="without condition"):
        check(DETACH, said([types.uint(0), types.null(), types.described(0x1D, b"\x45")]), 0)
