"""Tests with invalid bytes and malformed frames: the server closes the connection with the reason."""

from __future__ import annotations

import random

import pytest
from tests.broker.amqp.hostile.peers import closed_with, last_words
from tests.broker.amqp.serving import (
    ATTACH,
    BEGIN,
    CLOSE,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    MODIFIED,
    OPEN,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    Serving,
    performative,
    raw,
    source,
    target,
)

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame

FRAMING = "amqp:connection:framing-error"
DECODE = "amqp:decode-error"
NOT_ALLOWED = "amqp:not-allowed"


def nested(depth: int) -> bytes:
    """Return `depth` nested lists, each in the wide encoding."""
    value = b"\x45"
    for _ in range(depth):
        value = types.compound((value,))
    return value


def described(depth: int) -> bytes:
    """Return `depth` nested described values."""
    return b"\x00\x53\x01" * depth + b"\x40"


def descriptors(depth: int) -> bytes:
    """Return a described value with `depth` nested described descriptors."""
    return b"\x00" * depth + b"\x40" * (depth + 1)


DEEP = {"lists": nested(10_000), "values": described(10_000), "descriptors": descriptors(10_000)}
DEEP_FRAMES = [
    (
        "open-properties",
        lambda deep: performative(OPEN, types.string("x"), *[b""] * 8, types.mapping({types.symbol("k"): deep})),
    ),
    (
        "begin-properties",
        lambda deep: performative(
            BEGIN,
            b"",
            types.uint(0),
            types.uint(1),
            types.uint(1),
            b"",
            b"",
            b"",
            types.mapping({types.symbol("k"): deep}),
        ),
    ),
    (
        "filter",
        lambda deep: performative(
            ATTACH,
            types.string("x"),
            types.uint(1),
            types.boolean(RECEIVER),
            b"",
            b"",
            performative(0x28, types.string("Q"), *[b""] * 6, types.mapping({types.symbol("f"): deep})),
        ),
    ),
    (
        "flow-properties",
        lambda deep: performative(
            FLOW,
            types.uint(0),
            types.uint(1),
            types.uint(0),
            types.uint(1),
            *[b""] * 6,
            types.mapping({types.symbol("k"): deep}),
        ),
    ),
    (
        "transfer-state",
        lambda deep: performative(
            TRANSFER, types.uint(0), types.uint(0), types.binary(b"t"), types.uint(0), b"", b"", b"", deep
        ),
    ),
    (
        "disposition-state",
        lambda deep: performative(DISPOSITION, types.boolean(RECEIVER), types.uint(0), b"", b"", deep),
    ),
    (
        "detach-error",
        lambda deep: performative(DETACH, types.uint(0), b"", performative(0x1D, types.symbol("x"), b"", deep)),
    ),
    ("end-error", lambda deep: performative(END, performative(0x1D, types.symbol("x"), b"", deep))),
    ("close-error", lambda deep: performative(CLOSE, performative(0x1D, types.symbol("x"), b"", deep))),
    ("bare", lambda deep: deep),
]


@pytest.mark.parametrize("depth", DEEP)
@pytest.mark.parametrize(("_where", "wrapped"), DEEP_FRAMES, ids=[name for name, _ in DEEP_FRAMES])
def test_ten_thousand_nested_values_in_a_frame_end_the_connection(
    server: Serving, _where: str, wrapped: object, depth: str
) -> None:
    with Raw(server.port) as client:
        if _where != "open-properties":
            client.open()
            client.begin()
            client.attach("a", SENDER, 0, target=target("Q"))
        assert callable(wrapped)
        client.raw(frame(wrapped(DEEP[depth])))
        assert closed_with(client) in {DECODE, "amqp:resource-limit-exceeded"}


