"""Tests of the encoded driver port: a round trip changes nothing, and malformed bytes are refused."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from assay_sdk import driver
from assay_sdk.driver import DriverEvent
from assay_sdk.local import frames
from assay_sdk.local.frames import (
    FrameError,
    FrameTooLongError,
    FromClient,
    Hello,
    LocalFrameSplitter,
    decode_command,
    decode_event,
    encode_command,
    encode_event,
)
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc, refused
from assay_sdk.model.xa import XaEnd, XaStart, XaVote

QUEUE = Address(AddressKind.QUEUE, "Q")
MESSAGE = Message(
    message_id="ID:1",
    correlation_id="ID:0",
    to=QUEUE,
    reply_to=Address(AddressKind.TEMPORARY_QUEUE, "R"),
    subject="type",
    durable=True,
    priority=9,
    ttl_ms=1000,
    creation_ms=5,
    expiry_ms=1005,
    delivery_time_ms=10,
    group_id="G",
    group_sequence=1,
    properties={"n": 7, "f": 1.5, "b": b"\x00", "none": None},
    content_type="text/plain",
    body="grüße",
    encoded=b"\x00\x53",
)
REFUSED = refused(Mqrc.Q_FULL, "Q is full.", "Q")

COMMANDS: list[FromClient] = [
    Hello(version=1, client_id="c", login=driver.Login("u", "p")),
    driver.OpenSession(1, 1, transacted=True),
    driver.CloseSession(1, 1),
    driver.OpenSender(1, 1, 1, None),
    driver.OpenSender(1, 1, 1, QUEUE, settled=True, dynamic=True),
    driver.OpenReceiver(
        token=1,
        session=1,
        link=1,
        address=QUEUE,
        selector="n > 1",
        no_local=True,
        durability=driver.Durability.DURABLE,
        name="S",
        shared=True,
        settled=True,
        is_global=True,
        timeout_ms=500,
    ),
    driver.CloseLink(1, 1),
    driver.Send(1, 1, MESSAGE, settled=True, unit=3),
    driver.Credit(1, 1, 5),
    driver.Drain(1, 1),
    driver.Settle(1, 1, (1, 2), driver.Outcome.MODIFIED),
    driver.Begin(1, 1, 1, b"\x00\xff", XaStart.RESUME),
    driver.Enlist(1, 1, (1,), 1),
    driver.Commit(1, 1),
    driver.Rollback(1, 1),
    driver.EndXa(1, b"x", XaEnd.SUCCESS),
    driver.Prepare(1, b"x"),
    driver.CommitXa(1, b"x", one_phase=True),
    driver.RollbackXa(1, b"x"),
    driver.RecoverXa(1),
    driver.ForgetXa(1, b"x"),
    driver.Unsubscribe(1, 1, "S", shared=True, is_global=True),
    driver.Cancel(1, 1, "ID:1"),
    driver.Browse(1, 1, QUEUE, "n > 1"),
    driver.Close(1),
]


EVENTS: list[DriverEvent] = [
    driver.Opened(1, frozenset({Capability.BROWSE}), {"product": "p", "n": 1, "is": True}, message_ids=False),
    driver.Done(1),
    driver.Done(1, "text", {"x": 1}),
    driver.Done(1, (b"a", b"b")),
    driver.Done(1, XaVote.PREPARED),
    driver.Done(1, (MESSAGE, Message(body=b"\xff"))),
    driver.Done(1, ()),
    driver.Done(1, "temporary", {"x": 1}, frozenset({Capability.DELIVERY_DELAY})),
    driver.Failed(1, REFUSED),
    driver.Arrived(link=1, delivery=2, epoch=3, message=MESSAGE, count=1, redelivered=True),
    driver.Drained(1),
    driver.LinkClosed(1, None),
    driver.SessionClosed(1, REFUSED),
    driver.Closed(1, REFUSED),
    driver.Frame(
        "in",
        "text",
        b"octets",
        driver.Transfer(MESSAGE, settled=True, link="L", target="Q"),
        (driver.Disposition(MESSAGE, driver.Outcome.REJECTED, settled=True, receiver=True, link="L"),),
    ),
]


def test_every_command_and_event_is_tried() -> None:
    assert {type(command) for command in COMMANDS} == {Hello, *get_args(driver.DriverCommand)}
    assert {type(event) for event in EVENTS} == set(get_args(DriverEvent))


def test_every_optional_field_is_tried_with_another_value_than_its_default() -> None:
    tried: list[Struct] = [MESSAGE, *COMMANDS, *EVENTS]
    assert [field for one in {type(one) for one in tried} for field in _untried(one, tried)] == []


def _default(field: FieldInfo) -> object:
    return field.default_factory() if field.default is NODEFAULT else field.default


def _untried(kind: type[Struct], tried: Iterable[Struct]) -> list[str]:
    values = [one for one in tried if type(one) is kind]
    return [
        f"{kind.__name__}.{field.name}"
        for field in fields(kind)
        if not field.required and all(getattr(one, field.name) == _default(field) for one in values)
    ]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
def test_a_command_comes_out_as_it_went_in(command: FromClient) -> None:
    (body,) = LocalFrameSplitter().feed(encode_command(command))
    assert decode_command(body) == command


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_out_as_it_went_in(event: DriverEvent) -> None:
    (body,) = LocalFrameSplitter().feed(encode_event(event))
    assert decode_event(body) == event


@given(st.lists(st.binary(max_size=50), max_size=8), st.data())
def test_however_a_stream_is_cut_its_frames_are_the_same(bodies: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    splitter = LocalFrameSplitter()
    found: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == bodies


@given(st.binary(max_size=200))
def test_octets_are_a_command_or_an_error_of_ours(octets: bytes) -> None:
    for decode in (decode_command, decode_event):
        with suppress(FrameError):
            decode(octets)


def test_a_frame_longer_than_may_be_is_refused_before_it_has_come() -> None:
    with pytest.raises(FrameTooLongError, match="the limit is 100"):
        LocalFrameSplitter(limit=100).feed((101).to_bytes(4, "big"))


def test_what_is_too_long_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_FRAME", 100)
    with pytest.raises(FrameTooLongError):
        encode_command(driver.Send(1, 1, Message(body="x" * 101)))


def test_a_number_of_more_than_64_bits_has_no_form() -> None:
    with pytest.raises(FrameError, match="Send cannot be encoded"):
        encode_command(driver.Send(1, 1, Message(properties={"n": 1 << 70})))
