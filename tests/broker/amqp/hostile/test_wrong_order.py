"""Tests with well-formed frames in a wrong order: links, credit, windows, settlements and units of work."""

from __future__ import annotations

import pytest
from tests.broker.amqp.hostile.peers import besieged, closed_with, ended_with, last_words
from tests.broker.amqp.serving import (
    ACCEPTED,
    BEGIN,
    CLOSE,
    COORDINATOR,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    RECEIVER,
    REJECTED,
    SENDER,
    TRANSACTIONAL,
    TRANSFER,
    Raw,
    Serving,
    browse,
    message,
    performative,
    raw,
    source,
    target,
)

from assay_broker.amqp.limits import AmqpLimits
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame

HANDLE_IN_USE = "amqp:session:handle-in-use"
UNATTACHED = "amqp:session:unattached-handle"
UNKNOWN_UNIT = "amqp:transaction:unknown-id"


def test_a_begin_on_a_channel_in_use_ends_the_connection(server: Serving) -> None:
    with raw(server) as client:
        client.say(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1))
        assert closed_with(client) == "amqp:not-allowed"


def test_an_answer_to_a_session_that_nobody_has_begun_ends_the_connection(server: Serving) -> None:
    with raw(server) as client:
        client.say(BEGIN, b"\x60\0\0", types.uint(0), types.uint(1), types.uint(1), channel=1)
        assert closed_with(client) == "amqp:not-allowed"


def test_a_handle_in_use_ends_the_session_and_no_other(server: Serving) -> None:
    with raw(server, sessions=2) as client:
        client.attach("a", SENDER, 0, target=target("Q"))
        client.attach("b", SENDER, 0, target=target("Q"), wait=False)
        assert ended_with(client, END) == HANDLE_IN_USE
        client.attach("c", SENDER, 0, target=target("Q"), channel=1)


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        (DETACH, (types.uint(7),)),
        (TRANSFER, (types.uint(7), types.uint(0), types.binary(b"t"))),
        (FLOW, (types.uint(0), types.uint(1), types.uint(0), types.uint(1), types.uint(7))),
        (DETACH, (types.uint(2**32 - 1),)),
    ],
    ids=["detach", "transfer", "flow", "highest"],
)
def test_a_frame_for_a_handle_without_a_link_ends_the_session(
    server: Serving, code: int, fields: tuple[bytes, ...]
) -> None:
    with raw(server) as client:
        client.say(code, *fields)
        assert ended_with(client, END) == UNATTACHED


def test_a_second_detach_is_one_of_nothing(server: Serving) -> None:
    with raw(server) as client:
        client.attach("a", SENDER, 0, target=target("Q"))
        client.say(DETACH, types.uint(0), types.boolean(value=True))
        client.wait(DETACH)
        client.say(DETACH, types.uint(0), types.boolean(value=True))
        assert ended_with(client, END) == UNATTACHED


@pytest.mark.parametrize("credit", [2**31 - 1, 2**31, 2**32 - 1])
def test_any_credit_that_can_be_said_is_credit(server: Serving, credit: int) -> None:
    with raw(server) as client:
        name = f"CREDIT.{credit}"
        client.attach("in", SENDER, 0, target=target(name))
        client.attach("out", RECEIVER, 1, source=source(name))
        client.credit(1, credit)
        for number in range(3):
            client.transfer(number, message(str(number)), 0, settled=True)
        for _ in range(3):
            client.settle(client.wait(TRANSFER).at(1))
        client.close()


def test_credit_counted_from_the_end_of_the_numbers_does_no_harm(server: Serving) -> None:
    with raw(server) as client:
        client.attach("out", RECEIVER, 1, source=source("COUNTED"))
        for count, credit in ((2**32 - 1, 2**32 - 1), (2**31, 2**31), (0, 2**32 - 1), (2**31 - 1, 1), (0, 0)):
            client.credit(1, credit, count=count)
            client.credit(1, credit, count=count, drain=True)
        client.say(CLOSE)
        last_words(client)


def test_a_senders_own_count_does_not_make_credit(server: Serving) -> None:
    with raw(server) as client:
        client.attach("in", SENDER, 0, target=target("Q"))
        for count in (2**31 - 1, 2**31, 2**32 - 1, 5):
            client.credit(0, 7, count=count)
        client.say(CLOSE)
        last_words(client)


