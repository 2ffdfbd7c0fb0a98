"""Tests of single fields of OASIS AMQP 1.0, by section, that no other module tests."""

from __future__ import annotations

import pytest
from tests.broker.amqp.serving import (
    ACCEPTED,
    ATTACH,
    BEGIN,
    CLOSE,
    COORDINATOR,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    OPEN,
    RECEIVER,
    RELEASED,
    SENDER,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    browse,
    message,
    performative,
    raw,
    source,
    target,
)

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame

YES, NO = types.boolean(value=True), types.boolean(value=False)
OUTCOMES = ["amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list"]


def attach(client: Raw, *items: bytes) -> Seen:
    client.say(ATTACH, *items)
    return client.wait(ATTACH)


# --- 2.4, 2.7.1: connections


def test_everything_may_be_said_before_anything_is_answered(server: Serving) -> None:
    with Raw(server.port) as client:
        begin = performative(BEGIN, b"", types.uint(0), types.uint(9), types.uint(9))
        link = performative(
            ATTACH,
            types.string("l"),
            types.uint(0),
            NO,
            b"",
            b"",
            source("x"),
            target("PIPED"),
            b"",
            b"",
            types.uint(0),
        )
        detach = performative(DETACH, types.uint(0), YES)
        said = (performative(OPEN, types.string("c")), begin, link, detach, performative(END), performative(0x18))
        client.raw(b"".join(frame(one) for one in said))
        assert [client.wait(code).code for code in (OPEN, BEGIN, ATTACH, DETACH, END, 0x18)] == [
            *(OPEN, BEGIN, ATTACH, DETACH, END, 0x18)
        ]


def test_no_frame_is_longer_than_the_peer_takes(server: Serving) -> None:
    with Raw(server.port) as client:
        client.open("small", b"", types.uint(512))
        client.begin()
        client.attach("s", SENDER, 0, target=target("SMALL"))
        client.transfer(0, message("x" * 2_000))
        client.wait(DISPOSITION)
        client.attach("r", RECEIVER, 1, source=source("SMALL"))
        client.credit(1, 1)
        sizes: list[int] = []
        more = True
        while more:
            seen = client.wait(TRANSFER)
            more = bool(seen.at(5))
            sizes.append(len(seen.payload))
        assert len(sizes) > 3
        assert max(sizes) + 8 < 512
        assert sum(sizes) > 2_000


SELECTORS = [("a = 1", ""), ("a = '" + "x" * 400 + "'", "amqp:frame-size-too-small")]


@pytest.mark.parametrize(("selector", "condition"), SELECTORS, ids=["short", "long"])
def test_a_link_of_which_more_is_to_be_said_than_fits_into_a_frame_is_refused(
    server: Serving, selector: str, condition: str
) -> None:
    filters = types.mapping({types.symbol("s"): types.described(0x468C00000004, types.string(selector))})
    with Raw(server.port) as client:
        client.open("small", b"", types.uint(512))
        client.begin()
        attached = client.attach("r", RECEIVER, 0, source=source("TOO.LONG", *(b"",) * 6, filters))
        if condition:
            assert attached.at(5) is None
            assert client.wait(DETACH).error(2)[0] == condition
            client.say(DETACH, types.uint(0), YES)
        client.attach("s", SENDER, 1, target=target("TOO.LONG"))
        client.wait(FLOW)
        client.transfer(0, message("one"), 1)
        assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED
        client.close()
        assert client.longest <= 512


@pytest.mark.parametrize("role", [SENDER, RECEIVER], ids=["refused", "granted"])
def test_a_link_whose_name_does_not_fit_into_a_frame_closes_the_connection(server: Serving, role: bool) -> None:
    with Raw(server.port) as client:
        client.open("small", b"", types.uint(512))
        client.begin()
        client.attach("r" * 600, role, 0, source=source("TOO.LONG"), wait=False)
        assert client.wait(CLOSE).error()[0] == "amqp:frame-size-too-small"
        assert client.longest <= 512


@pytest.mark.parametrize(("theirs", "agreed"), [(3, 3), (60_000, 255)])
def test_no_more_channels_are_agreed_on_than_either_side_takes(server: Serving, theirs: int, agreed: int) -> None:
    with Raw(server.port) as client:
        seen = client.open("channels", b"", b"", b"\x60" + theirs.to_bytes(2))
        assert min(seen.at(3), theirs) == agreed


