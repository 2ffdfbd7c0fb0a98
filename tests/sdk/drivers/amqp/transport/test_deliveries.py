"""Tests of deliveries and dispositions in frames made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.amqp import codec, types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame
from assay_sdk.driver import Disposition, Outcome
from assay_sdk.drivers.amqp.transport.deliveries import Deliveries
from assay_sdk.model.message import Message

OURS, THEIRS = 3, 8
"""The channels of one session: ours and the broker's."""
LINK = "private:T"
ACCEPTED = types.described(0x24, types.fields(()))
RECEIVED = types.described(0x23, types.fields((types.uint(0), types.ulong(0))))


def message(body: str = "x") -> bytes:
    return codec.encode(Message(message_id="ID:1", properties={"k": "v"}, body=body))


def begin(channel: int, remote: int | None = None) -> bytes:
    said = types.null() if remote is None else b"\x60" + remote.to_bytes(2)
    return frame(types.described(0x11, types.fields((said, types.uint(0)))), channel=channel)


def attach(name: str, handle: int, *, channel: int) -> bytes:
    return frame(types.described(0x12, types.fields((types.string(name), types.uint(handle)))), channel=channel)


def transfer(
    payload: bytes,
    number: int | None = 0,
    *,
    channel: int,
    handle: int = 0,
    settled: bool = False,
    more: bool = False,
    aborted: bool = False,
) -> bytes:
    flags = (settled, more, None, None, None, aborted)
    rest = (types.null() if flag is None else types.boolean(flag) for flag in flags)
    identity = types.null() if number is None else types.uint(number)
    fields = types.fields((types.uint(handle), identity, types.binary(b"t"), types.uint(0), *rest))
    return frame(types.described(0x14, fields) + payload, channel=channel)


def disposition(
    first: int,
    last: int | None = None,
    *,
    channel: int,
    receiver: bool = True,
    settled: bool = True,
    state: bytes = ACCEPTED,
) -> bytes:
    said = types.null() if last is None else types.uint(last)
    fields = types.fields((types.boolean(receiver), types.uint(first), said, types.boolean(settled), state))
    return frame(types.described(0x15, fields), channel=channel)


@pytest.fixture
def seen() -> Deliveries:
    """Provide a connection with one session, and links in both directions, each with handle 0."""
    deliveries = Deliveries()
    for direction, octets in (
        ("out", PROTOCOL_HEADER),
        ("out", begin(OURS)),
        ("in", begin(THEIRS, OURS)),
        ("in", attach(LINK, 0, channel=THEIRS)),
    ):
        assert deliveries.feed(direction, octets) == (None, ())  # type: ignore[arg-type]  # each is one of the literals
    return deliveries


def said(told: tuple[Disposition, ...]) -> list[tuple[object, Outcome | None, bool, bool, str]]:
    return [(one.message.body, one.outcome, one.settled, one.receiver, one.link) for one in told]


def test_what_comes_is_shown_with_the_name_of_its_link_and_then_what_the_client_says_of_it(seen: Deliveries) -> None:
    shown, _ = seen.feed("in", transfer(message("m"), 7, channel=THEIRS))
    assert shown is not None
    assert (shown.message.body, shown.settled, shown.link) == ("m", False, LINK)
    _, told = seen.feed("out", disposition(7, channel=OURS))
    assert said(told) == [("m", Outcome.ACCEPTED, True, True, LINK)]
    assert seen.feed("out", disposition(7, channel=OURS)) == (None, ())


def test_an_outcome_that_is_not_settled_is_followed_by_the_settlement_of_the_other_end(seen: Deliveries) -> None:
    seen.feed("in", transfer(message("m"), channel=THEIRS))
    _, told = seen.feed("out", disposition(0, channel=OURS, settled=False))
    assert said(told) == [("m", Outcome.ACCEPTED, False, True, LINK)]
    _, told = seen.feed("in", disposition(0, channel=THEIRS, receiver=False))
    assert said(told) == [("m", Outcome.ACCEPTED, True, False, LINK)]
    assert seen.feed("out", disposition(0, channel=OURS)) == (None, ())


def test_the_brokers_answer_to_a_send_is_told(seen: Deliveries) -> None:
    seen.feed("out", transfer(message("m"), channel=OURS))
    _, told = seen.feed("in", disposition(0, channel=THEIRS, state=types.described(0x25, types.fields(()))))
    assert said(told) == [("m", Outcome.REJECTED, True, True, "")]


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        (types.described(0x26, types.fields(())), Outcome.RELEASED),
        (types.described(0x27, types.fields(())), Outcome.MODIFIED),
        (b"\x00\xa3\x12amqp:accepted:list\x45", Outcome.ACCEPTED),
        (types.null(), None),
        (RECEIVED, None),
    ],
)
def test_a_settlement_is_told_with_its_outcome_or_without(
    seen: Deliveries, state: bytes, outcome: Outcome | None
) -> None:
    seen.feed("in", transfer(message("m"), channel=THEIRS))
    _, told = seen.feed("out", disposition(0, channel=OURS, state=state))
    assert said(told) == [("m", outcome, True, True, LINK)]


