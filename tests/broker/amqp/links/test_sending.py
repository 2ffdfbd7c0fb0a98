"""Tests of links on which a client sends, frame by frame."""

from __future__ import annotations

import time

import pytest
from tests.broker.amqp.serving import (
    ACCEPTED,
    DETACH,
    DISPOSITION,
    FLOW,
    RECEIVER,
    REJECTED,
    SENDER,
    TRANSFER,
    Raw,
    Serving,
    message,
    performative,
    raw,
    serving,
    source,
    target,
)

from assay_broker.amqp.limits import AmqpLimits
from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.objects.model import Kind
from assay_sdk.amqp import codec, types
from assay_sdk.model.message import Message


def outcome(client: Raw) -> int:
    state = client.wait(DISPOSITION).at(4)
    return int(state.descriptor)


def take(client: Raw, address: str, handle: int = 9) -> bytes:
    """Return the next message of a queue."""
    client.attach(f"take-{address}-{handle}", RECEIVER, handle, source=source(address))
    client.credit(handle, 1)
    seen = client.wait(TRANSFER)
    client.settle(seen.at(1))
    return seen.payload


def test_the_attach_of_a_sender_is_answered_with_its_target_and_credit(client: Raw) -> None:
    seen = client.attach("s", SENDER, source=source("here"), target=target("ATTACHED"))
    assert seen.at(0) == "s"
    assert seen.at(2) is True
    assert seen.at(6).value == ["ATTACHED"]
    assert seen.at(5).value[0] == "here"
    assert "amqp:accepted:list" in seen.at(5).value[9]
    assert seen.at(13) == {"x-opt-mq-clustered": False, "x-opt-mq-defbind": "OPEN"}
    assert client.wait(FLOW).at(6) == 500


def test_an_unsettled_transfer_is_accepted(client: Raw) -> None:
    client.attach("s", SENDER, target=target("ACCEPTS"))
    client.wait(FLOW)
    client.transfer(0, message("one"))
    seen = client.wait(DISPOSITION)
    assert (seen.at(0), seen.at(1), seen.at(3)) == (True, 0, True)
    assert seen.at(4).descriptor == ACCEPTED
    assert b"one" in take(client, "ACCEPTS")


def test_a_settled_transfer_is_taken_without_a_word(client: Raw) -> None:
    client.attach("s", SENDER, target=target("SETTLED"), settled=True)
    client.wait(FLOW)
    client.transfer(0, message("one"), settled=True)
    assert b"one" in take(client, "SETTLED")


def test_a_message_in_several_frames_is_one(client: Raw) -> None:
    client.attach("s", SENDER, target=target("FRAMES"))
    client.wait(FLOW)
    octets = message("in three frames")
    client.transfer(0, octets[:5], more=True)
    client.transfer(0, octets[5:9], more=True)
    client.transfer(0, octets[9:])
    assert outcome(client) == ACCEPTED
    assert b"in three frames" in take(client, "FRAMES")


def test_an_aborted_transfer_leaves_nothing(client: Raw) -> None:
    client.attach("s", SENDER, target=target("ABORTED"))
    client.wait(FLOW)
    client.transfer(0, message("half")[:5], more=True)
    client.transfer(0, b"", aborted=True)
    client.transfer(1, message("whole"))
    assert client.wait(DISPOSITION).at(1) == 1
    assert b"whole" in take(client, "ABORTED")


def test_credit_is_topped_up_at_half_of_it(client: Raw) -> None:
    client.attach("s", SENDER, target=target("CREDIT"), settled=True)
    assert client.wait(FLOW).at(6) == 500
    for number in range(250):
        client.transfer(number, message("x"), settled=True)
    seen = client.wait(FLOW)
    assert (seen.at(5), seen.at(6)) == (250, 500)


def test_more_than_the_credit_closes_the_link() -> None:
    with serving(limits=AmqpLimits(credit=2)) as server, raw(server) as client:
        client.attach("s", SENDER, target=target("OVER"))
        assert client.wait(FLOW).at(6) == 2
        free = server.do(lambda: server.queue_manager.block_writes("OVER"))
        for number in range(3):  # the server answers none of them, because the store does not write
            client.transfer(number, message("x"))
        assert client.wait(DETACH).error(2)[0] == "amqp:link:transfer-limit-exceeded"
        server.do(free)


