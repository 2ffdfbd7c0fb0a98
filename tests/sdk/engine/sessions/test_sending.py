from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sdk.scripted import MS, OTHER, QUEUE, TOPIC, Bench

from assay_sdk import driver as port
from assay_sdk.driver import CLUSTERED_PROPERTY, DEFBIND_PROPERTY, LEVEL_PROPERTY
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.checks import RULES, Moment
from assay_sdk.engine.sessions.producer import EngineProducer
from assay_sdk.engine.settings import AS_DESTINATION, DeliveryMode, ProducerSettings
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused


def producer_of(bench: Bench, address: Address | None = QUEUE) -> EngineProducer:
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


def test_a_message_has_no_id_if_the_broker_gives_one_that_the_sender_does_not_learn() -> None:
    bench = Bench(capabilities=frozenset(Capability) - {Capability.MESSAGE_ID})
    assert bench.do(producer_of(bench).send(Message(body="a"))).message_id is None
    assert sent(bench).message_id is None


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


@given(start_ns=st.integers(0, 10**19), span_ms=st.integers(1, 10**9))
def test_delay_and_time_to_live_count_from_one_moment_and_never_cut_a_fraction_off(start_ns: int, span_ms: int) -> None:
    bench = Bench()
    bench.runner._clock._start_wall_ns = start_ns
    producer = producer_of(bench)
    bench.do(producer.set_time_to_live(span_ms))
    bench.do(producer.set_delivery_delay(span_ms))
    message = bench.do(producer.send(Message(body="a")))
    assert message.creation_ms is not None
    assert message.expiry_ms == message.delivery_time_ms == message.creation_ms + span_ms
    assert 0 <= message.expiry_ms * MS - (start_ns + span_ms * MS) < MS


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


@pytest.mark.parametrize(
    ("level", "accepted"),
    [
        *((level, False) for level in ("7", "7.1", "7.5", "7.10", "7.5.0.9", "0.0")),
        *((level, True) for level in ("8", "8.0", "8.0.0", "8.0.0.15", "9.4", "10.0")),
        *(
            (level, True) for level in ("", "unknown", "8.x", "-7.5", "7.", 750, True)
        ),  # the client cannot read the level, so it leaves the decision to the broker
    ],
)
def test_dd10_an_old_queue_manager_has_no_delay(level: str | int, accepted: bool) -> None:
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
    assert producer.settings.delay_ms == 0


def options_error(bench: Bench, producer: EngineProducer, message: Message, to: Address | None = None) -> Refused:
    """Return the refusal of a send that breaks DD-11, DD-16 or DD-17, and check that no message was sent."""
    with pytest.raises(RefusedError) as caught:
        bench.do(producer.send(message, to=to))
    assert caught.value.refused.mqrc == Mqrc.OPTIONS_ERROR
    assert not bench.wire.all(port.Send), "nothing is sent"
    return caught.value.refused


@pytest.mark.parametrize("delay_ms", [0, 100])
@pytest.mark.parametrize("clustered", [True, False, None])
@pytest.mark.parametrize("defbind", ["OPEN", "GROUP", "NOTFIXED", None])
def test_dd11_a_clustered_destination_takes_a_delay_with_defbind_notfixed_only(
    defbind: str | None, clustered: bool | None, delay_ms: int
) -> None:
    bench = Bench()
    told = {DEFBIND_PROPERTY: defbind, CLUSTERED_PROPERTY: clustered}
    bench.wire.destinations["Q"] = {name: value for name, value in told.items() if value is not None}
    producer = producer_of(bench)
    bench.do(producer.set_delivery_delay(delay_ms))
    if not (delay_ms and clustered and defbind in {"OPEN", "GROUP"}):
        bench.do(producer.send(Message(body="a")))
        return
    refused = options_error(bench, producer, Message(body="a"))
    assert f"DEFBIND({defbind})" in refused.text
    assert refused.objects == ("Q",)


def test_dd11_what_was_said_of_no_destination_says_nothing_of_one_that_a_send_names() -> None:
    bench = Bench()
    bench.wire.destinations[""] = {DEFBIND_PROPERTY: "OPEN", CLUSTERED_PROPERTY: True}
    producer = producer_of(bench, None)
    bench.do(producer.set_delivery_delay(100))
    bench.do(producer.send(Message(body="a"), to=QUEUE))
    assert bench.wire.bodies() == ["a"]


