"""Tests of fields of Attach that proton's engine cannot set."""

from __future__ import annotations

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame
from assay_sdk.drivers.amqp.transport.attach_fields import AttachFields, with_attach_fields


def attach(name: str, *rest: bytes) -> bytes:
    source = types.described(0x28, types.fields((types.string("Q"),)))
    head = (types.string(name), types.uint(0), types.boolean(value=True), types.null(), types.null(), source)
    return frame(types.described(0x12, types.fields((*head, *rest))), channel=2)


def test_an_attach_says_what_the_engine_cannot() -> None:
    attach_fields = {"a": AttachFields(desired=("shared", "global"), modified=True)}
    completed = with_attach_fields(attach("a"), attach_fields)
    assert attach_fields == {}
    assert int.from_bytes(completed[:4]) == len(completed)
    value = types.decode(completed[8:])
    assert isinstance(value, types.Described)
    assert isinstance(value.value, list)
    assert value.value[12] == ["shared", "global"]
    source = value.value[5]
    assert isinstance(source, types.Described)
    assert source.value == ["Q", *[None] * 7, types.Described(0x27, [True])]
    assert completed[6:8] == b"\x00\x02"


def test_other_frames_and_other_links_go_out_untouched() -> None:
    attach_fields = {"a": AttachFields(desired=("shared",))}
    for octets in (attach("b"), frame(types.described(0x17, types.fields(()))), frame(b"")):
        assert with_attach_fields(octets, attach_fields) == octets
    assert attach_fields
