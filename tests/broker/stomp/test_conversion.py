"""Tests of the conversion between STOMP and AMQP, by its table."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, cast

import pytest
from tests.broker.stomp.serving import raw, serving

from assay_broker.amqp.messages import transcoding
from assay_broker.core.effects import Deliver
from assay_broker.stomp.conversion import headers_of, message_of
from assay_broker.stomp.destinations import Destinations
from assay_sdk.amqp import codec, types
from assay_sdk.amqp.sections import (
    APPLICATION_PROPERTIES,
    DATA,
    HEADER,
    MESSAGE_ANNOTATIONS,
    PROPERTIES,
    SEQUENCE,
    VALUE,
)
from assay_sdk.model.message import Address, AddressKind, Message, Property
from assay_sdk.stomp import CLIENT_COMMANDS, ContentError, Frame, FrameReader, Version, encode_frame
from assay_sdk.stomp.messages import TABLE

QUEUE = Address(AddressKind.QUEUE, "Q")
NOW_MS = 1_700_000_000_000

BODIES: dict[str, bytes] = {
    "text": types.described(VALUE, types.string("grün\n:\\\0")),
    "empty text": types.described(VALUE, types.string("")),
    "bytes": types.described(DATA, types.binary(bytes(range(256)))),
    "no bytes": types.described(DATA, types.binary(b"")),
    "two data": types.described(DATA, types.binary(b"ab")) + types.described(DATA, types.binary(b"c")),
    "none": types.described(VALUE, types.null()),
    "map": types.described(
        VALUE,
        types.mapping(
            {
                types.string("a"): types.integer(1),
                types.string("b"): types.compound((types.string("x"), types.boolean(value=True), types.null())),
                types.string("c"): types.double(1.5),
                types.string("d"): types.mapping({types.string("e"): types.long(2**40)}),
            }
        ),
    ),
    "list": types.described(VALUE, types.compound((types.string("x"), types.integer(-1)))),
    "map with octets": types.described(VALUE, types.mapping({types.string("a"): types.binary(b"\0\xff")})),
    "map with numbers": types.described(VALUE, types.mapping({types.integer(1): types.string("x")})),
    "sequence": types.described(SEQUENCE, types.compound((types.integer(1), types.string("x")))),
    "symbol": types.described(VALUE, types.symbol("red")),
    "number": types.described(VALUE, types.long(7)),
    "time": types.described(VALUE, types.timestamp(NOW_MS)),
    "nan": types.described(VALUE, types.compound((types.double(float("nan")),))),
}
PROPERTY_SETS: dict[str, dict[bytes, bytes]] = {
    "no properties": {},
    "texts": {types.string("colour"): types.string("red"), types.string("a:b\n"): types.string("c:d\n\r\\")},
    "types": {
        types.string("int"): types.integer(-7),
        types.string("long"): types.long(2**40),
        types.string("flag"): types.boolean(value=True),
        types.string("double"): types.double(0.1),
        types.string("octets"): types.binary(b"\0\1"),
        types.string("null"): types.null(),
        types.string("digits"): types.string("7"),
    },
}
FIELDS: dict[str, dict[int, bytes]] = {
    "no fields": {},
    "fields": {
        0: types.string("ID:one:1"),
        3: types.string("order"),
        4: types.string("REPLY"),
        5: types.string("ID:zero"),
        6: types.symbol("text/plain;charset=utf-8"),
        9: types.timestamp(NOW_MS - 5),
        10: types.string("group"),
        11: types.uint(3),
    },
    "binary ids": {0: types.binary(b"\1\2"), 5: types.ulong(7), 6: types.symbol("image/png")},
}
HEADERS: dict[str, tuple[bytes, ...]] = {
    "plain": (),
    "durable": (types.boolean(value=True), types.ubyte(9)),
}


def sections(header: tuple[bytes, ...], fields: dict[int, bytes], properties: dict[bytes, bytes], body: bytes) -> bytes:
    """Return the sections of a message."""
    listed = tuple(fields.get(at, types.null()) for at in range(12))
    return b"".join(
        (
            types.described(HEADER, types.fields(header)) if header else b"",
            types.described(PROPERTIES, types.fields(listed)) if fields else b"",
            types.described(APPLICATION_PROPERTIES, types.mapping(properties)) if properties else b"",
            body,
        )
    )


def kinds() -> Iterator[tuple[str, bytes]]:
    """Return the messages of every kind, by name."""
    for (header, one), (field, two), (prop, three), (body, four) in itertools.product(
        HEADERS.items(), FIELDS.items(), PROPERTY_SETS.items(), BODIES.items()
    ):
        yield f"{header}, {field}, {prop}, {body}", sections(one, two, three, four)


KINDS = dict(kinds())


def through(octets: bytes, version: Version = Version.V1_2) -> Message:
    """Return an AMQP message that has gone to STOMP and back, by the code of both servers."""
    came = transcoding.read(octets, QUEUE, now_ms=NOW_MS)
    delivery = Deliver(
        connection=1, link=1, origin=QUEUE, delivery=1, message=came, count=0, redelivered=False, after=None
    )
    headers, body = headers_of(delivery, here=False)
    if came.message_id is not None:
        headers["message-id"] = came.message_id
    reader = FrameReader(CLIENT_COMMANDS)
    reader.version = version
    reader.feed(encode_frame(Frame("SEND", {**headers, "content-length": str(len(body))}, body), version))
    frame = reader.next()
    assert frame is not None
    return message_of(frame, Destinations(lambda _: AddressKind.QUEUE), "ID:new", NOW_MS)


def comparable(message: Message) -> dict[str, Any]:
    """Return the parts of a message that a round trip keeps."""
    octets = transcoding.write(message, count=0, now_ms=NOW_MS)
    found = codec.decode(octets).message
    body = _value(octets)
    if isinstance(body, list) and body and isinstance(body[0], float) and body[0] != body[0]:
        body = "nan"
    return {
        "message_id": message.message_id,
        "correlation_id": message.correlation_id,
        "reply_to": message.reply_to,
        "subject": message.subject,
        "durable": bool(message.durable),
        "priority": message.priority,
        "group": (message.group_id, message.group_sequence),
        "content_type": message.content_type,
        "properties": found.properties,
        "types": [type(value) for value in found.properties.values()],
        "body": body,
        "kind of body": type(body),
    }


def _value(octets: bytes) -> object:
    """Return the value of a body, of any kind."""
    reader = types.Reader(octets)
    data: list[bytes] = []
    while reader.more:
        section = cast("types.Described", reader.value())
        if section.descriptor == DATA:
            data.append(cast("bytes", section.value))
        elif section.descriptor in (VALUE, SEQUENCE):
            return section.value if section.descriptor == VALUE else ("sequence", section.value)
    return b"".join(data)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        *((name, Version.V1_2) for name in KINDS),
        *((name, Version.V1_1) for name in KINDS if name.startswith("plain, no fields")),
    ],
)
def test_a_round_trip_keeps_what_the_table_does_not_name_as_lost(name: str, version: Version) -> None:
    before = transcoding.read(KINDS[name], QUEUE, now_ms=NOW_MS)
    expected = comparable(before)
    if before.message_id is None:
        expected["message_id"] = "ID:new"
    assert comparable(through(KINDS[name], version)) == expected


def test_times_are_kept() -> None:
    octets = b"".join(
        (
            types.described(HEADER, types.fields((types.boolean(value=False), types.null(), types.uint(60_000)))),
            types.described(
                MESSAGE_ANNOTATIONS, types.mapping({types.symbol("x-opt-delivery-delay"): types.long(5_000)})
            ),
            BODIES["text"],
        )
    )
    found = through(octets)
    assert found.expiry_ms == NOW_MS + 60_000
    assert found.delivery_time_ms == NOW_MS + 5_000


def test_the_time_of_expiry_replaces_the_time_to_live() -> None:
    octets = types.described(HEADER, types.fields((types.boolean(value=False), types.null(), types.uint(60_000))))
    assert through(octets + BODIES["text"]).expiry_ms == NOW_MS + 60_000


@pytest.mark.parametrize(
    ("headers", "field", "value"),
    [
        ({"persistent": "true"}, "durable", True),
        ({"persistent": "false"}, "durable", False),
        ({}, "durable", None),
        ({}, "priority", 4),
        ({"priority": "0"}, "priority", 0),
        ({"priority": "as-defined"}, "priority", None),
        ({"JMSPriority": "9"}, "priority", 9),
        ({"expires": str(NOW_MS + 1)}, "expiry_ms", NOW_MS + 1),
        ({"expires": "0"}, "expiry_ms", None),
        ({"expires": str(NOW_MS + 1)}, "ttl_ms", None),
        ({"expires": str(NOW_MS + 1), "amq-msg-type": "list"}, "ttl_ms", 1),
        ({"expiration": "7"}, "expiry_ms", NOW_MS + 7),
        ({"expiration": str(2**63 - 1)}, "expiry_ms", 2**63 - 1),
        ({"expiration": "7"}, "ttl_ms", 7),
        ({"ttl": "7"}, "ttl_ms", 7),
        ({"AMQ_SCHEDULED_DELAY": "7"}, "delivery_time_ms", NOW_MS + 7),
        ({"x-delay": "7"}, "delivery_time_ms", NOW_MS + 7),
        ({"delivery-delay": "-7"}, "delivery_time_ms", None),
        ({"AMQ_SCHEDULED_TIME": "7"}, "delivery_time_ms", 7),
        ({"AMQ_SCHEDULED_TIME": "7", "timestamp": "6"}, "delivery_time_ms", NOW_MS + 1),
        ({"AMQ_SCHEDULED_TIME": "7", "timestamp": "7"}, "delivery_time_ms", 7),
        ({}, "creation_ms", NOW_MS),
        ({"timestamp": "5"}, "creation_ms", 5),
        ({"timestamp": "noon"}, "properties", {"timestamp": "noon"}),
        ({"correlation-id": "c"}, "correlation_id", "c"),
        ({"reply-to": "/topic/a"}, "reply_to", Address(AddressKind.TOPIC, "a")),
        ({"type": "t"}, "subject", "t"),
        ({"JMSXGroupID": "g", "JMSXGroupSeq": "2"}, "group_sequence", 2),
        ({"message-id": "m"}, "message_id", "m"),
        ({}, "message_id", "ID:new"),
        ({"receipt": "r", "transaction": "t", "redelivered": "true", "x": "y"}, "properties", {"x": "y"}),
        ({}, "body", "x"),
        ({"content-length": "1"}, "body", b"x"),
        ({"content-length": "1", "content-type": "text/plain"}, "body", "x"),
        ({"content-length": "1", "content-type": "application/json"}, "body", "x"),
        ({"content-type": "image/png"}, "body", b"x"),
        ({"content-length": "1", "amq-msg-type": "text"}, "body", "x"),
        ({"amq-msg-type": "bytes"}, "body", b"x"),
        ({"destination": "Q", "destination-type": "MULTICAST"}, "to", Address(AddressKind.TOPIC, "Q")),
    ],
)
def test_headers_of_send_set_the_parts_of_the_message(headers: dict[str, str], field: str, value: object) -> None:
    frame = Frame("SEND", {"destination": "/queue/Q", **headers}, b"[]" if "list" in headers.values() else b"x")
    found = message_of(frame, Destinations(lambda _: AddressKind.QUEUE), "ID:new", NOW_MS)
    assert getattr(found, field) == value


def test_text_that_is_not_utf_8_is_octets_unless_the_client_says_text() -> None:
    frame = Frame("SEND", {"destination": "/queue/Q", "content-type": "text/plain"}, b"\xff")
    destinations = Destinations(lambda _: AddressKind.QUEUE)
    assert message_of(frame, destinations, "i", NOW_MS).body == b"\xff"
    with pytest.raises(ContentError):
        message_of(Frame("SEND", {**frame.headers, "amq-msg-type": "text"}, b"\xff"), destinations, "i", NOW_MS)


def test_every_header_of_the_table_is_known() -> None:
    from assay_sdk.stomp.messages.conversion import _HOPS, _SETTERS

    named = {name for row in TABLE for name in row.send if " " not in name}
    assert named <= {*_SETTERS, *_HOPS}
    assert set(_SETTERS) <= named


def test_a_property_of_every_type_has_a_type_in_the_header() -> None:
    from assay_sdk.stomp.messages.conversion import _READERS, _TYPES

    values: tuple[Property, ...] = (True, 7, 0.5, b"x", None)
    for value in values:
        name, shown = _TYPES[type(value)]
        assert _READERS[name](shown(value)) == value


def test_1_0_leaves_out_what_it_cannot_express() -> None:
    with serving() as server, raw(server) as sender, raw(server, Version.V1_0) as receiver:
        receiver.send("SUBSCRIBE", destination="/queue/old")
        sender.frame("SEND", {"destination": "/queue/old", "a:b": "c", "d": "e\nf", "g": "h"}, b"x")
        headers = receiver.read("MESSAGE").headers
        assert headers["g"] == "h"
        assert "d" not in headers
