"""Tests of encoded messages: their bodies, and the queue manager's changes to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_broker.amqp.messages.transcoding import read
from assay_broker.core.messages.alterations import with_ids, with_number, without_property
from assay_broker.core.messages.bodies import body_of, body_size, opened
from assay_sdk.amqp import codec, sections, types
from assay_sdk.model.message import Address, AddressKind, Message

ORDERS = Address(AddressKind.QUEUE, "ORDERS")


def came(message: Message) -> Message:
    return read(codec.encode(message), ORDERS, now_ms=0)


def sent(message: Message) -> Message:
    """Return a message as the receiver gets it."""
    return codec.decode(codec.encode(message)).message


@given(st.none() | st.text() | st.binary())
def test_a_body_is_there_when_it_is_asked_for(body: str | bytes | None) -> None:
    plain = Message(to=ORDERS, body=body)
    message = came(plain)
    assert message.body is None
    assert body_of(message) == body_of(plain) == body
    assert body_size(message) == body_size(plain)


def test_an_opened_message_is_as_one_that_never_was_octets() -> None:
    plain = Message(message_id="ID:1", to=ORDERS, durable=True, priority=4, properties={"a": 1}, body="hello")
    assert opened(came(plain)) == plain
    assert opened(plain) is plain


def test_a_message_whose_body_has_no_other_form_stays_as_it_is() -> None:
    message = read(types.described(sections.VALUE, types.mapping({})), ORDERS, now_ms=0)
    assert opened(message) is message
    assert body_of(message) is None
    assert body_size(message) > 0


def test_a_text_that_is_none_is_no_body_and_is_not_lost() -> None:
    message = read(b"\x00\x53\x77\xa1\x01\xff", ORDERS, now_ms=0)
    assert body_of(message) is None
    assert opened(message) is message


@pytest.mark.parametrize("encoded", [False, True])
def test_a_property_is_given_and_taken_in_the_fields_and_in_the_octets(encoded: bool) -> None:
    plain = Message(to=ORDERS, properties={"a": 1, "b": "x"}, body="hello")
    message = came(plain) if encoded else plain
    more = with_number(message, "JMS_IBM_Retain", 1)
    assert more.properties == sent(more).properties == {"a": 1, "b": "x", "JMS_IBM_Retain": 1}
    less = without_property(more, "a")
    assert less.properties == sent(less).properties == {"b": "x", "JMS_IBM_Retain": 1}
    assert sent(less).body == "hello"
    assert (less.encoded is None) is not encoded


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("correlation_id", [None, "ID:old", "ID:AMQP_ULONG:7"])
def test_ids_change_in_the_fields_and_in_the_octets(encoded: bool, correlation_id: str | None) -> None:
    plain = Message(message_id="ID:old", correlation_id="x", to=ORDERS, subject="s", body="hello")
    changed = with_ids(came(plain) if encoded else plain, "ID:new", correlation_id)
    for message in (changed, sent(changed)):
        assert (message.message_id, message.correlation_id) == ("ID:new", correlation_id)
        assert message.subject == "s"
