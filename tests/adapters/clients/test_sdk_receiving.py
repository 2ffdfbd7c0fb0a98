"""Tests of receipt and settlement by the SDK behind the `Client` port, with a scripted wire."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from tests.adapters.clients.observed import entries
from tests.adapters.clients.worlds import World, ok, refused
from tests.sdk.scripted import QUEUE

from assay_adapters.clients import events
from assay_adapters.clients.events import KitMessage
from assay_adapters.ports.client import (
    AckMode,
    Draft,
    Origin,
    Script,
)
from assay_adapters.ports.outcome import JmsErrorKind, Refused
from assay_sdk import driver as port
from assay_sdk.faces.message import Message as FaceMessage
from assay_sdk.faces.message import drafted
from assay_sdk.model.converters import Converter
from assay_sdk.model.message import Message


def test_a_received_message_is_told_as_seen_and_then_as_settled(world: World) -> None:
    world.put("k1")
    consumer = ok(world.session().consumer(Origin(address=QUEUE), actor="A"))
    seen = ok(consumer.receive(0))
    assert seen is not None
    assert (seen.key, seen.body, seen.count, seen.redelivered) == ("k1", "k1 body", 1, False)
    assert seen.fields["JMSXDeliveryCount"] == 1
    assert world.story() == [("seen", "k1", ""), ("settle", "k1", "accepted")]
    first = world.events[0]
    assert (first.actor, first.destination, first.seen) == ("A", "queue://Q", seen)
    assert first.link
    assert ok(consumer.receive(0)) is None
    ok(consumer.close())


def test_a_listener_is_seen_before_its_script_acts(world: World) -> None:
    session = world.session()
    consumer = ok(session.consumer(Origin(address=QUEUE), actor="A"))
    ok(consumer.listen(Script(fail_at=1)))
    world.put("k1")
    world.let(1)
    assert world.story() == [
        ("seen", "k1", ""),
        ("called", "", ""),
        ("callback", "", "raised"),
        ("settle", "k1", "modified"),
        ("seen", "k1", ""),
        ("called", "", ""),
        ("callback", "", "returned"),
        ("settle", "k1", "accepted"),
    ]
    assert [event.seen.count for event in world.events if event.what == "seen" and event.seen] == [1, 2]
    ok(consumer.listen(None))


def test_batches_are_numbered(world: World) -> None:
    consumer = ok(world.session().consumer(Origin(address=QUEUE), actor="A"))
    ok(consumer.listen_batch(Script(), 2, 100))
    world.put("a", "b", "c")
    world.let(200)
    assert [event.batch for event in world.events if event.what == "seen"] == [0, 0, 1]
    assert [event.batch for event in world.events if event.what == "callback"] == [0, 1]
    assert refused(consumer.listen(Script())).kind is JmsErrorKind.ILLEGAL_STATE
    ok(consumer.listen_batch(None, 0, 0))
    assert refused(consumer.listen_batch(Script(), 0, 0)).checked is world.checked


def test_an_acknowledgement_by_script_goes_through_a_message(world: World) -> None:
    consumer = ok(world.session(AckMode.CLIENT).consumer(Origin(address=QUEUE), actor="A"))
    ok(consumer.listen(Script(acknowledge_after=2, acknowledge_index=0)))
    world.put("a", "b", "c")
    world.let(1)
    assert world.story()[-5:] == [
        ("settle", "b", "accepted"),
        ("callback", "", "returned"),
        ("seen", "c", ""),
        ("called", "", ""),
        ("callback", "", "returned"),
    ]


def test_commit_and_rollback_by_script(world: World) -> None:
    consumer = ok(world.session(AckMode.TRANSACTED).consumer(Origin(address=QUEUE), actor="A"))
    ok(consumer.listen(Script(rollback_after=1, commit_after=2)))
    world.put("a")
    world.let(1)
    assert [event.outcome for event in world.events if event.what == "settle"] == ["accepted", "modified", "accepted"]
    assert world.wire.bodies() == []


def test_a_listener_that_sets_itself_again_gets_what_follows(world: World) -> None:
    consumer = ok(world.session().consumer(Origin(address=QUEUE), actor="A"))
    ok(consumer.listen(Script(again_after=1)))
    world.put("a", "b")
    world.let(1)
    assert [event.what for event in world.events] == ["seen", "called", "callback", "settle"] * 2


def test_acknowledging_what_was_seen_acknowledges_the_session(world: World) -> None:
    session = world.session(AckMode.CLIENT)
    consumer = ok(session.consumer(Origin(address=QUEUE), actor="A"))
    world.put("a", "b")
    first, second = ok(consumer.receive(0)), ok(consumer.receive(0))
    assert first is not None
    assert second is not None
    ok(session.acknowledge(first))
    ok(session.acknowledge(second))
    assert [len(numbers) for numbers, _ in world.wire.settled()] == [2]
    ok(session.recover())


@pytest.mark.parametrize(("kept", "named"), [(1, ["a", "a", "b"]), (0, ["a"])])
def test_a_settled_message_is_acknowledged_by_its_own_method(
    world: World, monkeypatch: pytest.MonkeyPatch, kept: int, named: list[str]
) -> None:
    called: list[str] = []
    own = FaceMessage.acknowledge

    def acknowledge(message: KitMessage) -> None:
        called.append(str(message.body).removesuffix(" body"))
        own(message)

    monkeypatch.setattr(FaceMessage, "acknowledge", acknowledge)
    monkeypatch.setattr(events, "_KEPT_SETTLED", kept)
    session = world.session(AckMode.CLIENT)
    consumer = ok(session.consumer(Origin(address=QUEUE), actor="A"))
    world.put("a", "b")
    first = ok(consumer.receive(0))
    assert first is not None
    ok(session.acknowledge(first))
    second = ok(consumer.receive(0))
    assert second is not None
    ok(session.acknowledge(first))
    ok(session.acknowledge(second))
    assert called == named
    assert [len(numbers) for numbers, _ in world.wire.settled()] == [1, 1]


@pytest.mark.parametrize("bare", [True, False])
def test_only_a_message_without_properties_is_sent_on_with_the_properties_that_it_came_with(
    world: World, monkeypatch: pytest.MonkeyPatch, *, bare: bool
) -> None:
    given: list[object] = []

    def noted(message: KitMessage, converter: Converter[str | bytes]) -> Message:
        given.append(message.properties)
        return drafted(message, converter)

    monkeypatch.setattr("assay_sdk.faces.producer.drafted", noted)
    session = world.session(AckMode.CLIENT)
    consumer = ok(session.consumer(Origin(address=QUEUE), actor="A"))
    world.wire.put("came", properties={})
    came = ok(consumer.receive(0))
    assert came is not None
    ok(ok(session.producer(QUEUE)).send(Draft(key="on", body="on", bare=bare, received=came.handle)))
    assert [isinstance(properties, MappingProxyType) for properties in given] == [bare]


@pytest.mark.parametrize("ends", ["commit", "rollback", "refused commit"])
def test_an_ended_unit_of_work_leaves_nothing_behind(world: World, monkeypatch: pytest.MonkeyPatch, ends: str) -> None:
    monkeypatch.setattr(events, "_KEPT_SETTLED", 0)
    session = world.session(AckMode.TRANSACTED)
    consumer = ok(session.consumer(Origin(address=QUEUE), actor="A"))
    if ends == "refused commit":
        world.wire.refuse[port.Commit] = Refused(JmsErrorKind.MESSAGING, "the disk is full")
    kept = []
    for _ in range(3):
        world.put("a")
        assert ok(consumer.receive(0)) is not None
        if ends == "refused commit":
            assert refused(session.commit()).kind is JmsErrorKind.TRANSACTION_ROLLED_BACK
        else:
            ok(session.rollback() if ends == "rollback" else session.commit())
        kept.append(entries(world.connection))
    assert kept[1:] == kept[:1] * 2
