"""Tests of the JMS mapping: proton reads our messages, and a round trip does not change a message."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.amqp import codec, sections, types
from assay_sdk.amqp.codec import Prefixes, decode, encode
from assay_sdk.model.message import Address, AddressKind, Message

proton = pytest.importorskip("proton", reason="proton is not installed")

ORDERS = Address(AddressKind.QUEUE, "ORDERS")
MILLISECONDS = st.integers(0, 2**53)
ADDRESSES = st.builds(Address, st.sampled_from(AddressKind), st.text(min_size=1, max_size=20))
PROPERTIES = st.dictionaries(
    st.text(max_size=10),
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=20),
    max_size=5,
)
MESSAGES = st.builds(
    Message,
    message_id=st.none() | st.text(max_size=300),
    correlation_id=st.none() | st.text() | st.uuids().map(lambda u: f"ID:AMQP_UUID:{u}"),
    to=st.none() | ADDRESSES,
    reply_to=st.none() | ADDRESSES,
    subject=st.none() | st.text(),
    durable=st.none() | st.booleans(),
    priority=st.none() | st.integers(0, 9),
    ttl_ms=st.none() | st.integers(1, codec.MAX_TTL_MS),
    creation_ms=st.none() | MILLISECONDS,
    expiry_ms=MILLISECONDS,
    delivery_time_ms=st.none() | MILLISECONDS,
    group_id=st.none() | st.text(),
    group_sequence=st.none() | st.integers(0, 2**32 - 1),
    properties=PROPERTIES,
    content_type=st.none() | st.text("abc/", max_size=20),
    body=st.none() | st.text() | st.binary(max_size=600),
)


@given(MESSAGES)
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    assert decode(encode(message)) == codec.Received(message, 0)


@given(MESSAGES.filter(lambda message: "\0" not in f"{message.to}{message.subject}"))  # proton ends strings at NUL
def test_proton_reads_what_we_write(message: Message) -> None:
    read = proton.Message()
    read.decode(encode(message))
    assert read.durable == bool(message.durable)
    assert read.priority == (4 if message.priority is None else message.priority)
    assert read.subject == message.subject
    assert read.address == (message.to.name if message.to else None)
    assert dict(read.properties or {}) == message.properties
    body = bytes(read.body) if isinstance(read.body, memoryview) else read.body
    assert body == message.body


@given(st.none() | st.text() | st.binary(min_size=1, max_size=300), st.dictionaries(st.text(), st.text(), max_size=3))
def test_we_read_what_proton_writes(body: str | bytes | None, properties: dict[str, str]) -> None:
    sent = proton.Message(
        body=body, properties=properties, inferred=isinstance(body, bytes), durable=True, ttl=1.5, id=uuid.UUID(int=7)
    )
    received = decode(sent.encode(), ORDERS)
    assert received.message.body == body
    assert received.message.properties == properties
    assert received.message.ttl_ms == 1500
    assert received.message.durable is True
    assert received.message.message_id == f"ID:AMQP_UUID:{uuid.UUID(int=7)}"
    assert received.message.to == ORDERS


def test_an_absent_durable_is_not_a_false_one() -> None:
    absent, false = Message(body="x"), Message(body="x", durable=False)
    assert b"\x00\x53\x70" not in encode(absent)
    assert encode(false).startswith(b"\x00\x53\x70\xc0\x02\x01\x42")
    assert decode(encode(absent)).message.durable is None
    assert decode(encode(false)).message.durable is False


@pytest.mark.parametrize(("durable", "priority"), [(None, 7), (False, None), (True, None)])
def test_what_the_destination_defines_is_absent_and_the_rest_is_not(durable: bool | None, priority: int | None) -> None:
    read = decode(encode(Message(body="x", durable=durable, priority=priority))).message
    assert (read.durable, read.priority) == (durable, priority)


def test_a_group_travels_in_its_own_fields_and_ibms_properties_with_the_application_s() -> None:
    properties = {
        "JMS_IBM_Report_Expiration": 14680064,
        "JMS_IBM_MQMD_Report": -1,
        "JMS_IBM_Last_Msg_In_Group": True,
        "JMS_IBM_Retain": 1,
    }
    read = proton.Message()
    read.decode(encode(Message(body="x", group_id="g", group_sequence=2, properties=dict(properties))))
    assert (read.group_id, read.group_sequence) == ("g", 2)
    assert {str(name): value for name, value in read.properties.items()} == properties
    assert {type(value) for value in read.properties.values()} == {proton.int32, bool}, "ints, as JMS has them"


def test_a_delay_travels_as_an_absolute_time() -> None:
    octets = encode(Message(body="x", delivery_time_ms=1_700_000_000_123))
    assert b"x-opt-delivery-time" + types.long(1_700_000_000_123) in octets


def test_the_expiry_is_the_creation_time_plus_the_time_to_live() -> None:
    message = decode(encode(Message(creation_ms=1_000, ttl_ms=500))).message
    assert message.expiry_ms == 1_500


def test_a_time_to_live_alone_counts_from_when_the_message_came_since_it_is_what_was_left_of_it() -> None:
    only_header = types.described(sections.HEADER, types.fields((types.null(), types.null(), types.uint(70))))
    created = types.described(sections.PROPERTIES, types.fields((types.null(),) * 9 + (types.timestamp(30),)))
    assert decode(only_header + created, now_ms=5_000).message.expiry_ms == 5_070
    assert decode(only_header, now_ms=5_000).message.expiry_ms == 5_070
    assert decode(only_header + created).message.expiry_ms is None


def test_a_time_to_live_beyond_the_header_travels_as_expiry_alone() -> None:
    ttl_ms = codec.MAX_TTL_MS + 1
    message = decode(encode(Message(creation_ms=5, ttl_ms=ttl_ms))).message
    assert (message.ttl_ms, message.expiry_ms) == (None, 5 + ttl_ms)


def test_a_body_that_is_no_text_is_kept_whole() -> None:
    octets = proton.Message(body={"a": 1}).encode()
    message = decode(octets).message
    assert (message.body, message.encoded) == (None, octets)
    assert encode(message) == octets


@pytest.mark.parametrize(
    "text",
    ["ID:AMQP_ULONG:18446744073709551615", "ID:AMQP_UUID:00000000-0000-0000-0000-00000000002a", "ID:AMQP_BINARY:00FF"],
)
def test_ids_of_other_types_keep_their_type(text: str) -> None:
    octets = encode(Message(message_id=text))
    assert text.encode() not in octets
    assert decode(octets).message.message_id == text


@pytest.mark.parametrize("text", ["ID:AMQP_ULONG:x", "ID:AMQP_ULONG:-1", "ID:AMQP_UUID:zz", "ID:AMQP_BINARY:0"])
def test_ids_that_only_look_like_other_types_are_text(text: str) -> None:
    assert decode(encode(Message(message_id=text))).message.message_id == text


def test_a_broker_s_prefixes_are_put_in_front_and_taken_off() -> None:
    prefixes = Prefixes("queue://", "topic://")
    octets = encode(Message(to=ORDERS), prefixes)
    assert b"queue://ORDERS" in octets
    assert decode(octets, prefixes=prefixes).message.to == ORDERS


def test_a_property_beyond_64_bits_is_refused_with_its_name() -> None:
    with pytest.raises(codec.EncodeError, match="'big'"):
        encode(Message(properties={"big": 2**63}))


def test_the_delivery_count_is_read() -> None:
    header = types.described(sections.HEADER, types.fields((types.null(),) * 4 + (types.uint(3),)))
    assert decode(header).count == 3


@pytest.mark.parametrize(
    "octets",
    [
        types.string("x"),
        types.described(0x99, types.null()),
        types.described(sections.HEADER, types.string("x")),
        types.described(sections.HEADER, types.fields((types.string("x"),))),
        types.described(sections.HEADER, types.fields((types.null(), types.string("x")))),
        types.described(sections.PROPERTIES, types.fields((types.boolean(value=True),))),
        types.described(sections.PROPERTIES, types.fields((types.double(1.0),))),
        types.described(sections.PROPERTIES, types.fields((types.null(), types.null(), types.uint(1)))),
        types.described(sections.APPLICATION_PROPERTIES, types.fields((types.uint(1),))),
        types.described(sections.DATA, types.string("x")),
    ],
)
def test_malformed_messages_are_said_to_be(octets: bytes) -> None:
    with pytest.raises(types.DecodeError):
        decode(octets)


def test_symbolic_descriptors_are_understood() -> None:
    octets = b"\x00" + types.symbol("amqp:amqp-value:*") + types.string("x")
    assert decode(octets).message.body == "x"


def test_properties_of_types_that_jms_does_not_know_become_text() -> None:
    octets = types.described(
        sections.APPLICATION_PROPERTIES, types.mapping({types.string("u"): b"\x98" + uuid.UUID(int=1).bytes})
    )
    assert decode(octets).message.properties == {"u": str(uuid.UUID(int=1))}
