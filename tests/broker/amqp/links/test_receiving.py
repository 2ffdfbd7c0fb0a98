"""Tests of links on which a client receives, frame by frame."""

from __future__ import annotations

import pytest
from tests.broker.amqp.serving import (
    ACCEPTED,
    DETACH,
    DISPOSITION,
    FLOW,
    MODIFIED,
    RECEIVER,
    REJECTED,
    RELEASED,
    SENDER,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    performative,
    put,
    raw,
    source,
    target,
)

from assay_sdk.amqp import types
from assay_sdk.amqp.sections import MESSAGE_ANNOTATIONS
from assay_sdk.amqp.types import Described, Symbol

NULLS = (b"",) * 5
TEXT = types.described(0x77, types.string("one"))
FAILED = performative(MODIFIED, types.boolean(value=True))


def count(seen: Seen) -> int:
    """Return the delivery-count of a transfer."""
    reader = types.Reader(seen.payload)
    header = reader.value()
    assert isinstance(header, Described)
    assert isinstance(header.value, list)
    return int(header.value[4] or 0) if len(header.value) > 4 else 0


def filters(**wanted: bytes) -> bytes:
    return types.mapping({types.symbol(name.replace("_", "-")): value for name, value in wanted.items()})


def test_the_attach_of_a_receiver_is_answered_with_its_source(client: Raw) -> None:
    seen = client.attach("r", RECEIVER, source=source("ATTACH"), target=target("there"))
    assert seen.at(2) is False
    assert seen.at(5).value[0] == "ATTACH"
    assert "amqp:modified:list" in seen.at(5).value[9]
    assert seen.at(6).value == ["there"]


def test_a_message_is_delivered_within_the_credit(client: Raw) -> None:
    put(client, "CREDIT", "one", "two", "three")
    client.attach("r", RECEIVER, source=source("CREDIT"))
    client.credit(0, 2)
    assert b"one" in client.wait(TRANSFER).payload
    assert b"two" in client.wait(TRANSFER).payload
    client.attach("another", RECEIVER, 1, source=source("CREDIT"))  # no transfer comes before the answering Attach
    client.credit(0, 1, count=2)
    assert b"three" in client.wait(TRANSFER).payload


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "to-be-settled"])
@pytest.mark.parametrize("failed", [True, False], ids=["failed", "not-failed"])
def test_what_is_undeliverable_here_comes_to_others_only(client: Raw, failed: bool, settled: bool) -> None:
    address = f"ELSEWHERE.{failed}.{settled}"
    put(client, address, "one", "two")
    client.attach("r", RECEIVER, source=source(address), second=not settled)
    client.credit(0, 1)
    number = client.wait(TRANSFER).at(1)
    state = performative(MODIFIED, types.boolean(failed), types.boolean(value=True))
    client.settle(number, state, settled=settled)
    if not settled:
        client.wait(DISPOSITION)
    client.credit(0, 9, count=1, drain=True)
    assert b"two" in client.wait(TRANSFER).payload
    assert client.wait(FLOW).at(6) == 0
    client.attach("another", RECEIVER, 1, source=source(address))
    client.credit(1, 9)
    seen = client.wait(TRANSFER)
    assert b"one" in seen.payload
    assert count(seen) == failed


@pytest.mark.parametrize(
    ("state", "again", "counted"),
    [
        (performative(ACCEPTED), False, 0),
        (performative(REJECTED), False, 0),
        (performative(RELEASED), True, 0),
        (FAILED, True, 1),
        (performative(MODIFIED), True, 0),
    ],
    ids=["accepted", "rejected", "released", "failed", "modified"],
)
@pytest.mark.parametrize("settled", [True, False], ids=["settled", "to-be-settled"])
def test_an_outcome_decides_whether_the_message_comes_again(
    client: Raw, state: bytes, again: bool, counted: int, settled: bool
) -> None:
    queue = f"OUTCOME.{state.hex()}.{settled}"
    put(client, queue, "first", "last")
    client.attach("r", RECEIVER, source=source(queue), second=not settled)
    client.credit(0, 1)
    seen = client.wait(TRANSFER)
    client.settle(seen.at(1), state, settled=settled)
    if not settled:
        answer = client.wait(DISPOSITION)
        assert (answer.at(0), answer.at(1), answer.at(3)) == (False, seen.at(1), True)
    client.credit(0, 1, count=1, next_in=1)
    following = client.wait(TRANSFER)
    assert (b"first" in following.payload) is again
    assert count(following) == counted