@pytest.mark.parametrize("seed", range(20))
def test_random_octets_are_answered_and_hung_up_on(server: Serving, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  no secret
    for octets in (chance.randbytes(chance.choice((1, 7, 8, 9, 64, 5_000))) for _ in range(10)):
        with Raw(server.port, header=b"") as client:
            client.raw(octets + b"\0" * 8)
            last_words(client)
        with raw(server) as client:
            client.raw(b"\0\0\0" + octets)
            client.socket.shutdown(1)
            last_words(client)


@pytest.mark.parametrize(
    "header",
    [b"HTTP/1.1", b"AMQP\x00\x00\x09\x01", b"AMQP\x02\x01\x00\x00", b"AMQP\x00\x01\x00\x01", b"AMQP\x01\x01\x00\x00"],
)
def test_another_header_is_answered_with_one_of_ours(server: Serving, header: bytes) -> None:
    with Raw(server.port, header=header) as client:
        octets = b""
        while found := client.socket.recv(100):
            octets += found
        assert octets[:8] in {PROTOCOL_HEADER, b"AMQP\x03\x01\x00\x00"}


OPENED = performative(OPEN, types.string("x"))


@pytest.mark.parametrize(
    "octets",
    [
        b"\x00\x00\x00\x07\x02\x00\x00\x00",
        b"\x00\x00\x00\x00\x02\x00\x00\x00",
        b"\x00\x10\x00\x01\x02\x00\x00\x00",
        b"\xff\xff\xff\xff\x02\x00\x00\x00",
        b"\x00\x00\x00\x08\x01\x00\x00\x00\0",
        b"\x00\x00\x00\x0c\x02\x02\x00\x00\0\0\0\0",
        b"\x00\x00\x00\x0c\x02\x01\x00\x00\0\0\0\0",
        b"\x00\x00\x00\x0c\xff\x00\x00\x00\0\0\0\0",
        b"AMQP\x00\x01\x00\x00",
    ],
    ids=["seven", "none", "oversized", "oversized-most", "head-cut", "unknown-type", "sasl", "body-beyond", "a-header"],
)
def test_a_frame_that_is_none_ends_the_connection_with_a_framing_error(server: Serving, octets: bytes) -> None:
    with raw(server) as client:
        client.raw(octets)
        assert closed_with(client) == FRAMING


@pytest.mark.parametrize("cut", [1, 7, 8, 9, 20])
def test_a_client_that_hangs_up_within_a_frame_is_forgotten(server: Serving, cut: int) -> None:
    with raw(server) as client:
        client.raw(frame(performative(ATTACH, types.string("a name"), types.uint(0), types.boolean(SENDER)))[:cut])


@pytest.mark.parametrize(
    "body",
    [
        performative(0x19),
        performative(0x0F),
        performative(0x40),
        performative(0x70),
        types.described(2**64 - 1, b"\x45"),
        b"\x00\xa3\x0famqp:nosuch:list\x45",
        types.string("no performative"),
        b"\x40",
        b"\x00\x53\x14\x40",
        b"\x00\x53\x12\xa1\x01x",
        b"\x00\x53\x11\xc1\x01\x00",
        b"\x00\x53",
        b"\x00",
        b"\x00\x53\x11\xc0\x0a\x05\x40",
        b"\x3f",
        b"\x00\x53\x12\xc0\x01\x00",
    ],
    ids=lambda body: bytes(body).hex()[:30],
)
def test_an_unknown_or_broken_performative_ends_the_connection(server: Serving, body: bytes) -> None:
    with raw(server) as client:
        client.raw(frame(body))
        assert closed_with(client) in {DECODE, FRAMING}


@pytest.mark.parametrize("code", [FLOW, TRANSFER, DISPOSITION, DETACH, ATTACH, END])
@pytest.mark.parametrize("length", [0, 1, 2])
def test_a_performative_without_its_mandatory_fields_ends_the_connection(
    server: Serving, code: int, length: int
) -> None:
    short = {FLOW: 4, TRANSFER: 1, DISPOSITION: 2, DETACH: 1, ATTACH: 3, END: 0}[code]
    with raw(server) as client:
        client.attach("a", SENDER, 0, target=target("Q"))
        client.say(code, *[types.uint(0)] * length)
        client.say(CLOSE)
        said = last_words(client)
        assert said is not None
        if length < short:
            assert said.error()[0] == DECODE


@pytest.mark.parametrize("code", [BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE])
def test_a_client_that_does_not_open_first_is_closed(server: Serving, code: int) -> None:
    fields = {
        BEGIN: (b"", types.uint(0), types.uint(1), types.uint(1)),
        ATTACH: (types.string("a"), types.uint(0), types.boolean(SENDER)),
        FLOW: (types.uint(0), types.uint(1), types.uint(0), types.uint(1)),
        TRANSFER: (types.uint(0), types.uint(0), types.binary(b"0")),
        DISPOSITION: (types.boolean(RECEIVER), types.uint(0)),
        DETACH: (types.uint(0),),
    }.get(code, ())
    with Raw(server.port) as client:
        client.say(code, *fields)
        assert closed_with(client) in {NOT_ALLOWED, "amqp:illegal-state", FRAMING, DECODE}


def test_a_client_that_opens_twice_is_closed(server: Serving) -> None:
    with raw(server) as client:
        client.raw(frame(OPENED))
        assert closed_with(client) in {NOT_ALLOWED, "amqp:illegal-state"}


def test_frames_after_a_close_are_ignored(server: Serving) -> None:
    with raw(server) as client:
        client.say(CLOSE)
        client.say(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1), channel=1)
        last_words(client)


