"""Tests of the message descriptors that an administrator sees (DD-05, DD-37, DD-39, DD-55, DD-70)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.broker.core.harness import T0, TOPIC, Bench, message, queue

from assay_broker.core.messages.descriptor import ID_BYTES, made_id, native_id
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk.model.message import Address, AddressKind, Message

REPLY = Address(AddressKind.QUEUE, "REPLY")
DUE = T0 + 5_000


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.define(queue("Q"))
    made.connect(1)
    made.sender(1, 1)
    return made


def hexadecimal(text: str) -> str:
    return native_id(text).hex()


@given(st.text())
def test_an_id_is_twenty_four_bytes(text: str) -> None:
    assert len(native_id(text)) == ID_BYTES


@given(st.binary(min_size=ID_BYTES, max_size=ID_BYTES))
def test_an_id_in_hexadecimal_digits_is_its_bytes(octets: bytes) -> None:
    assert native_id(f"ID:{octets.hex().upper()}") == octets


@given(st.text(), st.text())
def test_different_ids_stay_different(one: str, other: str) -> None:
    if one.rstrip("\0") != other.rstrip("\0"):
        assert native_id(one) != native_id(other)


def test_no_id_is_all_zero() -> None:
    assert native_id(None) == native_id("") == bytes(ID_BYTES)


@given(st.text(max_size=60), st.integers(0, 2**42), st.integers(0, 2**22 - 2))
def test_made_ids_have_the_length_and_differ_by_their_number(manager: str, moment: int, number: int) -> None:
    ids = [made_id(manager, moment, number + more) for more in range(2)]
    assert all(len(one) == len("ID:") + 2 * ID_BYTES for one in ids)
    assert ids[0] != ids[1]
    assert native_id(ids[0]).startswith(b"AMQ ")


def test_a_staged_message_has_a_header_and_another_id(bench: Bench) -> None:
    sent = message("a", correlation_id="other", priority=3, delivery_time_ms=DUE, creation_ms=T0)
    bench.put(1, 1, sent)
    (shown,) = bench.shown(STAGING_QUEUE)
    (header,) = shown.headers
    assert (header["StrucId"], header["DestQName"], header["DestQMgrName"]) == ("DDH", "Q", "ASSAY")
    assert (header["DeliveryDelay"], header["DeliveryTime"]) == (5_000, DUE)
    assert (header["MsgId"], header["CorrelId"]) == (hexadecimal("a"), hexadecimal("other"))
    assert shown.descriptor["MsgId"] not in {hexadecimal("a"), hexadecimal("other"), "00" * ID_BYTES}
    assert shown.descriptor["CorrelId"] == hexadecimal("a")
    assert shown.descriptor["Format"] == "MQDDH"
    assert shown.message == sent


def test_a_staged_message_keeps_its_new_id_and_over_a_restart_too(bench: Bench) -> None:
    bench.put(1, 1, message("a", delivery_time_ms=DUE))
    before = [one.descriptor["MsgId"] for one in bench.shown(STAGING_QUEUE)]
    bench.tick(T0 + 100)
    assert [one.descriptor["MsgId"] for one in bench.shown(STAGING_QUEUE)] == before
    bench.restart()
    assert [one.descriptor["MsgId"] for one in bench.shown(STAGING_QUEUE)] == before


def test_copies_of_one_publication_differ_in_their_ids_and_share_the_correlation_id(bench: Bench) -> None:
    bench.sender(1, 2, TOPIC)
    for link in (3, 4, 5):
        bench.receiver(1, link, TOPIC)
    bench.put(1, 2, message("a", delivery_time_ms=DUE))
    shown = bench.shown(STAGING_QUEUE)
    assert len({one.descriptor["MsgId"] for one in shown}) == 3
    assert {one.descriptor["CorrelId"] for one in shown} == {hexadecimal("a")}


@pytest.mark.parametrize("durable", [True, False])
def test_on_the_target_everything_is_as_it_was_sent(bench: Bench, *, durable: bool) -> None:
    sent = message(
        "a",
        durable=durable,
        correlation_id="other",
        priority=3,
        reply_to=REPLY,
        properties={"n": 1, "JMS_IBM_Format": "MQSTR   ", "JMS_IBM_MsgType": 1},
        delivery_time_ms=DUE,
    )
    bench.put(1, 1, sent)
    bench.tick(DUE)
    (shown,) = bench.shown("Q")
    fields = shown.descriptor
    assert (shown.message, shown.headers) == (sent, ())
    assert (fields["MsgId"], fields["CorrelId"]) == (hexadecimal("a"), hexadecimal("other"))
    assert (fields["Persistence"], fields["Priority"], fields["MsgType"]) == (int(durable), 3, 1)
    assert (fields["ReplyToQ"], fields["Format"], fields["Feedback"]) == ("REPLY", "MQSTR", 0)


@pytest.mark.parametrize(("body", "kind"), [("text", "MQSTR"), ("", "MQSTR"), (b"\xff", ""), (None, "")])
def test_a_body_shows_the_format_that_ibm_mqs_client_gives_it(
    bench: Bench, body: str | bytes | None, kind: str
) -> None:
    bench.put(1, 1, Message(message_id="a", body=body))
    assert [one.descriptor["Format"] for one in bench.shown("Q")] == [kind]


@pytest.mark.parametrize(
    ("elapsed", "tenths"), [(5_000, 150), (14_999, 51), (15_000, 50), (15_001, 50), (19_899, 2), (19_999, 1)]
)
def test_the_remaining_expiry_counts_down_in_tenths_of_a_second(bench: Bench, elapsed: int, tenths: int) -> None:
    bench.put(1, 1, message("a", delivery_time_ms=DUE, ttl_ms=20_000))
    bench.tick(T0 + elapsed)
    assert [one.descriptor["Expiry"] for one in bench.shown("Q")] == [tenths]


def test_what_never_expires_says_so_and_what_has_expired_is_not_shown(bench: Bench) -> None:
    bench.put(1, 1, message("for ever"))
    bench.put(1, 1, message("gone", ttl_ms=10))
    bench.now += 10  # the test gives the core no tick for this time
    assert [(one.message.body, one.descriptor["Expiry"]) for one in bench.shown("Q")] == [("for ever", -1)]


def test_a_group_shows_in_its_fields(bench: Bench) -> None:
    bench.put(1, 1, message("a", group_id="G", group_sequence=2))
    bench.put(1, 1, message("b", group_id="G", group_sequence=3, properties={"JMS_IBM_Last_Msg_In_Group": True}))
    shown = [one.descriptor for one in bench.shown("Q")]
    assert [(one["MsgSeqNumber"], one["MsgFlags"]) for one in shown] == [(2, 8), (3, 24)]
    assert {one["GroupId"] for one in shown} == {hexadecimal("G")}


def test_the_dead_letter_header_goes_with_the_message_over_a_restart(bench: Bench) -> None:
    bench.put(1, 1, message("a", delivery_time_ms=DUE))
    bench.alter("Q", PUT="DISABLED")
    bench.tick(DUE)
    before = bench.shown("SYSTEM.DEAD.LETTER.QUEUE")
    bench.restart()
    after = bench.shown("SYSTEM.DEAD.LETTER.QUEUE")
    assert [one.headers for one in before] == [one.headers for one in after]
    assert (after[0].headers[0]["StrucId"], after[0].headers[0]["PutTime"]) == ("DLH", DUE)
