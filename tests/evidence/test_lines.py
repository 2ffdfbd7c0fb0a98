from __future__ import annotations

import zlib
from typing import get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence.histories import Memory, Story, begin

from assay_evidence.errors import LineError
from assay_evidence.events import AnyEvent, Event, MessageRef, RefusedInfo
from assay_evidence.lines import decode_line, encode_line

EVENT = begin(Memory())
LINE = encode_line(EVENT)


NANOSECONDS = st.integers(-(2**63), 2**63 - 1)
MESSAGES = st.builds(MessageRef, key=st.text(), sha256=st.text(), bytes=st.integers(0, 9), fields=st.just({"a": None}))
REFUSALS = st.builds(RefusedInfo, kind=st.text(), checked=st.booleans(), objects=st.just(("a", "b")))
# Hypothesis cannot infer msgspec's own defaults, nor that numbers have 64 bits.
OWN: dict[object, st.SearchStrategy[object]] = {
    int: NANOSECONDS,
    MessageRef: MESSAGES,
    MessageRef | None: st.none() | MESSAGES,
    RefusedInfo | None: st.none() | REFUSALS,
}


def events_of(kind: type[Event]) -> st.SearchStrategy[Event]:
    """Return a strategy of events of a kind, with any value in each field."""
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name in kind.__struct_fields__}
    return st.builds(kind, **{name: OWN[hint] if hint in OWN else st.from_type(hint) for name, hint in hints.items()})


@given(st.sampled_from(get_args(AnyEvent)).flatmap(events_of))
def test_every_event_comes_back_from_its_line(event: Event) -> None:
    line = encode_line(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_line(line[:-1]) == event


def test_the_last_field_is_the_checksum_of_what_stands_before_it() -> None:
    body, _, tail = LINE.rpartition(b',"sum":')
    assert tail == b'"%08x"}\n' % zlib.crc32(body)
    assert list(msgspec.json.decode(LINE))[-1] == "sum"


@given(st.integers(0, len(LINE) - 2), st.integers(0, 255))
def test_no_line_with_another_byte_in_it_is_taken(index: int, byte: int) -> None:
    altered = LINE[:index] + bytes([byte]) + LINE[index + 1 : -1]
    if altered != LINE[:-1]:
        with pytest.raises(LineError):
            decode_line(altered)


@given(st.binary(max_size=200))
def test_anything_else_is_a_line_error(line: bytes) -> None:
    with pytest.raises(LineError):
        decode_line(line)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", "undecodable"),
        (b" \t", "undecodable"),
        (LINE[:40], "undecodable"),
        (LINE[:-1] + LINE[:-1], "checksum"),
        (LINE[:-1] + b"\r", "undecodable"),
        (LINE[:-3].upper() + LINE[-3:-1], "undecodable"),
        (LINE.replace(b'"seed":1', b'"seed":2')[:-1], "checksum"),
    ],
)
def test_damage_is_named_for_what_it_is(line: bytes, kind: str) -> None:
    with pytest.raises(LineError) as caught:
        decode_line(line)
    assert caught.value.kind == kind


def test_a_line_of_another_schema_is_undecodable_though_its_checksum_fits() -> None:
    body = b'{"kind":"of tomorrow","v":2'
    with pytest.raises(LineError) as caught:
        decode_line(b'%b,"sum":"%08x"}' % (body, zlib.crc32(body)))
    assert caught.value.kind == "undecodable"


def test_a_deeply_nested_line_is_undecodable() -> None:
    body = b'{"kind":' + b"[" * 100_000
    with pytest.raises(LineError) as caught:
        decode_line(b'%b,"sum":"%08x"}' % (body, zlib.crc32(body)))
    assert caught.value.kind == "undecodable"


def test_a_text_that_is_no_text_cannot_be_written() -> None:
    with pytest.raises(UnicodeEncodeError):
        encode_line(Story().seen("\ud800", body=""))
