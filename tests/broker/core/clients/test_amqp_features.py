"""Tests of features for AMQP: client ids of several connections, drained credit, temporary destinations, look-ups."""

from __future__ import annotations

import pytest
from tests.broker.core.harness import QUEUE, TOPIC, Bench, message

from assay_broker.core import commands
from assay_broker.core.topics.subscriptions import Terms
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused

MINE = Address(AddressKind.TEMPORARY_QUEUE, "MINE")
MY_TOPIC = Address(AddressKind.TEMPORARY_TOPIC, "MINE")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def connect(bench: Bench, number: int, *, alone: bool) -> Refused | None:
    token = bench.token()
    return bench.ask(commands.Connect(number, token, "client", alone=alone), token)


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_a_client_id_of_one_that_wants_to_be_alone_is_in_use(bench: Bench, *, first: bool, second: bool) -> None:
    assert connect(bench, 1, alone=first) is None
    why = connect(bench, 2, alone=second)
    assert why is not None
    assert why.kind is JmsErrorKind.INVALID_CLIENT_ID
    bench.disconnect(1)
    assert connect(bench, 3, alone=second) is None


def test_connections_that_do_not_want_to_be_alone_share_a_client_id(bench: Bench) -> None:
    assert connect(bench, 1, alone=False) is None
    assert connect(bench, 2, alone=False) is None
    bench.disconnect(1)
    assert connect(bench, 3, alone=True) is not None
    bench.disconnect(2)
    assert connect(bench, 3, alone=True) is None


def test_credit_that_is_taken_back_brings_nothing(bench: Bench) -> None:
    bench.connect(1)
    bench.sender(1, 1)
    bench.receiver(1, 2, QUEUE, credit=3)
    bench.handle(commands.Flow(1, None, 2, -2))
    for text in "ab":
        bench.put(1, 1, message(text))
    assert [one.message.body for one in bench.delivered] == ["a"]
    bench.handle(commands.Flow(1, None, 2, -5))
    bench.handle(commands.Flow(1, None, 2, 1))
    assert [one.message.body for one in bench.delivered] == ["a", "b"]


@pytest.mark.parametrize("address", [MINE, MY_TOPIC])
def test_a_missing_temporary_destination_is_not_made_without_adopt(bench: Bench, address: Address) -> None:
    bench.connect(1)
    token = bench.token()
    why = bench.ask(commands.AttachSender(1, token, 1, address, adopt=False), token)
    assert why is not None
    assert why.mqrc == Mqrc.UNKNOWN_OBJECT_NAME
    token = bench.token()
    why = bench.ask(commands.Attach(connection=1, token=token, link=2, address=address, adopt=False), token)
    assert why is not None
    assert why.mqrc == Mqrc.UNKNOWN_OBJECT_NAME


def test_a_temporary_queue_is_deleted_with_all_links_to_it(bench: Bench) -> None:
    bench.connect(1)
    bench.connect(2)
    bench.receiver(1, 1, MINE)
    bench.sender(2, 1, MINE)
    token = bench.token()
    assert bench.ask(commands.DeleteTemporary(1, token, MINE), token) is None
    assert {(one.connection, one.refused.mqrc) for one in bench.closed} == {(1, Mqrc.Q_DELETED), (2, Mqrc.Q_DELETED)}
    token = bench.token()
    assert bench.ask(commands.AttachSender(2, token, 5, MINE, adopt=False), token) is not None
    bench.disconnect(1)


def test_a_temporary_topic_is_deleted_with_its_subscriptions(bench: Bench) -> None:
    bench.connect(1)
    bench.receiver(1, 1, MY_TOPIC)
    token = bench.token()
    assert bench.ask(commands.DeleteTemporary(1, token, MY_TOPIC), token) is None
    assert [one.link for one in bench.closed] == [1]


def test_only_its_own_connection_deletes_a_temporary_destination(bench: Bench) -> None:
    bench.connect(1)
    bench.connect(2)
    bench.receiver(1, 1, MINE)
    token = bench.token()
    assert bench.ask(commands.DeleteTemporary(2, token, MINE), token) is not None


def test_a_durable_subscription_is_found_with_its_terms(bench: Bench) -> None:
    bench.connect(1, "client")
    bench.receiver(1, 1, TOPIC, durable="sub")
    token = bench.token()
    assert bench.ask(commands.FindSubscription(1, token, "sub"), token) is None
    value = bench.answers[token].value
    assert isinstance(value, tuple)
    (terms,) = value
    assert isinstance(terms, Terms)
    assert (terms.topic, terms.name, terms.client_id) == (TOPIC, "sub", "client")
    token = bench.token()
    why = bench.ask(commands.FindSubscription(1, token, "other"), token)
    assert why is not None
    assert why.mqrc == Mqrc.NO_SUBSCRIPTION


def test_a_name_means_what_an_object_says_and_a_queue_otherwise(bench: Bench) -> None:
    assert bench.core.kind_of("anything") is AddressKind.QUEUE


def test_messages_are_measured_where_they_stand(bench: Bench) -> None:
    bench.connect(1)
    bench.sender(1, 1)
    assert bench.core.octets == 0
    bench.put(1, 1, message("x" * 100))
    one = bench.core.octets
    assert one > 100
    bench.put(1, 1, message("y" * 100, delivery_time_ms=bench.now + 1_000))
    assert bench.core.octets == 2 * one
    bench.tick(bench.now + 1_000)
    assert bench.core.octets == 2 * one
    bench.receiver(1, 2, QUEUE, credit=2)
    bench.settle(1, 2, *(delivered.delivery for delivered in bench.delivered))
    assert bench.core.octets == 0