def annotated(seen: Seen) -> dict[str, object]:
    """Return the message annotations of a transfer."""
    reader = types.Reader(seen.payload)
    while reader.more:
        section = reader.value()
        assert isinstance(section, Described)
        if section.descriptor == MESSAGE_ANNOTATIONS:
            assert isinstance(section.value, dict)
            return section.value
    return {}


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "to-be-settled"])
@pytest.mark.parametrize("failed", [True, False], ids=["failed", "not-failed"])
def test_what_modified_says_of_a_message_is_among_its_annotations(client: Raw, failed: bool, settled: bool) -> None:
    address = f"TOLD.{failed}.{settled}"
    client.attach("s", SENDER, 3, target=target(address))
    before = {types.symbol("a"): types.uint(1), types.symbol("b"): types.uint(2)}
    client.transfer(0, types.described(MESSAGE_ANNOTATIONS, types.mapping(before)) + TEXT, 3)
    client.wait(DISPOSITION)
    client.attach("r", RECEIVER, source=source(address), second=not settled)
    client.credit(0, 1)
    number = client.wait(TRANSFER).at(1)
    added = filters(b=types.symbol("other"), c=types.fields((types.uint(3),)))
    client.settle(number, performative(MODIFIED, types.boolean(failed), b"", added), settled=settled)
    if not settled:
        client.wait(DISPOSITION)
    client.credit(0, 1, count=1)
    seen = client.wait(TRANSFER)
    assert annotated(seen) == {"a": 1, "b": "other", "c": [3]}
    assert isinstance(annotated(seen)["b"], Symbol)
    assert count(seen) == failed
    assert b"one" in seen.payload


def nested(depth: int) -> bytes:
    value = types.uint(1)
    for _ in range(depth):
        value = types.compound((value,))
    return value


def test_what_a_sender_has_told_the_server_no_receiver_changes(client: Raw) -> None:
    client.attach("s", SENDER, 3, target=target("SENDERS"))
    due = types.mapping({types.symbol("x-opt-delivery-time"): types.timestamp(1)})
    client.transfer(0, types.described(MESSAGE_ANNOTATIONS, due) + TEXT, 3)
    client.wait(DISPOSITION)
    client.attach("r", RECEIVER, source=source("SENDERS"))
    client.credit(0, 9)
    for again in (types.string("never"), types.long(2**62)):
        number = client.wait(TRANSFER).at(1)
        said = {types.symbol(name): again for name in ("x-opt-delivery-time", "x-opt-delivery-delay", "x-opt-jms-dest")}
        client.settle(number, performative(MODIFIED, b"", b"", types.mapping(said | {types.symbol("a"): again})))
    seen = annotated(client.wait(TRANSFER))
    assert (seen["x-opt-delivery-time"], seen["a"]) == (1, 2**62)
    assert len(seen) == 2


@pytest.mark.parametrize("annotations", [types.compound((), of_map=True), filters(a=types.string("x" * 1_024))])
def test_no_annotations_and_too_long_ones_change_nothing(client: Raw, annotations: bytes) -> None:
    queue = f"AS.IT.WAS.{len(annotations)}"
    put(client, queue, "one")
    client.attach("r", RECEIVER, source=source(queue))
    client.credit(0, 9)
    seen = client.wait(TRANSFER)
    client.settle(seen.at(1), performative(MODIFIED, b"", b"", annotations))
    assert client.wait(TRANSFER).payload == seen.payload


