"""Tests of pipelined frames: Open, Begin and Attach that the engine writes together leave in order."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Never

import pytest
from msgspec.structs import replace
from tests.broker.amqp.serving import (
    ATTACH,
    BEGIN,
    CLOSE,
    DETACH,
    END,
    FLOW,
    OPEN,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    performative,
    put,
    raw,
    serving,
    source,
    target,
)

from assay_broker.amqp.engine import Engine, EngineLink, EngineSession
from assay_broker.amqp.frames import completion
from assay_broker.amqp.frames.attaches import AttachReply
from assay_broker.amqp.frames.completion import NOTHING, Incomplete, OpenReply, completed
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame, whole

_WINDOW = types.uint(0), types.uint(1000), types.uint(1000)


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving() as one:
        yield one


def begin(client: Raw, channel: int = 0) -> None:
    client.say(BEGIN, b"", *_WINDOW, channel=channel)


def leave(client: Raw, handle: int = 0, channel: int = 0) -> None:
    client.say(DETACH, types.uint(handle), types.boolean(value=True), channel=channel)


def all_of(client: Raw) -> list[Seen]:
    """Return all frames up to the server's Close."""
    seen: list[Seen] = []
    while (one := client.read()) is not None:
        seen.append(one)
    return seen


def kinds(seen: list[Seen]) -> list[int]:
    return [one.code for one in seen]


def test_what_comes_in_one_piece_is_answered_in_order_and_in_full(server: Serving) -> None:
    with Raw(server.port) as client:
        with client.in_one_piece():
            client.say(OPEN, types.string("together"))
            begin(client)
            client.attach("gives", SENDER, 3, target=target("Q"), wait=False)
            client.attach("takes", RECEIVER, 5, source=source("Q"), wait=False)
            client.say(CLOSE)
        seen = all_of(client)
    assert [code for code in kinds(seen) if code != FLOW] == [OPEN, BEGIN, ATTACH, ATTACH, CLOSE]
    opened, begun, gives, takes = (one for one in seen if one.code in {OPEN, BEGIN, ATTACH})
    assert "DELAYED_DELIVERY" in [str(one) for one in opened.at(7)]
    assert opened.at(9)["product"] == "Assay reference broker"
    assert begun.at(0) == 0
    assert (gives.at(0), gives.at(2), gives.at(6).value[0]) == ("gives", RECEIVER, "Q")
    assert (takes.at(0), takes.at(2), takes.at(5).value[0]) == ("takes", SENDER, "Q")
    assert [one.at(4) for one in seen if one.code == FLOW] == [gives.at(1)]


def test_begins_and_ends_in_one_segment_are_answered_in_order(server: Serving) -> None:
    with Raw(server.port) as client:
        with client.in_one_piece():
            client.say(OPEN, types.string("brief"))
            for queue in ("FIRST", "SECOND"):
                begin(client)
                client.attach("a", SENDER, target=target(queue), wait=False)
                leave(client)
                client.say(END)
            client.say(CLOSE)
        seen = all_of(client)
    brief = [BEGIN, ATTACH, DETACH, END]
    assert [code for code in kinds(seen) if code != FLOW] == [OPEN, *brief, *brief, CLOSE]
    assert [one.at(6).value[0] for one in seen if one.code == ATTACH] == ["FIRST", "SECOND"]


def test_sessions_that_begin_together_keep_their_links_apart(server: Serving) -> None:
    with Raw(server.port) as client:
        with client.in_one_piece():
            client.say(OPEN, types.string("several"))
            for channel in (4, 7):
                begin(client, channel)
            for channel in (7, 4):
                client.attach(f"of {channel}", SENDER, target=target(f"Q{channel}"), channel=channel, wait=False)
            client.say(CLOSE)
        seen = all_of(client)
    ours = {one.at(0): one.channel for one in seen if one.code == BEGIN}
    assert set(ours) == {4, 7}
    attached = {one.channel: (one.at(0), one.at(6).value[0]) for one in seen if one.code == ATTACH}
    assert attached == {ours[4]: ("of 4", "Q4"), ours[7]: ("of 7", "Q7")}


