"""Tests of global units of work in both faces, with the broker in the same process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assay_broker.inprocess import InProcessBroker, in_process_broker
from assay_sdk import (
    AckMode,
    ConnectionFactory,
    ConnectionLostError,
    IllegalStateError,
    JmsError,
    Message,
    Queue,
    TransactionInProgressError,
    XaCode,
    XaEnd,
    XAError,
    XaResource,
    XaStart,
    XaVote,
    Xid,
    connect,
)
from assay_sdk.faces import classic, simplified

ORDERS: Queue[str] = Queue("ORDERS")
FIRST = Xid(7, b"first")
SECOND = Xid(7, b"second", b"branch")


class Face:
    """A face and its broker."""

    def __init__(self, name: str, broker: InProcessBroker) -> None:
        self.name = name
        self.broker = broker

    def xa(self) -> classic.XaSession | simplified.XaContext:
        """Return an XA session on a new connection."""
        broker = self.broker
        if self.name == "classic":
            connection = ConnectionFactory(broker.url, runner=broker.runner, driver=broker.driver).create_connection()
            connection.start()
            return connection.create_xa_session()
        made = connect(broker.url, runner=broker.runner, driver=broker.driver, session_mode=AckMode.XA)
        assert isinstance(made, simplified.XaContext)
        return made

    def waiting(self) -> list[str]:
        """Return the bodies of the messages on the queue."""
        with connect(self.broker.url, runner=self.broker.runner, driver=self.broker.driver) as context:
            return [message.body for message in context.create_browser(ORDERS)]

    def send(self, *bodies: str) -> None:
        """Send messages outside of units of work."""
        with connect(self.broker.url, runner=self.broker.runner, driver=self.broker.driver) as context:
            for body in bodies:
                context.create_producer(ORDERS).send(body)


@pytest.fixture(params=["classic", "simplified"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    with in_process_broker() as broker:
        yield Face(request.param, broker)


def code(error: pytest.ExceptionInfo[XAError]) -> XaCode:
    assert error.value.text.startswith(error.value.code.name)
    return error.value.code


def worked(session: classic.XaSession | simplified.XaContext, xid: Xid = FIRST, *bodies: str) -> XaResource:
    """Return the XA resource after sending messages in a branch."""
    resource = session.xa_resource
    resource.start(xid)
    producer = session.create_producer(ORDERS)
    for body in bodies:
        producer.send(body)
    resource.end(xid)
    return resource


def test_two_phases_commit_what_was_sent_and_received(face: Face) -> None:
    face.send("in")
    session = face.xa()
    resource = session.xa_resource
    consumer: Any = session.create_consumer(ORDERS)
    resource.start(FIRST)
    assert consumer.receive(10).body == "in"
    session.create_producer(ORDERS).send("out")
    resource.end(FIRST)
    assert resource.prepare(FIRST) is XaVote.PREPARED
    assert resource.recover() == (FIRST,)
    assert face.waiting() == []
    resource.commit(FIRST)
    assert face.waiting() == ["out"]
    assert resource.recover() == ()


@pytest.mark.parametrize("prepared", [False, True])
def test_a_rollback_brings_everything_again_in_order_before_what_was_sent_ahead(face: Face, *, prepared: bool) -> None:
    face.send("a", "b", "c")
    session = face.xa()
    resource = session.xa_resource
    seen: list[tuple[str, bool]] = []

    def listener(message: Message[str]) -> None:
        seen.append((message.body, bool(message.redelivered)))

    session.create_consumer(ORDERS).set_message_listener(listener)
    resource.start(FIRST)
    face.broker.runner.run_until(lambda: len(seen) == 3, None)
    resource.end(FIRST)
    face.send("d")
    if prepared:
        assert resource.prepare(FIRST) is XaVote.PREPARED
    resource.rollback(FIRST)
    resource.start(SECOND)
    face.broker.runner.run_until(lambda: len(seen) == 7, None)
    assert seen[3:] == [("a", True), ("b", True), ("c", True), ("d", False)]


def test_a_listener_is_called_inside_branches_only(face: Face) -> None:
    face.send("a")
    session = face.xa()
    seen: list[str] = []
    session.create_consumer(ORDERS).set_batch_listener(
        lambda batch: seen.extend(message.body for message in batch), batch_size=2, batch_timeout=10
    )
    now = face.broker.runner.clock.monotonic_ns()
    face.broker.runner.run_until(lambda: bool(seen), now + 1_000_000_000)
    assert seen == []
    session.xa_resource.start(FIRST)
    face.broker.runner.run_until(lambda: bool(seen), None)
    session.xa_resource.end(FIRST)
    face.send("b", "c")
    now = face.broker.runner.clock.monotonic_ns()
    face.broker.runner.run_until(lambda: len(seen) > 1, now + 1_000_000_000)
    assert seen == ["a"]
    session.xa_resource.start(SECOND)
    face.broker.runner.run_until(lambda: len(seen) == 3, None)
    session.xa_resource.end(SECOND)
    session.xa_resource.commit(FIRST, one_phase=True)
    session.xa_resource.rollback(SECOND)
    session.close()
    assert sorted(face.waiting()) == ["b", "c"]


def test_a_crash_after_the_prepare_leaves_it_in_doubt(face: Face) -> None:
    session = face.xa()
    assert worked(session, FIRST, "a").prepare(FIRST) is XaVote.PREPARED
    face.broker.queue_manager.kill()
    with pytest.raises(JmsError) as lost:
        session.xa_resource.recover()
    assert isinstance(lost.value, ConnectionLostError) or face.name == "simplified"
    resource = face.xa().xa_resource
    assert resource.recover() == (FIRST,)
    assert face.waiting() == []
    resource.commit(FIRST)
    assert face.waiting() == ["a"]


def test_a_branch_that_has_done_nothing_is_read_only(face: Face) -> None:
    resource = worked(face.xa())
    assert resource.prepare(FIRST) is XaVote.READ_ONLY
    with pytest.raises(XAError) as error:
        resource.commit(FIRST)
    assert code(error) is XaCode.XAER_NOTA


def test_a_suspended_branch_is_resumed_and_a_joined_one_goes_on(face: Face) -> None:
    session, other = face.xa(), face.xa()
    resource = session.xa_resource
    producer = session.create_producer(ORDERS)
    resource.start(FIRST)
    producer.send("a")
    resource.end(FIRST, XaEnd.SUSPEND)
    resource.start(SECOND)
    producer.send("z")
    resource.end(SECOND)
    resource.start(FIRST, XaStart.RESUME)
    producer.send("b")
    resource.end(FIRST)
    other.xa_resource.start(FIRST, XaStart.JOIN)
    other.create_producer(ORDERS).send("c")
    other.xa_resource.end(FIRST)
    resource.commit(FIRST, one_phase=True)
    assert face.waiting() == ["a", "b", "c"]
    resource.rollback(SECOND)


def test_work_that_failed_can_only_be_rolled_back(face: Face) -> None:
    session = face.xa()
    resource = session.xa_resource
    resource.start(FIRST)
    session.create_producer(ORDERS).send("a")
    resource.end(FIRST, XaEnd.FAIL)
    with pytest.raises(XAError) as error:
        resource.prepare(FIRST)
    assert code(error) is XaCode.XA_RBROLLBACK
    assert face.waiting() == []
    with pytest.raises(XAError) as error:
        resource.rollback(FIRST)
    assert code(error) is XaCode.XAER_NOTA


def test_outside_of_a_branch_nothing_is_sent_or_received(face: Face) -> None:
    session = face.xa()
    consumer: Any = session.create_consumer(ORDERS)
    for act in (lambda: session.create_producer(ORDERS).send("a"), lambda: consumer.receive(10)):
        with pytest.raises(JmsError, match="XA resource") as error:
            act()
        assert isinstance(error.value, IllegalStateError) or face.name == "simplified"
    assert face.waiting() == []


def test_only_the_transaction_manager_ends_a_branch(face: Face) -> None:
    session = face.xa()
    session.xa_resource.start(FIRST)
    for act in (session.commit, session.rollback):
        with pytest.raises(JmsError, match="transaction manager") as error:
            act()
        assert isinstance(error.value, TransactionInProgressError) or face.name == "simplified"
    with pytest.raises(JmsError, match="cannot recover"):
        session.recover()


def test_protocol_errors_have_their_codes(face: Face) -> None:
    session, other = face.xa(), face.xa()
    resource = session.xa_resource
    resource.start(FIRST)
    calls = [
        (XaCode.XAER_PROTO, lambda: resource.start(SECOND)),
        (XaCode.XAER_DUPID, lambda: other.xa_resource.start(FIRST)),
        (XaCode.XAER_PROTO, lambda: other.xa_resource.start(FIRST, XaStart.JOIN)),
        (XaCode.XAER_PROTO, lambda: other.xa_resource.end(FIRST)),
        (XaCode.XAER_NOTA, lambda: other.xa_resource.start(SECOND, XaStart.RESUME)),
        (XaCode.XAER_PROTO, lambda: resource.prepare(FIRST)),
        (XaCode.XAER_NOTA, lambda: resource.commit(SECOND)),
        (XaCode.XAER_PROTO, lambda: resource.forget(FIRST)),
    ]
    for expected, call in calls:
        with pytest.raises(XAError) as error:
            call()
        assert code(error) is expected


def test_closing_a_session_backs_its_branch_out_unless_it_is_prepared(face: Face) -> None:
    for xid in (FIRST, SECOND):
        session = face.xa()
        resource = worked(session, xid, "a")
        if xid is SECOND:
            resource.prepare(xid)
        session.close()
    assert face.xa().xa_resource.recover() == (SECOND,)


@pytest.mark.parametrize("parts", [(-1, b"a"), (2**31, b"a"), (1, b""), (1, b"a" * 65), (1, b"a", b"b" * 65)])
def test_an_xid_has_the_lengths_that_xa_allows(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="xid"):
        Xid(*parts)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((None, b"a", b"b"), "An xid's format id is None; give an integer."),
        ((1, None, b""), "An xid's global id is None; give bytes."),
        ((1, "a", b""), "An xid's global id is 'a'; give bytes."),
        ((1, b"a", "b"), "An xid's branch is 'b'; give bytes."),
    ],
)
def test_an_xid_has_parts_of_the_right_types(parts: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ValueError, match="xid") as refusal:
        Xid(*parts)
    assert str(refusal.value) == said


@pytest.mark.parametrize("octets", [b"", b"\0\0\0\1\1", b"\0\0\0\1\5abc"])
def test_what_is_no_xid_is_not_decoded(octets: bytes) -> None:
    with pytest.raises(ValueError, match="no xid"):
        Xid.decoded(octets)


def test_an_xid_comes_back_as_it_was_encoded() -> None:
    for xid in (FIRST, SECOND, Xid(2**31 - 1, b"g" * 64, b"b" * 64)):
        assert Xid.decoded(xid.encoded()) == xid
