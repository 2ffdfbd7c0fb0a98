from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from tests.broker.stores.samples import kept
from tests.broker.world import MS, QUEUE, World

from assay_broker.amqp.messages.transcoding import read
from assay_broker.core.commands import AttachSender, Put
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.inprocess import CAPABILITIES
from assay_broker.mqsc.defaults import default_settings
from assay_sdk import driver
from assay_sdk.amqp.codec import encode
from assay_sdk.driver import DriverCommand, PeerProperties
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.model.xa import XaCode, XaEnd, Xid


def test_opening_says_what_the_wire_can_do() -> None:
    line = World().connect()
    (opened,) = line.events
    assert isinstance(opened, driver.Opened)
    assert opened.capabilities == line.wire.capabilities == CAPABILITIES
    assert opened.properties["product"] == "Assay reference broker"


def test_what_the_core_says_of_a_destination_comes_with_the_sender() -> None:
    line = World().connect()
    line.submit(driver.OpenSession(line.token(), 1), driver.OpenSender(token := line.token(), 1, 1, QUEUE))
    told: PeerProperties = {"x-opt-mq-defbind": "OPEN", "x-opt-mq-clustered": False}
    assert line.outcome(token) == driver.Done(token, properties=told)


def test_what_a_queue_manager_says_of_itself_is_what_it_runs_as() -> None:
    world = World(settings=default_settings(level="7.5", platform="zos"))
    (opened,) = world.connect().events
    assert isinstance(opened, driver.Opened)
    assert opened.properties["x-opt-mq-level"] == "7.5"
    assert opened.properties["x-opt-mq-platform"] == "zos"
    world.queue_manager.restart(level="8.0")
    (opened,) = world.connect().events
    assert isinstance(opened, driver.Opened)
    assert opened.properties["x-opt-mq-level"] == "8.0"


def test_a_refused_connection_closes_with_the_reason_and_nothing_else() -> None:
    world = World()
    world.connect("c")
    second = world.connect("c")
    (closed,) = second.events
    assert isinstance(closed, driver.Closed)
    assert closed.refused is not None
    assert closed.refused.kind is JmsErrorKind.INVALID_CLIENT_ID


def test_a_message_goes_round() -> None:
    line = World().connect().ready()
    token = line.send("hello")
    assert isinstance(line.outcome(token), driver.Done)
    (arrived,) = line.arrived()
    assert (arrived.link, arrived.epoch, arrived.message.body, arrived.count, arrived.redelivered) == (
        2,
        line.wire.epoch,
        "hello",
        0,
        False,
    )
    token = line.token()
    line.submit(driver.Settle(token, 2, (arrived.delivery,), driver.Outcome.ACCEPTED))
    assert isinstance(line.outcome(token), driver.Done)
    assert kept(line.world.store) == ()


def test_every_token_gets_one_answer_and_closed_comes_last() -> None:
    world = World()
    line = world.connect().ready()
    for body in "abc":
        line.send(body)
    line.wire.submit(driver.Send(line.token(), 1, Message(body="in flight", durable=True)))
    line.wire.submit(driver.Close(close := line.token()))
    line.wire.submit(driver.Credit(late := line.token(), 2, 1))
    world.run()
    answers = Counter(event.token for event in line.events if isinstance(event, driver.Done | driver.Failed))
    assert answers == dict.fromkeys(range(1, line.tokens + 1), 1)
    assert line.events[-1] == driver.Closed(line.wire.epoch, None)
    assert isinstance(line.outcome(close), driver.Done)
    assert isinstance(line.outcome(late), driver.Failed)


def test_a_command_on_a_closed_wire_fails() -> None:
    line = World().connect()
    line.submit(driver.Close(line.token()))
    token = line.token()
    line.submit(driver.OpenSession(token, 1))
    assert line.refused(token).kind is JmsErrorKind.CONNECTION_LOST


def test_a_dropped_wire_fails_what_is_open_and_gives_back_what_it_held() -> None:
    world = World()
    line = world.connect().ready()
    line.send("a")
    line.wire.submit(driver.Send(token := line.token(), 1, Message(body="b", durable=True)))
    line.wire.abort()
    world.run()
    assert line.refused(token).kind is JmsErrorKind.CONNECTION_LOST
    assert isinstance(line.events[-1], driver.Closed)
    other = world.connect().ready()
    assert [(one.message.body, one.redelivered, one.count) for one in other.arrived()] == [("a", True, 1)]


def test_drained_comes_after_what_was_there_and_before_its_answer() -> None:
    line = World().connect().ready(credit=0)
    line.send("a")
    line.submit(driver.Credit(line.token(), 2, 5), driver.Drain(token := line.token(), 2))
    kinds = [type(event).__name__ for event in line.events[-4:]]
    assert sorted(kinds[:2]) == ["Arrived", "Done"]
    assert kinds[2:] == ["Drained", "Done"]
    assert isinstance(line.outcome(token), driver.Done)


