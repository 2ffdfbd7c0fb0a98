from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sdk.scripted import MS, OTHER, QUEUE, Bench

from assay_sdk import driver as port
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.checks import LEVEL_PROPERTY, RULES, Moment
from assay_sdk.engine.producer import Producer
from assay_sdk.engine.settings import DeliveryMode, ProducerSettings
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused


def producer_of(bench: Bench, address: Address | None = QUEUE) -> Producer:
    return bench.do(bench.session.create_producer(address))


def sent(bench: Bench) -> Message:
    return bench.wire.all(port.Send)[-1].message


def test_a_message_is_persistent_with_priority_four_and_never_expires_by_default() -> None:
    bench = Bench()
    bench.do(producer_of(bench).send(Message(body="a")))
    message = sent(bench)
    assert (message.durable, message.priority, message.ttl_ms, message.expiry_ms) == (True, 4, None, None)
    assert message.delivery_time_ms is None
    assert message.creation_ms == bench.runner.clock.wall_ns() // MS
    assert message.to == QUEUE
    assert message.message_id == "ID:t-1"


def test_settings_of_the_producer_hold_for_all_sends_and_those_of_a_send_for_it_alone() -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.do(producer.set_delivery_mode(1))
    bench.do(producer.set_priority(7))
    bench.do(producer.set_time_to_live(1000))
    bench.do(producer.send(Message(body="a")))
    bench.do(producer.send(Message(body="b"), mode=2, priority=1, ttl_ms=0))
    bench.do(producer.send(Message(body="c")))
    shown = [(c.message.durable, c.message.priority, c.message.ttl_ms) for c in bench.wire.all(port.Send)]
    assert shown == [(False, 7, 1000), (True, 1, None), (False, 7, 1000)]


@given(start_ns=st.integers(0, 10**19), delay_ms=st.integers(1, 10**9))
def test_a_delivery_time_is_never_early(start_ns: int, delay_ms: int) -> None:
    bench = Bench()
    bench.runner._clock._start_wall_ns = start_ns
    producer = producer_of(bench)
    bench.do(producer.set_delivery_delay(delay_ms))
    message = bench.do(producer.send(Message(body="a")))
    assert message.delivery_time_ms is not None
    assert 0 <= message.delivery_time_ms * MS - (start_ns + delay_ms * MS) < MS


def test_time_to_live_counts_from_the_send() -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.do(producer.set_time_to_live(6000))
    bench.do(producer.set_delivery_delay(5000))
    message = bench.do(producer.send(Message(body="a")))
    assert message.creation_ms is not None
    assert (message.ttl_ms, message.expiry_ms) == (6000, message.creation_ms + 6000)


def test_a_send_waits_for_the_brokers_answer() -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.wire.hold.add(port.Send)
    bench.runner.call_at(30 * MS, bench.wire.answer_held)
    bench.do(producer.send(Message(body="a")))
    assert bench.now_ms == 30


def test_a_refused_send_carries_the_brokers_reason() -> None:
    bench = Bench()
    refused = Refused(JmsErrorKind.RESOURCE_ALLOCATION, "MQRC_Q_FULL (2053): Q", mqrc=2053, objects=("Q",))
    bench.wire.refuse[port.Send] = refused
    with pytest.raises(RefusedError) as caught:
        bench.do(producer_of(bench).send(Message(body="a")))
    assert caught.value.refused is refused


@pytest.mark.parametrize(("ttl_ms", "accepted"), [(99, False), (100, True), (101, True), (0, True)])
def test_dd12_a_time_to_live_below_the_delay_is_refused_when_set(ttl_ms: int, accepted: bool) -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.do(producer.set_delivery_delay(100))
    if accepted:
        bench.do(producer.set_time_to_live(ttl_ms))
        return
    with pytest.raises(RefusedError) as caught:
        bench.do(producer.set_time_to_live(ttl_ms))
    assert caught.value.refused.mqrc == Mqrc.EXPIRY_ERROR
    assert caught.value.refused.objects == ("Q",)


@pytest.mark.parametrize(("delay_ms", "accepted"), [(101, False), (100, True), (99, True), (0, True)])
def test_dd13_a_delay_above_the_time_to_live_is_refused_when_set(delay_ms: int, accepted: bool) -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.do(producer.set_time_to_live(100))
    if accepted:
        bench.do(producer.set_delivery_delay(delay_ms))
        return
    with pytest.raises(RefusedError) as caught:
        bench.do(producer.set_delivery_delay(delay_ms))
    assert caught.value.refused.mqrc == Mqrc.EXPIRY_ERROR


@pytest.mark.parametrize(("ttl_ms", "accepted"), [(99, False), (100, True), (101, True), (0, True)])
def test_dd14_a_sends_own_time_to_live_below_the_delay_is_refused(ttl_ms: int, accepted: bool) -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.do(producer.set_delivery_delay(100))
    if accepted:
        bench.do(producer.send(Message(body="a"), ttl_ms=ttl_ms))
        return
    with pytest.raises(RefusedError) as caught:
        bench.do(producer.send(Message(body="a"), ttl_ms=ttl_ms))
    assert caught.value.refused.mqrc == Mqrc.EXPIRY_ERROR
    assert not bench.wire.all(port.Send), "nothing is sent"


