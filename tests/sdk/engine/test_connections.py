from __future__ import annotations

import pytest
from tests.sdk.scripted import MS, QUEUE, THREAD, TOPIC, Bench, FakeDriver

from assay_sdk import driver as port
from assay_sdk.driver import Durability, Outcome, Target
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.operations import perform, spawn
from assay_sdk.engine.sessions import requests
from assay_sdk.engine.settings import ConnectionOptions, Source
from assay_sdk.engine.states import Life, Link
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.observer import ConnectionLost, FrameSeen, SessionEnded
from assay_sdk.runners.virtual import VirtualRunner

DURABLE = Source(address=TOPIC, durability=Durability.DURABLE, name="S")


def test_a_client_id_in_use_is_refused_with_the_brokers_kind() -> None:
    runner, driver = VirtualRunner(), FakeDriver(opens=False)
    target = Target(url="fake://", client_id="billing")
    connection = EngineConnection(driver, target, runner, ConnectionOptions(id_prefix="t"))
    opening = spawn(runner, connection.open())
    runner.run_until(lambda: bool(driver.wires), None)
    driver.wires[0].sink(port.Closed(1, Refused(JmsErrorKind.INVALID_CLIENT_ID, "billing is in use")))
    runner.run_until(lambda: opening.done, None)
    assert isinstance(opening.error, RefusedError)
    assert opening.error.refused.kind is JmsErrorKind.INVALID_CLIENT_ID
    assert connection.state is Life.LOST


def test_a_client_id_on_a_connection_that_knows_none_is_unsupported() -> None:
    with pytest.raises(RefusedError) as caught:
        Bench(client_id="billing", capabilities=frozenset(Capability) - {Capability.CLIENT_ID})
    assert caught.value.refused.kind is JmsErrorKind.UNSUPPORTED


def test_a_peer_that_closes_without_a_reason_is_a_lost_connection() -> None:
    bench = Bench()
    bench.wire.sink(port.Closed(1, None))
    assert bench.connection.state is Life.LOST
    with pytest.raises(RefusedError) as caught:
        bench.do(bench.connection.session(AckMode.AUTO))
    assert caught.value.refused.kind is JmsErrorKind.CONNECTION_LOST


def test_everything_open_fails_when_the_line_breaks() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer = bench.do(bench.session.create_producer(QUEUE))
    consumer = bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    bench.wire.hold.add(port.Send)
    sending = spawn(bench.runner, producer.send(Message(body="a")))
    receiving = spawn(bench.runner, consumer.receive(None))
    bench.let(1)
    bench.wire.break_line()
    bench.let(1)
    for pending in (sending, receiving):
        assert isinstance(pending.error, RefusedError)
        assert pending.error.refused.kind is JmsErrorKind.CONNECTION_LOST
    assert [type(event) for event in bench.events if isinstance(event, ConnectionLost)] == [ConnectionLost]
    assert [refused.kind for refused in bench.complaints] == [JmsErrorKind.CONNECTION_LOST]
    assert consumer.state is Link.LOST


def test_after_a_loss_every_call_says_that_the_connection_is_lost() -> None:
    bench = Bench(AckMode.TRANSACTED)
    producer = bench.do(bench.session.create_producer(QUEUE))
    consumer = bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    bench.wire.break_line()
    for operation in (
        producer.send(Message(body="a")),
        producer.set_priority(1),
        consumer.receive(0),
        consumer.set_message_listener(lambda _: None),
        bench.session.commit(),
        bench.session.create_producer(QUEUE),
        requests.browse(bench.session, QUEUE, None),
        bench.connection.start(),
    ):
        with pytest.raises(RefusedError) as caught:
            bench.do(operation)
        assert caught.value.refused.kind is JmsErrorKind.CONNECTION_LOST


def test_what_is_lost_can_be_closed() -> None:
    bench = Bench()
    consumer = bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    bench.wire.break_line()
    before = len(bench.wire.commands)
    bench.do(consumer.close(THREAD))
    bench.do(bench.session.close(THREAD))
    bench.do(bench.connection.close(THREAD))
    assert len(bench.wire.commands) == before
    with pytest.raises(RefusedError, match="is closed"):
        bench.do(bench.connection.start())


def test_a_line_that_breaks_under_a_listener_settles_nothing_more() -> None:
    bench = Bench()
    consumer = bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    bench.do(consumer.set_message_listener(lambda _: bench.wire.break_line()))
    bench.wire.put("a", "b")
    bench.let(1)
    assert not bench.wire.all(port.Settle)


def test_an_abort_says_nothing_more_to_the_peer() -> None:
    bench = Bench()
    bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    before = len(bench.wire.commands)
    bench.do(bench.connection.abort())
    bench.wire.sink(port.Closed(1, None))
    assert bench.wire.aborted
    assert len(bench.wire.commands) == before
    assert sum(isinstance(event, ConnectionLost) for event in bench.events) == 1