def test_a_producer_that_ignores_credit_is_detached() -> None:
    with besieged(limits=AmqpLimits(credit=10)) as server, raw(server) as client:
        client.attach("in", SENDER, 0, target=target("IGNORED"))
        # All in one write, so that the server does not give more credit in between.
        client.raw(b"".join(transfer(number) for number in range(40)))
        assert ended_with(client, DETACH) == "amqp:link:transfer-limit-exceeded"
        client.raw(b"".join(transfer(number) for number in range(40, 80)))
        client.say(DETACH, types.uint(0), types.boolean(value=True))
        client.attach("again", SENDER, 0, target=target("IGNORED"))
        client.close()


def transfer(number: int, octets: bytes = b"\x00\x53\x75\xa0\x01x", *, settled: bool = False) -> bytes:
    fields = (
        types.uint(0),
        types.uint(number),
        types.binary(str(number).encode()),
        types.uint(0),
        types.boolean(settled),
    )
    return frame(performative(TRANSFER, *fields) + octets)


@pytest.mark.parametrize("frames", [8, 9])
def test_transfers_beyond_the_window_end_the_session_and_no_other(frames: int) -> None:
    limits = AmqpLimits(session_frames=8, max_frame=4_096, credit=1_000)
    with besieged(limits=limits) as server, raw(server, sessions=2) as client:
        client.attach("in", SENDER, 0, target=target("WINDOW"))
        client.attach("other", SENDER, 0, target=target("WINDOW.OTHER"), channel=1)
        client.wait(FLOW, 1)
        client.raw(b"".join(transfer(number, settled=True) for number in range(frames)))
        if frames > limits.session_frames:
            said = client.wait(END)
            assert said.channel == 0
            assert said.error()[0] == "amqp:session:window-violation"
            client.say(END)
        client.transfer(0, message("one"), channel=1)
        assert client.wait(DISPOSITION, 1).at(4).descriptor == ACCEPTED
        client.close()
        assert browse(server, "WINDOW") == limits.session_frames


def test_a_session_that_begins_in_the_same_piece_has_no_window_yet(server: Serving) -> None:
    with Raw(server.port) as client:
        client.open()
        client.begin(1)
        with client.in_one_piece():
            client.say(BEGIN, b"", types.uint(0), types.uint(9), types.uint(9))
            client.attach("in", SENDER, 0, target=target("WINDOW.NONE"), wait=False)
            client.transfer(0, message("one"))
        said = client.wait(END)
        assert said.error()[0] == "amqp:session:window-violation"
        client.say(END)
        client.attach("other", SENDER, 0, target=target("WINDOW.NONE"), channel=1)
        client.close()


def test_as_many_transfers_as_come_at_once_are_taken_while_their_session_has_said_so(server: Serving) -> None:
    with raw(server) as client:
        client.attach("in", SENDER, 0, target=target("WINDOW.FULL"))
        for begin in range(0, 6_000, 250):
            client.wait(FLOW)
            client.raw(b"".join(transfer(number, settled=True) for number in range(begin, begin + 250)))
        client.close()


@pytest.mark.parametrize("number", [5, 0], ids=["one-left-out", "again"])
def test_a_delivery_out_of_its_order_ends_the_connection_with_a_standard_condition(
    server: Serving, number: int
) -> None:
    with raw(server) as client:
        client.attach("a", SENDER, 0, target=target("Q"))
        client.transfer(0, message("one"))
        client.transfer(number, message("two"))
        assert closed_with(client) == "amqp:invalid-field"


@pytest.mark.parametrize("missing", [2, 3], ids=["tag", "format"])
def test_nothing_is_left_of_links_that_end_for_what_their_transfers_lack(server: Serving, missing: int) -> None:
    fields = [types.uint(0), types.uint(0), types.binary(b"t" * 30_000), types.uint(0), b"", types.boolean(value=True)]
    fields[missing] = b""
    for hangs_up in (True, False) * 10:
        with raw(server) as client:
            client.attach("in", SENDER, 0, target=target("LACKS"))
            for number in range(20):  # the client does not read the server's frames
                fields[1] = types.uint(number)
                client.say(TRANSFER, *fields, payload=b"x" * 1_000)
                client.say(TRANSFER, types.uint(0), types.uint(number))
            if not hangs_up:
                assert ended_with(client, DETACH) == "amqp:invalid-field"
                client.close()