def test_received_is_no_outcome_and_a_settled_transfer_has_none(seen: Deliveries) -> None:
    seen.feed("in", transfer(message("m"), channel=THEIRS))
    assert seen.feed("out", disposition(0, channel=OURS, settled=False, state=RECEIVED)) == (None, ())
    seen.feed("in", transfer(message("once"), 1, channel=THEIRS, settled=True))
    assert seen.feed("out", disposition(1, channel=OURS)) == (None, ())


def test_directions_and_sessions_count_their_deliveries_apart(seen: Deliveries) -> None:
    seen.feed("out", begin(4))
    seen.feed("in", begin(1, 4))
    seen.feed("in", transfer(message("given"), channel=THEIRS))
    seen.feed("out", transfer(message("sent"), channel=OURS))
    seen.feed("in", transfer(message("other"), channel=1))
    assert [one.message.body for one in seen.feed("in", disposition(0, channel=THEIRS))[1]] == ["sent"]
    assert [one.message.body for one in seen.feed("out", disposition(0, channel=4))[1]] == ["other"]
    assert [one.message.body for one in seen.feed("out", disposition(0, channel=OURS))[1]] == ["given"]


def test_a_disposition_is_about_every_delivery_of_its_span_even_where_ids_begin_again_at_zero(
    seen: Deliveries,
) -> None:
    last = (1 << 32) - 1
    for number in (last, 0, 1, 5):
        seen.feed("in", transfer(message(str(number)), number, channel=THEIRS))
    _, told = seen.feed("out", disposition(last, 1, channel=OURS))
    assert [one.message.body for one in told] == [str(last), "0", "1"]


def test_a_message_larger_than_a_frame_is_shown_once_when_its_last_frame_has_passed(seen: Deliveries) -> None:
    octets = message("x" * 100)
    parts = octets[:40], octets[40:80], octets[80:]
    assert seen.feed("out", transfer(parts[0], channel=OURS, settled=True, more=True)) == (None, ())
    assert seen.feed("out", transfer(octets, 1, channel=OURS, handle=1))[0] is not None
    assert seen.feed("out", transfer(parts[1], None, channel=OURS, more=True)) == (None, ())
    shown, _ = seen.feed("out", transfer(parts[2], None, channel=OURS))
    assert shown is not None
    assert (shown.message.message_id, shown.message.body, shown.settled) == ("ID:1", "x" * 100, True)


def test_an_aborted_delivery_shows_none_and_leaves_nothing_behind(seen: Deliveries) -> None:
    assert seen.feed("out", transfer(message(), channel=OURS, more=True)) == (None, ())
    assert seen.feed("out", transfer(b"", None, channel=OURS, aborted=True)) == (None, ())
    shown, _ = seen.feed("out", transfer(message(), 1, channel=OURS))
    assert shown is not None
    assert (shown.message.body, shown.settled) == ("x", False)


@pytest.mark.parametrize(
    "octets",
    [
        PROTOCOL_HEADER,
        frame(b""),
        frame(b"\x00\x53\x13\x45"),
        frame(b"\x00\x53\x14\x45", channel=OURS),
        frame(b"\x00\x53\x15\x45", channel=OURS),
        frame(b"\x00\x53\x14\x43", channel=OURS),
        frame(b"\x00\x53\x14\xc0\x03\x02\x43\x43\x00\x53\x77\xa1\xff", channel=OURS),
        frame(b"\x3f"),
        transfer(message(), channel=77),
    ],
)
def test_half_a_message_and_other_frames_show_none(seen: Deliveries, octets: bytes) -> None:
    assert seen.feed("out", octets) == (None, ())


@given(st.lists(st.tuples(st.sampled_from(("in", "out")), st.integers(0, 9), st.binary(max_size=40))))
def test_no_octets_of_a_peer_end_the_trace(parts: list[tuple[str, int, bytes]]) -> None:
    seen = Deliveries()
    seen.feed("out", begin(0))
    for direction, code, body in parts:
        seen.feed(direction, frame(b"\x00\x53" + bytes((0x10 + code,)) + body))  # type: ignore[arg-type]  # each is one of the literals