def test_a_longer_message_than_is_taken_closes_the_link() -> None:
    with serving(limits=AmqpLimits(max_message=100)) as small, raw(small) as client:
        assert client.attach("s", SENDER, target=target("SIZE")).at(10) == 100
        client.wait(FLOW)
        client.transfer(0, message("x" * 200))
        assert client.wait(DETACH).error(2)[0] == "amqp:link:message-size-exceeded"
        client.attach("t", SENDER, 1, target=target("SIZE"))
        client.wait(FLOW)
        client.transfer(1, message("y" * 60), 1, more=True)
        client.transfer(1, b"y" * 60, 1, more=True)
        assert client.wait(DETACH).error(2)[0] == "amqp:link:message-size-exceeded"


def test_a_refused_message_is_rejected_with_the_reason(server: Serving, client: Raw) -> None:
    server.administer(DefineObject(kind=Kind.QLOCAL, name="TOO.LONG", attributes={"MAXMSGL": 4_194_304}))
    client.attach("s", SENDER, target=target("TOO.LONG"))
    client.wait(FLOW)
    octets = message("x" * 5_000_000)
    for begin in range(0, len(octets), 1_000_000):
        client.transfer(0, octets[begin : begin + 1_000_000], more=begin + 1_000_000 < len(octets))
    seen = client.wait(DISPOSITION)
    assert seen.at(4).descriptor == REJECTED
    error = seen.at(4).value[0].value
    assert str(error[0]) == "amqp:link:message-size-exceeded"
    assert "MQRC_MSG_TOO_BIG" in str(error[1])
    assert error[2]["x-opt-mqrc"] in {2030, 2031}


def test_a_message_that_cannot_be_read_is_rejected(client: Raw) -> None:
    client.attach("s", SENDER, target=target("BROKEN"))
    client.wait(FLOW)
    client.transfer(0, b"\x00\x53\x75\xff")
    seen = client.wait(DISPOSITION)
    assert seen.at(4).descriptor == REJECTED
    assert str(seen.at(4).value[0].value[0]) == "amqp:decode-error"