def test_a_settled_send_is_done_at_once_and_never_refused() -> None:
    line = World().connect().ready()
    token = line.send("a", settled=True)
    assert isinstance(line.outcome(token), driver.Done)
    assert [one.message.body for one in line.arrived()] == ["a"]


def test_closing_a_session_backs_out_and_gives_back() -> None:
    line = World().connect().ready()
    line.send("a")
    line.submit(driver.Begin(line.token(), 1, 1))
    line.submit(driver.Enlist(line.token(), 2, (line.arrived()[0].delivery,), 1))
    line.send("b", unit=1)
    line.submit(driver.CloseSession(token := line.token(), 1))
    assert isinstance(line.outcome(token), driver.Done)
    line.submit(driver.OpenSession(line.token(), 2))
    line.submit(
        driver.OpenReceiver(token=line.token(), session=2, link=9, address=QUEUE), driver.Credit(line.token(), 9, 9)
    )
    assert [(one.message.body, one.redelivered) for one in line.arrived() if one.link == 9] == [("a", True)]


def test_a_unit_of_work_commits_and_rolls_back() -> None:
    line = World().connect().ready()
    line.submit(driver.OpenSession(line.token(), 2))
    for unit, end in ((1, driver.Rollback), (2, driver.Commit)):
        line.submit(driver.Begin(line.token(), 2, unit))
        line.send(str(unit), unit=unit)
        line.submit(end(line.token(), unit))
    assert [one.message.body for one in line.arrived()] == ["2"]


XID = Xid(7, b"G").encoded()


@pytest.mark.parametrize("end", [driver.CommitXa, driver.RollbackXa])
def test_a_branch_outlives_its_connection_and_a_kill_once_it_is_prepared(
    end: type[driver.CommitXa | driver.RollbackXa],
) -> None:
    world = World()
    line = world.connect().ready(credit=1)
    line.send("in")
    line.submit(driver.OpenSession(line.token(), 2), driver.Begin(line.token(), 2, 5, XID))
    line.submit(driver.Enlist(line.token(), 2, (line.arrived()[0].delivery,), 5))
    line.send("out", unit=5)
    line.submit(driver.EndXa(line.token(), XID, XaEnd.SUCCESS), driver.Prepare(vote := line.token(), XID))
    done = line.outcome(vote)
    assert isinstance(done, driver.Done)
    assert done.value == "prepared"
    world.queue_manager.kill()
    again = world.connect().ready()
    again.submit(driver.RecoverXa(named := again.token()))
    done = again.outcome(named)
    assert isinstance(done, driver.Done)
    assert done.value == (XID,)
    assert again.arrived() == []
    again.submit(end(again.token(), XID))
    assert [(one.message.body, one.redelivered) for one in again.arrived()] == (
        [("out", False)] if end is driver.CommitXa else [("in", True)]
    )


def test_a_session_that_closes_backs_out_its_branch() -> None:
    world = World()
    line = world.connect().ready()
    line.submit(driver.OpenSession(line.token(), 2), driver.Begin(line.token(), 2, 5, XID))
    line.send("out", unit=5)
    line.submit(driver.CloseSession(line.token(), 2), driver.Prepare(vote := line.token(), XID))
    assert line.refused(vote).xa == XaCode.XAER_NOTA
    assert line.arrived() == []


def test_no_branches_are_recovered_where_none_is_in_doubt() -> None:
    line = World().connect().ready()
    line.submit(driver.RecoverXa(named := line.token()))
    done = line.outcome(named)
    assert isinstance(done, driver.Done)
    assert done.value == ()


@pytest.mark.parametrize(
    "command",
    [
        driver.OpenSession(99, 1),
        driver.CloseSession(99, 5),
        driver.OpenSender(99, 5, 9, QUEUE),
        driver.OpenReceiver(token=99, session=5, link=9, address=QUEUE),
        driver.Begin(99, 5, 1),
        driver.CloseLink(99, 77),
        driver.Credit(99, 77, 1),
        driver.Settle(99, 2, (5,), driver.Outcome.ACCEPTED),
        driver.Commit(99, 5),
        driver.Rollback(99, 5),
    ],
)
def test_closed_objects_are_an_illegal_state(command: DriverCommand) -> None:
    line = World().connect().ready()
    line.submit(command)
    assert line.refused(99).kind is JmsErrorKind.ILLEGAL_STATE


def test_a_token_in_use_is_the_engines_error() -> None:
    line = World().connect()
    line.wire.submit(driver.OpenSession(1, 1))
    with pytest.raises(ValueError, match="token 1"):
        line.wire.submit(driver.OpenSession(1, 2))


def test_a_link_that_the_broker_closes_is_told() -> None:
    world = World()
    owner, other = world.connect(), world.connect()
    for line in (owner, other):
        line.submit(driver.OpenSession(line.token(), 1))
    nameless = Address(AddressKind.TEMPORARY_QUEUE, "")
    owner.submit(driver.OpenSender(token := owner.token(), 1, 1, nameless, dynamic=True))
    made = owner.outcome(token)
    assert isinstance(made, driver.Done)
    reply = Address(AddressKind.TEMPORARY_QUEUE, str(made.value))
    other.submit(driver.OpenSender(other.token(), 1, 4, reply))
    owner.submit(driver.Close(owner.token()))
    closed = other.events[-1]
    assert isinstance(closed, driver.LinkClosed)
    assert closed.link == 4


