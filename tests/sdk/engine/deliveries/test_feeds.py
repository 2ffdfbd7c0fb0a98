from __future__ import annotations

import threading

import pytest
from tests.sdk.scripted import MS, OTHER, QUEUE, THREAD, Bench

from assay_sdk import driver as port
from assay_sdk.driver import Outcome
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.operations import spawn
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.settings import Source
from assay_sdk.engine.states import Life
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import JmsErrorKind


def consumer_of(bench: Bench, address: Address = QUEUE) -> EngineConsumer:
    return bench.do(bench.session.create_consumer(Source(address=address)))


class Listener:
    """A listener that notes its messages; a test can make it raise."""

    def __init__(self, *, fails: int = 0) -> None:
        self.bodies: list[object] = []
        self.counts: list[int] = []
        self.fails = fails

    def __call__(self, delivery: EngineDelivery) -> None:
        self.bodies.append(delivery.message.body)
        self.counts.append(delivery.count)
        if self.fails:
            self.fails -= 1
            raise ValueError("as told")


def test_messages_are_handed_over_one_at_a_time_and_in_order() -> None:
    bench = Bench()
    listener = Listener()
    bench.do(consumer_of(bench).set_message_listener(listener))
    bench.wire.put(*"abc")
    bench.let(1)
    assert listener.bodies == ["a", "b", "c"]
    assert bench.wire.settled() == [((number,), Outcome.ACCEPTED) for number in (1, 2, 3)]


def test_a_message_is_accepted_only_after_its_callback_returned() -> None:
    bench = Bench()
    settled_inside: list[int] = []
    bench.do(consumer_of(bench).set_message_listener(lambda _: settled_inside.append(len(bench.wire.all(port.Settle)))))
    bench.wire.put("a")
    bench.let(1)
    assert settled_inside == [0]
    assert len(bench.wire.all(port.Settle)) == 1


@pytest.mark.parametrize("window", [1, 2, 3, 100])
def test_a_callback_that_raises_has_its_message_again_and_before_the_next(window: int) -> None:
    bench = Bench(listener_window=window)
    listener = Listener(fails=2)
    bench.wire.put(*"abc")
    bench.do(consumer_of(bench).set_message_listener(listener))
    bench.let(1)
    assert listener.bodies == ["a", "a"]
    bench.let(100)  # the pause after its second failure in a row
    assert listener.bodies == ["a", "a", "a", "b", "c"]
    assert listener.counts == [1, 2, 3, 1, 1]
    assert bench.wire.bodies() == []
    assert [refused.kind for refused in bench.complaints] == [JmsErrorKind.MESSAGING] * 2
    assert "ValueError: as told" in bench.complaints[0].text


@pytest.mark.parametrize("mode", [AckMode.CLIENT, AckMode.TRANSACTED])
def test_where_the_application_acknowledges_a_raising_callback_is_followed_by_the_next_message(mode: AckMode) -> None:
    bench = Bench(mode)
    listener = Listener(fails=1)
    bench.wire.put(*"ab")
    bench.do(consumer_of(bench).set_message_listener(listener))
    bench.let(1)
    assert listener.bodies == ["a", "b"]


def test_callbacks_of_one_session_never_overlap() -> None:
    bench = Bench()
    inside = [0]
    most = [0]

    def slow(_: EngineDelivery) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        bench.let(10)
        inside[0] -= 1

    for address in (QUEUE, OTHER):
        bench.do(consumer_of(bench, address).set_message_listener(slow))
    bench.wire.put("a", "b")
    bench.wire.put("c", "d", to="OTHER")
    bench.let(100)
    assert most == [1]
    assert len(bench.wire.all(port.Settle)) == 4


def test_callbacks_of_two_sessions_may_overlap() -> None:
    bench = Bench()
    second = bench.do(bench.connection.session(AckMode.AUTO))
    order: list[str] = []

    def slow(_: EngineDelivery) -> None:
        order.append("slow begins")
        bench.let(10)
        order.append("slow ends")

    bench.do(consumer_of(bench).set_message_listener(slow))
    other = bench.do(second.create_consumer(Source(address=OTHER)))
    bench.do(other.set_message_listener(lambda _: order.append("other")))
    bench.wire.put("a")
    bench.runner.call_at(5 * MS, lambda: bench.wire.put("b", to="OTHER"))
    bench.let(20)
    assert order == ["slow begins", "other", "slow ends"]