@pytest.mark.parametrize(
    "annotations",
    [
        types.mapping({types.fields((types.uint(1),)): types.uint(1)}),
        types.symbol("none"),
        filters(a=nested(40)),
        types.compound((types.symbol("a"), types.uint(1), types.symbol("a"), types.uint(2)), of_map=True),
    ],
    ids=["key", "no-map", "deep", "twice"],
)
def test_annotations_that_are_none_end_the_link(client: Raw, annotations: bytes) -> None:
    put(client, "NO.MAP", "one")
    client.attach("r", RECEIVER, source=source("NO.MAP"))
    client.credit(0, 1)
    number = client.wait(TRANSFER).at(1)
    client.settle(number, performative(MODIFIED, b"", b"", annotations))
    assert client.wait(DETACH).error(2)[0] == "amqp:decode-error"


@pytest.mark.parametrize(
    ("default", "following"),
    [(b"", "two"), (performative(RELEASED), "one"), (FAILED, "one")],
    ids=["none", "released", "failed"],
)
def test_a_settlement_without_an_outcome_has_the_default_one_and_accepts_where_there_is_none(
    client: Raw, default: bytes, following: str
) -> None:
    queue = f"NO.OUTCOME.{default.hex()}"
    put(client, queue, "one", "two")
    client.attach("r", RECEIVER, source=source(queue, *NULLS, b"", b"", default))
    client.credit(0, 1)
    seen = client.wait(TRANSFER)
    client.settle(seen.at(1), types.null())
    client.credit(0, 1, count=1, next_in=1)
    assert following.encode() in client.wait(TRANSFER).payload


def test_settling_twice_changes_nothing(client: Raw) -> None:
    put(client, "TWICE", "one", "two")
    client.attach("r", RECEIVER, source=source("TWICE"))
    client.credit(0, 1)
    number = client.wait(TRANSFER).at(1)
    client.settle(number)
    client.settle(number, performative(RELEASED))
    client.credit(0, 1, count=1, next_in=1)
    assert b"two" in client.wait(TRANSFER).payload


@pytest.mark.parametrize(
    ("default", "counted"),
    [(b"", 1), (performative(RELEASED), 0), (FAILED, 1), (performative(MODIFIED), 0)],
    ids=["none", "released", "failed", "modified"],
)
def test_a_link_that_goes_gives_back_what_it_holds(client: Raw, default: bytes, counted: int) -> None:
    queue = f"GOES.{default.hex()}"
    put(client, queue, "one")
    client.attach("r", RECEIVER, source=source(queue, *NULLS, b"", b"", default))
    client.credit(0, 1)
    client.wait(TRANSFER)
    client.say(DETACH, types.uint(0), types.boolean(value=True))
    client.wait(DETACH)
    client.attach("s", RECEIVER, 1, source=source(queue))
    client.credit(1, 1, next_in=1)
    assert count(client.wait(TRANSFER)) == counted


def test_the_default_outcome_comes_back_in_the_attach(client: Raw) -> None:
    seen = client.attach("r", RECEIVER, source=source("DEFAULT", *NULLS, b"", b"", FAILED))
    assert seen.at(5).value[8] == Described(MODIFIED, [True])


def test_a_settled_receiver_gets_settled_transfers(client: Raw) -> None:
    put(client, "AT.MOST.ONCE", "one")
    seen = client.attach("r", RECEIVER, source=source("AT.MOST.ONCE"), settled=True)
    assert seen.at(3) == 1
    client.credit(0, 1)
    assert client.wait(TRANSFER).at(4) is True


@pytest.mark.parametrize(
    "descriptor",
    [types.ulong(0x468C00000004), types.symbol("apache.org:selector-filter:string")],
    ids=["code", "symbol"],
)
def test_a_selector_is_honoured_and_comes_back(client: Raw, descriptor: bytes) -> None:
    wanted = filters(any_key=b"\x00" + descriptor + types.string("color = 'red'"), unknown=types.string("x"))
    seen = client.attach("r", RECEIVER, source=source("SELECT", *NULLS, b"", wanted))
    found = seen.at(5).value[7]
    assert list(found) == ["any-key"]
    assert found["any-key"].value == "color = 'red'"
    put(client, "SELECT", "not red")
    client.credit(0, 1, drain=True)
    assert client.wait(FLOW).at(6) == 0


