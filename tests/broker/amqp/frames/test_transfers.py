"""Tests of the fields in the transfers of one delivery (OASIS AMQP 1.0, 2.7.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.broker.amqp.serving import (
    ACCEPTED,
    BEGIN,
    CLOSE,
    COORDINATOR,
    DECLARED,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    REJECTED,
    SENDER,
    TRANSACTIONAL,
    TRANSFER,
    Raw,
    Serving,
    browse,
    message,
    performative,
    put,
    raw,
    serving,
    target,
)

from assay_broker.amqp.frames import transfers
from assay_broker.amqp.frames.transfers import DeliveryStart
from assay_broker.amqp.limits import AmqpLimits
from assay_sdk.amqp import types

ID, TAG, FORM, NULL = types.uint(0), types.binary(b"t"), types.uint(0), types.null()
YES, NO = types.boolean(value=True), types.boolean(value=False)
INCOMPLETE = [
    pytest.param((NULL, FORM), "no delivery-tag", id="no-tag"),
    pytest.param((TAG, NULL), "no message-format", id="no-format"),
    pytest.param((types.binary(b"t" * 33), FORM), "33 octets", id="long-tag"),
]
CONTRADICTIONS = [
    pytest.param((types.binary(b"u"), b""), "another delivery-tag", id="tag"),
    pytest.param((b"", types.uint(1)), "message-format 1", id="format"),
]


def link(client: Raw, queue: str, handle: int = 0, *, channel: int = 0) -> None:
    client.attach(f"s-{queue}-{handle}", SENDER, handle, target=target(queue), channel=channel)
    client.wait(FLOW)


def told(client: Raw) -> tuple[str, str]:
    """Return the error condition and description of the next Detach of handle 0, and send the client's Detach."""
    seen = client.wait(DETACH)
    assert seen.at(1) is True
    client.say(DETACH, types.uint(0), YES)
    return seen.error(2)


def outcomes(client: Raw, count: int) -> tuple[dict[int, object], str]:
    """Return the outcomes of a number of deliveries, and the error condition of a Detach, in any order."""
    found: dict[int, object] = {}
    condition = ""
    while len(found) < count or not condition:
        seen = client.read()
        assert seen is not None
        if seen.code == DETACH:
            condition = seen.error(2)[0]
        elif seen.code == DISPOSITION:
            last = seen.at(1) if seen.at(2) is None else seen.at(2)
            found |= dict.fromkeys(range(seen.at(1), last + 1), seen.at(4).descriptor)
    return found, condition


# --- the first transfer of a delivery


@pytest.mark.parametrize("flags", [(NO, NO), (NO, YES), (YES, NO), (YES, YES)], ids=["one", "begun", "settled", "both"])
@pytest.mark.parametrize(("fields", "why"), INCOMPLETE)
def test_a_first_transfer_that_lacks_a_field_ends_its_link_and_no_other(
    server: Serving, client: Raw, flags: tuple[bytes, bytes], fields: tuple[bytes, bytes], why: str
) -> None:
    link(client, "FIRST.BAD")
    link(client, "FIRST.GOOD", 1)
    client.say(TRANSFER, types.uint(0), ID, *fields, *flags, payload=message("not taken"))
    condition, text = told(client)
    assert condition == "amqp:invalid-field"
    assert why in text
    assert browse(server, "FIRST.BAD") == 0
    put(client, "FIRST.BAD")
    client.transfer(1, message("taken"), 1)
    assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED


def test_a_refused_delivery_is_rejected_with_the_reason(client: Raw) -> None:
    link(client, "REJECTED")
    client.say(TRANSFER, types.uint(0), ID, NULL, FORM, payload=message("one"))
    seen = client.wait(DISPOSITION)
    assert seen.at(4).descriptor == REJECTED
    assert str(seen.at(4).value[0].value[0]) == "amqp:invalid-field"
    assert told(client)[0] == "amqp:invalid-field"


def test_what_came_before_in_the_same_piece_is_taken_and_what_comes_after_is_not(server: Serving, client: Raw) -> None:
    link(client, "PIECE")
    with client.in_one_piece():
        client.transfer(0, message("before"))
        client.say(TRANSFER, types.uint(0), types.uint(1), NULL, FORM, payload=message("not taken"))
        client.transfer(2, message("after"))
    assert outcomes(client, 3) == ({0: ACCEPTED, 1: REJECTED, 2: REJECTED}, "amqp:invalid-field")
    assert browse(server, "PIECE") == 1


