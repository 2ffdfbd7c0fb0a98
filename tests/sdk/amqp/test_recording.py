from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER, frame
from assay_sdk.amqp.recording import KEPT, FrameRecording


def described(code: int, *fields: bytes) -> bytes:
    return types.described(code, types.fields(fields))


TRANSFER = described(
    0x14, types.uint(0), types.uint(3), types.binary(b"\x07"), types.null(), types.boolean(value=False)
)
HEADER = described(0x70, types.boolean(value=True), types.ubyte(4))
BODY = types.described(0x77, types.string("the secret of a customer"))
ACCEPTED = described(
    0x15, types.boolean(value=True), types.uint(3), types.null(), types.boolean(value=True), described(0x24)
)


def texts(recording: FrameRecording) -> list[str]:
    return [one.text for one in recording.frames()]


def test_fields_have_their_names_and_a_message_is_shown_without_its_body() -> None:
    recording = FrameRecording()
    recording.sent(5, frame(TRANSFER + HEADER + BODY, channel=2))
    recording.received(9, frame(ACCEPTED))
    sent, received = recording.frames()
    assert (sent.mono_ns, sent.direction, sent.channel) == (5, "out", 2)
    size = len(HEADER + BODY)
    assert sent.text == (
        "transfer(handle=0 delivery-id=3 delivery-tag=07 settled=false)"
        f" message of {size} octets: header(durable=true priority=4)"
    )
    assert (received.mono_ns, received.direction, received.channel) == (9, "in", 0)
    assert received.text == "disposition(role=receiver first=3 settled=true state=accepted)"


def test_a_password_is_not_recorded() -> None:
    recording = FrameRecording()
    init = described(0x41, types.symbol("PLAIN"), types.binary(b"\0guest\0secret"))
    outcome = described(0x44, types.ubyte(0), types.binary(b"v=proof"))
    recording.sent(1, SASL_HEADER)
    recording.sent(2, frame(init, sasl=True))
    recording.received(3, frame(outcome, sasl=True))
    assert texts(recording) == ["header 3.1.0.0", "sasl-init (not shown)", "channel 0 sasl-outcome [0]"]
    assert all(b"secret" not in repr(kept).encode() for kept in recording._kept)
    assert "proof" not in repr(recording._kept)


def test_heartbeats_do_not_push_out_what_matters_and_only_the_last_frames_are_kept() -> None:
    recording = FrameRecording(limit=3)
    for number in range(5):
        recording.sent(number, frame(described(0x13, types.null(), types.uint(number))))
        recording.sent(number, frame(b""))
        recording.received(number, frame(b""))
    assert texts(recording) == [f"flow(incoming-window={number})" for number in (2, 3, 4)]


@given(st.lists(st.integers(1, 40)))
def test_octets_may_be_cut_anywhere(cuts: list[int]) -> None:
    frames = [PROTOCOL_HEADER, frame(TRANSFER + HEADER + BODY), frame(b""), frame(ACCEPTED), frame(TRANSFER)]
    whole, pieces = FrameRecording(), FrameRecording()
    stream = b"".join(frames)
    whole.received(1, stream)
    for cut in cuts:
        pieces.received(1, stream[:cut])
        stream = stream[cut:]
    pieces.received(1, stream)
    assert pieces.frames() == whole.frames()
    assert len(whole.frames()) == 4


def test_a_long_message_takes_little_room_and_keeps_its_size() -> None:
    recording = FrameRecording()
    long = frame(TRANSFER + HEADER + types.described(0x75, types.binary(bytes(100_000))))
    for start in range(0, len(long), 4_096):
        recording.received(1, long[start : start + 4_096])
    recording.received(2, frame(ACCEPTED))
    (transfer, disposition) = recording.frames()
    assert transfer.size == len(long)
    assert transfer.text.endswith("header(durable=true priority=4)")
    assert disposition.text.startswith("disposition")
    assert max(len(one[-1]) for one in recording._kept) <= KEPT


@pytest.mark.parametrize(
    "octets", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\1\2\0\0\0rest", b"\0\0\0\x0b\2\0\0\0\xff\xff\xff"]
)
def test_octets_that_are_no_amqp_are_survived(octets: bytes) -> None:
    recording = FrameRecording()
    recording.received(1, octets)
    recording.received(2, octets)
    assert all("undecodable" in text for text in texts(recording))


def test_a_new_transport_does_not_go_on_with_a_frame_that_broke_off() -> None:
    recording = FrameRecording()
    recording.started()
    recording.received(1, frame(ACCEPTED)[:-3])
    recording.started()
    recording.received(2, PROTOCOL_HEADER)
    assert texts(recording) == ["header 0.1.0.0"]