def delivered(client: Raw, queue: str) -> int:
    """Send a first message to a queue on link 0, receive it on link 1, and return its delivery id."""
    client.attach("in", SENDER, 0, target=target(queue))
    client.attach("out", RECEIVER, 1, source=source(queue))
    client.credit(1, 10)
    client.transfer(0, message("one"), 0)
    return int(client.wait(TRANSFER).at(1))


def test_settling_twice_is_settling_once(server: Serving) -> None:
    with raw(server) as client:
        number = delivered(client, "TWICE")
        for settled in (False, True, True, False, True):
            client.settle(number, settled=settled)
            client.settle(number, performative(REJECTED), settled=settled)
        client.transfer(1, message("two"), 0)
        client.settle(client.wait(TRANSFER).at(1))
        client.close()


@pytest.mark.parametrize("settled", [False, True])
def test_settling_again_while_the_first_is_being_stored_is_settling_once(server: Serving, settled: bool) -> None:
    with raw(server) as client:
        number = delivered(client, "STORED")
        go_on = server.do(lambda: server.queue_manager.block_writes("STORED"))
        client.settle(number, settled=False)
        client.settle(number, settled=settled)
        client.settle(number, settled=True)
        client.begin(1)  # the answer shows that the settlements have arrived
        server.do(go_on)
        client.transfer(1, message("two"), 0)
        client.settle(client.wait(TRANSFER).at(1))
        client.close()


def test_a_coordinator_that_is_sent_more_than_it_gave_credit_for_is_detached() -> None:
    declare = types.described(0x77, performative(0x31))
    with besieged(limits=AmqpLimits(credit=10)) as server, raw(server) as client:
        client.attach("units", SENDER, 0, target=performative(COORDINATOR))
        client.wait(FLOW)
        client.raw(b"".join(transfer(number, declare) for number in range(40)))
        assert ended_with(client, DETACH) == "amqp:link:transfer-limit-exceeded"
        client.close()


@pytest.mark.parametrize(
    ("first", "last"), [(7, 7), (0, 1_000), (5, 2), (2**32 - 1, 0), (0, 2**31 - 1), (0, 2**32 - 1)]
)
def test_settling_what_was_never_delivered_does_no_harm(server: Serving, first: int, last: int) -> None:
    with raw(server) as client:
        client.attach("out", RECEIVER, 1, source=source("NEVER"))
        client.settle(first, last=last)
        client.say(CLOSE)
        said = last_words(client)
        assert said is not None
        if said.at(0) is not None:
            assert said.error()[0] == "amqp:not-allowed"


def coordinated(client: Raw) -> None:
    client.attach("in", SENDER, 0, target=target("UNITS"))
    client.wait(FLOW)
    client.attach("units", SENDER, 2, target=performative(COORDINATOR))
    client.wait(FLOW)


@pytest.mark.parametrize("unit", [b"", b"nobody's", b"\0" * 8, b"\xff" * 32])
def test_an_unknown_unit_of_work_is_told_so(server: Serving, unit: bytes) -> None:
    with raw(server) as client:
        coordinated(client)
        client.transfer(0, message("x"), 0, state=performative(TRANSACTIONAL, types.binary(unit)))
        assert rejected(client) == UNKNOWN_UNIT
        client.transfer(1, types.described(0x77, performative(0x32, types.binary(unit))), 2)
        assert rejected(client) == UNKNOWN_UNIT
        client.close()


def rejected(client: Raw) -> str:
    state = client.wait(DISPOSITION).at(4)
    while state.descriptor == TRANSACTIONAL:
        state = state.value[1]
    assert state.descriptor == REJECTED
    return str(state.value[0].value[0])