def test_closing_closes_sessions_first_and_twice_is_once() -> None:
    bench = Bench()
    second = bench.do(bench.connection.session(AckMode.CLIENT))
    bench.do(bench.connection.close(THREAD))
    bench.do(bench.connection.close(THREAD))
    kinds = [type(command) for command in bench.wire.commands]
    assert kinds[-3:] == [port.CloseSession, port.CloseSession, port.Close]
    assert bench.session.state is second.state is Life.CLOSED
    assert not [event for event in bench.events if isinstance(event, ConnectionLost)]


def test_the_close_of_a_connection_does_not_wait_for_the_answers_to_its_sessions() -> None:
    bench = Bench()
    bench.wire.hold.add(port.CloseSession)
    bench.do(bench.connection.close(THREAD))
    assert bench.connection.state is bench.session.state is Life.CLOSED
    assert not bench.complaints


def test_the_close_of_a_session_alone_waits_for_its_answer() -> None:
    bench = Bench()
    bench.wire.hold.add(port.CloseSession)
    closing = spawn(bench.runner, bench.session.close(THREAD))
    bench.let(1)
    assert not closing.done


def test_a_line_that_breaks_while_closing_is_closed() -> None:
    bench = Bench()
    bench.wire.hold.add(port.Close)
    bench.runner.call_at(5 * MS, bench.wire.break_line)
    bench.do(bench.connection.close(THREAD))
    assert bench.connection.state is Life.CLOSED
    assert not bench.complaints


def test_pd17_an_unshared_durable_subscription_needs_a_client_id() -> None:
    bench = Bench()
    with pytest.raises(RefusedError, match="needs a client id") as caught:
        bench.do(bench.session.create_consumer(DURABLE))
    assert caught.value.refused.kind is JmsErrorKind.ILLEGAL_STATE
    assert not bench.wire.all(port.OpenReceiver), "nothing is sent"


def test_without_checks_the_broker_judges_the_client_id() -> None:
    bench = Bench(checks=False)
    bench.do(bench.session.create_consumer(DURABLE))
    assert bench.wire.all(port.OpenReceiver)[0].name == "S"


def test_with_a_client_id_or_shared_a_durable_subscription_is_made() -> None:
    bench = Bench(client_id="billing")
    bench.do(bench.session.create_consumer(DURABLE))
    anonymous = Bench()
    shared = Source(address=TOPIC, durability=Durability.DURABLE, name="S", shared=True)
    anonymous.do(anonymous.session.create_consumer(shared))
    assert anonymous.wire.all(port.OpenReceiver)[0].shared


@pytest.mark.parametrize(
    ("lacks", "source"),
    [
        (Capability.TOPIC, Source(address=TOPIC)),
        (Capability.SELECTOR, Source(address=QUEUE, selector="a = 1")),
        (Capability.DURABLE_SUBSCRIPTION, DURABLE),
        (Capability.SHARED_SUBSCRIPTION, Source(address=TOPIC, name="S", shared=True)),
    ],
)
def test_a_consumer_that_the_connection_cannot_have_is_refused_before_anything_is_sent(
    lacks: Capability, source: Source
) -> None:
    bench = Bench(client_id="c", capabilities=frozenset(Capability) - {lacks})
    with pytest.raises(RefusedError) as caught:
        bench.do(bench.session.create_consumer(source))
    assert caught.value.refused.kind is JmsErrorKind.UNSUPPORTED
    assert not bench.wire.all(port.OpenReceiver)


@pytest.mark.parametrize("lacks", [Capability.BROWSE, Capability.SELECTOR])
def test_a_browse_that_the_connection_cannot_do_is_refused(lacks: Capability) -> None:
    bench = Bench(capabilities=frozenset(Capability) - {lacks})
    with pytest.raises(RefusedError) as caught:
        bench.do(requests.browse(bench.session, QUEUE, "a = 1"))
    assert caught.value.refused.kind is JmsErrorKind.UNSUPPORTED


def test_a_session_with_units_needs_a_connection_with_units() -> None:
    with pytest.raises(RefusedError) as caught:
        Bench(AckMode.TRANSACTED, capabilities=frozenset(Capability) - {Capability.LOCAL_TRANSACTION})
    assert caught.value.refused.kind is JmsErrorKind.UNSUPPORTED


def test_browsing_takes_nothing() -> None:
    bench = Bench()
    bench.wire.put("a", "b")
    assert [message.body for message in bench.do(requests.browse(bench.session, QUEUE, None))] == ["a", "b"]
    assert bench.wire.bodies() == ["a", "b"]