@pytest.mark.parametrize("more", [False, True], ids=["whole", "begun"])
@pytest.mark.parametrize("number", [0, 1], ids=["the-first", "a-later-one"])
def test_a_first_transfer_without_a_delivery_id_ends_its_session_and_no_other(
    server: Serving, client: Raw, number: int, more: bool
) -> None:
    client.begin(1)
    queue = f"NO.ID.{number}.{more}"
    link(client, queue)
    for earlier in range(number):
        client.transfer(earlier, message("earlier"))
        client.wait(DISPOSITION)
    client.say(TRANSFER, types.uint(0), NULL, TAG, FORM, NO, types.boolean(more), payload=message("not taken"))
    seen = client.wait(END)
    assert seen.channel == 0
    assert seen.error()[0] == "amqp:invalid-field"
    assert "delivery-id" in seen.error()[1]
    client.attach("other", SENDER, 0, target=target("NO.ID.OTHER"), channel=1)
    assert browse(server, queue) == number


def test_a_message_of_another_format_is_taken(server: Serving, client: Raw) -> None:
    link(client, "FORMAT")
    client.say(TRANSFER, types.uint(0), ID, TAG, types.uint(7), payload=message("one"))
    assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED
    assert browse(server, "FORMAT") == 1


# --- the further transfers of a delivery


def begin(client: Raw, form: bytes = FORM) -> bytes:
    """Send the first half of a message on handle 0, and return the second half."""
    octets = message("in two halves")
    client.say(TRANSFER, types.uint(0), ID, TAG, form, NO, YES, payload=octets[:9])
    return octets[9:]


@pytest.mark.parametrize("more", [NO, YES], ids=["last", "not-last"])
@pytest.mark.parametrize(("fields", "why"), CONTRADICTIONS)
def test_a_transfer_that_contradicts_the_first_of_its_delivery_ends_its_link_and_no_other(
    server: Serving, client: Raw, fields: tuple[bytes, bytes], why: str, more: bytes
) -> None:
    link(client, "NEXT.BAD")
    link(client, "NEXT.GOOD", 1)
    rest = begin(client)
    client.say(TRANSFER, types.uint(0), ID, *fields, NO, more, payload=rest)
    condition, text = told(client)
    assert condition == "amqp:invalid-field"
    assert why in text
    assert browse(server, "NEXT.BAD") == 0
    client.transfer(1, message("taken"), 1)
    while client.wait(DISPOSITION).at(4).descriptor != ACCEPTED:
        pass


def test_a_peer_that_has_not_heard_of_the_detach_may_end_its_delivery(server: Serving, client: Raw) -> None:
    link(client, "UNHEARD")
    rest = begin(client)
    client.say(TRANSFER, types.uint(0), ID, b"", types.uint(1), NO, YES, payload=rest)
    client.wait(DETACH)
    client.say(TRANSFER, types.uint(0), ID, TAG, FORM, NO, NO, payload=rest)
    client.transfer(1, message("unheard, too"))
    client.say(DETACH, types.uint(0), YES)
    put(client, "UNHEARD.TOO")
    assert browse(server, "UNHEARD") == 0


@pytest.mark.parametrize(
    "fields",
    [(), (ID,), (b"", TAG), (b"", b"", FORM), (ID, TAG, FORM, NO, NO)],
    ids=["none", "id", "tag", "format", "all"],
)
def test_a_transfer_that_follows_may_leave_out_or_repeat_what_the_first_has_said(
    client: Raw, fields: tuple[bytes, ...]
) -> None:
    link(client, "FOLLOWS")
    rest = begin(client)
    client.say(TRANSFER, types.uint(0), *fields, payload=rest)
    assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED
    client.transfer(1, message("the next"))
    assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED


def test_a_transfer_with_another_delivery_id_than_the_first_ends_the_connection(client: Raw) -> None:
    link(client, "OTHER.ID")
    rest = begin(client)
    client.say(TRANSFER, types.uint(0), types.uint(1), payload=rest)
    assert client.wait(CLOSE).error()[0] == "amqp:invalid-field"


