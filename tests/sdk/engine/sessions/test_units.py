from __future__ import annotations

import pytest
from tests.sdk.scripted import MS, OTHER, QUEUE, THREAD, Bench

from assay_sdk import driver as port
from assay_sdk.driver import Outcome
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.operations import spawn
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.producer import EngineProducer
from assay_sdk.engine.sessions.units import InDoubtError
from assay_sdk.engine.settings import Source
from assay_sdk.engine.states import UnitState
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.observer import Settled, UnitTurned


def cast_of(bench: Bench) -> tuple[EngineProducer, EngineConsumer]:
    return (
        bench.do(bench.session.create_producer(OTHER)),
        bench.do(bench.session.create_consumer(Source(address=QUEUE))),
    )


def test_a_unit_begins_with_the_first_send_or_delivery() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer, consumer = cast_of(bench)
    assert not bench.wire.all(port.Begin)
    bench.do(producer.send(Message(body="x")))
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    (begin,) = bench.wire.all(port.Begin)
    assert [command.unit for command in bench.wire.all(port.Send)] == [begin.unit]
    assert [command.unit for command in bench.wire.all(port.Enlist)] == [begin.unit]


def test_a_commit_makes_sends_visible_and_deliveries_gone() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    bench.do(producer.send(Message(body="x")))
    assert bench.wire.bodies("OTHER") == []
    bench.do(bench.session.commit())
    assert bench.wire.bodies("OTHER") == ["x"]
    bench.do(bench.session.close(THREAD))
    assert bench.wire.bodies() == []
    assert bench.wire.settled() == []


def test_a_rollback_undoes_sends_and_brings_deliveries_again_with_count_and_order() -> None:
    bench = Bench(AckMode.TRANSACTED, prefetch=10)
    producer, consumer = cast_of(bench)
    bench.wire.put(*"abcd")
    for _ in range(2):
        bench.do(consumer.receive(0))
    bench.do(producer.send(Message(body="x")))
    bench.do(bench.session.rollback())
    assert bench.wire.bodies("OTHER") == []
    again = [bench.do(consumer.receive(0)) for _ in range(4)]
    assert [(d.message.body, d.count) for d in again if d] == [("a", 2), ("b", 2), ("c", 1), ("d", 1)]


def test_each_unit_has_a_number_of_its_own() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer, _ = cast_of(bench)
    for _ in range(3):
        bench.do(producer.send(Message(body="x")))
        bench.do(bench.session.commit())
    assert len({command.unit for command in bench.wire.all(port.Begin)}) == 3


@pytest.mark.parametrize("what", ["commit", "rollback"])
def test_ending_a_unit_that_never_began_says_nothing_to_the_broker(what: str) -> None:
    bench = Bench(AckMode.TRANSACTED)
    before = len(bench.wire.commands)
    bench.do(getattr(bench.session, what)())
    assert len(bench.wire.commands) == before


def test_a_refused_commit_is_a_rollback() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    bench.wire.refuse[port.Commit] = Refused(JmsErrorKind.RESOURCE_ALLOCATION, "the log is full")
    with pytest.raises(RefusedError, match=r"rolled back instead of committed: the log is full") as caught:
        bench.do(bench.session.commit())
    assert caught.value.refused.kind is JmsErrorKind.TRANSACTION_ROLLED_BACK
    assert bench.session.unit.state is UnitState.NONE
    delivery = bench.do(consumer.receive(0))
    assert delivery is not None
    assert delivery.count == 2


def test_a_commit_that_the_broker_does_not_answer_is_in_doubt() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    bench.wire.refuse[port.Commit] = refused(Mqrc.CALL_INTERRUPTED, "the broker did not answer (commit)")
    with pytest.raises(RefusedError, match=r"the broker did not answer") as caught:
        bench.do(bench.session.commit())
    assert caught.value.refused.kind is JmsErrorKind.MESSAGING
    assert bench.session.unit.state is UnitState.NONE
    assert bench.do(consumer.receive(0)) is None, "the message came back, although the broker may have committed"
    assert not bench.wire.all(port.Settle)


@pytest.mark.parametrize("how", [port.Commit, port.Rollback])
def test_after_an_unanswered_end_the_next_rollback_gives_back_only_its_own_messages(
    how: type[port.Commit | port.Rollback],
) -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    bench.wire.refuse[how] = refused(Mqrc.CALL_INTERRUPTED, "the broker did not answer")
    with pytest.raises(InDoubtError):
        bench.do(bench.session.commit() if how is port.Commit else bench.session.rollback())
    del bench.wire.refuse[how]
    bench.wire.put("b")
    second = bench.do(consumer.receive(0))
    assert second is not None
    bench.do(bench.session.rollback())
    assert [command.deliveries for command in bench.wire.all(port.Settle)] == [(second.number,)]


def test_a_delivery_whose_enlisting_is_not_answered_turns_the_commit_into_a_rollback() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.wire.refuse[port.Enlist] = refused(Mqrc.CALL_INTERRUPTED, "the broker did not answer (enlist)")
    bench.do(consumer.receive(0))
    with pytest.raises(RefusedError, match="rolled back instead of committed") as caught:
        bench.do(bench.session.commit())
    assert (caught.value.refused.kind, caught.value.refused.mqrc) == (JmsErrorKind.TRANSACTION_ROLLED_BACK, None)
    assert len(bench.wire.all(port.Rollback)) == 1
    assert bench.do(consumer.receive(0)) is not None, "the message did not come back"


