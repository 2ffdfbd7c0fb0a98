"""Tests of the validator, which checks incoming frames before the engine sees them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.broker.amqp.serving import (
    ATTACH,
    BEGIN,
    CLOSE,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    OPEN,
    TRANSFER,
    performative,
    source,
    target,
)

from assay_broker.amqp.frames.errors import ProtocolError
from assay_broker.amqp.frames.validation import FrameValidator
from assay_broker.amqp.limits import AmqpLimits
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame

OPENING = PROTOCOL_HEADER + frame(performative(OPEN, types.string("c")))
BEGUN = OPENING + frame(performative(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1)))


def attach(name: str, handle: int, *, receives: bool = False) -> bytes:
    return frame(
        performative(
            ATTACH,
            types.string(name),
            types.uint(handle),
            types.boolean(receives),
            b"",
            b"",
            source("Q"),
            target("Q"),
        )
    )


def transfer(handle: int, payload: bytes = b"payload") -> bytes:
    return frame(performative(TRANSFER, types.uint(handle), types.uint(0), types.binary(b"t"), types.uint(0)) + payload)


STREAM = b"".join(
    (
        BEGUN,
        attach("a", 0),
        attach("b", 300, receives=True),
        transfer(0),
        transfer(0, b"\x00" * 5_000),
        frame(b""),
        frame(performative(FLOW, b"", types.uint(1), types.uint(1), types.uint(1), types.uint(300))),
        frame(performative(FLOW, b"", types.uint(1), types.uint(1), types.uint(1))),
        frame(performative(DISPOSITION, types.boolean(value=True), types.uint(0), types.uint(700))),
        frame(performative(DETACH, types.uint(0))),
        attach("a", 0),
        frame(performative(END)),
        frame(performative(CLOSE)),
    )
)


def screen() -> FrameValidator:
    return FrameValidator(AmqpLimits(max_frame=65_536, sessions=4))


def begun() -> FrameValidator:
    """Return a validator that has seen the Begin of a session."""
    found = screen()
    assert found.feed(BEGUN) == BEGUN
    return found


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=20))
def test_a_stream_comes_through_whole_however_it_is_cut(cuts: list[int]) -> None:
    found = screen()
    places = [0, *sorted({*cuts, len(BEGUN)}), len(STREAM)]
    out = b"".join(found.feed(STREAM[begin:end]) for begin, end in itertools.pairwise(places))
    assert out == STREAM
    assert [one.name for one in found.attaches] == ["a", "b", "a"]
    assert list(found.begins) == [0]
    assert not found.faults


@given(st.binary(max_size=200))
def test_random_octets_are_refused_or_wait_for_more(octets: bytes) -> None:
    for stream in (octets, BEGUN + octets):
        with suppress(ProtocolError):
            screen().feed(stream)


@given(st.integers(len(BEGUN), len(STREAM) - 1), st.integers(0, 255))
def test_a_stream_with_a_wrong_octet_is_refused_or_comes_through(place: int, octet: int) -> None:
    with suppress(ProtocolError):
        screen().feed(STREAM[:place] + bytes((octet,)) + STREAM[place + 1 :])


@pytest.mark.parametrize("code", [FLOW, TRANSFER, DISPOSITION, DETACH])
@pytest.mark.parametrize("form", [0xC0, 0xD0, 0x45, 0x40])
def test_a_frame_that_ends_within_its_performative_is_refused_or_left_to_the_engine(code: int, form: int) -> None:
    octets = bytes((0x00, 0x53, code, form)) + bytes(9)
    for length in range(1, len(octets) + 1):
        with suppress(ProtocolError):
            screen().feed(BEGUN + attach("a", 0) + frame(octets[:length]))


def test_of_a_session_that_has_broken_the_protocol_only_the_end_comes_through() -> None:
    found = screen()
    end = frame(performative(END))
    assert found.feed(BEGUN + transfer(5) + transfer(6) + attach("a", 0) + end) == BEGUN + end
    assert [why.name for _, why in found.faults] == ["amqp:session:unattached-handle"]


def test_a_link_that_is_stolen_gets_another_name_in_the_engine() -> None:
    found = screen()
    out = found.feed(BEGUN + attach("a", 0) + attach("a", 1) + attach("a", 2, receives=True))
    assert [one.engine_name for one in found.attaches] == ["a", "a\x1f1", "a"]
    assert [one.name for one in found.attaches] == ["a", "a", "a"]
    assert types.string("a\x1f1") in out


@pytest.mark.parametrize("size", [0, 7, 65_537, 2**32 - 1])
def test_a_frame_of_a_wrong_length_is_refused_before_it_has_come(size: int) -> None:
    with pytest.raises(ProtocolError, match=f"a frame of {size} octets"):
        screen().feed(OPENING + size.to_bytes(4) + b"\x02\x00\x00\x00")


def test_a_transfer_in_a_long_list_is_read_as_well() -> None:
    items = (types.uint(0), types.uint(0), types.binary(b"t"), types.uint(0))
    octets = b"".join(items)
    wide = b"\x00\x53\x14\xd0" + (len(octets) + 4).to_bytes(4) + len(items).to_bytes(4) + octets
    found = begun()
    stream = attach("a", 0) + frame(wide + b"payload" * 100)
    assert found.feed(stream) == stream


def number(form: int, value: int) -> bytes:
    """Return a number in one of its three encodings (`form`); the shortest encoding can only be 0."""
    return {0x43: b"\x43", 0x52: bytes((0x52, value)), 0x70: bytes((0x70,)) + value.to_bytes(4)}[form]


def with_longer_header(octets: bytes) -> bytes:
    """Return a frame with a header that is eight bytes longer; these bytes look like the beginning of a Transfer."""
    ahead = bytes((0x00, 0x53, TRANSFER, 0xC0, 0x00, 0x03, 0x43, 0x43))
    return (len(octets) + 8).to_bytes(4) + b"\x04" + octets[5:8] + ahead + octets[8:]


def whole_frames(stream: bytes) -> Iterator[bytes]:
    """Return the protocol header, and then the frames of a stream one by one."""
    yield stream[:8]
    at = 8
    while at < len(stream):
        end = at + int.from_bytes(stream[at : at + 4])
        yield stream[at:end]
        at = end


NUMBERS = st.builds(number, st.sampled_from((0x43, 0x52, 0x70)), st.integers(0, 2))
MORE_FIELDS = st.sampled_from(
    [(), (b"", types.boolean(value=True)), (types.boolean(value=True),), (b"", b"", types.ubyte(1)), (b"",) * 5]
)
TRANSFERS = st.builds(
    lambda handle, id_, more: (
        performative(TRANSFER, handle, id_, types.binary(b"t"), types.uint(0), *more) + b"payload"
    ),
    NUMBERS,
    NUMBERS,
    MORE_FIELDS,
)
OTHERS = st.one_of(
    st.builds(
        lambda name, handle, receives: attach(name, handle, receives=receives)[8:],
        st.sampled_from("ab"),
        st.integers(0, 2),
        st.booleans(),
    ),
    NUMBERS.map(lambda handle: performative(DETACH, handle)),
    st.sampled_from([performative(END), BEGUN[len(OPENING) + 8 :]]),
)
FRAMES = st.builds(
    lambda octets, channel, longer: (
        with_longer_header(frame(octets, channel=channel)) if longer else frame(octets, channel=channel)
    ),
    TRANSFERS | TRANSFERS | OTHERS,
    st.integers(0, 1),
    st.sampled_from((False, False, False, True)),
)


@given(st.lists(FRAMES, max_size=30))
def test_a_transfer_that_begins_as_the_last_one_did_is_treated_as_if_nothing_was_remembered(
    frames: list[bytes],
) -> None:
    quick, forgetful = screen(), screen()
    stream = BEGUN + attach("a", 0) + b"".join(frames)
    told: list[tuple[bytes, str]] = []
    for one in (quick, forgetful):
        heard, error = b"", ""
        try:
            for piece in whole_frames(stream):
                forgetful._usual = (b"", b"")
                heard += one.feed(piece)
        except ProtocolError as found:
            heard, error = b"", found.text
        told.append((heard, error))
    assert told[0] == told[1]
    assert quick.faults == forgetful.faults


def over(handle: bytes, *more: bytes) -> bytes:
    return frame(performative(TRANSFER, handle, types.uint(0), types.binary(b"t"), types.uint(0), *more) + b"payload")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (over(number(0x70, 0)), over(number(0x70, 1))),
        (over(number(0x52, 0)), over(number(0x52, 1))),
        (over(number(0x43, 0), b"", b"", types.ubyte(0)), over(number(0x43, 0), b"", b"", types.ubyte(1))),
        (with_longer_header(over(number(0x43, 0))), with_longer_header(over(number(0x52, 1)))),
    ],
    ids=["long handles", "short handles", "settled second", "longer headers"],
)
def test_transfers_that_begin_nearly_alike_are_told_apart(first: bytes, second: bytes) -> None:
    found = begun()
    before = attach("a", 0) + first + first
    assert found.feed(before) == before
    assert not found.faults
    assert found.feed(second) == b""
    assert found.faults


@pytest.mark.parametrize("between", [performative(DETACH, types.uint(0)), performative(END)])
def test_what_is_remembered_of_transfers_goes_with_their_link(between: bytes) -> None:
    found = begun()
    before = attach("a", 0) + transfer(0) + transfer(0)
    assert found.feed(before) == before
    again = frame(between) + (BEGUN[len(OPENING) :] if between[2] == END else b"")
    assert found.feed(again + transfer(0) + transfer(0)) == again
    assert [why.name for _, why in found.faults] == ["amqp:session:unattached-handle"]


def test_those_who_attach_with_the_same_words_have_wishes_of_their_own() -> None:
    said = BEGUN + attach("same", 0)
    drained = frame(
        performative(
            FLOW,
            b"",
            *(types.uint(1),) * 3,
            types.uint(0),
            types.uint(0),
            types.uint(1),
            b"",
            types.boolean(value=True),
        )
    )
    first, other = screen(), screen()
    for each in (first, other):
        each.feed(said)
    first.feed(drained)
    assert [each.attaches[0].unreported.drain for each in (first, other)] == [True, False]
    assert first.attaches[0].name == other.attaches[0].name == "same"


def test_what_cannot_be_read_is_refused_each_time_that_it_is_said() -> None:
    nameless = frame(performative(ATTACH, b"", types.uint(0), types.boolean(value=False)))
    for _ in range(2):
        with pytest.raises(ProtocolError, match="without name"):
            screen().feed(BEGUN + nameless)


def test_a_header_comes_in_pieces() -> None:
    found = screen()
    assert found.feed(OPENING[:3]) == b""
    assert found.feed(OPENING[3:]) == OPENING


def test_after_our_close_only_the_peers_own_close_comes_through() -> None:
    found = screen()
    assert found.feed(BEGUN) == BEGUN
    found.await_close()
    farewell = frame(performative(CLOSE))
    assert found.feed(attach("a", 0) + transfer(7) + attach("b", 0) + frame(b"") + farewell) == frame(b"") + farewell
    assert not found.attaches
    assert not found.faults


def test_a_peer_that_opens_after_our_close_is_heard() -> None:
    found = screen()
    found.await_close()
    assert found.feed(BEGUN) == OPENING


def test_transfers_are_counted_where_they_may_be_too_many() -> None:
    found = FrameValidator(AmqpLimits(max_frame=65_536, sessions=4, session_frames=6))
    found.feed(BEGUN)
    found.feed(attach("a", 0) + attach("b", 1))
    assert not found.may_exceed_windows(transfer(0) * 3)
    assert found.may_exceed_windows(transfer(0) * 4)
    found.limit({0: 6})
    assert found.feed(transfer(0) * 3 + transfer(1) * 3) == transfer(0) * 3 + transfer(1) * 3
    found.limit({0: 6})
    assert found.feed(transfer(0) * 3 + transfer(1) * 4) == transfer(0) * 3 + transfer(1) * 3
    assert [why.name for _, why in found.faults] == ["amqp:session:window-violation"]


def test_one_long_frame_is_no_crowd() -> None:
    found = FrameValidator(AmqpLimits(max_frame=65_536, sessions=4, session_frames=6))
    found.feed(BEGUN)
    found.feed(attach("a", 0))
    assert not found.may_exceed_windows(transfer(0, b"x" * 60_000))


def test_what_is_left_of_the_last_octets_counts_in_a_crowd() -> None:
    found = FrameValidator(AmqpLimits(max_frame=65_536, sessions=4, session_frames=6))
    found.feed(BEGUN)
    found.feed(attach("a", 0) + transfer(0)[:9])
    assert not found.may_exceed_windows(transfer(0)[9:] + transfer(0) * 2)
    assert found.may_exceed_windows(transfer(0)[9:] + transfer(0) * 3)
