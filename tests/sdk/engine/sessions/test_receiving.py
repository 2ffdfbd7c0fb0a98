from __future__ import annotations

import pytest
from tests.sdk.scripted import MS, QUEUE, THREAD, Bench

from assay_sdk import driver as port
from assay_sdk.driver import Outcome
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.operations import spawn
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.settings import Source
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import Seen, Settled
from assay_sdk.time import StalledError


def consumer_of(bench: Bench) -> EngineConsumer:
    return bench.do(bench.session.create_consumer(Source(address=QUEUE)))


def test_a_message_that_is_there_is_received_at_once_and_accepted() -> None:
    bench = Bench()
    bench.wire.put("a")
    delivery = bench.do(consumer_of(bench).receive(1000))
    assert delivery is not None
    assert delivery.message.body == "a"
    assert (delivery.count, delivery.redelivered) == (1, False)
    assert bench.now_ms == 0
    assert bench.wire.settled() == [((1,), Outcome.ACCEPTED)]


def test_only_one_message_is_asked_for() -> None:
    bench = Bench()
    bench.wire.put("a", "b")
    bench.do(consumer_of(bench).receive(1000))
    assert [command.credit for command in bench.wire.all(port.Credit)] == [1]
    assert bench.wire.bodies() == ["b"]


def test_a_receive_that_gets_nothing_waits_its_time_and_takes_its_credit_back() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    assert bench.do(consumer.receive(250)) is None
    assert bench.now_ms == 250
    assert len(bench.wire.all(port.Drain)) == 1
    bench.wire.put("late")
    assert bench.wire.bodies() == ["late"], "nothing is stranded in a buffer that nobody reads"


def test_a_message_that_comes_while_waiting_ends_the_wait() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    bench.runner.call_at(40 * MS, lambda: bench.wire.put("a"))
    assert bench.do(consumer.receive(None)) is not None
    assert bench.now_ms == 40


def test_a_message_due_at_the_deadline_itself_is_received() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    bench.runner.call_at(250 * MS, lambda: bench.wire.put("a"))
    assert bench.do(consumer.receive(250)) is not None


def test_a_timeout_of_zero_takes_what_is_there() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    assert bench.do(consumer.receive(0)) is None
    bench.wire.put("a")
    assert bench.do(consumer.receive(0)) is not None
    assert bench.now_ms == 0


def test_waiting_for_ever_in_a_world_without_a_future_is_an_error_and_leaves_the_consumer_usable() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    with pytest.raises(StalledError):
        bench.do(consumer.receive(None))
    bench.wire.put("a")
    assert bench.do(consumer.receive(0)) is not None


def test_a_stopped_connection_hands_nothing_over() -> None:
    bench = Bench(start=False)
    consumer = consumer_of(bench)
    bench.wire.put("a")
    assert bench.do(consumer.receive(100)) is None
    bench.do(bench.connection.start())
    assert bench.do(consumer.receive(100)) is not None


def test_a_receive_on_a_stopped_connection_goes_on_when_it_is_started() -> None:
    bench = Bench(start=False)
    consumer = consumer_of(bench)
    bench.wire.put("a")
    bench.runner.call_at(30 * MS, lambda: void(spawn(bench.runner, bench.connection.start())))
    assert bench.do(consumer.receive(100)) is not None
    assert bench.now_ms == 30


def void(_: object) -> None:
    """Drop a value."""


def test_the_observer_sees_a_message_before_it_is_settled() -> None:
    bench = Bench()
    bench.wire.put("a")
    bench.do(consumer_of(bench).receive(0))
    kinds = [type(event) for event in bench.events]
    assert kinds == [Seen, Settled]


def test_what_expired_in_the_buffer_is_not_handed_over() -> None:
    bench = Bench(prefetch=10)
    consumer = consumer_of(bench)
    now_ms = bench.runner.clock.wall_ns() // MS
    bench.wire.put("first")
    bench.wire.put("short", expiry_ms=now_ms + 50)
    bench.wire.put("long", expiry_ms=now_ms + 5000)
    assert bench.do(consumer.receive(0)) is not None
    bench.let(60)
    delivery = bench.do(consumer.receive(0))
    assert delivery is not None
    assert delivery.message.body == "long"
    assert bench.wire.settled()[1] == ((2,), Outcome.ACCEPTED)


def test_what_comes_expired_was_the_brokers_decision() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    bench.wire.put("old", expiry_ms=bench.runner.clock.wall_ns() // MS - 1)
    assert bench.do(consumer.receive(0)) is not None


def test_prefetch_asks_ahead_and_tops_up_by_half_windows() -> None:
    bench = Bench(prefetch=10)
    consumer = consumer_of(bench)
    bench.wire.put(*map(str, range(40)))
    got = [bench.do(consumer.receive(100)) for _ in range(40)]
    assert [delivery.message.body for delivery in got if delivery] == [str(number) for number in range(40)]
    assert len(bench.wire.all(port.Credit)) <= 10


def test_a_receive_ends_with_nothing_when_its_consumer_is_closed() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    bench.runner.call_at(30 * MS, lambda: void(spawn(bench.runner, consumer.close(THREAD))))
    assert bench.do(consumer.receive(None)) is None
    assert bench.now_ms == 30


def test_a_receive_is_refused_when_the_broker_closes_the_link() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    refused = Refused(JmsErrorKind.INVALID_DESTINATION, "the queue was deleted")
    bench.runner.call_at(5 * MS, lambda: bench.wire.sink(port.LinkClosed(consumer.number, refused)))
    for _ in range(2):
        with pytest.raises(RefusedError, match="the queue was deleted"):
            bench.do(consumer.receive(100))
    assert refused in bench.complaints


def test_a_lost_answer_to_a_settlement_does_not_lose_the_message() -> None:
    bench = Bench()
    bench.wire.put("a")
    consumer = consumer_of(bench)
    bench.wire.hold.add(port.Settle)
    bench.runner.call_at(5 * MS, bench.wire.break_line)
    delivery = bench.do(consumer.receive(0))
    assert delivery is not None


def test_a_unit_that_cannot_begin_puts_the_message_back() -> None:
    bench = Bench(AckMode.TRANSACTED)
    consumer = consumer_of(bench)
    bench.wire.put("a")
    bench.wire.refuse[port.Begin] = Refused(JmsErrorKind.RESOURCE_ALLOCATION, "no units left")
    with pytest.raises(RefusedError, match="no units left"):
        bench.do(consumer.receive(0))
    del bench.wire.refuse[port.Begin]
    delivery = bench.do(consumer.receive(0))
    assert delivery is not None
    assert delivery.message == Message(message_id="a", body="a")