def test_a_destination_that_is_made_on_request_goes_with_its_link_or_its_session() -> None:
    world = World()
    line, other = world.connect(), world.connect()
    line.submit(driver.OpenSession(line.token(), 1), driver.OpenSession(line.token(), 2))
    other.submit(driver.OpenSession(other.token(), 1))
    made: list[str] = []
    for session, link, kind in ((1, 1, AddressKind.TEMPORARY_QUEUE), (2, 2, AddressKind.TEMPORARY_QUEUE)):
        line.submit(driver.OpenSender(token := line.token(), session, link, Address(kind, ""), dynamic=True))
        outcome = line.outcome(token)
        assert isinstance(outcome, driver.Done)
        made.append(str(outcome.value))
        other.submit(driver.OpenSender(other.token(), 1, link, Address(kind, made[-1])))
    assert [name.rpartition(".")[0] for name in made] == ["AMQ.TEMPORARY.QUEUE.1"] * 2
    line.submit(driver.CloseLink(token := line.token(), 1), driver.CloseSession(line.token(), 2))
    assert isinstance(line.outcome(token), driver.Done)
    assert [event.link for event in other.events if isinstance(event, driver.LinkClosed)] == [1, 2]
    line.submit(driver.OpenSender(token := line.token(), 1, 9, Address(AddressKind.QUEUE, ""), dynamic=True))
    assert "on request" in line.refused(token).text


def test_browse_cancel_and_unsubscribe_go_through() -> None:
    world = World()
    line = world.connect("c").ready(credit=0)
    line.send("a")
    line.submit(driver.Browse(token := line.token(), 1, QUEUE))
    outcome = line.outcome(token)
    assert isinstance(outcome, driver.Done)
    assert [one.body for one in outcome.value or () if isinstance(one, Message)] == ["a"]
    due = world.runner.clock.wall_ns() // MS + 1_000
    late = Message(message_id="late", body="late", durable=True, delivery_time_ms=due)
    line.submit(driver.Send(line.token(), 1, late), driver.Cancel(token := line.token(), 1, "late"))
    assert isinstance(line.outcome(token), driver.Done)
    line.submit(driver.Unsubscribe(token := line.token(), 1, "none"))
    assert line.refused(token).kind is JmsErrorKind.INVALID_DESTINATION


def test_a_traced_wire_shows_both_directions_and_no_other_does() -> None:
    world = World()
    traced, plain = world.connect(trace=True).ready(), world.connect().ready()
    assert {event.direction for event in traced.events if isinstance(event, driver.Frame)} == {"in", "out"}
    assert not [event for event in plain.events if isinstance(event, driver.Frame)]


def test_two_wires_of_one_driver_have_different_epochs() -> None:
    world = World()
    assert world.connect().wire.epoch < world.connect().wire.epoch


class AmqpPeer:
    """A client that sends and receives encoded messages."""

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        assert answer.refused is None
        if sent is not None:
            sent()

    def deliver(self, delivery: Deliver) -> None:
        raise AssertionError(delivery)

    def close_link(self, closed: CloseLink) -> None:
        raise AssertionError(closed)

    def lost(self, why: Refused) -> None:
        raise AssertionError(why)


def test_what_came_as_octets_arrives_with_its_body_and_is_browsed_with_it() -> None:
    world = World()
    line = world.connect()
    line.submit(driver.OpenSession(line.token(), 1))
    number = world.queue_manager.connect(AmqpPeer(), 1, None, None)
    world.queue_manager.handle(AttachSender(number, 2, 1, QUEUE))
    plain = Message(message_id="ID:1", to=QUEUE, durable=True, properties={"a": 1}, body="hello")
    world.queue_manager.handle(Put(number, 3, 1, read(encode(plain), QUEUE, now_ms=0)))
    world.run()
    line.submit(driver.Browse(token=(browsed := line.token()), session=1, address=QUEUE))
    line.submit(
        driver.OpenReceiver(token=line.token(), session=1, link=2, address=QUEUE), driver.Credit(line.token(), 2, 1)
    )
    outcome = line.outcome(browsed)
    assert isinstance(outcome, driver.Done)
    (shown,) = outcome.value or ()
    (arrived,) = line.arrived()
    for message in (shown, arrived.message):
        assert isinstance(message, Message)
        assert (message.body, message.properties, message.encoded) == ("hello", {"a": 1}, None)


def test_octets_that_a_client_of_this_wire_hands_in_are_not_believed() -> None:
    line = World().connect().ready()
    line.submit(driver.Send(line.token(), 1, Message(message_id="1", body="fields", durable=False, encoded=b"\xff")))
    (arrived,) = line.arrived()
    assert (arrived.message.body, arrived.message.encoded) == ("fields", None)