def test_the_window_is_granted_once_and_topped_up_by_halves() -> None:
    bench = Bench(listener_window=10)
    listener = Listener()
    bench.do(consumer_of(bench).set_message_listener(listener))
    bench.wire.put(*map(str, range(30)))
    bench.let(1)
    assert len(listener.bodies) == 30
    granted = [command.credit for command in bench.wire.all(port.Credit)]
    assert granted[0] == 10
    assert max(granted) == 10
    assert len(granted) <= 7


def test_a_listener_that_is_taken_away_gives_back_what_it_was_not_handed() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    listener = Listener()

    def first_only(delivery: EngineDelivery) -> None:
        listener(delivery)
        bench.do(consumer.set_message_listener(None))

    bench.do(consumer.set_message_listener(first_only))
    bench.wire.put(*"abc")
    bench.let(1)
    assert listener.bodies == ["a"]
    assert bench.wire.bodies() == ["b", "c"]
    delivery = bench.do(consumer.receive(0))
    assert delivery is not None
    assert (delivery.message.body, delivery.count, delivery.redelivered) == ("b", 1, False)


def test_a_new_listener_takes_the_place_of_the_old_one() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    old, new = Listener(), Listener()
    bench.do(consumer.set_message_listener(old))
    bench.do(consumer.set_message_listener(new))
    bench.wire.put("a")
    bench.let(1)
    assert (old.bodies, new.bodies) == ([], ["a"])


def test_a_listener_excludes_blocking_receives() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    bench.do(consumer.set_message_listener(Listener()))
    with pytest.raises(RefusedError, match="remove the listener first") as caught:
        bench.do(consumer.receive(0))
    assert caught.value.refused.kind is JmsErrorKind.ILLEGAL_STATE


def test_a_stopped_connection_calls_no_listener_until_it_is_started() -> None:
    bench = Bench()
    listener = Listener()
    bench.do(consumer_of(bench).set_message_listener(listener))
    bench.do(bench.connection.stop(THREAD))
    bench.wire.put("a")
    bench.let(10)
    assert listener.bodies == []
    bench.do(bench.connection.start())
    bench.let(1)
    assert listener.bodies == ["a"]


@pytest.mark.parametrize("what", ["session", "connection"])
def test_a_listener_cannot_close_what_it_belongs_to(what: str) -> None:
    bench = Bench()
    raised: list[Exception] = []

    def closes(_: EngineDelivery) -> None:
        try:
            bench.do(getattr(bench, what).close(threading.get_ident()))
        except RefusedError as error:
            raised.append(error)

    bench.do(consumer_of(bench).set_message_listener(closes))
    bench.wire.put("a")
    bench.let(1)
    assert len(raised) == 1
    assert bench.wire.settled() == [((1,), Outcome.ACCEPTED)]


def test_a_listener_may_close_its_own_consumer_and_its_message_is_still_accepted() -> None:
    bench = Bench()
    consumer = consumer_of(bench)
    listener = Listener()

    def closes(delivery: EngineDelivery) -> None:
        listener(delivery)
        bench.do(consumer.close(threading.get_ident()))
        assert not bench.wire.all(port.CloseLink), "the link stays until its message is settled"

    bench.do(consumer.set_message_listener(closes))
    bench.wire.put("a", "b")
    bench.let(1)
    assert listener.bodies == ["a"]
    assert bench.wire.bodies() == ["b"]
    assert len(bench.wire.all(port.CloseLink)) == 1


def test_closing_from_outside_waits_for_the_callback() -> None:
    bench = Bench()
    listener = Listener()

    def slow(delivery: EngineDelivery) -> None:
        bench.let(50)
        listener(delivery)

    bench.do(consumer_of(bench).set_message_listener(slow))
    bench.wire.put("a")
    bench.runner.call_at(25 * MS, lambda: void(spawn(bench.runner, bench.session.close(THREAD))))
    bench.runner.run_until(lambda: bench.session.state is Life.CLOSED, None)
    assert bench.now_ms == 50
    assert listener.bodies == ["a"]
    assert bench.wire.settled() == [((1,), Outcome.ACCEPTED)]


def void(_: object) -> None:
    """Drop a value."""
