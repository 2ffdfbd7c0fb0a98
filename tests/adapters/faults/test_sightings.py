"""Tests of `Conversation`, with which the proxy observes an AMQP connection; the frames are made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_adapters.clients.keys import KID
from assay_adapters.faults.sightings import Conversation, Direction, Passing, What, key_in
from assay_sdk.amqp import codec, types
from assay_sdk.amqp.codec import Prefixes
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame
from assay_sdk.model.message import Message

TO_BROKER, TO_CLIENT = Direction.TO_BROKER, Direction.TO_CLIENT
ACCEPTED = types.described(0x24, types.fields(()))
RECEIVED = types.described(0x23, types.fields((types.uint(0), types.ulong(0))))


def message(key: str, body: str = "x") -> bytes:
    return codec.encode(Message(properties={KID: key}, body=body), Prefixes())


def begin(channel: int, remote: int | None = None) -> bytes:
    said = types.null() if remote is None else b"\x60" + remote.to_bytes(2)
    return frame(
        types.described(0x11, types.fields((said, types.uint(0), types.uint(9), types.uint(9)))), channel=channel
    )


def transfer(
    payload: bytes,
    *,
    channel: int = 0,
    handle: int = 0,
    delivery: int | None = 0,
    settled: bool = False,
    more: bool = False,
    aborted: bool = False,
) -> bytes:
    performative = types.described(
        0x14,
        types.fields(
            (
                types.uint(handle),
                types.null() if delivery is None else types.uint(delivery),
                types.binary(b"t"),
                types.uint(0),
                types.boolean(settled),
                types.boolean(more),
                types.null(),
                types.null(),
                types.null(),
                types.boolean(aborted),
            )
        ),
    )
    return frame(performative + payload, channel=channel)


def disposition(
    first: int,
    last: int | None = None,
    *,
    channel: int = 0,
    receiver: bool = True,
    settled: bool = True,
    state: bytes = ACCEPTED,
) -> bytes:
    said = types.null() if last is None else types.uint(last)
    items = (types.boolean(receiver), types.uint(first), said, types.boolean(settled), state)
    return frame(types.described(0x15, types.fields(items)), channel=channel)


@pytest.fixture
def talk() -> Conversation:
    """Return a conversation with a session on the client's channel 3 and the broker's channel 8."""
    conversation = Conversation()
    assert conversation.read(TO_BROKER, PROTOCOL_HEADER) == ()
    assert conversation.read(TO_BROKER, begin(3)) == ()
    assert conversation.read(TO_CLIENT, begin(8, remote=3)) == ()
    return conversation


def test_a_send_and_its_answer_are_seen_across_the_channels_of_both_ends(talk: Conversation) -> None:
    assert talk.read(TO_BROKER, transfer(message("k1"), channel=3, delivery=7)) == (Passing(What.SENT, "k1"),)
    assert talk.read(TO_CLIENT, disposition(7, channel=8)) == (Passing(What.ANSWERED, "k1"),)
    assert talk.read(TO_CLIENT, disposition(7, channel=8)) == ()


def test_a_delivery_and_its_settlement_are_seen(talk: Conversation) -> None:
    assert talk.read(TO_CLIENT, transfer(message("k1"), channel=8, delivery=7)) == (Passing(What.DELIVERED, "k1"),)
    assert talk.read(TO_BROKER, disposition(7, channel=3)) == (Passing(What.SETTLED, "k1"),)


def test_the_two_directions_count_their_deliveries_apart(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("sent"), channel=3, delivery=0))
    talk.read(TO_CLIENT, transfer(message("given"), channel=8, delivery=0))
    assert talk.read(TO_BROKER, disposition(0, channel=3)) == (Passing(What.SETTLED, "given"),)
    assert talk.read(TO_CLIENT, disposition(0, channel=8)) == (Passing(What.ANSWERED, "sent"),)


def test_sessions_count_their_deliveries_apart(talk: Conversation) -> None:
    talk.read(TO_BROKER, begin(4))
    talk.read(TO_CLIENT, begin(1, remote=4))
    talk.read(TO_BROKER, transfer(message("k3"), channel=3))
    talk.read(TO_BROKER, transfer(message("k4"), channel=4))
    assert talk.read(TO_CLIENT, disposition(0, channel=1)) == (Passing(What.ANSWERED, "k4"),)


def test_a_channel_that_is_used_again_is_another_session(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("old"), channel=3))
    talk.read(TO_BROKER, begin(3))
    talk.read(TO_CLIENT, begin(8, remote=3))
    assert talk.read(TO_CLIENT, disposition(0, channel=8)) == ()


def test_a_disposition_ends_every_delivery_of_its_span_even_where_ids_begin_again_at_zero(talk: Conversation) -> None:
    last = (1 << 32) - 1
    for number in (last, 0, 1, 5):
        talk.read(TO_BROKER, transfer(message(f"k{number}"), channel=3, delivery=number))
    answered = talk.read(TO_CLIENT, disposition(last, 1, channel=8))
    assert [passing.key for passing in answered] == [f"k{last}", "k0", "k1"]


def test_a_span_of_all_delivery_ids_costs_no_more_than_what_is_known(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("k"), channel=3, delivery=9))
    assert talk.read(TO_CLIENT, disposition(0, (1 << 32) - 1, channel=8)) == (Passing(What.ANSWERED, "k"),)


def test_received_is_no_answer_yet(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("k"), channel=3))
    assert talk.read(TO_CLIENT, disposition(0, channel=8, settled=False, state=RECEIVED)) == ()
    assert talk.read(TO_CLIENT, disposition(0, channel=8, settled=False)) == (Passing(What.ANSWERED, "k"),)


def test_a_settlement_without_an_outcome_is_an_answer_too(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("k"), channel=3))
    assert talk.read(TO_CLIENT, disposition(0, channel=8, state=types.null())) == (Passing(What.ANSWERED, "k"),)


def test_the_senders_own_settlement_is_nobodys_answer(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("k"), channel=3))
    assert talk.read(TO_BROKER, disposition(0, channel=3, receiver=False)) == ()
    assert talk.read(TO_CLIENT, disposition(0, channel=8)) == ()


def test_a_settled_transfer_has_no_answer(talk: Conversation) -> None:
    assert talk.read(TO_BROKER, transfer(message("k"), channel=3, settled=True)) == (Passing(What.SENT, "k"),)
    assert talk.read(TO_CLIENT, disposition(0, channel=8)) == ()


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_message_in_several_frames_has_passed_with_the_last_of_them(talk: Conversation, cut: int) -> None:
    octets = message("k", "b" * 100)
    assert talk.read(TO_BROKER, transfer(octets[:cut], channel=3, delivery=2, more=True)) == ()
    assert talk.read(TO_BROKER, transfer(octets[cut:50], channel=3, delivery=None, more=True)) == ()
    other = transfer(message("other"), channel=3, handle=1, delivery=3)
    assert talk.read(TO_BROKER, other) == (Passing(What.SENT, "other"),)
    assert talk.read(TO_BROKER, transfer(octets[50:], channel=3, delivery=None)) == (Passing(What.SENT, "k"),)
    assert talk.read(TO_CLIENT, disposition(2, channel=8)) == (Passing(What.ANSWERED, "k"),)


def test_an_aborted_message_has_not_passed(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("k")[:9], channel=3, more=True))
    assert talk.read(TO_BROKER, transfer(b"", channel=3, delivery=None, aborted=True)) == ()
    assert talk.read(TO_BROKER, transfer(message("k2"), channel=3, delivery=1)) == (Passing(What.SENT, "k2"),)


def test_an_outcome_within_a_unit_of_work_is_an_answer(talk: Conversation) -> None:
    talk.read(TO_BROKER, transfer(message("k"), channel=3))
    state = types.described(0x34, types.fields((types.binary(b"unit"), ACCEPTED)))
    assert talk.read(TO_CLIENT, disposition(0, channel=8, state=state)) == (Passing(What.ANSWERED, "k"),)


def test_messages_of_others_are_not_followed(talk: Conversation) -> None:
    octets = codec.encode(Message(body="not the kit's"), Prefixes())
    assert talk.read(TO_BROKER, transfer(octets, channel=3)) == ()
    assert talk.read(TO_CLIENT, disposition(0, channel=8)) == ()


def test_what_no_session_has_is_left_alone() -> None:
    talk = Conversation()
    assert talk.read(TO_BROKER, transfer(message("k"), channel=1)) == ()
    assert talk.read(TO_CLIENT, disposition(0, channel=1)) == ()


@given(st.binary(max_size=60), st.sampled_from(Direction))
def test_no_frame_can_make_it_fail(body: bytes, direction: Direction) -> None:
    talk = Conversation()
    talk.read(TO_BROKER, begin(0))
    talk.read(TO_CLIENT, begin(0, remote=0))
    talk.read(direction, frame(body))
    talk.read(direction, frame(types.described(0x14, types.fields((types.uint(0), types.uint(0)))) + body))


@pytest.mark.parametrize(
    "body", [types.described(0x75, types.binary(b"t/m body")), types.described(0x77, types.string("t/m body"))]
)
def test_a_message_without_properties_is_known_by_its_body(body: bytes) -> None:
    assert key_in(body) == "t/m"


@given(st.binary(max_size=80))
def test_no_octets_can_make_the_search_for_a_kid_fail(octets: bytes) -> None:
    assert key_in(octets) is None