@pytest.mark.parametrize("delay_ms", [0, 100])
@pytest.mark.parametrize("retain", [None, 0, 1])
@pytest.mark.parametrize("to", [TOPIC, QUEUE])
def test_dd16_a_retained_publication_takes_no_delay(to: Address, retain: int | None, delay_ms: int) -> None:
    bench = Bench()
    producer = producer_of(bench, to)
    bench.do(producer.set_delivery_delay(delay_ms))
    message = Message(body="a", properties={} if retain is None else {"JMS_IBM_Retain": retain})
    if not (delay_ms and retain and to is TOPIC):
        bench.do(producer.send(message))
        return
    assert "JMS_IBM_Retain" in options_error(bench, producer, message).text


@pytest.mark.parametrize(
    "message",
    [
        Message(group_id="g"),
        Message(group_sequence=1),
        Message(group_sequence=0),
        Message(properties={"JMS_IBM_Last_Msg_In_Group": True}),
        Message(group_id="g", group_sequence=2, properties={"JMS_IBM_Last_Msg_In_Group": True}),
    ],
)
def test_dd17_a_message_in_a_group_takes_no_delay(message: Message) -> None:
    bench = Bench()
    producer = producer_of(bench, None)
    bench.do(producer.set_delivery_delay(100))
    assert "group" in options_error(bench, producer, message, OTHER).text
    bench.do(producer.send(Message(properties={"JMS_IBM_Last_Msg_In_Group": False}), to=OTHER))
    bench.do(producer.set_delivery_delay(0))
    bench.do(producer.send(message, to=OTHER))


def test_without_checks_the_broker_is_asked_about_clusters_groups_and_retained_publications() -> None:
    bench = Bench(checks=False)
    bench.wire.destinations["T"] = {DEFBIND_PROPERTY: "OPEN", CLUSTERED_PROPERTY: True}
    producer = producer_of(bench, TOPIC)
    bench.do(producer.set_delivery_delay(100))
    bench.do(producer.send(Message(group_id="g", properties={"JMS_IBM_Retain": 1})))
    assert sent(bench).delivery_time_ms is not None


def test_every_rule_of_the_table_names_a_rule_a_moment_and_a_reason() -> None:
    assert sorted(rule.rule for rule in RULES) == ["DD-10", "DD-11", "DD-12", "DD-13", "DD-14", "DD-16", "DD-17"]
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


@pytest.mark.parametrize("priority", [-2, 10, True, False, 4.0, "4"])
def test_a_priority_is_an_integer_of_zero_to_nine(priority: int) -> None:
    bench = Bench()
    producer = producer_of(bench)
    for operation in (producer.set_priority(priority), producer.send(Message(body="a"), priority=priority)):
        with pytest.raises(RefusedError) as caught:
            bench.do(operation)
        assert caught.value.refused.mqrc == Mqrc.PRIORITY_ERROR


@pytest.mark.parametrize("mode", [-2, 0, 3, True])
def test_a_delivery_mode_is_one_or_two_or_as_the_destination_defines(mode: int) -> None:
    bench = Bench()
    with pytest.raises(RefusedError) as caught:
        bench.do(producer_of(bench).set_delivery_mode(mode))
    assert caught.value.refused.mqrc == Mqrc.PERSISTENCE_ERROR


def test_what_the_destination_defines_is_left_out_of_the_message() -> None:
    bench = Bench(capabilities=frozenset(Capability) - {Capability.PRIORITY, Capability.NON_PERSISTENT})
    producer = producer_of(bench)
    bench.do(producer.set_delivery_mode(AS_DESTINATION))
    bench.do(producer.set_priority(AS_DESTINATION))
    bench.do(producer.send(Message(body="a")))
    assert (sent(bench).durable, sent(bench).priority) == (None, None)
    bench.do(producer.send(Message(body="a"), mode=2, priority=4))
    assert (sent(bench).durable, sent(bench).priority) == (True, 4)
    bench.do(producer_of(bench).send(Message(body="a"), mode=AS_DESTINATION, priority=AS_DESTINATION))
    assert (sent(bench).durable, sent(bench).priority) == (None, None)


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