def test_a_link_that_is_stolen_in_the_same_piece_is_detached_before_the_other_is_attached(server: Serving) -> None:
    with Raw(server.port) as client:
        with client.in_one_piece():
            client.say(OPEN, types.string("thief"))
            begin(client)
            client.attach("a", SENDER, 0, target=target("FIRST"), wait=False)
            client.attach("a", SENDER, 1, target=target("SECOND"), wait=False)
            client.say(CLOSE)
        seen = [one for one in all_of(client) if one.code in {ATTACH, DETACH}]
    first, stolen, second = seen
    assert (first.at(6).value[0], second.at(6).value[0]) == ("FIRST", "SECOND")
    assert stolen.at(0) == first.at(1)
    assert stolen.error(2)[0] == "amqp:link:stolen"


@pytest.mark.parametrize("how", ["stolen", "left", "ended"])
def test_a_link_leaves_its_session_before_it_is_attached_in_one_that_begins_in_the_same_piece(
    server: Serving, how: str
) -> None:
    with raw(server) as client:
        client.attach("a", SENDER, target=target("FIRST"))
        client.wait(FLOW)
        with client.in_one_piece():
            begin(client, 1)
            if how == "left":
                leave(client)
            elif how == "ended":
                client.say(END)
            client.attach("a", SENDER, target=target("SECOND"), channel=1, wait=False)
        seen = [client.read() for _ in range(3)]
    gone = END if how == "ended" else DETACH
    assert [(one.code, one.channel) for one in seen if one is not None] == [(BEGIN, 1), (gone, 0), (ATTACH, 1)]


def test_a_flow_with_echo_in_the_segment_of_its_attach_is_answered_for_that_link(server: Serving) -> None:
    with raw(server) as client:
        with client.in_one_piece():
            client.attach("a", RECEIVER, 0, source=source("Q"), wait=False)
            client.attach("b", RECEIVER, 1, source=source("Q"), wait=False)
            client.say(FLOW, *_WINDOW, types.uint(0), types.uint(1), types.uint(0), types.uint(7), *(b"",) * 2, b"\x41")
        client.wait(ATTACH)
        ours = client.wait(ATTACH).at(1)
        told = client.wait(FLOW)
    assert (told.at(4), told.at(6)) == (ours, 7)


def test_how_another_session_stands_is_told_beside_a_begin(server: Serving) -> None:
    with raw(server) as client:
        with client.in_one_piece():
            begin(client, 1)
            client.say(FLOW, *_WINDOW, types.uint(0), *(b"",) * 5, b"\x41")
        told = [client.read(), client.read()]
    assert {one.code: one.channel for one in told if one is not None} == {BEGIN: 1, FLOW: 0}


def test_messages_follow_the_attach_that_was_said_with_them(server: Serving) -> None:
    with raw(server, container="puts") as client:
        put(client, "Q", "one", "two")
    with Raw(server.port) as client:
        with client.in_one_piece():
            client.say(OPEN, types.string("gets"))
            begin(client)
            client.attach("a", RECEIVER, source=source("Q"), wait=False)
            client.credit(0, 2)
        seen = [client.read() for _ in range(5)]
    assert [one.code for one in seen if one is not None] == [OPEN, BEGIN, ATTACH, TRANSFER, TRANSFER]


def test_what_is_wrong_in_the_same_piece_is_all_that_is_answered(server: Serving) -> None:
    with Raw(server.port) as client:
        with client.in_one_piece():
            client.say(OPEN, types.string("wrong"))
            client.attach("a", SENDER, channel=9, target=target("Q"), wait=False)
        opened, closed = client.wait(OPEN), client.wait(CLOSE)
    assert opened.at(7) is None
    assert closed.error()[0] == "amqp:not-allowed"


class Answering:
    """A handler that answers each begin at once; it expects no other events."""

    def __init__(self) -> None:
        self.engine = Engine(self, max_frame=65_536, channels=8, idle_timeout_ms=0)
        self.attached = 0

    def connection_opened(self) -> None:
        self.engine.open("QM", offered=b"", properties=b"")

    def session_opened(self, session: EngineSession) -> None:
        self.engine.begin(session, 65_536)

    def link_opened(self, link: EngineLink) -> None:
        self.attached += 1
        link.open(AttachReply(name=link.name))

    def __getattr__(self, name: str) -> Never:
        raise AssertionError(f"{name} is not expected")


