"""Tests of frames: cut out of a stream, displayed, and completed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, Splitter, frame, show, whole


@given(st.lists(st.binary(max_size=50), max_size=6), st.lists(st.integers(1, 40), max_size=20))
def test_frames_come_out_whole_however_the_stream_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    frames = [PROTOCOL_HEADER, *(frame(body) for body in bodies)]
    stream, splitter, found, at = b"".join(frames), Splitter(), [], 0
    for cut in [*cuts, len(stream)]:
        found += list(splitter.feed(stream[at : at + cut]))
        at += cut
    assert found == frames


def test_a_frame_shorter_than_its_head_is_malformed() -> None:
    with pytest.raises(types.DecodeError, match="7 octets"):
        list(Splitter().feed(b"\x00\x00\x00\x07\x02\x00\x00\x00"))


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (PROTOCOL_HEADER, "header 0.1.0.0"),
        (frame(b""), "heartbeat"),
        (frame(types.described(0x17, types.fields(())), channel=3), "channel 3 end []"),
        (frame(types.described(0x14, types.fields((types.uint(1),))) + b"abc"), "channel 0 transfer [1] payload=3"),
        (frame(types.described(0x99, types.fields(()))), "channel 0 0x99 []"),
        (frame(types.uint(1)), "channel 0 no performative"),
    ],
)
def test_a_frame_is_shown_in_one_line(octets: bytes, text: str) -> None:
    assert show(octets).text == text


def test_an_undecodable_frame_is_shown_as_that() -> None:
    assert "undecodable" in show(frame(b"\x3f")).text


def test_a_login_is_never_shown() -> None:
    init = frame(types.described(0x41, types.fields((types.symbol("PLAIN"), types.binary(b"\0u\0secret")))), sasl=True)
    shown = show(init)
    assert shown.octets == b""
    assert "secret" not in shown.text


def attach(name: str, *rest: bytes) -> bytes:
    source = types.described(0x28, types.fields((types.string("Q"),)))
    head = (types.string(name), types.uint(0), types.boolean(value=True), types.null(), types.null(), source)
    return frame(types.described(0x12, types.fields((*head, *rest))), channel=2)


def test_what_an_engine_has_written_is_whole_frames() -> None:
    frames = [frame(b""), frame(b"\x00\x53\x18\x45", channel=3), frame(bytes(300))]
    assert list(whole(b"".join(frames))) == frames
    assert list(whole(b"")) == []