def test_dd15_a_refusal_keeps_the_earlier_value_and_a_valid_send_works() -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.do(producer.set_time_to_live(100))
    bench.do(producer.set_delivery_delay(50))
    for operation in (producer.set_delivery_delay(101), producer.set_time_to_live(49)):
        with pytest.raises(RefusedError):
            bench.do(operation)
    assert producer.settings == ProducerSettings(ttl_ms=100, delay_ms=50)
    bench.do(producer.send(Message(body="a")))
    assert sent(bench).ttl_ms == 100


def test_without_checks_the_broker_is_asked() -> None:
    bench = Bench(checks=False)
    producer = producer_of(bench)
    bench.do(producer.set_time_to_live(100))
    bench.do(producer.set_delivery_delay(101))
    bench.do(producer.send(Message(body="a"), ttl_ms=7))
    assert sent(bench).ttl_ms == 7


@pytest.mark.parametrize(("level", "accepted"), [("7.1", False), ("7.5", False), ("8.0", True), ("9.4", True)])
def test_dd10_an_old_queue_manager_has_no_delay(level: str, accepted: bool) -> None:
    bench = Bench()
    bench.connection.peer = {LEVEL_PROPERTY: level}
    producer = producer_of(bench)
    bench.do(producer.set_delivery_delay(0))
    if accepted:
        bench.do(producer.set_delivery_delay(1))
        return
    with pytest.raises(RefusedError) as caught:
        bench.do(producer.set_delivery_delay(1))
    assert caught.value.refused.mqrc == Mqrc.FUNCTION_NOT_SUPPORTED


def test_every_rule_of_the_table_names_a_rule_a_moment_and_a_reason() -> None:
    assert [rule.rule for rule in RULES] == ["DD-10", "DD-12", "DD-13", "DD-14"]
    assert {rule.moment for rule in RULES} == set(Moment)


@pytest.mark.parametrize(
    ("lacks", "setting", "value"),
    [
        (Capability.DELIVERY_DELAY, "set_delivery_delay", 1),
        (Capability.TIME_TO_LIVE, "set_time_to_live", 1),
        (Capability.PRIORITY, "set_priority", 7),
        (Capability.NON_PERSISTENT, "set_delivery_mode", DeliveryMode.NON_PERSISTENT),
    ],
)
def test_what_the_connection_cannot_do_is_refused_before_anything_is_sent(
    lacks: Capability, setting: str, value: int
) -> None:
    bench = Bench(capabilities=frozenset(Capability) - {lacks}, checks=False)
    producer = producer_of(bench)
    with pytest.raises(RefusedError) as caught:
        bench.do(getattr(producer, setting)(value))
    assert caught.value.refused.kind is JmsErrorKind.UNSUPPORTED
    assert caught.value.refused.objects == (lacks.value,)


@pytest.mark.parametrize("priority", [-1, 10, True, 4.0, "4"])
def test_a_priority_is_an_integer_of_zero_to_nine(priority: int) -> None:
    bench = Bench()
    producer = producer_of(bench)
    for operation in (producer.set_priority(priority), producer.send(Message(body="a"), priority=priority)):
        with pytest.raises(RefusedError) as caught:
            bench.do(operation)
        assert caught.value.refused.mqrc == Mqrc.PRIORITY_ERROR


def test_a_delivery_mode_is_one_or_two() -> None:
    bench = Bench()
    with pytest.raises(RefusedError) as caught:
        bench.do(producer_of(bench).set_delivery_mode(3))
    assert caught.value.refused.mqrc == Mqrc.PERSISTENCE_ERROR


def test_a_producer_without_a_destination_is_told_one_with_each_send() -> None:
    bench = Bench()
    producer = producer_of(bench, None)
    bench.do(producer.send(Message(body="a"), to=OTHER))
    assert bench.wire.bodies("OTHER") == ["a"]
    with pytest.raises(RefusedError, match="no destination"):
        bench.do(producer.send(Message(body="a")))
    with pytest.raises(RefusedError, match="sends to"):
        bench.do(producer_of(bench).send(Message(body="a"), to=OTHER))


def test_a_closed_producer_sends_nothing_and_closing_twice_is_once() -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.do(producer.close())
    bench.do(producer.close())
    assert len(bench.wire.all(port.CloseLink)) == 1
    with pytest.raises(RefusedError, match="is closed"):
        bench.do(producer.send(Message(body="a")))


def test_a_producer_whose_link_the_broker_closed_says_why() -> None:
    bench = Bench()
    producer = producer_of(bench)
    bench.wire.sink(port.LinkClosed(producer.number, Refused(JmsErrorKind.SECURITY, "authority was taken away")))
    with pytest.raises(RefusedError, match="authority was taken away"):
        bench.do(producer.send(Message(body="a")))


def test_a_refused_producer_leaves_nothing_behind() -> None:
    bench = Bench()
    bench.wire.refuse[port.OpenSender] = Refused(JmsErrorKind.INVALID_DESTINATION, "there is no Q")
    with pytest.raises(RefusedError, match="there is no Q"):
        producer_of(bench)
    assert not bench.session.producers
