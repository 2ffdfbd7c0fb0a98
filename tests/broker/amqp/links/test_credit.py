"""Tests of credit, drain and echo on links."""

from __future__ import annotations

import pytest
from tests.broker.amqp.serving import (
    DISPOSITION,
    FLOW,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    Serving,
    message,
    put,
    raw,
    serving,
    source,
    target,
)

from assay_broker.amqp.limits import AmqpLimits
from assay_sdk.amqp import types

NULLS = (b"",) * 5


def test_credit_can_be_taken_back(client: Raw) -> None:
    client.attach("r", RECEIVER, source=source("BACK"))
    client.credit(0, 10)
    client.credit(0, 0)
    put(client, "BACK", "one")
    client.credit(0, 1)
    assert b"one" in client.wait(TRANSFER).payload


def test_drained_credit_is_given_back(client: Raw) -> None:
    put(client, "DRAIN", "one")
    client.attach("r", RECEIVER, source=source("DRAIN"))
    client.credit(0, 10, drain=True)
    assert b"one" in client.wait(TRANSFER).payload
    seen = client.wait(FLOW)
    assert (seen.at(5), seen.at(6), seen.at(8)) == (10, 0, True)


def test_a_drain_gives_everything_there_is_whatever_is_given_at_a_time() -> None:
    with serving(limits=AmqpLimits(window=2)) as server, raw(server) as client:
        put(client, "DRAIN", *"abcde")
        client.attach("r", RECEIVER, source=source("DRAIN"))
        client.credit(0, 100, drain=True)
        for _ in range(5):
            client.wait(TRANSFER)
        assert client.wait(FLOW).at(6) == 0


def test_more_messages_than_the_window_come_in_their_order(server: Serving, client: Raw) -> None:
    texts = [f"m{number}" for number in range(900)]
    for begin in range(0, len(texts), 300):
        with raw(server, container=f"sender-{begin}") as sender:
            put(sender, "MANY", *texts[begin : begin + 300])
    client.attach("r", RECEIVER, source=source("MANY"), settled=True)
    client.credit(0, 900)
    came = [client.wait(TRANSFER).payload for _ in texts]
    assert [payload[-len(text) :] for payload, text in zip(came, texts, strict=True)] == [t.encode() for t in texts]


def test_a_drain_that_all_credit_is_used_for_is_answered(client: Raw) -> None:
    put(client, "DRAIN.ALL", "one", "two", "three")
    client.attach("r", RECEIVER, source=source("DRAIN.ALL"))
    client.credit(0, 2, drain=True)
    assert [client.wait(TRANSFER).at(1), client.wait(TRANSFER).at(1)] == [0, 1]
    seen = client.wait(FLOW)
    assert (seen.at(4), seen.at(5), seen.at(6), seen.at(8)) == (0, 2, 0, True)
    client.credit(0, 1, count=2)
    assert b"three" in client.wait(TRANSFER).payload


def test_a_drain_ends_in_one_piece_with_the_last_message(client: Raw) -> None:
    put(client, "LAST.WORD", "one", "two", "three")
    client.attach("r", RECEIVER, source=source("LAST.WORD"))
    for count in range(3):
        client.credit(0, 1, drain=True, count=count, next_in=count)
        client.wait(TRANSFER)
        assert client.more_has_come
        assert client.wait(FLOW).at(6) == 0


def test_a_drain_without_credit_is_answered_each_time(client: Raw) -> None:
    client.attach("r", RECEIVER, 3, source=source("DRAIN.NOTHING"))
    for given in (0, 0, 2, 0):
        count = 2 if given else 0
        client.credit(3, given, drain=True)
        seen = client.wait(FLOW)
        assert (seen.at(4), seen.at(5), seen.at(6), seen.at(8)) == (0, count, 0, True)
        if given:
            break
    client.credit(3, 0, count=2, drain=True)
    assert client.wait(FLOW).at(5) == 2