@pytest.mark.parametrize("value", [types.string("color = "), types.uint(1)], ids=["syntax", "no text"])
def test_a_selector_that_is_none_refuses_the_link(client: Raw, value: bytes) -> None:
    wanted = filters(jms_selector=types.described(0x468C00000004, value))
    seen = client.attach("r", RECEIVER, source=source("SELECT", *NULLS, b"", wanted))
    assert seen.at(5) is None
    gone = client.wait(DETACH)
    assert gone.error(2)[0] == "amqp:invalid-field"
    assert gone.info(2)["x-opt-mqrc"] == 2459


def test_no_local_leaves_out_what_the_connection_publishes(server: Serving, client: Raw) -> None:
    wanted = filters(no_local=b"\x00" + types.symbol("apache.org:no-local-filter:list") + types.compound(()))
    seen = client.attach("r", RECEIVER, source=source("topic://news", *NULLS, b"", wanted))
    assert list(seen.at(5).value[7]) == ["no-local"]
    client.credit(0, 10)
    put(client, "topic://news", "mine")
    with raw(server, container="another") as other:
        put(other, "topic://news", "theirs")
    assert b"theirs" in client.wait(TRANSFER).payload


def test_a_filter_against_ones_own_messages_is_left_out_on_a_queue(client: Raw) -> None:
    wanted = filters(no_local=types.described(0x468C00000003, types.string("NoLocalFilter{}")))
    seen = client.attach("r", RECEIVER, source=source("QUEUE", *NULLS, b"", wanted))
    assert len(seen.at(5).value) < 8 or seen.at(5).value[7] is None


def test_a_dynamic_source_is_a_queue_of_ones_own(server: Serving, client: Raw) -> None:
    asked = performative(0x28, b"", b"", b"", b"", types.boolean(value=True))
    seen = client.attach("r", RECEIVER, source=asked)
    name = seen.at(5).value[0]
    assert name.startswith("AMQ.TEMPORARY.QUEUE.")
    with raw(server, container="another") as other:
        put(other, name, "hello")
        refused = other.attach("thief", RECEIVER, 7, source=source(name))
        assert refused.at(5) is None
        assert other.wait(DETACH).error(2)[0] == "amqp:resource-locked"
        sender = other.attach("s", SENDER, 8, target=target(name))
        assert sender.at(6) is not None
        client.credit(0, 1)
        assert b"hello" in client.wait(TRANSFER).payload
        client.say(DETACH, types.uint(0), types.boolean(value=True))
        client.wait(DETACH)
        assert other.wait(DETACH).error(2)[0] == "amqp:resource-deleted"


def test_a_temporary_queue_goes_with_its_connection(server: Serving) -> None:
    with raw(server) as client:
        name = (
            client.attach("r", RECEIVER, source=performative(0x28, b"", b"", b"", b"", types.boolean(value=True)))
            .at(5)
            .value[0]
        )
        client.close()
    with raw(server) as client:
        client.attach("s", SENDER, target=target(name))
        assert client.wait(DETACH).error(2)[0] == "amqp:not-found"


def test_a_source_without_an_address_is_refused(client: Raw) -> None:
    client.attach("r", RECEIVER, source=source(None))
    assert client.wait(DETACH).error(2)[0] == "amqp:not-found"


def test_the_client_is_told_when_it_may_not_receive(client: Raw) -> None:
    client.attach("r", RECEIVER, source=source("SYSTEM.ADMIN.COMMAND.QUEUE"))
    gone = client.wait(DETACH)
    assert gone.error(2)[0] == "amqp:unauthorized-access"
    assert gone.info(2)["x-opt-mqrc"] == 2035


def test_what_is_released_before_new_credit_comes_with_that_credit(client: Raw) -> None:
    put(client, "BACK.FIRST", "one", "two")
    client.attach("r", RECEIVER, source=source("BACK.FIRST"))
    client.credit(0, 1)
    for number in range(3):
        seen = client.wait(TRANSFER)
        assert b"one" in seen.payload
        with client.in_one_piece():
            client.settle(seen.at(1), performative(RELEASED))
            client.credit(0, 1, count=number + 1, next_in=number + 1)