def test_deliveries_of_two_links_may_come_in_turns(server: Serving, client: Raw) -> None:
    link(client, "TURNS")
    link(client, "TURNS", 1)
    halves = message("in two halves")
    client.say(TRANSFER, types.uint(0), ID, TAG, FORM, NO, YES, payload=halves[:9])
    client.say(TRANSFER, types.uint(1), types.uint(1), types.binary(b"u"), types.uint(1), NO, YES, payload=halves[:9])
    client.say(TRANSFER, types.uint(0), b"", b"", FORM, payload=halves[9:])
    client.say(TRANSFER, types.uint(1), b"", b"", types.uint(1), payload=halves[9:])
    done: set[int] = set()
    while len(done) < 2:
        seen = client.wait(DISPOSITION)
        done |= {seen.at(1), seen.at(1) if seen.at(2) is None else seen.at(2)}
    assert browse(server, "TURNS") == 2


def test_after_an_aborted_delivery_the_next_one_begins(client: Raw) -> None:
    link(client, "ABORTED")
    begin(client)
    client.say(TRANSFER, types.uint(0), *(b"",) * 4, YES, *(b"",) * 3, YES)
    client.say(TRANSFER, types.uint(0), types.uint(1), NULL, FORM, payload=message("no tag"))
    assert told(client)[0] == "amqp:invalid-field"


def test_an_aborted_delivery_lacks_nothing_either(client: Raw) -> None:
    link(client, "ABORTED.BAD")
    client.say(TRANSFER, types.uint(0), ID, NULL, FORM, NO, NO, *(b"",) * 3, YES)
    assert told(client)[0] == "amqp:invalid-field"


def test_the_same_handle_in_another_session_is_another_link(client: Raw) -> None:
    client.say(BEGIN, b"", types.uint(0), types.uint(1_000), types.uint(1_000), channel=1)
    client.wait(BEGIN)
    link(client, "SESSION.A")
    link(client, "SESSION.B", channel=1)
    rest = begin(client)
    client.say(TRANSFER, types.uint(0), ID, TAG, FORM, payload=message("whole"), channel=1)
    assert client.wait(DISPOSITION).channel == 1
    client.say(TRANSFER, types.uint(0), payload=rest)
    assert client.wait(DISPOSITION).channel == 0


# --- units of work


def declare(client: Raw) -> bytes:
    client.attach("tx", SENDER, 9, target=performative(COORDINATOR))
    client.wait(FLOW)
    client.transfer(0, types.described(0x77, performative(0x31)), 9)
    state = client.wait(DISPOSITION).at(4)
    assert state.descriptor == DECLARED
    return bytes(state.value[0])


def test_a_refused_delivery_fails_its_unit_of_work(client: Raw) -> None:
    unit = declare(client)
    link(client, "UNIT")
    state = performative(TRANSACTIONAL, types.binary(unit))
    fields = types.uint(0), types.uint(1), NULL, FORM, YES, NO, b"", state
    client.say(TRANSFER, *fields, payload=message("not taken"))
    assert told(client)[0] == "amqp:invalid-field"
    client.transfer(2, types.described(0x77, performative(0x32, types.binary(unit), NO)), 9)
    answer = client.wait(DISPOSITION).at(4)
    assert str(answer.value[0].value[0]) == "amqp:transaction:rollback"


def test_a_declare_without_a_tag_ends_the_coordinators_link(client: Raw) -> None:
    client.attach("tx", SENDER, 0, target=performative(COORDINATOR))
    client.wait(FLOW)
    declare_ = types.described(0x77, performative(0x31))
    client.say(TRANSFER, types.uint(0), ID, NULL, FORM, payload=declare_)
    assert told(client)[0] == "amqp:invalid-field"


# --- reading


def _number(value: int | None, width: int) -> bytes:
    if value is None:
        return NULL
    if width == 4:
        return b"\x70" + value.to_bytes(4)
    return b"\x43" if not value and not width else bytes((0x52, value))


