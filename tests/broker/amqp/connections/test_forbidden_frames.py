"""Tests of frames that the protocol forbids: the server ends the connection or session, and serves other clients."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.broker.amqp.connections.probe import probe
from tests.broker.amqp.serving import (
    ATTACH,
    BEGIN,
    CLOSE,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    OPEN,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    Serving,
    message,
    performative,
    raw,
    source,
    target,
)

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame

Trial = Callable[[Raw], None]


def _again(client: Raw) -> None:
    client.say(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1))


_CLOSED: dict[str, tuple[Trial, str]] = {
    "deep values": (lambda c: c.raw(frame(b"\x00\x53\x11\xc0\x05\x01" + b"\x00" * 10_000)), "amqp:decode-error"),
    "deep state": (
        lambda c: c.raw(frame(b"\x00\x53\x15\xd0\x00\x00\x10\x00\x00\x00\x00\x05\x41\x43\x43\x41" + b"\x00" * 4_088)),
        "amqp:decode-error",
    ),
    "garbage": (lambda c: c.raw(b"GET / HTTP/1.1\r\n\r\n"), "amqp:connection:framing-error"),
    "long frame": (lambda c: c.raw(b"\x7f\xff\xff\xff\x02\x00\x00\x00"), "amqp:connection:framing-error"),
    "short frame": (lambda c: c.raw(b"\x00\x00\x00\x07\x02\x00\x00\x00"), "amqp:connection:framing-error"),
    "offset": (lambda c: c.raw(b"\x00\x00\x00\x0c\x01\x00\x00\x00\x00\x00\x00\x00"), "amqp:connection:framing-error"),
    "sasl frame": (
        lambda c: c.raw(frame(types.described(0x41, types.fields(())), sasl=True)),
        "amqp:connection:framing-error",
    ),
    "channel": (lambda c: c.raw(frame(performative(BEGIN), channel=300)), "amqp:connection:framing-error"),
    "begin twice": (_again, "amqp:not-allowed"),
    "open twice": (lambda c: c.say(OPEN, types.string("again")), "amqp:illegal-state"),
    "unknown performative": (lambda c: c.say(0x19), "amqp:decode-error"),
    "no session": (lambda c: c.attach("x", SENDER, target=target("Q"), channel=9, wait=False), "amqp:not-allowed"),
    "end of nothing": (lambda c: c.say(END, channel=9), "amqp:not-allowed"),
    "empty attach": (lambda c: c.say(ATTACH), "amqp:decode-error"),
    "attach without fields": (lambda c: c.raw(frame(types.described(ATTACH, types.string("x")))), "amqp:decode-error"),
    "attach of wrong types": (lambda c: c.say(ATTACH, types.uint(1), types.string("h")), "amqp:decode-error"),
    "no source": (
        lambda c: c.attach("x", RECEIVER, source=performative(0x30), wait=False),
        "amqp:decode-error",
    ),
    "range": (lambda c: c.settle(0, last=0xFFFF_FFFF), "amqp:not-allowed"),
    "backwards": (lambda c: c.settle(5, last=1), "amqp:not-allowed"),
}


@pytest.mark.parametrize("name", _CLOSED)
def test_a_client_that_breaks_the_protocol_is_closed_with_the_reason_and_others_go_on(
    server: Serving, name: str
) -> None:
    trial, condition = _CLOSED[name]
    with raw(server) as client:
        trial(client)
        assert client.wait(CLOSE).error()[0] == condition
        assert client.read() is None
    probe(server)


_ENDED: dict[str, tuple[Trial, str]] = {
    "transfer": (lambda c: c.transfer(0, message("x"), 7), "amqp:session:unattached-handle"),
    "flow": (lambda c: c.credit(7, 1), "amqp:session:unattached-handle"),
    "detach": (lambda c: c.say(DETACH, types.uint(7)), "amqp:session:unattached-handle"),
    "handle in use": (
        lambda c: c.attach("other", SENDER, 0, target=target("Q"), wait=False),
        "amqp:session:handle-in-use",
    ),
}


@pytest.mark.parametrize("name", _ENDED)
def test_a_client_that_breaks_a_session_loses_only_that_session(server: Serving, name: str) -> None:
    trial, condition = _ENDED[name]
    with raw(server, sessions=2) as client:
        client.attach("s", SENDER, 0, target=target("Q"))
        client.wait(FLOW)
        trial(client)
        client.transfer(0, message("lost"), 0)  # the session has ended, so the server ignores it
        assert client.wait(END).error()[0] == condition
        client.say(END)
        client.attach("t", SENDER, 0, target=target("Q"), channel=1)
        client.begin()
        client.attach("u", SENDER, 0, target=target("Q"))


def test_before_an_open_nothing_else_is_said(server: Serving) -> None:
    with Raw(server.port) as client:
        client.say(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1))
        client.wait(OPEN)
        assert client.wait(CLOSE).error()[0] == "amqp:illegal-state"


def test_an_open_comes_on_channel_nought(server: Serving) -> None:
    with Raw(server.port) as client:
        client.say(OPEN, types.string("elsewhere"), channel=1)
        assert client.wait(CLOSE).error()[0] == "amqp:connection:framing-error"


@pytest.mark.parametrize("most", [0, 511, 512])
def test_a_peer_takes_frames_of_512_octets_at_least(server: Serving, most: int) -> None:
    with Raw(server.port) as client:
        client.open("small", b"", types.uint(most))
        client.say(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1))
        if most < 512:
            assert client.wait(CLOSE).error()[0] == "amqp:connection:framing-error"
        else:
            client.wait(BEGIN)


def test_a_transfer_is_not_settled_second_where_its_link_settles_first(server: Serving) -> None:
    transfer = types.uint(0), types.uint(0), types.binary(b"t"), types.uint(0), types.boolean(value=False), b""
    with raw(server) as client:
        client.attach("s", SENDER, target=target("Q"))
        client.wait(FLOW)
        client.say(TRANSFER, *transfer, types.ubyte(0), payload=message("taken"))
        client.wait(DISPOSITION)
        client.say(TRANSFER, *transfer, types.ubyte(1), payload=message("not taken"))
        assert client.wait(END).error()[0] == "amqp:invalid-field"


@pytest.mark.parametrize(("octets", "taken"), [(32, True), (33, False)])
def test_a_resumed_delivery_has_a_tag_of_32_octets_at_most(server: Serving, octets: int, taken: bool) -> None:
    empty = types.null()
    begins = types.uint(0), types.uint(0), types.binary(b"t" * octets), types.uint(0), types.boolean(value=False)
    with raw(server) as client:
        client.attach("s", SENDER, target=target("Q"))
        client.wait(FLOW)
        resume = types.boolean(value=True)
        client.say(TRANSFER, *begins, types.boolean(value=False), empty, empty, resume, payload=message("old"))
        if taken:
            client.wait(DISPOSITION)
        else:
            assert client.wait(END).error()[0] == "amqp:invalid-field"


@pytest.mark.parametrize("wrong", ["lifetime-policy", "supported-dist-modes"])
def test_properties_of_a_node_to_be_made_have_their_types(server: Serving, wrong: str) -> None:
    asked = source(None, b"", b"", b"", types.boolean(value=True), types.mapping({types.symbol(wrong): types.uint(1)}))
    with raw(server) as client:
        client.attach("r", RECEIVER, source=asked, wait=False)
        assert client.wait(CLOSE).error()[0] == "amqp:decode-error"