@pytest.mark.parametrize("credit", [2, 5])
def test_a_drain_waits_for_what_waits_for_the_sessions_window(client: Raw, credit: int) -> None:
    queue = f"DRAIN.WINDOW.{credit}"
    put(client, queue, "one", "two")
    client.attach("r", RECEIVER, source=source(queue))
    of_link = (types.uint(0), types.uint(0), types.uint(credit), b"", types.boolean(value=True))
    client.say(FLOW, types.uint(0), types.uint(1), types.uint(2), types.uint(9), *of_link)
    assert b"one" in client.wait(TRANSFER).payload
    client.say(FLOW, types.uint(1), types.uint(9), types.uint(2), types.uint(9))
    seen = client.read()
    assert seen is not None
    assert b"two" in seen.payload
    seen = client.wait(FLOW)
    assert (seen.at(5), seen.at(6), seen.at(8)) == (credit, 0, True)


def test_a_drain_of_a_browser_is_answered_when_all_credit_is_used(client: Raw) -> None:
    put(client, "DRAIN.LOOK", "one", "two")
    client.attach("r", RECEIVER, source=source("DRAIN.LOOK", *NULLS, types.symbol("copy")))
    client.credit(0, 1, drain=True)
    assert b"one" in client.wait(TRANSFER).payload
    seen = client.wait(FLOW)
    assert (seen.at(5), seen.at(6), seen.at(8)) == (1, 0, True)


def test_credit_after_a_drain_counts_from_where_that_has_ended(client: Raw) -> None:
    client.attach("r", RECEIVER, source=source("DRAIN.NOT"))
    client.credit(0, 5, drain=True)
    assert client.wait(FLOW).at(5) == 5
    client.credit(0, 1, count=5)
    client.attach("s", SENDER, 1, target=target("DRAIN.NOT"))
    client.transfer(0, message("one"), 1)
    assert b"one" in client.wait(TRANSFER).payload


@pytest.mark.parametrize("drain", [b"", types.boolean(value=False)], ids=["absent", "false"])
def test_a_flow_that_asks_for_an_echo_is_told_how_the_link_stands(client: Raw, drain: bytes) -> None:
    put(client, "ECHO", "one")
    client.attach("r", RECEIVER, 7, source=source("ECHO"))
    client.credit(7, 5)
    client.settle(client.wait(TRANSFER).at(1))
    here = (types.uint(0), types.uint(1000), types.uint(1), types.uint(1000))
    echo = types.boolean(value=True)
    for _ in range(2):
        client.say(FLOW, *here, types.uint(7), types.uint(0), types.uint(5), b"", drain, echo)
        seen = client.wait(FLOW)
        assert (seen.at(0), seen.at(2)) == (1, 1)
        assert (seen.at(4), seen.at(5), seen.at(6), seen.at(8) or False) == (0, 1, 4, False)


def test_a_sender_that_asks_for_an_echo_is_told_what_it_may_send(client: Raw) -> None:
    client.attach("s", SENDER, 5, target=target("ECHO.OF.SENDER"))
    given = client.wait(FLOW).at(6)
    client.transfer(0, message("one"), 5)
    client.wait(DISPOSITION)
    echo = (types.uint(5), types.uint(1), types.uint(given - 1), b"", b"", types.boolean(value=True))
    for _ in range(2):
        client.say(FLOW, types.uint(0), types.uint(1000), types.uint(1), types.uint(1000), *echo)
        seen = client.wait(FLOW)
        assert (seen.at(4), seen.at(5), seen.at(6), seen.at(8) or False) == (0, 1, given - 1, False)
    client.transfer(1, message("two"), 5)
    assert client.wait(DISPOSITION).at(1) == 1


def test_a_flow_of_no_link_that_asks_for_an_echo_is_told_how_the_session_stands(client: Raw) -> None:
    client.attach("s", SENDER, 5, target=target("ECHO.OF.SESSION"))
    client.wait(FLOW)
    client.transfer(0, message("one"), 5)
    client.wait(DISPOSITION)
    here = (types.uint(0), types.uint(1000), types.uint(1), types.uint(1000))
    for _ in range(2):
        client.say(FLOW, *here, b"", b"", b"", b"", b"", types.boolean(value=True))
        seen = client.wait(FLOW)
        assert seen.at(0) == 1
        assert seen.at(1) > 0
        assert seen.at(4) is None