def test_a_queue_s_receiver_is_told_what_holds_and_not_what_it_asked_for(client: Raw) -> None:
    asked = source("NO.TOPIC", types.uint(2), types.symbol("never"), types.uint(60))
    answered = client.attach("r", RECEIVER, source=asked).at(5).value
    assert [answered[at] for at in (1, 2, 3, 6)] == [None, None, None, "move"]


def test_a_browser_sees_and_takes_nothing(client: Raw) -> None:
    put(client, "BROWSED", "one", "two")
    seen = client.attach("b", RECEIVER, source=source("BROWSED", *NULLS, types.symbol("copy")))
    assert seen.at(5).value[6] == "copy"
    client.credit(0, 10, drain=True)
    assert b"one" in client.wait(TRANSFER).payload
    second = client.wait(TRANSFER)
    assert b"two" in second.payload
    assert client.wait(FLOW).at(6) == 0
    client.settle(second.at(1), performative(REJECTED))
    client.attach("r", RECEIVER, 1, source=source("BROWSED"))
    client.credit(1, 10, next_in=2)
    assert b"one" in client.wait(TRANSFER).payload
    assert b"two" in client.wait(TRANSFER).payload


def test_a_browser_sees_how_often_a_message_was_delivered_in_vain(client: Raw) -> None:
    put(client, "IN.VAIN", "one")
    client.attach("r", RECEIVER, source=source("IN.VAIN"))
    client.credit(0, 1)
    failed = client.wait(TRANSFER)
    client.settle(failed.at(1), FAILED)
    client.say(DETACH, types.uint(0), types.boolean(value=True))
    client.wait(DETACH)
    client.attach("b", RECEIVER, 1, source=source("IN.VAIN", *NULLS, types.symbol("copy")))
    client.credit(1, 1, next_in=1)
    assert count(client.wait(TRANSFER)) == 1


def test_a_browser_selects(client: Raw) -> None:
    put(client, "LOOKED.AT", "one")
    wanted = filters(jms_selector=types.described(0x468C00000004, types.string("color = 'red'")))
    client.attach("b", RECEIVER, source=source("LOOKED.AT", *NULLS, types.symbol("copy"), wanted))
    client.credit(0, 10, drain=True)
    seen = client.read()
    assert seen is not None
    assert (seen.code, seen.at(6)) == (FLOW, 0)


def test_a_browser_is_refused_where_it_may_not_look(client: Raw) -> None:
    client.attach("b", RECEIVER, source=source("SYSTEM.ADMIN.COMMAND.QUEUE", *NULLS, types.symbol("copy")))
    assert client.wait(DETACH).error(2)[0] == "amqp:unauthorized-access"


def test_what_a_leaving_link_gives_back_counts_once_though_it_had_credit_left(client: Raw) -> None:
    put(client, "LEAVES", "one", "two")
    client.attach("r", RECEIVER, source=source("LEAVES"))
    client.credit(0, 10)
    client.wait(TRANSFER)
    client.wait(TRANSFER)
    client.say(DETACH, types.uint(0), types.boolean(value=True))
    client.wait(DETACH)
    client.attach("s", RECEIVER, 1, source=source("LEAVES"))
    client.credit(1, 2, next_in=2)
    assert [count(client.wait(TRANSFER)), count(client.wait(TRANSFER))] == [1, 1]


def test_a_message_given_back_together_with_the_credit_does_not_come_to_the_link_again(
    server: Serving, client: Raw
) -> None:
    put(client, "BOTH.BACK", "one")
    client.attach("r", RECEIVER, source=source("BOTH.BACK"))
    client.credit(0, 10)
    client.wait(TRANSFER)
    with client.in_one_piece():
        client.settle(0, FAILED)
        client.credit(0, 0, count=1, next_in=1)
    with raw(server, container="other") as other:
        other.attach("r", RECEIVER, source=source("BOTH.BACK"))
        other.credit(0, 1)
        assert b"one" in other.wait(TRANSFER).payload