def test_half_of_the_idle_time_out_is_told(server: Serving) -> None:
    with Raw(server.port) as client:
        assert client.open("idle").at(4) == 30_000


# --- 2.5, 2.7.2: sessions


def test_a_begin_is_answered_with_the_channel_that_it_came_on(server: Serving) -> None:
    with Raw(server.port) as client:
        client.open()
        client.say(BEGIN, b"", types.uint(5), types.uint(10), types.uint(10), channel=7)
        seen = client.wait(BEGIN)
        assert seen.at(0) == 7
        assert seen.at(2) > 0


def test_a_link_without_a_handle_ends_its_session_and_no_other(server: Serving) -> None:
    with raw(server) as client:
        client.say(BEGIN, b"", types.uint(0), types.uint(10), types.uint(10), types.uint(0), channel=1)
        client.wait(BEGIN)
        client.attach("one", SENDER, 0, target=target("Q"), channel=1)
        client.attach("two", SENDER, 1, target=target("Q"), channel=1, wait=False)
        assert client.wait(END).error()[0] == "amqp:resource-limit-exceeded"
        client.attach("three", SENDER, 0, target=target("Q"))


# --- 2.6, 2.7.3: links


def test_a_sender_counts_from_where_it_says(client: Raw) -> None:
    attach(
        client,
        *(types.string("s"), types.uint(4), NO, types.ubyte(1), b"", b"", target("COUNT"), b"", b"", types.uint(7)),
    )
    seen = client.wait(FLOW)
    assert (seen.at(4), seen.at(5)) == (0, 7)


@pytest.mark.parametrize(
    ("asked", "answered"), [((0, 0), (0, 0)), ((1, 0), (1, 0)), ((0, 1), (0, 1)), ((1, 1), (1, 1)), ((2, 0), (0, 0))]
)
def test_a_receivers_settlement_modes_are_echoed_where_they_can_be_kept(
    client: Raw, asked: tuple[int, int], answered: tuple[int, int]
) -> None:
    modes = (types.ubyte(one) for one in asked)
    seen = attach(client, types.string("r"), types.uint(0), YES, *modes, source("MODES"), target("t"))
    assert (seen.at(3), seen.at(4)) == answered
    assert seen.at(9) == 0


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_a_senders_settlement_mode_is_echoed(client: Raw, mode: int) -> None:
    zero = types.uint(0)
    seen = attach(
        client,
        *(types.string("s"), zero, NO, types.ubyte(mode), types.ubyte(0), source("x"), target("MODES"), b"", b"", zero),
    )
    assert (seen.at(3), seen.at(4)) == (mode, 0)


def test_unsettled_deliveries_of_an_earlier_link_are_not_resumed(client: Raw) -> None:
    unsettled = types.mapping({types.binary(b"t"): performative(0x23, types.uint(0), types.ulong(0))})
    link = (types.string("s"), types.uint(5), NO, types.ubyte(0), b"", source("x"), target("UNSETTLED"))
    seen = attach(client, *link, unsettled, b"", types.uint(0))
    assert seen.at(7) is None
    assert not seen.at(8)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_delivery_that_is_resumed_is_not_taken_for_a_new_one(server: Serving, client: Raw, parts: int) -> None:
    client.attach("s", SENDER, 0, target=target(f"RESUMED.{parts}"))
    client.wait(FLOW)
    octets = message("half of it was sent before")
    size = len(octets) // parts + 1
    for number in range(parts):
        last = number == parts - 1
        client.say(
            TRANSFER,
            *(types.uint(0), types.uint(0), types.binary(b"t"), types.uint(0), NO, NO if last else YES, b"", b"", YES),
            payload=octets[number * size : (number + 1) * size],
        )
    seen = client.wait(DISPOSITION)
    assert (seen.at(1), seen.at(3), seen.at(4)) == (0, True, None)
    client.transfer(1, message("new"))
    assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED
    assert browse(server, f"RESUMED.{parts}") == 1


def test_a_delivery_that_is_aborted_with_more_to_come_is_none(server: Serving, client: Raw) -> None:
    client.attach("s", SENDER, 0, target=target("ABORTED"))
    client.wait(FLOW)
    octets = message("one")
    client.transfer(0, octets[:5], more=True)
    client.transfer(0, b"", more=True, aborted=True)
    client.transfer(1, octets)
    assert client.wait(DISPOSITION).at(1) == 1
    assert browse(server, "ABORTED") == 1