def test_an_engine_that_goes_before_it_has_said_what_begins_is_gone_at_once() -> None:
    answering = Answering()
    attach = performative(ATTACH, types.string("a"), types.uint(0), types.boolean(SENDER), b"", b"", source("Q"))
    frames = performative(OPEN, types.string("c")), performative(BEGIN, b"", *_WINDOW), attach
    gc.disable()
    try:
        answering.engine.push(PROTOCOL_HEADER + b"".join(map(frame, frames)))
        answering.engine.dispatch()
        gone = weakref.ref(answering.engine)
        answering.engine.free()
        del answering.engine
        assert answering.attached == 1
        assert gone() is None
    finally:
        gc.enable()


# --- fields that the server adds to the engine's frames

_ATTACH = frame(performative(ATTACH, types.string("engine's"), types.uint(6), types.boolean(value=True)), channel=2)
_BEGIN = frame(performative(BEGIN, b"\x60\x00\x02", *_WINDOW), channel=2)
_OF_SESSION = (types.uint(0), types.uint(9), types.uint(0), types.uint(9))


def test_nothing_is_put_into_frames_that_begin_nothing() -> None:
    octets = PROTOCOL_HEADER + frame(performative(CLOSE)) + frame(b"")
    assert completed(octets, NOTHING) == (octets, 0)


def test_an_attach_gets_its_name_its_ends_and_what_goes_with_them() -> None:
    ends = AttachReply(name="peer's", source=source("FROM"), target=target("TO"), offered=types.symbols(("X",)))
    octets, handle = completed(_BEGIN + _ATTACH, Incomplete(None, begins=True, attach=ends))
    begun, attached = whole(octets)
    fields = types.decode(attached[8:]).value  # type: ignore[attr-defined]  # a described list
    assert begun == _BEGIN
    assert handle == 6
    assert attached[6:8] == _ATTACH[6:8]
    assert fields[:3] == ["peer's", 6, True]
    assert (fields[5].value, fields[6].value, fields[11]) == (["FROM"], ["TO"], ["X"])


@pytest.mark.parametrize("long", [False, True])
def test_equal_octets_are_completed_equally(long: bool) -> None:
    ends = AttachReply(name="a", source=source("F" * (600 if long else 1)))
    what = Incomplete(OpenReply(b"", types.mapping({types.symbol("p"): types.string("v")})), begins=True, attach=ends)
    octets = PROTOCOL_HEADER + frame(performative(OPEN, types.string("QM"))) + _BEGIN + _ATTACH
    assert completed(octets, what) == completed(octets, what)
    assert completed(octets.replace(b"QM", b"MQ"), what) != completed(octets, what)


@pytest.mark.parametrize("field", ["name", "source", "target", "properties"])
def test_what_a_peer_can_make_long_is_not_remembered(field: str) -> None:
    said = "\0" * 600 if field == "name" else types.string("x" * 600)
    ends = replace(AttachReply(name="a"), **{field: said})
    before = completion._completed_again.cache_info().currsize
    completed(_BEGIN + _ATTACH, Incomplete(None, begins=True, attach=ends))
    assert completion._completed_again.cache_info().currsize == before


@pytest.mark.parametrize(
    ("flow", "stays"),
    [
        (frame(performative(FLOW, *_OF_SESSION), channel=2), False),
        (frame(performative(FLOW, *_OF_SESSION), channel=1), True),
        (frame(performative(FLOW, *_OF_SESSION, types.uint(0)), channel=2), True),
    ],
    ids=["of the session", "of another", "of a link"],
)
def test_only_the_flow_that_says_the_begin_once_more_is_left_out(flow: bytes, stays: bool) -> None:
    assert completed(_BEGIN + flow, Incomplete(begins=True))[0] == _BEGIN + (flow if stays else b"")
    assert completed(flow + _BEGIN, Incomplete(begins=True))[0] == flow + _BEGIN