def test_a_delivery_settled_in_an_unknown_unit_of_work_detaches_its_link(server: Serving) -> None:
    with raw(server) as client:
        coordinated(client)
        client.attach("out", RECEIVER, 1, source=source("UNITS"))
        client.credit(1, 1)
        client.transfer(0, message("x"), 0)
        number = client.wait(TRANSFER).at(1)
        client.settle(number, performative(TRANSACTIONAL, types.binary(b"nobody's"), performative(ACCEPTED)))
        assert ended_with(client, DETACH) == UNKNOWN_UNIT
        client.close()


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"\xff" * 20,
        message("neither"),
        types.described(0x77, types.null()),
        types.described(0x77, performative(0x33)),
        types.described(0x77, types.described(0x32, b"\x40")),
        types.described(0x77, performative(0x32, types.uint(1))),
        types.described(0x77, performative(0x31, types.described(1, b"\x40"))),
        types.described(0x77, b"\x00\x53\x24" * 1_000 + b"\x40"),
        types.described(0x77, b"\x00" * 1_000 + b"\x40" * 1_001),
    ],
    ids=lambda octets: bytes(octets)[:12].hex(),
)
def test_what_is_no_declare_and_no_discharge_is_rejected(server: Serving, octets: bytes) -> None:
    with raw(server) as client:
        coordinated(client)
        client.transfer(0, octets, 2)
        assert rejected(client) in {"amqp:decode-error", "amqp:not-implemented", UNKNOWN_UNIT}
        client.transfer(1, types.described(0x77, performative(0x31)), 2)
        assert client.wait(DISPOSITION).at(4).descriptor == 0x33
        client.close()


def test_ten_thousand_nested_values_to_the_coordinator_detach_its_link(server: Serving) -> None:
    with raw(server) as client:
        coordinated(client)
        client.transfer(0, types.described(0x77, b"\x00\x53\x24" * 10_000 + b"\x40"), 2)
        assert ended_with(client, DETACH) == "amqp:decode-error"
        client.close()


def test_ten_thousand_nested_values_in_a_message_are_rejected_or_passed_on(server: Serving) -> None:
    deep = b"\x00\x53\x24" * 10_000 + b"\x40"
    with raw(server) as client:
        client.attach("in", SENDER, 0, target=target("DEEP"))
        annotated = types.described(0x72, types.mapping({types.symbol("k"): deep}))
        for number, octets in enumerate(
            (
                annotated + message("x"),
                types.described(0x77, deep),
                types.described(0x74, types.mapping({types.string("k"): deep})),
            )
        ):
            client.transfer(number, octets, 0)
            assert rejected(client) == "amqp:decode-error"
        client.close()


@pytest.mark.parametrize(
    "octets", [b"", b"\0", b"\xff" * 100, message("x")[:9], message("x") + b"\0", message("x") * 2]
)
def test_a_message_that_cannot_be_read_is_rejected(server: Serving, octets: bytes) -> None:
    with raw(server) as client:
        client.attach("in", SENDER, 0, target=target("BROKEN"))
        client.transfer(0, octets, 0)
        if octets:
            assert rejected(client) == "amqp:decode-error"
        client.close()


def test_an_attach_without_a_target_is_refused(server: Serving) -> None:
    with raw(server) as client:
        client.attach("in", SENDER, 0)
        client.wait(DETACH)
        client.close()


@pytest.mark.parametrize("name", ["", "\0", "a\0b", "\N{GRINNING FACE}" * 20, "n" * 10_000])
def test_a_link_may_have_any_name(server: Serving, name: str) -> None:
    with raw(server) as client:
        said = client.attach(name, SENDER, 0, target=target("NAMED"))
        assert said.at(0) == name
        said = client.attach(name, RECEIVER, 1, source=source("NAMED"))
        assert said.at(0) == name
        client.close()


@pytest.mark.parametrize(
    "properties",
    [
        types.double(1.5),
        b"\x98" + b"\1" * 16,
        b"\x74" + b"\0" * 4,
        b"\x73\0\0\0a",
        types.timestamp(-1),
        types.symbols(("a",)),
        types.described(9, types.double(0.0)),
        types.binary(b"x"),
    ],
    ids=lambda value: bytes(value)[:3].hex(),
)
def test_whatever_stands_in_an_attach_it_is_answered(server: Serving, properties: bytes) -> None:
    node = types.mapping({types.symbol("k"): properties})
    filters = types.mapping({types.symbol("no-local"): types.described(0x468C00000003, properties)})
    with raw(server) as client:
        client.attach("in", SENDER, 0, target=target("PLAIN", b"", b"", b"", b"", node))
        client.attach("out", RECEIVER, 1, source=source("topic://t", b"", b"", b"", b"", node, b"", filters))
        client.close()
