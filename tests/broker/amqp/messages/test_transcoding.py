"""Tests of messages on their way through the server: it decodes the fields of rules and keeps all other bytes."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from assay_broker.amqp.messages import transcoding
from assay_broker.amqp.messages.transcoding import pieces, read, write
from assay_sdk.amqp import bodies, codec, sections, types
from assay_sdk.amqp.types import DecodeError
from assay_sdk.model.message import Address, AddressKind, Body, Message

ORDERS = Address(AddressKind.QUEUE, "ORDERS")
NEWS = Address(AddressKind.TOPIC, "NEWS")
NOW = 1_790_000_000_000
MILLISECONDS = st.integers(0, 2**53)
ADDRESSES = st.builds(Address, st.sampled_from(AddressKind), st.text(min_size=1, max_size=20))
PROPERTIES = st.dictionaries(
    st.text(max_size=10),
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    max_size=5,
)
MESSAGES = st.builds(
    Message,
    message_id=st.none() | st.text(max_size=300),
    correlation_id=st.none() | st.text() | st.uuids().map(lambda u: f"ID:AMQP_UUID:{u}"),
    to=ADDRESSES,
    reply_to=st.none() | ADDRESSES,
    subject=st.none() | st.text(),
    durable=st.none() | st.booleans(),
    priority=st.none() | st.integers(0, 9),
    ttl_ms=st.none() | st.integers(1, codec.MAX_TTL_MS),
    creation_ms=st.none() | MILLISECONDS,
    expiry_ms=MILLISECONDS.filter(bool),
    delivery_time_ms=st.none() | MILLISECONDS,
    group_id=st.none() | st.text(),
    group_sequence=st.none() | st.integers(0, 2**32 - 1),
    properties=PROPERTIES,
    content_type=st.none() | st.text("abc/", max_size=20),
    body=st.none() | st.text() | st.binary(max_size=600),
)


def section(code: int, *values: bytes) -> bytes:
    return types.described(code, types.fields(values))


def mapped(code: int, **values: bytes) -> bytes:
    name = types.string if code == sections.APPLICATION_PROPERTIES else types.symbol
    return types.described(code, types.mapping({name(key.replace("_", "-")): value for key, value in values.items()}))


NULL = types.null()
BODY = types.described(sections.DATA, types.binary(b"hello"))


def came(octets: bytes, link: Address | None = ORDERS) -> Message:
    return read(octets, link, now_ms=NOW)


# --- decoding


@given(MESSAGES)
def test_a_message_is_read_as_the_codec_reads_it_without_its_body(message: Message) -> None:
    octets = codec.encode(message)
    expected = codec.decode(octets, ORDERS).message
    found = came(octets)
    assert found.encoded == octets
    assert found.body is None
    assert bodies.body(octets) == message.body
    if message.ttl_ms and message.expiry_ms:
        assert found.expiry_ms == min(message.expiry_ms, NOW + message.ttl_ms)
        expected = structs.replace(expected, expiry_ms=found.expiry_ms)
    for field in Message.__struct_fields__:
        if field not in {"body", "encoded"}:
            assert getattr(found, field) == getattr(expected, field), field


def test_a_priority_that_nobody_names_is_four_and_may_be_left_to_the_destination() -> None:
    left = mapped(sections.MESSAGE_ANNOTATIONS, x_opt_mq_priority=types.byte(-1))
    assert came(BODY).priority == 4
    assert came(left + BODY).priority is None
    assert came(section(sections.HEADER, NULL, types.ubyte(7)) + left + BODY).priority == 7


@pytest.mark.parametrize("durable", [None, False, True])
def test_an_absent_durable_is_told_from_a_false_one(durable: bool | None) -> None:
    value = NULL if durable is None else types.boolean(durable)
    assert came(section(sections.HEADER, value, types.ubyte(4)) + BODY).durable is durable
    assert came(BODY).durable is None


@pytest.mark.parametrize(("sent", "read_as"), [(0, 0), (4, 4), (9, 9), (10, 9), (255, 9)])
def test_there_are_ten_priorities_and_higher_ones_are_like_the_highest(sent: int, read_as: int) -> None:
    assert came(section(sections.HEADER, NULL, types.ubyte(sent)) + BODY).priority == read_as


def test_a_time_to_live_counts_from_the_arrival() -> None:
    message = came(section(sections.HEADER, NULL, NULL, types.uint(500)) + BODY)
    assert (message.ttl_ms, message.expiry_ms) == (500, NOW + 500)


def mortal(ttl_ms: int, expiry_ms: int, created: bytes = NULL) -> Message:
    expiry = section(sections.PROPERTIES, *(NULL,) * 8, types.timestamp(expiry_ms), created)
    return came(section(sections.HEADER, NULL, NULL, types.uint(ttl_ms)) + expiry + BODY)


@pytest.mark.parametrize(
    ("ttl_ms", "expiry_ms", "expected"),
    [
        (500, NOW + 70, NOW + 70),
        (500, NOW + 7_000, NOW + 500),
        (500, NOW - 70, NOW - 70),
        (500, 0, NOW + 500),
        (0, NOW + 70, NOW + 70),
    ],
)
def test_of_a_time_to_live_and_an_absolute_expiry_the_earlier_end_holds(
    ttl_ms: int, expiry_ms: int, expected: int
) -> None:
    assert mortal(ttl_ms, expiry_ms).expiry_ms == expected


@pytest.mark.parametrize("ahead_ms", [-5_000, 5_000])
def test_an_expiry_that_is_said_in_both_ways_holds_by_its_senders_clock(ahead_ms: int) -> None:
    created_ms = NOW + ahead_ms
    assert mortal(500, created_ms + 500, types.timestamp(created_ms)).expiry_ms == created_ms + 500
    assert mortal(500, created_ms + 501, types.timestamp(created_ms)).expiry_ms == NOW + min(500, ahead_ms + 501)


def test_a_delivery_time_goes_before_a_delay_and_a_delay_counts_from_the_arrival() -> None:
    delay, time = types.long(500), types.long(NOW + 70)
    assert came(mapped(sections.MESSAGE_ANNOTATIONS, x_opt_delivery_delay=delay) + BODY).delivery_time_ms == NOW + 500
    both = mapped(sections.MESSAGE_ANNOTATIONS, x_opt_delivery_delay=delay, x_opt_delivery_time=time)
    assert came(both + BODY).delivery_time_ms == NOW + 70
    assert (
        came(mapped(sections.MESSAGE_ANNOTATIONS, x_opt_delivery_delay=types.uint(0)) + BODY).delivery_time_ms is None
    )


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        (types.string("order-1"), "order-1"),
        (types.ulong(7), "ID:AMQP_ULONG:7"),
        (types.binary(b"\x01\xff"), "ID:AMQP_BINARY:01FF"),
        (b"\x98" + uuid.UUID(int=7).bytes, f"ID:AMQP_UUID:{uuid.UUID(int=7)}"),
    ],
)
def test_ids_of_all_four_types_are_text_as_qpid_writes_them(encoded: bytes, text: str) -> None:
    message = came(section(sections.PROPERTIES, encoded, NULL, NULL, NULL, NULL, encoded) + BODY)
    assert (message.message_id, message.correlation_id) == (text, text)


def test_destinations_are_of_the_kind_that_annotations_say_or_else_of_the_links() -> None:
    named = section(sections.PROPERTIES, NULL, NULL, types.string("NEWS"), NULL, types.string("ANSWERS"))
    kinds = mapped(sections.MESSAGE_ANNOTATIONS, x_opt_jms_dest=types.byte(1), x_opt_jms_reply_to=types.byte(2))
    told = came(kinds + named + BODY, None)
    assert (told.to, told.reply_to) == (NEWS, Address(AddressKind.TEMPORARY_QUEUE, "ANSWERS"))
    untold = came(named + BODY, NEWS)
    assert untold.to is NEWS
    assert untold.reply_to == Address(AddressKind.TOPIC, "ANSWERS")
    assert came(named + BODY, None).to == Address(AddressKind.QUEUE, "NEWS")
    assert came(BODY).to is ORDERS
    assert came(BODY, None).to is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("queue://ANSWERS", Address(AddressKind.QUEUE, "ANSWERS")),
        ("topic://ANSWERS", Address(AddressKind.TOPIC, "ANSWERS")),
        ("AMQ.TEMPORARY.QUEUE.1", Address(AddressKind.TEMPORARY_QUEUE, "AMQ.TEMPORARY.QUEUE.1")),
        ("http://answers", Address(AddressKind.QUEUE, "http://answers")),
    ],
)
def test_a_reply_to_is_written_as_a_links_address_is(written: str, meant: Address) -> None:
    names = section(sections.PROPERTIES, NULL, NULL, NULL, NULL, types.string(written))
    assert came(names + BODY).reply_to == meant


def test_application_properties_of_types_that_no_selector_knows_are_kept_as_text_or_octets() -> None:
    message = came(
        mapped(
            sections.APPLICATION_PROPERTIES,
            symbol=types.symbol("s"),
            uuid=b"\x98" + uuid.UUID(int=7).bytes,
            float=b"\x72\x3f\x80\x00\x00",
            char=b"\x73\x00\x00\x00\x41",
            decimal=b"\x74abcd",
        )
        + BODY
    )
    assert message.properties == {
        "symbol": "s",
        "uuid": str(uuid.UUID(int=7)),
        "float": 1.0,
        "char": "A",
        "decimal": b"abcd",
    }
    assert all(type(value) in {str, float, bytes} for value in message.properties.values())


def test_sections_may_have_symbolic_and_long_descriptors() -> None:
    symbolic = b"\x00" + types.symbol("amqp:header:list") + types.fields((types.boolean(value=True),))
    long = b"\x00\x80" + sections.PROPERTIES.to_bytes(8) + types.fields((types.string("id"),))
    message = came(symbolic + long + BODY)
    assert (message.durable, message.message_id) == (True, "id")


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (b"", "without a section"),
        (b"\x40", "without a descriptor"),
        (types.described(0x6F, types.fields(())), "descriptor"),
        (b"\x00" + types.symbol("amqp:open:list") + NULL, "descriptor"),
        (BODY + section(sections.HEADER, NULL), "after section"),
        (section(sections.HEADER, NULL) * 2, "after section"),
        (BODY + types.described(sections.VALUE, NULL), "two kinds"),
        (types.described(sections.DATA, types.string("x")), "format"),
        (types.described(sections.HEADER, types.mapping({})), "format"),
        (BODY[:-1], "missing"),
        (b"\x00\x53\x77", "cut off"),
        (b"\x00\x53", "cut off"),
        (b"\x00", "cut off"),
        (b"\x00\x53\x77\x3e", "format code"),
        (b"\x00\x53\x77" + b"\x00\x43" * 40 + b"\x40", "deeper"),
        (b"\x00\x53\x70\xc0\x01\x05", "5 values"),
        (b"\x00\x53\x70\xc0\x02\x01\x40\x40", "format|descriptor"),
        (b"\x00\x53\x70\xc0\x03\x01\x40\x40", "ends at"),
        (b"\x00\x53\x73\xc0\x03\x01\xa1\xff", "ends at|cut off"),
        (b"\x00\x53\x73\xc0\x04\x01\xa1\x01\xff", "no utf-8"),
        (section(sections.HEADER, types.string("x")), "durable"),
        (section(sections.HEADER, NULL, types.uint(256)), "priority"),
        (section(sections.HEADER, NULL, NULL, types.long(-1)), "ttl"),
        (section(sections.HEADER, *(NULL,) * 4, types.string("x")), "delivery-count"),
        (section(sections.PROPERTIES, types.boolean(value=True)), "id"),
        (section(sections.PROPERTIES, types.double(1.0)), "id"),
        (section(sections.PROPERTIES, types.compound(())), "simple"),
        (section(sections.PROPERTIES, NULL, NULL, types.uint(1)), "to"),
        (section(sections.PROPERTIES, *(NULL,) * 8, types.ulong(2**63)), "absolute-expiry-time"),
        (section(sections.PROPERTIES, *(NULL,) * 9, types.string("noon")), "creation-time"),
        (mapped(sections.APPLICATION_PROPERTIES, a=types.compound((NULL,))), "simple"),
        (types.described(sections.APPLICATION_PROPERTIES, types.mapping({types.uint(1): NULL})), "name"),
        (types.described(sections.APPLICATION_PROPERTIES, types.compound((NULL,), of_map=True)), "no value"),
        (
            types.described(
                sections.APPLICATION_PROPERTIES, types.compound((types.string("a"), NULL) * 2, of_map=True)
            ),
            "twice",
        ),
        (mapped(sections.MESSAGE_ANNOTATIONS, x_opt_delivery_time=types.string("noon")), "x-opt-delivery-time"),
        (mapped(sections.MESSAGE_ANNOTATIONS, x_opt_delivery_delay=types.long(-1)), "x-opt-delivery-delay"),
        (mapped(sections.MESSAGE_ANNOTATIONS, x_opt_delivery_delay=types.long(2**63 - 1)), "x-opt-delivery-delay"),
        (mapped(sections.MESSAGE_ANNOTATIONS, x=b"\xc0\x02\x01\x3e"), "format code"),
    ],
)
def test_malformed_values_are_refused_with_their_position(octets: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        came(octets)


def test_annotations_may_not_be_nested_deeper_than_asked_for() -> None:
    value = NULL
    for _ in range(10):
        value = types.compound((value,))
    octets = mapped(sections.MESSAGE_ANNOTATIONS, x_opt_jms_dest=types.byte(1), x=value) + BODY
    assert read(octets, None, now_ms=NOW, max_depth=10).encoded == octets
    with pytest.raises(DecodeError, match="too deep"):
        read(octets, None, now_ms=NOW, max_depth=9)


def test_a_value_ten_thousand_deep_in_annotations_is_refused_and_one_in_the_body_is_the_receivers_business() -> None:
    value = NULL
    for _ in range(10_000):
        value = types.compound((value,))
    with pytest.raises(DecodeError, match="too deep"):
        came(mapped(sections.MESSAGE_ANNOTATIONS, x=value))
    octets = types.described(sections.VALUE, value)
    assert came(octets).encoded == octets
    assert bodies.body(octets) is None


def test_what_stands_before_the_body_is_limited_and_the_body_is_not() -> None:
    long = types.string("x" * transcoding.MAX_HEAD)
    with pytest.raises(DecodeError, match="before the body"):
        came(mapped(sections.APPLICATION_PROPERTIES, a=long) + BODY)
    assert came(types.described(sections.VALUE, long)).encoded is not None


@given(st.binary(max_size=200))
@example(b"\x00\x53\x70")
def test_any_octets_are_a_message_or_refused(octets: bytes) -> None:
    tried(octets)


@given(MESSAGES.map(codec.encode), st.data())
def test_an_altered_message_is_a_message_or_refused(octets: bytes, data: st.DataObject) -> None:
    altered = bytearray(octets)
    for _ in range(data.draw(st.integers(1, 4))):
        altered[data.draw(st.integers(0, len(altered) - 1))] = data.draw(st.integers(0, 255))
    tried(bytes(altered[: data.draw(st.integers(0, len(altered)))]))


def tried(octets: bytes) -> None:
    """Check that decoding raises only `DecodeError`, and that an accepted message can be encoded and read."""
    try:
        message = came(octets)
    except DecodeError:
        return
    sent = write(message, count=1, now_ms=NOW)
    assert came(sent).properties == message.properties
    assert bodies.body_size(sent) == bodies.body_size(octets)
    assert body_or_error(sent) == body_or_error(octets)


def body_or_error(octets: bytes) -> Body | type[DecodeError]:
    """Return a body, or `DecodeError` if it cannot be decoded."""
    try:
        return bodies.body(octets)
    except DecodeError:
        return DecodeError


# --- encoding


def bare(octets: bytes) -> bytes:
    """Return the bare message: the part from the properties on, which must not change."""
    return next((octets[span.begin :] for span in sections.split(octets) if span.code >= sections.PROPERTIES), b"")


@given(MESSAGES, st.integers(0, 300))
def test_the_bare_message_goes_out_as_it_came(message: Message, count: int) -> None:
    octets = codec.encode(message)
    sent = write(came(octets), count=count, now_ms=NOW)
    assert bare(sent) == bare(octets)
    received = codec.decode(sent)
    assert received.count == count
    assert received.message.durable is bool(message.durable)
    assert received.message.priority == (None if message.priority == 4 else message.priority)


def test_a_message_of_which_nothing_differs_is_not_copied() -> None:
    octets = codec.encode(Message(to=ORDERS, durable=True, priority=5, body="hello", delivery_time_ms=NOW))
    assert write(came(octets), count=0, now_ms=NOW) is octets


def test_the_body_is_not_copied_into_the_pieces() -> None:
    octets = codec.encode(Message(to=ORDERS, body=bytes(1_000_000)))
    head, rest = pieces(came(octets), count=3, now_ms=NOW)
    assert len(head) < 20
    assert rest.obj is octets


def test_what_is_left_of_a_time_to_live_goes_out_and_is_never_nothing() -> None:
    message = came(section(sections.HEADER, NULL, NULL, types.uint(500)) + BODY)
    assert [codec.decode(write(message, count=0, now_ms=NOW + at)).message.ttl_ms for at in (0, 200, 499, 600)] == [
        500,
        300,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("expiry_ms", "at", "left"),
    [(NOW + 7_000, 0, 500), (NOW + 7_000, 200, 300), (NOW + 70, 0, 70), (NOW + 70, 50, 20), (NOW + 7_000, -60, 500)],
)
def test_what_is_left_of_a_time_to_live_ends_with_the_message_and_never_grows(
    expiry_ms: int, at: int, left: int
) -> None:
    message = mortal(500, expiry_ms)
    assert codec.decode(write(message, count=0, now_ms=NOW + at)).message.ttl_ms == left


def test_a_message_that_came_without_a_time_to_live_gets_none() -> None:
    expiry = section(sections.PROPERTIES, *(NULL,) * 8, types.timestamp(NOW + 70))
    assert codec.decode(write(came(expiry + BODY), count=0, now_ms=NOW)).message.ttl_ms is None


def test_a_time_to_live_longer_than_the_header_can_say_is_left_to_the_absolute_expiry() -> None:
    message = Message(to=ORDERS, ttl_ms=2**40, expiry_ms=NOW + 2**40, body="x")
    received = codec.decode(write(message, count=0, now_ms=NOW)).message
    assert (received.ttl_ms, received.expiry_ms) == (None, NOW + 2**40)


def test_delivery_annotations_are_dropped_and_message_annotations_kept() -> None:
    delivery = mapped(sections.DELIVERY_ANNOTATIONS, x_hop=types.uint(1))
    kept = mapped(sections.MESSAGE_ANNOTATIONS, x_mine=types.compound((types.uint(1),)))
    sent = write(
        came(section(sections.HEADER, types.boolean(value=True)) + delivery + kept + BODY), count=0, now_ms=NOW
    )
    assert sent == section(sections.HEADER, types.boolean(value=True)) + kept + BODY


def test_a_delay_goes_out_as_the_time_of_day_that_it_came_to() -> None:
    annotations = mapped(
        sections.MESSAGE_ANNOTATIONS, x_opt_delivery_delay=types.uint(500), x_mine=types.compound((types.uint(1),))
    )
    sent = write(came(annotations + BODY), count=0, now_ms=NOW + 500)
    told = mapped(
        sections.MESSAGE_ANNOTATIONS,
        x_mine=types.compound((types.uint(1),)),
        x_opt_delivery_time=types.long(NOW + 500),
    )
    assert sent == section(sections.HEADER, types.boolean(value=False)) + told + BODY


PLAIN = section(sections.HEADER, types.boolean(value=False))


@pytest.mark.parametrize("octets", [PLAIN, BODY, PLAIN + BODY])
def test_a_delay_that_the_broker_gave_is_told_where_nothing_was_annotated(octets: bytes) -> None:
    delayed = structs.replace(came(octets), delivery_time_ms=NOW + 500)
    told = mapped(sections.MESSAGE_ANNOTATIONS, x_opt_delivery_time=types.long(NOW + 500))
    assert write(delayed, count=0, now_ms=NOW) == PLAIN + told + octets.removeprefix(PLAIN)


def test_a_message_that_came_another_way_is_encoded_with_the_annotations_of_jms() -> None:
    message = Message(
        message_id="ID:1", to=NEWS, durable=True, priority=7, expiry_ms=NOW + 900, delivery_time_ms=NOW, body="hello"
    )
    received = codec.decode(write(message, count=2, now_ms=NOW))
    assert received.count == 2
    assert received.message.to == NEWS
    assert received.message.ttl_ms == 900
    assert received.message.delivery_time_ms == NOW
    assert received.message.body == "hello"


def test_a_message_that_amqp_cannot_carry_says_so() -> None:
    with pytest.raises(codec.EncodeError, match="64 bits"):
        write(Message(to=ORDERS, properties={"n": 2**70}), count=0, now_ms=NOW)
