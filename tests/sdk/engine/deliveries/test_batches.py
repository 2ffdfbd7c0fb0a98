"""Tests of batch listeners in the client (BT-01 to BT-08, BT-14)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sdk.scripted import MS, QUEUE, THREAD, Bench

from assay_sdk.driver import Outcome
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.settings import Source
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.observer import CallbackEnded, Seen


class Batches:
    """A batch listener that notes batches with their times; a test can make it raise or take time."""

    def __init__(self, bench: Bench, *, fails: int = 0, takes_ms: int = 0) -> None:
        self.bench = bench
        self.fails = fails
        self.takes_ms = takes_ms
        self.came: list[tuple[float, list[object]]] = []
        self.counts: list[int] = []

    def __call__(self, deliveries: Sequence[EngineDelivery]) -> None:
        self.came.append((self.bench.now_ms, [delivery.message.body for delivery in deliveries]))
        self.counts.extend(delivery.count for delivery in deliveries)
        self.bench.let(self.takes_ms)
        if self.fails:
            self.fails -= 1
            raise ValueError("as told")

    @property
    def bodies(self) -> list[list[object]]:
        return [bodies for _, bodies in self.came]


def consumer_of(bench: Bench) -> EngineConsumer:
    return bench.do(bench.session.create_consumer(Source(address=QUEUE)))


def listening(bench: Bench, size: int, timeout_ms: int, **kwargs: int) -> tuple[EngineConsumer, Batches]:
    consumer = consumer_of(bench)
    batches = Batches(bench, **kwargs)
    bench.do(consumer.set_batch_listener(batches, size, timeout_ms))
    return consumer, batches


def test_a_full_batch_is_handed_over_at_once() -> None:
    bench = Bench()
    _, batches = listening(bench, 3, 1000)
    bench.wire.put(*"abcdef")
    bench.let(1)
    assert batches.came == [(0, ["a", "b", "c"]), (0, ["d", "e", "f"])]


def test_a_batch_that_does_not_fill_comes_at_the_deadline_of_its_first_message() -> None:
    bench = Bench()
    _, batches = listening(bench, 10, 200)
    for at_ms in (50, 120, 240, 260):
        bench.runner.call_at(at_ms * MS, lambda at_ms=at_ms: bench.wire.put(str(at_ms)))  # type: ignore[misc]  # mypy cannot infer it
    bench.let(1000)
    assert batches.came == [(250, ["50", "120", "240"]), (460, ["260"])]


def test_a_timeout_of_zero_hands_over_what_is_there() -> None:
    bench = Bench()
    bench.wire.put(*"abcde")
    _, batches = listening(bench, 10, 0)
    bench.let(1)
    assert batches.came == [(0, ["a", "b", "c", "d", "e"])]
    bench.wire.put("f")
    bench.let(1)
    assert batches.bodies[1:] == [["f"]]


@given(
    size=st.integers(1, 12),
    timeout_ms=st.sampled_from([0, 1, 20, 100]),
    arrivals=st.lists(st.tuples(st.integers(0, 150), st.integers(1, 15)), max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_batches_are_never_empty_too_large_out_of_order_or_late(
    size: int, timeout_ms: int, arrivals: list[tuple[int, int]]
) -> None:
    bench = Bench()
    _, batches = listening(bench, size, timeout_ms)
    sent: list[tuple[int, str]] = []
    for at_ms, number in sorted(arrivals):
        texts = [f"{len(sent) + index}" for index in range(number)]
        sent.extend((at_ms, text) for text in texts)
        bench.runner.call_at(at_ms * MS, lambda texts=texts: bench.wire.put(*texts))  # type: ignore[misc]  # mypy cannot infer it
    bench.let(1000)
    assert [body for batch in batches.bodies for body in batch] == [text for _, text in sent]
    arrived = {text: at_ms for at_ms, text in sent}
    for when_ms, bodies in batches.came:
        assert 1 <= len(bodies) <= size
        assert when_ms <= arrived[str(bodies[0])] + timeout_ms
        if len(bodies) < size and timeout_ms:
            assert when_ms == arrived[str(bodies[0])] + timeout_ms, "a batch that is not full waits to be filled"


@pytest.mark.parametrize("size", [1, 2, 10, 1000])
@pytest.mark.parametrize("number", [1, 2, 9, 10, 11, 1001])
def test_waiting_messages_fill_batches_to_the_brim(size: int, number: int) -> None:
    bench = Bench()
    bench.wire.put(*map(str, range(number)))
    _, batches = listening(bench, size, 50)
    bench.let(200)
    full, rest = divmod(number, size)
    assert [len(bodies) for bodies in batches.bodies] == [size] * full + [rest] * (rest > 0)


def test_the_next_batch_is_on_its_way_while_one_is_worked_on_and_its_deadline_runs() -> None:
    bench = Bench()
    bench.wire.put(*"abc")
    _, batches = listening(bench, 2, 100, takes_ms=300)
    bench.let(1000)
    assert batches.came == [(0, ["a", "b"]), (300, ["c"])]


def test_automatic_acknowledgement_accepts_the_whole_batch_after_the_callback() -> None:
    bench = Bench()
    listening(bench, 3, 100)
    bench.wire.put(*"abc")
    bench.let(1)
    assert bench.wire.settled() == [((1, 2, 3), Outcome.ACCEPTED)]


def test_a_batch_whose_callback_raises_comes_again_as_a_whole_and_in_order() -> None:
    bench = Bench()
    _, batches = listening(bench, 3, 100, fails=1)
    bench.wire.put(*"abcde")
    bench.let(500)
    assert batches.bodies == [["a", "b", "c"], ["a", "b", "c"], ["d", "e"]]
    assert batches.counts == [1, 1, 1, 2, 2, 2, 1, 1]
    assert bench.wire.bodies() == []


def test_client_acknowledgement_acknowledges_across_batches() -> None:
    bench = Bench(AckMode.CLIENT)
    listening(bench, 2, 10)
    bench.wire.put(*"abc")
    bench.let(100)
    assert bench.wire.settled() == []
    bench.do(bench.session.acknowledge())
    assert bench.wire.settled() == [((1, 2, 3), Outcome.ACCEPTED)]


def test_a_commit_takes_all_batches_and_a_rollback_brings_all_back() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, batches = listening(bench, 2, 10)
    bench.wire.put(*"abc")
    bench.let(100)
    bench.do(bench.session.rollback())
    bench.let(100)
    assert batches.bodies == [["a", "b"], ["c"], ["a", "b"], ["c"]]
    assert batches.counts[3:] == [2, 2, 2]
    bench.do(bench.session.commit())
    bench.do(bench.session.close(THREAD))
    assert bench.wire.bodies() == []


def test_batches_are_numbered_for_the_observer() -> None:
    bench = Bench()
    listening(bench, 2, 10)
    bench.wire.put(*"abc")
    bench.let(100)
    assert [event.handed.batch for event in bench.events if isinstance(event, Seen)] == [0, 0, 1]
    assert [event.batch for event in bench.events if isinstance(event, CallbackEnded)] == [0, 1]


def test_an_expired_message_does_not_join_a_batch_nor_leave_it_half_full() -> None:
    bench = Bench()
    _, batches = listening(bench, 3, 200)
    now_ms = bench.runner.clock.wall_ns() // MS
    bench.wire.put("short", expiry_ms=now_ms + 50)
    bench.wire.put("long")
    bench.let(60)
    bench.wire.put("third")
    bench.let(40)
    assert batches.came == [], "three are there by number, but one has expired, and there is time left"
    bench.wire.put("fourth")
    bench.let(1000)
    assert batches.came == [(100, ["long", "third", "fourth"])]


def test_a_batch_of_nothing_but_expired_messages_is_no_batch() -> None:
    bench = Bench()
    _, batches = listening(bench, 3, 200)
    bench.wire.put("short", expiry_ms=bench.runner.clock.wall_ns() // MS + 50)
    bench.let(1000)
    assert batches.came == []
    bench.wire.put("a")
    bench.let(199)
    assert batches.came == []
    bench.let(1)
    assert batches.bodies == [["a"]]


@pytest.mark.parametrize(("size", "timeout_ms"), [(0, 10), (-1, 10), (1, -1)])
def test_a_size_below_one_or_a_negative_timeout_is_refused(size: int, timeout_ms: int) -> None:
    bench = Bench()
    with pytest.raises(RefusedError, match="give at least 1 message and at least 0 ms"):
        bench.do(consumer_of(bench).set_batch_listener(Batches(bench), size, timeout_ms))


def test_the_two_kinds_of_listener_exclude_each_other_in_either_order() -> None:
    bench = Bench()
    consumer, batches = listening(bench, 2, 10)
    with pytest.raises(RefusedError) as caught:
        bench.do(consumer.set_message_listener(lambda _: None))
    assert caught.value.refused.kind is JmsErrorKind.ILLEGAL_STATE
    bench.do(consumer.set_message_listener(None))
    bench.wire.put("a")
    bench.let(100)
    assert batches.bodies == [["a"]], "clearing the other kind changes nothing"

    bench.do(consumer.set_batch_listener(None, 0, 0))
    bench.do(consumer.set_message_listener(lambda _: None))
    with pytest.raises(RefusedError) as caught:
        bench.do(consumer.set_batch_listener(batches, 2, 10))
    assert caught.value.refused.kind is JmsErrorKind.ILLEGAL_STATE


def test_a_batch_listener_excludes_blocking_receives_until_it_is_taken_away() -> None:
    bench = Bench()
    consumer, _ = listening(bench, 2, 10)
    with pytest.raises(RefusedError) as caught:
        bench.do(consumer.receive(0))
    assert caught.value.refused.kind is JmsErrorKind.ILLEGAL_STATE
    bench.do(consumer.set_batch_listener(None, 0, 0))
    bench.wire.put("a")
    assert bench.do(consumer.receive(0)) is not None


def test_a_batch_under_way_goes_back_when_the_listener_is_taken_away() -> None:
    bench = Bench()
    consumer, batches = listening(bench, 5, 1000)
    bench.wire.put("a", "b")
    bench.let(10)
    bench.do(consumer.set_batch_listener(None, 0, 0))
    bench.let(5000)
    assert batches.came == []
    assert bench.wire.bodies() == ["a", "b"]
    assert [outcome for _, outcome in bench.wire.settled()] == [Outcome.RELEASED]