@pytest.mark.parametrize("channel", [1, 255, 256, 65_535])
@pytest.mark.parametrize("code", [ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END])
def test_a_frame_on_a_channel_without_a_session_ends_the_connection(server: Serving, code: int, channel: int) -> None:
    fields = {
        ATTACH: (types.string("a"), types.uint(0), types.boolean(SENDER), b"", b"", source("Q"), target("Q")),
        FLOW: (types.uint(0), types.uint(1), types.uint(0), types.uint(1)),
        TRANSFER: (types.uint(0), types.uint(0), types.binary(b"0")),
        DISPOSITION: (types.boolean(RECEIVER), types.uint(0)),
        DETACH: (types.uint(0),),
    }.get(code, ())
    with raw(server) as client:
        client.say(code, *fields, channel=channel)
        assert closed_with(client) in {NOT_ALLOWED, FRAMING}


def test_a_channel_above_the_agreed_highest_ends_the_connection(server: Serving) -> None:
    with raw(server) as client:
        client.say(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1), channel=256)
        assert closed_with(client) == FRAMING


@pytest.mark.parametrize("size", [65_537, 1_000_000])
@pytest.mark.parametrize("what", ["name", "map", "symbols", "open"])
def test_an_endless_name_or_map_is_refused(server: Serving, what: str, size: int) -> None:
    pairs = types.mapping({types.symbol(f"{number:05}"): types.null() for number in range(size // 8 + 1)})
    attach = (types.uint(0), types.boolean(SENDER), b"", b"", source("Q"), target("Q"))
    said = {
        "name": (ATTACH, (types.string("n" * size), *attach)),
        "map": (ATTACH, (types.string("n"), *attach, b"", b"", types.uint(0), b"", b"", b"", pairs)),
        "symbols": (ATTACH, (types.string("n"), *attach, b"", b"", b"", b"", types.symbols("s" * (size // 5)))),
        "open": (OPEN, (types.string("c" * size),)),
    }[what]
    with Raw(server.port) as client:
        if what != "open":
            client.open()
            client.begin()
        client.say(said[0], *said[1])
        assert closed_with(client) == "amqp:resource-limit-exceeded"


@pytest.mark.parametrize(("last", "taken"), [(0, True), (1, False)], ids=["one", "several"])
def test_much_is_said_of_one_delivery_only(server: Serving, last: int, taken: bool) -> None:
    told = types.mapping({types.symbol(f"{number:04}"): types.uint(1) for number in range(1_000)})
    with raw(server) as client:
        client.settle(0, performative(MODIFIED, b"", b"", told), last=last)
        if taken:
            client.close()
        else:
            assert closed_with(client) == "amqp:resource-limit-exceeded"