def test_a_delivery_goes_on_without_its_number_and_may_be_settled_at_its_end(server: Serving, client: Raw) -> None:
    client.attach("s", SENDER, 0, target=target("GOES.ON"))
    client.wait(FLOW)
    octets = message("one")
    client.transfer(0, octets[:5], more=True)
    client.say(TRANSFER, types.uint(0), payload=octets[5:])
    assert client.wait(DISPOSITION).at(1) == 0
    client.transfer(1, octets[:5], more=True)
    client.say(TRANSFER, types.uint(0), b"", b"", b"", YES, payload=octets[5:])
    client.transfer(2, octets)
    assert client.wait(DISPOSITION).at(1) == 2
    assert browse(server, "GOES.ON") == 3


def test_a_transfer_over_a_receiving_link_ends_the_session(client: Raw) -> None:
    client.attach("r", RECEIVER, 0, source=source("WRONG.WAY"))
    client.transfer(0, message("one"))
    assert client.wait(END).error()[0] == "amqp:not-allowed"
    client.begin(1)


def test_a_detach_with_an_error_is_a_detach(client: Raw) -> None:
    client.attach("s", SENDER, 0, target=target("Q"))
    client.say(DETACH, types.uint(0), YES, performative(0x1D, types.symbol("amqp:internal-error")))
    seen = client.wait(DETACH)
    assert (seen.at(1), seen.at(2)) == (True, None)


def test_an_end_and_a_close_with_an_error_are_answered(client: Raw) -> None:
    client.say(END, performative(0x1D, types.symbol("amqp:internal-error")))
    assert client.wait(END).at(0) is None
    client.say(0x18, performative(0x1D, types.symbol("somebody:else"), types.string("text")))
    assert client.wait(0x18).at(0) is None
    assert client.read() is None


# --- 3.5: sources and targets


def test_a_source_says_which_outcomes_there_are_and_which_is_the_default(client: Raw) -> None:
    nulls = (b"",) * 7
    wanted = source("OUTCOMES", *nulls, performative(RELEASED), types.symbols(("amqp:accepted:list",)))
    found = attach(client, types.string("r"), types.uint(0), YES, b"", b"", wanted, target("t")).at(5).value
    assert found[8].descriptor == RELEASED
    assert [str(one) for one in found[9]] == OUTCOMES


def test_only_the_filters_that_hold_come_back(client: Raw) -> None:
    filters = types.mapping(
        {
            types.symbol("mine"): types.described(0x468C00000004, types.string("a = 1")),
            types.symbol("unknown"): types.described(99, types.string("x")),
            types.symbol("nothing"): types.null(),
        }
    )
    wanted = source("FILTERS", *(b"",) * 6, filters)
    found = attach(client, types.string("r"), types.uint(0), YES, b"", b"", wanted, target("t")).at(5).value[7]
    assert [str(key) for key in found] == ["mine"]


@pytest.mark.parametrize("policy", [0x2B, 0x2C, 0x2D, 0x2E])
def test_a_dynamic_node_says_how_long_it_lives(client: Raw, policy: int) -> None:
    properties = types.mapping({types.symbol("lifetime-policy"): performative(policy)})
    wanted = source(None, b"", b"", b"", YES, properties)
    found = attach(client, types.string("r"), types.uint(0), YES, b"", b"", wanted, target("t")).at(5).value
    assert found[0]
    assert found[4] is True
    assert found[5]["lifetime-policy"].descriptor == 0x2B


# --- 4: transactions


def test_the_coordinator_says_what_it_can(client: Raw) -> None:
    asked = ("amqp:local-transactions", "amqp:distributed-transactions", "amqp:multi-ssns-per-txn")
    link = (types.string("c"), types.uint(0), NO, b"", b"", source("x"))
    seen = attach(client, *link, performative(COORDINATOR, types.symbols(asked)), b"", b"", types.uint(0))
    assert seen.at(6).descriptor == COORDINATOR
    assert {str(one) for one in seen.at(6).value[0]} == {"amqp:local-transactions", "amqp:multi-ssns-per-txn"}
