"""Tests of connections, sends and sessions of the SDK behind the `Client` port, with a scripted wire."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.adapters.clients.worlds import World, ok, refused
from tests.sdk.scripted import MS, OTHER, QUEUE, TOPIC

from assay_adapters.ports.client import (
    AS_DESTINATION,
    AckMode,
    Draft,
    Endpoint,
    Mode,
    Origin,
    Qos,
    Script,
    Setting,
)
from assay_adapters.ports.outcome import JmsErrorKind, Refused
from assay_sdk import driver as port
from assay_sdk.driver import Durability
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message


def test_the_identity_is_ours_and_names_the_face(world: World) -> None:
    identity = world.client.identity
    assert (identity.ours, identity.face) == (True, world.face)
    assert Capability.BATCH_LISTENER in world.client.capabilities
    assert Capability.CANCEL not in world.client.capabilities


def test_a_draft_is_sent_with_its_kid_in_a_property_and_in_the_body(world: World) -> None:
    producer = ok(world.session().producer(QUEUE))
    sent = ok(producer.send(Draft(key="k1", body="k1 body", properties={"n": 1}, correlation_id="x")))
    message = world.wire.all(port.Send)[0].message
    assert message.body == "k1 body"
    assert message.properties == {"assay_kid": "k1", "n": 1}
    assert sent.message_id == message.message_id
    assert sent.delivery_time_ms is None
    assert sent.fields["JMSDeliveryMode"] == "PERSISTENT"
    assert (sent.fields["JMSPriority"], sent.fields["JMSCorrelationID"]) == (4, "x")


def test_a_stopped_connection_hands_over_nothing_until_it_is_started(world: World) -> None:
    consumer = ok(world.session().consumer(Origin(address=QUEUE), actor="r"))
    ok(consumer.listen(Script()))
    ok(world.connection.stop())
    world.put("k1")
    world.let(100)
    assert not [event for event in world.events if event.what == "seen"]
    ok(world.connection.start())
    world.let(100)
    assert [event.seen.key for event in world.events if event.what == "seen" and event.seen] == ["k1"]


def test_a_drafts_reply_to_and_group_are_sent_and_shown_on_both_sides(world: World) -> None:
    session = world.session()
    draft = Draft(
        key="k1",
        body="k1 body",
        reply_to=OTHER,
        group_id="g",
        group_sequence=2,
        properties={"JMS_IBM_Last_Msg_In_Group": True, "JMS_IBM_Report_Exception": 16777216},
    )
    sent = ok(ok(session.producer(QUEUE)).send(draft))
    message = world.wire.all(port.Send)[0].message
    assert (message.reply_to, message.group_id, message.group_sequence) == (OTHER, "g", 2)
    seen = ok(ok(session.consumer(Origin(address=QUEUE), actor="A")).receive(0))
    assert seen is not None
    for fields in (sent.fields, seen.fields):
        assert (fields["JMSReplyTo"], fields["JMSXGroupID"], fields["JMSXGroupSeq"]) == ("queue://OTHER", "g", 2)
        assert (fields["JMS_IBM_Last_Msg_In_Group"], fields["JMS_IBM_Report_Exception"]) == (True, 16777216)


def test_a_message_without_reply_to_or_group_shows_no_reply_to_and_has_no_group(world: World) -> None:
    session = world.session()
    ok(ok(session.producer(QUEUE)).send(Draft(key="k1", body="k1 body")))
    seen = ok(ok(session.consumer(Origin(address=QUEUE), actor="A")).receive(0))
    assert seen is not None
    assert seen.fields["JMSReplyTo"] is None
    assert "JMSXGroupID" not in seen.fields


@pytest.mark.parametrize("size", [0, 2, 7, 4_000_000])
def test_a_body_of_a_size_is_what_the_draft_says_it_is(world: World, size: int) -> None:
    session = world.session()
    draft = Draft(key="k1", body="k1 body", size=size)
    ok(ok(session.producer(QUEUE)).send(draft))
    seen = ok(ok(session.consumer(Origin(address=QUEUE), actor="A")).receive(0))
    assert seen is not None
    assert len(seen.body.encode()) == size
    assert (seen.key, seen.body) == ("k1", draft.content)


def test_mode_and_priority_can_be_left_to_the_destination(world: World) -> None:
    producer = ok(world.session().producer(QUEUE))
    ok(producer.set(Setting.MODE, AS_DESTINATION))
    ok(producer.set(Setting.PRIORITY, AS_DESTINATION))
    sent = ok(producer.send(Draft(key="a", body="a")))
    assert (sent.fields["JMSDeliveryMode"], sent.fields["JMSPriority"]) == ("AS_DESTINATION", AS_DESTINATION)
    ok(producer.send(Draft(key="b", body="b"), mode=Mode.PERSISTENT, priority=4))
    ok(producer.set(Setting.MODE, 2))
    ok(producer.send(Draft(key="c", body="c"), mode=Mode.AS_DESTINATION))
    messages = [command.message for command in world.wire.all(port.Send)]
    assert [(message.durable, message.priority) for message in messages] == [(None, None), (True, 4), (None, None)]


def test_what_is_given_with_a_send_and_what_is_set_before(world: World) -> None:
    producer = ok(world.session().producer(QUEUE))
    for setting, value in ((Setting.DELAY, 500), (Setting.TTL, 1000), (Setting.MODE, 1), (Setting.PRIORITY, 2)):
        ok(producer.set(setting, value))
    sent = ok(producer.send(Draft(key="a", body="a", own_mode=Mode.PERSISTENT)))
    assert sent.delivery_time_ms == world.runner.clock.wall_ns() // MS + 500
    assert (sent.fields["JMSDeliveryMode"], sent.fields["JMSPriority"]) == ("NON_PERSISTENT", 2)
    sent = ok(producer.send(Draft(key="b", body="b"), mode=Mode.PERSISTENT, priority=9, ttl_ms=0))
    assert (sent.fields["JMSDeliveryMode"], sent.fields["JMSPriority"]) == ("PERSISTENT", 9)
    assert sent.fields["JMSExpiration"] == 0


def test_an_exception_becomes_a_refusal_that_says_whether_it_was_checked(world: World) -> None:
    producer = ok(world.session().producer(QUEUE))
    ok(producer.set(Setting.DELAY, 100))
    refusal = refused(producer.set(Setting.TTL, 99))
    assert (refusal.kind, refusal.checked, refusal.mqrc) == (JmsErrorKind.MESSAGING, world.checked, 2013)
    assert refusal.objects == ("Q",)
    assert refused(producer.set(Setting.DELAY, -1)).checked is world.checked


def test_a_span_is_taken_in_whole_milliseconds_only(world: World) -> None:
    producer = ok(world.session().producer(QUEUE))
    for setting in (Setting.DELAY, Setting.TTL):
        assert refused(producer.set(setting, timedelta(microseconds=500))).checked is world.checked
        ok(producer.set(setting, timedelta(milliseconds=500)))
    sent = ok(producer.send(Draft(key="a", body="a")))
    assert sent.delivery_time_ms == world.runner.clock.wall_ns() // MS + 500


@pytest.mark.parametrize("setting", [Setting.MODE, Setting.PRIORITY])
def test_what_is_a_number_takes_no_span(world: World, setting: Setting) -> None:
    producer = ok(world.session().producer(QUEUE))
    with pytest.raises(TypeError, match=setting.value):
        producer.set(setting, timedelta(milliseconds=1))


def test_a_name_that_cannot_be_one_is_a_refusal(world: World) -> None:
    refusal = refused(world.session().producer(Address(AddressKind.QUEUE, "")))
    assert (refusal.kind, refusal.checked) == (JmsErrorKind.INVALID_DESTINATION, world.checked)


@pytest.mark.parametrize("where", ["to", "reply_to"])
def test_a_send_with_a_name_that_cannot_be_one_is_a_refusal(world: World, where: str) -> None:
    nameless = Address(AddressKind.QUEUE, "")
    producer = ok(world.session().producer(None))
    draft = Draft(key="a", body="a", reply_to=nameless if where == "reply_to" else None)
    refusal = refused(producer.send(draft, to=nameless if where == "to" else OTHER))
    assert (refusal.kind, refusal.checked) == (JmsErrorKind.INVALID_DESTINATION, world.checked)


def test_a_producer_without_a_destination_sends_where_it_is_told(world: World) -> None:
    producer = ok(world.session().producer(None))
    ok(producer.send(Draft(key="a", body="a"), to=OTHER))
    assert world.wire.bodies("OTHER") == ["a"]
    assert refused(producer.send(Draft(key="a", body="a"))).kind is JmsErrorKind.INVALID_DESTINATION
    ok(producer.close())


def test_a_producer_returns_its_settings(world: World) -> None:
    producer = ok(world.session().producer(QUEUE))
    assert {setting: ok(producer.get(setting)) for setting in Setting} == {
        Setting.DELAY: 0, Setting.TTL: 0, Setting.MODE: 2, Setting.PRIORITY: 4,
    }  # fmt: skip
    for setting, value in ((Setting.DELAY, 1_500), (Setting.TTL, 9_000), (Setting.MODE, 1), (Setting.PRIORITY, 7)):
        ok(producer.set(setting, value))
        assert ok(producer.get(setting)) == value
    refused(producer.set(Setting.DELAY, 9_001))
    assert ok(producer.get(Setting.DELAY)) == 1_500


def test_a_lost_connection_is_told_for_each_of_its_consumers(world: World) -> None:
    session = world.session()
    for actor in ("A", "B"):
        ok(session.consumer(Origin(address=QUEUE), actor=actor))
    world.connection.abort()
    assert [event.actor for event in world.events if event.what == "lost"] == ["A", "B"]
    assert refused(session.producer(QUEUE)).kind is JmsErrorKind.CONNECTION_LOST


def test_a_session_that_the_broker_ends_is_told_with_its_connection_and_error(world: World) -> None:
    world.session()
    why = Refused(JmsErrorKind.MESSAGING, "a bug")
    world.wire.sink(port.SessionClosed(1, why))
    told = [(event.what, event.actor, event.refused) for event in world.events]
    assert told == [("session-ended", f"{world.face}-1", why)]


def test_browsing_lists_without_sightings(world: World) -> None:
    world.put("a", "b")
    assert [seen.key for seen in ok(world.session().browse("Q"))] == ["a", "b"]
    assert world.events == []


def test_every_kind_of_subscription_is_asked_for(world: World) -> None:
    session = world.session()
    for durability in Durability:
        for shared in (False, True):
            name = "S" if shared or durability is Durability.DURABLE else None
            origin = Origin(address=TOPIC, durability=durability, name=name, shared=shared)
            ok(ok(session.consumer(origin, actor="A")).close())
    asked = {(command.durability, command.shared) for command in world.wire.all(port.OpenReceiver)}
    assert len(asked) == 4
    ok(session.unsubscribe("S"))


def test_a_session_in_another_mode_has_no_xa_resource(world: World) -> None:
    assert refused(world.session().xa()).kind is JmsErrorKind.ILLEGAL_STATE


def test_what_these_faces_have_not_is_unsupported(world: World) -> None:
    session = world.session()
    for refusal in (
        refused(session.consumer(Origin(address=QUEUE), actor="A", qos=Qos.AT_MOST_ONCE)),
        refused(session.consumer(Origin(address=QUEUE), actor="A", auto_confirm=True)),
        refused(session.consumer(Origin(address=QUEUE, credit=5), actor="A")),
    ):
        assert (refusal.kind, refusal.checked) == (JmsErrorKind.UNSUPPORTED, world.checked)


def test_units_are_ended_through_the_session(world: World) -> None:
    session = world.session(AckMode.TRANSACTED)
    producer = ok(session.producer(QUEUE))
    ok(producer.send(Draft(key="a", body="a")))
    ok(session.rollback())
    ok(producer.send(Draft(key="b", body="b")))
    ok(session.commit())
    assert world.wire.bodies() == ["b"]
    assert refused(world.session().commit()).kind is JmsErrorKind.ILLEGAL_STATE


def test_closing_a_connection_closes_all_of_it(world: World) -> None:
    session = world.session()
    ok(session.close())
    world.session()
    ok(world.connection.close())
    assert len(world.wire.all(port.Close)) == 1
    opened, closed = world.wire.all(port.OpenSession), world.wire.all(port.CloseSession)
    assert {command.session for command in opened} == {command.session for command in closed}


def test_without_checks_the_broker_is_asked(world: World) -> None:
    connection = ok(world.client.connect(Endpoint("fake://"), checks=False))
    producer = ok(ok(connection.session(AckMode.AUTO)).producer(QUEUE))
    ok(producer.set(Setting.TTL, 1))
    ok(producer.set(Setting.DELAY, 2))
    ok(producer.send(Draft(key="a", body="a")))


def test_ids_repeat_from_run_to_run_where_a_prefix_is_given() -> None:
    ids = set()
    for _ in range(2):
        producer = ok(World("classic").session().producer(QUEUE))
        ids.add(ok(producer.send(Draft(key="a", body="a"))).message_id)
    assert ids == {"ID:t-classic-1-1"}


def test_a_body_of_bytes_is_shown_as_it_came(world: World) -> None:
    world.wire._add("Q", Message(message_id="x", body=b"k \xff", properties={"assay_kid": "k"}))
    consumer = ok(world.session().consumer(Origin(address=QUEUE), actor="A"))
    seen = ok(consumer.receive(0))
    assert seen is not None
    assert (seen.body, seen.fields["body"]) == (b"k \xff", "bytes")
