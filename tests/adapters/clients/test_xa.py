"""Tests of the SDK's XA resource behind the `Client` port, with the broker in the same process."""

from __future__ import annotations

from typing import TypeVar

import pytest
from tests.adapters.clients.observed import entries

from assay_adapters.clients import events
from assay_adapters.clients.sdk import SdkClient, SdkFace
from assay_adapters.ports.client import AckMode, ClientEvent, ClientSession, Draft, Endpoint, Origin
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_broker.inprocess import InProcessBroker
from assay_sdk import XaCode, Xid, connect
from assay_sdk.engine.deliveries.acknowledgement import AckMode as SdkAckMode
from assay_sdk.faces.simplified import XaContext
from assay_sdk.model.destinations import Queue
from assay_sdk.model.message import Address, AddressKind

T = TypeVar("T")
QUEUE = Address(AddressKind.QUEUE, "Q")


def ok(outcome: Outcome[T]) -> T:
    assert isinstance(outcome, Ok), outcome
    return outcome.value


class World:
    """A client of one face with a broker, and the client's events."""

    def __init__(self, face: SdkFace) -> None:
        self.broker = InProcessBroker()
        self.client = SdkClient(face, self.broker.driver, self.broker.runner, "t")
        self.events: list[ClientEvent] = []
        self.client.observe(self.events.append)

    def session(self, ack: AckMode = AckMode.XA) -> ClientSession:
        """Open a session on a new connection."""
        return ok(ok(self.client.connect(Endpoint(self.broker.url))).session(ack))

    def told(self, what: str) -> list[ClientEvent]:
        """Return the client's events of one kind."""
        return [event for event in self.events if event.what == what]


@pytest.fixture(params=["classic", "simplified"])
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def test_what_a_branch_has_taken_is_told_with_its_name_and_not_kept(world: World) -> None:
    ok(ok(world.session(AckMode.AUTO).producer(QUEUE)).send(Draft(key="m", body="m")))
    session = world.session()
    resource = ok(session.xa())
    ok(resource.start(b"mine"))
    consumer = ok(session.consumer(Origin(address=QUEUE), actor="A"))
    seen = ok(consumer.receive(10))
    assert seen is not None
    (settled,) = world.told("settle")
    assert (settled.unit, settled.outcome) == ("mine", "accepted")
    ok(resource.end(b"mine"))
    assert ok(resource.prepare(b"mine")) is True
    ok(resource.commit(b"mine"))
    assert len(world.told("settle")) == 1


@pytest.mark.parametrize("by_another", [False, True])
@pytest.mark.parametrize("ends", ["commit", "rollback"])
def test_an_ended_branch_leaves_nothing_behind(
    world: World, monkeypatch: pytest.MonkeyPatch, ends: str, *, by_another: bool
) -> None:
    monkeypatch.setattr(events, "_KEPT_SETTLED", 0)
    connection = ok(world.client.connect(Endpoint(world.broker.url)))
    resource = ok((session := ok(connection.session(AckMode.XA))).xa())
    manager = ok(world.session().xa()) if by_another else resource
    consumer = ok(session.consumer(Origin(address=QUEUE), actor="A"))
    producer = ok(world.session(AckMode.AUTO).producer(QUEUE))
    kept = []
    for number in range(3):
        ok(producer.send(Draft(key="m", body="m")))
        branch = b"%d" % number
        ok(resource.start(branch))
        assert ok(consumer.receive(10)) is not None
        ok(resource.end(branch))
        if ends == "commit":
            ok(manager.prepare(branch))
            ok(manager.commit(branch))
        else:
            ok(manager.rollback(branch))
        kept.append(entries(connection))
    assert kept[1:] == kept[:1] * 2


def test_a_branch_without_work_is_read_only(world: World) -> None:
    resource = ok(world.session().xa())
    ok(resource.start(b"mine"))
    ok(resource.end(b"mine"))
    assert ok(resource.prepare(b"mine")) is False


def test_a_refusal_has_its_code_and_is_a_checked_one(world: World) -> None:
    refused = ok(world.session().xa()).commit(b"unknown", one_phase=True)
    assert isinstance(refused, Refused)
    assert (refused.xa, refused.checked, refused.kind) == (XaCode.XAER_NOTA, True, JmsErrorKind.ILLEGAL_STATE)


def test_branches_of_others_are_not_named(world: World) -> None:
    broker = world.broker
    foreign = connect(broker.url, runner=broker.runner, driver=broker.driver, session_mode=SdkAckMode.XA)
    assert isinstance(foreign, XaContext)
    other = Xid(1, b"foreign")
    foreign.xa_resource.start(other)
    queue: Queue[str] = Queue("Q")
    foreign.create_producer(queue).send("a")
    foreign.xa_resource.end(other)
    foreign.xa_resource.prepare(other)
    assert foreign.xa_resource.recover() == (other,)
    assert ok(ok(world.session().xa()).recover()) == ()