NUMBERS = st.builds(_number, st.none() | st.integers(0, 255), st.sampled_from((0, 1, 4)))
FLAGS = st.sampled_from((NULL, b"\x41", b"\x42", b"\x56\x00", b"\x56\x01"))
FIELDS = st.tuples(
    NUMBERS.filter(lambda handle: handle != NULL),
    NUMBERS,
    st.none().map(lambda _: NULL) | st.binary(max_size=40).map(types.binary),
    NUMBERS,
    FLAGS,
    FLAGS,
    st.sampled_from((NULL, b"\x50\x00", b"\x50\x01")),
    st.sampled_from((NULL, performative(ACCEPTED))),
    FLAGS,
    FLAGS,
    FLAGS,
)


@given(FIELDS, st.integers(1, 11), st.binary(max_size=20))
def test_a_transfer_is_read_from_its_octets_as_from_its_decoded_fields(
    fields: tuple[bytes, ...], count: int, payload: bytes
) -> None:
    said = fields[:count]
    data = b"ahead" + types.described(TRANSFER, types.fields(said)) + payload
    read = transfers.scan(data, 5, len(data))
    assert read == transfers.of([types.decode(field) for field in said])
    handle = transfers.handle_of_plain(data, 5, len(data))
    if handle is not None:
        assert read is not None
        assert read.handle == handle
        assert transfers.flaw(read.delivery, None) is None
        assert read.delivery.number is not None
        assert read.delivery.form == 0
        assert (read.more, read.aborted, read.second, read.resume) == (False, False, False, False)


@pytest.mark.parametrize("settled", [(), (NO,), (YES, NO), (NULL, NULL)])
@pytest.mark.parametrize("size", [0, 1, 16, 32])
def test_what_clients_say_of_a_short_message_is_plain(size: int, settled: tuple[bytes, ...]) -> None:
    fields = types.uint(3), types.uint(700), types.binary(b"\n" * size), FORM, *settled
    data = performative(TRANSFER, *fields)
    assert transfers.handle_of_plain(data, 0, len(data)) == 3


@given(st.binary(max_size=40), st.integers(0, 40))
def test_no_octets_are_more_than_unreadable(octets: bytes, end: int) -> None:
    data = performative(TRANSFER)[:3] + octets
    transfers.scan(data, 0, min(end + 3, len(data)))
    transfers.handle_of_plain(data, 0, min(end + 3, len(data)))


def test_a_later_transfer_is_compared_with_the_first_and_not_with_the_one_before() -> None:
    first, empty = DeliveryStart(1, b"t", 0), DeliveryStart(None, None, None)
    assert transfers.flaw(empty, first) is None
    assert transfers.flaw(DeliveryStart(1, b"t", 0), first) is None
    assert transfers.flaw(DeliveryStart(1, b"t", 2), first) is not None


# --- credit


@pytest.mark.parametrize("to", [target("NO.CREDIT"), target(None), performative(COORDINATOR)])
@pytest.mark.parametrize("settled", [False, True])
def test_a_transfer_together_with_the_attach_has_no_credit(
    server: Serving, client: Raw, to: bytes, settled: bool
) -> None:
    link(client, "CREDIT.OTHER", 1)
    with client.in_one_piece():
        client.attach("hasty", SENDER, 0, target=to, wait=False)
        client.transfer(0, message("not taken", to="NO.CREDIT"), settled=settled)
    assert told(client)[0] == "amqp:link:transfer-limit-exceeded"
    assert browse(server, "NO.CREDIT") == 0
    client.transfer(1, message("taken"), 1)
    while client.wait(DISPOSITION).at(4).descriptor != ACCEPTED:
        pass
    put(client, "NO.CREDIT")


def test_one_message_more_than_the_credit_ends_the_link_and_no_other() -> None:
    with serving(limits=AmqpLimits(credit=4)) as server, raw(server, sessions=2) as client:
        link(client, "CREDIT")
        link(client, "CREDIT.OTHER", channel=1)
        with client.in_one_piece():
            for number in range(5):
                client.transfer(number, message(str(number)))
        expected = dict.fromkeys(range(4), ACCEPTED) | {4: REJECTED}
        assert outcomes(client, 5) == (expected, "amqp:link:transfer-limit-exceeded")
        assert browse(server, "CREDIT") == 4
        client.transfer(0, message("taken"), channel=1)
        assert client.wait(DISPOSITION, 1).at(4).descriptor == ACCEPTED