def test_a_message_may_live_exactly_as_long_as_it_is_delayed(client: Raw) -> None:
    client.attach("s", SENDER, target=target("EXACTLY"))
    client.wait(FLOW)
    for number in range(20):
        until_ms = -(-time.time_ns() // 1_000_000) + 5_000
        delayed = Message(body="late", ttl_ms=5_000, expiry_ms=until_ms, delivery_time_ms=until_ms)
        client.transfer(number, codec.encode(delayed))
        assert outcome(client) == ACCEPTED


@pytest.mark.parametrize("transfers", [1, 2, 3])
def test_transfers_without_an_octet_are_no_message(client: Raw, transfers: int) -> None:
    client.attach("s", SENDER, target=target("NOTHING"))
    client.wait(FLOW)
    for further in reversed(range(transfers)):
        client.transfer(0, b"", more=further > 0)
    seen = client.wait(DISPOSITION)
    assert seen.at(4).descriptor == REJECTED
    assert str(seen.at(4).value[0].value[0]) == "amqp:decode-error"
    client.transfer(1, message(""))
    assert outcome(client) == ACCEPTED
    take(client, "NOTHING")


def test_a_settled_transfer_without_an_octet_closes_the_link(client: Raw) -> None:
    client.attach("s", SENDER, target=target("NOTHING"))
    client.wait(FLOW)
    client.transfer(0, b"", settled=True)
    assert client.wait(DETACH).error(2)[0] == "amqp:decode-error"


def test_a_settled_message_that_cannot_be_read_closes_the_link(client: Raw) -> None:
    client.attach("s", SENDER, target=target("BROKEN"))
    client.wait(FLOW)
    client.transfer(0, b"\x00\x53\x75\xff", settled=True)
    assert client.wait(DETACH).error(2)[0] == "amqp:decode-error"


def test_an_anonymous_link_takes_each_message_where_it_says(client: Raw) -> None:
    client.attach("s", SENDER, target=target(None))
    client.wait(FLOW)
    client.transfer(0, message("one", to="RELAY1"))
    client.transfer(1, message("two", to="queue://RELAY2"))
    assert outcome(client) == ACCEPTED
    assert b"one" in take(client, "RELAY1", 8)
    assert b"two" in take(client, "RELAY2", 9)


def test_an_anonymous_link_rejects_a_message_that_goes_nowhere(client: Raw) -> None:
    client.attach("s", SENDER, target=target(None))
    client.wait(FLOW)
    client.transfer(0, message("nowhere"))
    seen = client.wait(DISPOSITION)
    assert seen.at(4).descriptor == REJECTED
    assert str(seen.at(4).value[0].value[0]) == "amqp:not-found"
    client.transfer(1, message("gone", to="AMQ.TEMPORARY.QUEUE.gone"))
    assert outcome(client) == REJECTED


ACCEPTED_ALONE = source(None, *(b"",) * 8, types.symbols(("amqp:accepted:list",)))


def test_a_relay_says_which_message_goes_nowhere(client: Raw) -> None:
    client.attach("s", SENDER, target=target(None))
    client.wait(FLOW)
    client.transfer(7, message("where to?"))
    error = client.wait(DISPOSITION).at(4).value[0].value
    assert (str(error[0]), error[2]["delivery-tag"]) == ("amqp:not-found", b"7")


def test_a_settled_message_that_goes_nowhere_closes_the_relay(client: Raw) -> None:
    client.attach("s", SENDER, target=target(None))
    client.wait(FLOW)
    client.transfer(7, message("where to?"), settled=True)
    gone = client.wait(DETACH)
    assert gone.error(2)[0] == "amqp:not-found"
    assert gone.info(2)["delivery-tag"] == b"7"


@pytest.mark.parametrize("settled", [False, True])
def test_a_message_with_an_empty_tag_that_goes_nowhere_is_told_of_without_one(client: Raw, settled: bool) -> None:
    client.attach("s", SENDER, target=target(None))
    client.wait(FLOW)
    fields = types.uint(0), types.uint(0), types.binary(b""), types.uint(0), types.boolean(settled)
    client.say(TRANSFER, *fields, payload=message("where to?"))
    error = client.wait(DETACH).at(2).value if settled else client.wait(DISPOSITION).at(4).value[0].value
    assert str(error[0]) == "amqp:not-found"
    assert "delivery-tag" not in error[2]


def test_a_sender_that_knows_no_rejected_is_detached_instead(client: Raw) -> None:
    seen = client.attach("s", SENDER, source=ACCEPTED_ALONE, target=target(None))
    assert [str(one) for one in seen.at(5).value[9]] == ["amqp:accepted:list"]
    client.wait(FLOW)
    client.transfer(0, message("where to?"))
    assert client.wait(DETACH).error(2)[0] == "amqp:not-found"


def test_a_link_without_a_target_is_refused(client: Raw) -> None:
    seen = client.attach("s", SENDER)
    assert seen.at(5) is None
    assert seen.at(6) is None
    assert client.wait(DETACH).error(2)[0] == "amqp:not-found"


def test_a_refused_link_can_be_attached_again(client: Raw) -> None:
    client.attach("s", SENDER)
    client.wait(DETACH)
    client.say(DETACH, types.uint(0), types.boolean(value=True))
    client.attach("s", SENDER, target=target("AGAIN"))
    assert client.wait(FLOW).at(6) == 500


def test_a_detached_sender_is_answered(client: Raw) -> None:
    client.attach("s", SENDER, target=target("DETACH"))
    client.wait(FLOW)
    client.say(DETACH, types.uint(0), types.boolean(value=True))
    seen = client.wait(DETACH)
    assert seen.at(1) is True
    assert seen.at(2) is None


def test_a_sender_of_a_dynamic_target_has_a_queue_of_its_own(client: Raw) -> None:
    asked = performative(0x29, b"", b"", b"", b"", types.boolean(value=True), b"", types.symbols(("temporary-queue",)))
    seen = client.attach("s", SENDER, target=asked)
    name = seen.at(6).value[0]
    assert name.startswith("AMQ.TEMPORARY.QUEUE.")
    assert seen.at(6).value[6] == ["temporary-queue"]
    client.wait(FLOW)
    client.transfer(0, message("mine"))
    assert outcome(client) == ACCEPTED
    assert b"mine" in take(client, name)
    client.say(DETACH, types.uint(0), types.boolean(value=True))
    client.wait(DETACH)
    client.attach("other", SENDER, 5, target=target(name))
    assert client.wait(DETACH).error(2)[0] == "amqp:not-found"