def test_a_commit_that_ends_in_an_unanswered_rollback_is_a_rollback() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.wire.refuse[port.Enlist] = Refused(JmsErrorKind.ILLEGAL_STATE, "no such unit")
    bench.wire.refuse[port.Rollback] = refused(Mqrc.CALL_INTERRUPTED, "the broker did not answer (rollback)")
    bench.do(consumer.receive(0))
    with pytest.raises(RefusedError, match="no such unit") as caught:
        bench.do(bench.session.commit())
    assert caught.value.refused.kind is JmsErrorKind.TRANSACTION_ROLLED_BACK
    assert bench.do(consumer.receive(0)) is not None, "the message did not come back"


def test_a_refusal_to_give_messages_back_does_not_replace_that_of_the_commit() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    bench.wire.refuse[port.Commit] = Refused(JmsErrorKind.RESOURCE_ALLOCATION, "the log is full")
    bench.wire.refuse[port.Settle] = refused(Mqrc.CALL_INTERRUPTED, "the broker did not answer (settle)")
    with pytest.raises(RefusedError, match="the log is full") as caught:
        bench.do(bench.session.commit())
    assert caught.value.refused.kind is JmsErrorKind.TRANSACTION_ROLLED_BACK
    assert [refusal.text for refusal in bench.complaints] == ["the broker did not answer (settle)"]


def test_a_delivery_that_could_not_be_enlisted_turns_the_commit_into_a_rollback() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.wire.refuse[port.Enlist] = Refused(JmsErrorKind.ILLEGAL_STATE, "no such unit")
    bench.do(consumer.receive(0))
    with pytest.raises(RefusedError, match="no such unit") as caught:
        bench.do(bench.session.commit())
    assert caught.value.refused.kind is JmsErrorKind.TRANSACTION_ROLLED_BACK
    assert len(bench.wire.all(port.Rollback)) == 1
    assert not bench.wire.all(port.Commit)


def test_a_commit_waits_for_the_answers_about_its_deliveries() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.wire.hold.add(port.Enlist)
    bench.do(consumer.receive(0))
    committing = spawn(bench.runner, bench.session.commit())
    bench.let(1)
    assert not bench.wire.all(port.Commit)
    bench.wire.refuse[port.Enlist] = Refused(JmsErrorKind.ILLEGAL_STATE, "the unit is full")
    bench.wire.answer_held()
    bench.let(1)
    assert isinstance(committing.error, RefusedError)
    assert committing.error.refused.kind is JmsErrorKind.TRANSACTION_ROLLED_BACK
    assert not bench.wire.all(port.Commit)


def test_a_connection_lost_in_the_middle_of_a_commit_says_so() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer, _ = cast_of(bench)
    bench.do(producer.send(Message(body="x")))
    bench.wire.hold.add(port.Commit)
    bench.runner.call_at(5 * MS, bench.wire.break_line)
    with pytest.raises(RefusedError) as caught:
        bench.do(bench.session.commit())
    assert caught.value.refused.kind is JmsErrorKind.CONNECTION_LOST


def test_what_a_listener_is_handed_while_a_commit_is_under_way_belongs_to_the_next_unit() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer, consumer = cast_of(bench)
    bench.do(producer.send(Message(body="x")))
    bench.do(consumer.set_message_listener(lambda _: None))
    bench.wire.hold.add(port.Commit)
    committing = spawn(bench.runner, bench.session.commit())
    bench.let(1)
    bench.wire.put("a")
    bench.let(1)
    assert not bench.wire.all(port.Enlist)
    bench.wire.answer_held()
    bench.let(1)
    assert committing.done
    first, second = bench.wire.all(port.Begin)
    assert [command.unit for command in bench.wire.all(port.Enlist)] == [second.unit]
    assert first.unit != second.unit


def test_a_listener_may_commit_and_roll_back() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    counts: list[tuple[object, int]] = []

    def note(body: object, count: int) -> None:
        counts.append((body, count))
        bench.do(bench.session.rollback() if count == 1 else bench.session.commit())

    bench.do(consumer.set_message_listener(lambda delivery: note(delivery.message.body, delivery.count)))
    bench.wire.put(*"ab")
    bench.let(10)
    assert counts == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert bench.wire.bodies() == []


def test_closing_rolls_an_open_unit_back() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    bench.do(producer.send(Message(body="x")))
    bench.do(bench.connection.close(THREAD))
    assert len(bench.wire.all(port.Rollback)) == 1
    assert bench.wire.bodies() == ["a"]
    assert bench.wire.bodies("OTHER") == []


def test_the_observer_is_told_of_units() -> None:
    bench = Bench(AckMode.TRANSACTED)
    _, consumer = cast_of(bench)
    bench.wire.put("a")
    bench.do(consumer.receive(0))
    bench.do(bench.session.rollback())
    bench.do(consumer.receive(0))
    bench.do(bench.session.commit())
    turned = [(event.unit, event.op) for event in bench.events if isinstance(event, UnitTurned)]
    settled = [(event.outcome, event.unit) for event in bench.events if isinstance(event, Settled)]
    first, second = turned[0][0], turned[2][0]
    assert turned == [(first, "begin"), (first, "rollback"), (second, "begin"), (second, "commit")]
    assert settled == [(Outcome.ACCEPTED, first), (Outcome.MODIFIED, None), (Outcome.ACCEPTED, second)]