def test_unsubscribing_needs_a_name_and_unless_shared_a_client_id() -> None:
    bench = Bench()
    with pytest.raises(RefusedError) as caught:
        bench.do(requests.unsubscribe(bench.session, "", shared=True))
    assert caught.value.refused.mqrc == Mqrc.SUB_NAME_ERROR
    with pytest.raises(RefusedError, match="client id"):
        bench.do(requests.unsubscribe(bench.session, "S", shared=False))
    bench.do(requests.unsubscribe(bench.session, "S", shared=True))
    assert bench.wire.all(port.Unsubscribe)[0].shared


def test_a_subscription_with_a_consumer_of_this_connection_is_not_removed() -> None:
    bench = Bench(client_id="c")
    consumer = bench.do(bench.session.create_consumer(DURABLE))
    other = bench.do(bench.connection.session(AckMode.CLIENT))
    with pytest.raises(RefusedError, match="close it first") as caught:
        bench.do(requests.unsubscribe(other, "S", shared=False))
    assert caught.value.refused.mqrc == Mqrc.SUBSCRIPTION_IN_USE
    assert not bench.wire.all(port.Unsubscribe)
    bench.do(consumer.close(THREAD))
    bench.do(requests.unsubscribe(other, "S", shared=False))


def test_unsubscribing_waits_for_the_detach_of_a_closed_consumer() -> None:
    bench = Bench(client_id="c")
    consumer = bench.do(bench.session.create_consumer(DURABLE))
    bench.wire.hold.add(port.CloseLink)
    closing = spawn(bench.runner, consumer.close(THREAD))
    removing = spawn(bench.runner, requests.unsubscribe(bench.session, "S", shared=False))
    bench.let(1)
    assert not closing.done
    assert not bench.wire.all(port.Unsubscribe)
    bench.wire.answer_held()
    bench.let(1)
    removing.result()
    assert bench.wire.all(port.Unsubscribe)


def test_a_refused_consumer_leaves_nothing_behind() -> None:
    bench = Bench()
    bench.wire.refuse[port.OpenReceiver] = Refused(JmsErrorKind.INVALID_SELECTOR, "no such selector")
    with pytest.raises(RefusedError, match="no such selector"):
        bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    assert not bench.session.consumers


def test_a_refused_session_leaves_nothing_behind() -> None:
    bench = Bench()
    bench.wire.refuse[port.OpenSession] = Refused(JmsErrorKind.RESOURCE_ALLOCATION, "too many sessions")
    with pytest.raises(RefusedError, match="too many sessions"):
        bench.do(bench.connection.session(AckMode.AUTO))
    assert len(bench.connection.sessions) == 1


def test_frames_go_to_the_observer() -> None:
    bench = Bench()
    frame = port.Frame("out", "open")
    bench.wire.sink(frame)
    assert FrameSeen(frame) in bench.events


def test_what_comes_for_a_closed_link_is_ignored() -> None:
    bench = Bench()
    consumer = bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    bench.do(consumer.close(THREAD))
    bench.wire.sink(port.Arrived(consumer.number, 9, 1, Message(body="late"), 0, redelivered=False))
    bench.wire.sink(port.Drained(consumer.number))
    bench.wire.sink(port.LinkClosed(consumer.number, None))
    assert not bench.wire.all(port.Settle)


def test_a_refused_settlement_is_complained_of() -> None:
    bench = Bench()
    refused = Refused(JmsErrorKind.ILLEGAL_STATE, "no such delivery")
    bench.wire.refuse[port.Settle] = refused
    consumer = bench.do(bench.session.create_consumer(Source(address=QUEUE)))
    bench.do(consumer.set_message_listener(lambda _: None))
    bench.wire.put("a")
    bench.let(1)
    assert bench.complaints == [refused]


def test_without_an_exception_listener_complaints_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.connection.on_exception = None
    bench.connection.complain(Refused(JmsErrorKind.MESSAGING, "something"), ValueError("of the application"))
    assert "messaging: something" in caplog.text
    assert "ValueError: of the application" in caplog.text


def test_an_engine_operation_that_is_abandoned_ends_where_it_waits() -> None:
    bench = Bench()
    consumer = bench.do(bench.session.create_consumer(Source(address=QUEUE)))

    def interrupt() -> None:
        raise KeyboardInterrupt

    bench.runner.call_at(5 * MS, interrupt)
    with pytest.raises(KeyboardInterrupt):
        perform(bench.runner, consumer.receive(1000))
    bench.wire.put("a")
    delivery = bench.do(consumer.receive(0))
    assert delivery is not None
    assert bench.wire.settled() == [((1,), Outcome.ACCEPTED)]


def test_a_session_that_the_broker_ends_with_an_error_is_observed_and_the_connection_stays_open() -> None:
    bench = Bench()
    why = Refused(JmsErrorKind.MESSAGING, "a bug")
    bench.wire.sink(port.SessionClosed(bench.session.number, why))
    assert [event for event in bench.events if isinstance(event, SessionEnded)] == [SessionEnded(why)]
    assert bench.connection.state is Life.OPEN
