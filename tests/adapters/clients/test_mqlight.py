"""Tests of the MQ Light face behind the `Client` port, with the reference broker in the same process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from assay_adapters.clients.light_events import LightTeller
from assay_adapters.clients.mqlight import CAPABILITIES, MqlightClient
from assay_adapters.ports.client import (
    AckMode,
    ClientConnection,
    ClientEvent,
    ClientSession,
    Draft,
    Endpoint,
    Mode,
    Origin,
    Qos,
    Script,
    Setting,
)
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_broker.inprocess import InProcessBroker, in_process_broker
from assay_sdk.driver import Durability
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.observer import SessionEnded

T = TypeVar("T")
MS = 1_000_000
SECOND = 1_000
TOPIC = Address(AddressKind.TOPIC, "T")
QUEUE = Address(AddressKind.QUEUE, "Q")


def ok(outcome: Outcome[T]) -> T:
    assert isinstance(outcome, Ok), outcome
    return outcome.value


def draft(key: str) -> Draft:
    return Draft(key=key, body=f"{key} body")


class World:
    """A client with one connection, and one session in automatic mode."""

    def __init__(self, broker: InProcessBroker) -> None:
        self.broker = broker
        self.client = MqlightClient(broker.driver, broker.runner, "t")
        self.events: list[ClientEvent] = []
        self.client.observe(self._note)
        self.connection = self.connect("a-client")
        self.session: ClientSession = ok(self.connection.session(AckMode.AUTO))

    def _note(self, event: ClientEvent) -> None:
        """Keep an event, except the news that a connection keeps its frames (`test_frames`)."""
        if event.what != "frames":
            self.events.append(event)

    def connect(self, client_id: str | None) -> ClientConnection:
        return ok(self.client.connect(Endpoint(self.broker.url), client_id=client_id))

    def let(self, span_ms: int) -> None:
        self.broker.runner.run_until(lambda: False, self.broker.runner.clock.monotonic_ns() + span_ms * MS)

    def send(self, key: str, qos: Qos | None = Qos.AT_LEAST_ONCE) -> None:
        ok(ok(self.session.producer(TOPIC, qos=qos)).send(draft(key)))

    def story(self) -> list[tuple[str, str]]:
        """Return the client's events, each with the key of its message."""
        return [(event.what, event.seen.key if event.seen else event.key) for event in self.events]


Ask = Callable[[World], object]


@pytest.fixture
def world() -> Iterator[World]:
    with in_process_broker() as broker:
        yield World(broker)


def test_the_identity_names_the_face_and_what_it_lacks_is_absent(world: World) -> None:
    identity = world.client.identity
    assert (identity.face, identity.ours) == ("mqlight", True)
    lacking = {Capability.SELECTOR, Capability.BROWSE, Capability.DURABLE_SUBSCRIPTION, Capability.DELIVERY_DELAY}
    assert lacking.isdisjoint(world.client.capabilities)
    assert {Capability.RECONNECT, Capability.AUTO_CONFIRM} <= CAPABILITIES.keys()


@pytest.mark.parametrize(("qos", "settled"), [(None, True), (Qos.AT_MOST_ONCE, True), (Qos.AT_LEAST_ONCE, False)])
def test_a_transfer_is_told_with_its_quality(world: World, qos: Qos | None, *, settled: bool) -> None:
    world.send("k1", qos)
    assert [(event.key, event.settled) for event in world.events if event.what == "transfer"] == [("k1", settled)]


def frames(world: World, actor: str) -> list[tuple[str, str, str, bool, str]]:
    """Return the frames with messages of a consumer or of a connection."""
    return [
        (event.what, event.direction, event.key, event.settled, event.outcome)
        for event in world.events
        if event.what in {"transfer", "disposition"} and event.actor == actor
    ]


def test_frames_are_told_of_the_consumer_of_their_link_and_of_the_senders_connection(world: World) -> None:
    session = ok(world.connection.session(AckMode.CLIENT))
    other = Address(AddressKind.TOPIC, "other")
    consumer = ok(session.consumer(Origin(address=TOPIC), actor="s", qos=Qos.AT_LEAST_ONCE))
    ok(session.consumer(Origin(address=other), actor="t", qos=Qos.AT_LEAST_ONCE))
    share = Origin(address=TOPIC, name="club", shared=True)
    sharer = ok(session.consumer(share, actor="u", qos=Qos.AT_MOST_ONCE))
    world.send("k1")
    seen = ok(consumer.receive(SECOND))
    assert seen is not None
    ok(sharer.receive(SECOND))
    ok(session.acknowledge(seen))
    assert frames(world, "s") == [
        ("transfer", "in", "k1", False, ""),
        ("disposition", "out", "k1", False, "accepted"),
        ("disposition", "in", "k1", True, "accepted"),
    ]
    assert frames(world, "t") == []
    assert frames(world, "u") == [("transfer", "in", "k1", True, "")]
    assert frames(world, "mqlight-1") == [
        ("transfer", "out", "k1", False, ""),
        ("disposition", "in", "k1", True, "accepted"),
    ]
    assert {event.role for event in world.events if event.what == "disposition" and event.direction == "out"} == {
        "receiver"
    }


def test_automatic_confirmation_is_told_before_the_callback_is_over(world: World) -> None:
    consumer = ok(world.session.consumer(Origin(address=TOPIC), actor="s", qos=Qos.AT_LEAST_ONCE))
    ok(consumer.listen(Script(take_ms=SECOND)))
    world.send("k1")
    world.let(5 * SECOND)
    told = [what for what, _ in world.story() if what not in {"transfer", "disposition"}]
    assert told == ["settle", "seen", "called", "callback"]


def test_a_durable_subscription_keeps_what_comes_while_its_client_is_away(world: World) -> None:
    origin = Origin(address=TOPIC, durability=Durability.DURABLE, name="kept")
    away = world.connect("away")
    ok(ok(away.session(AckMode.AUTO)).consumer(origin, actor="s", qos=Qos.AT_LEAST_ONCE))
    ok(away.close())
    world.let(3_600 * SECOND)
    world.send("k1")
    back = ok(world.connect("away").session(AckMode.AUTO))
    seen = ok(ok(back.consumer(origin, actor="s", qos=Qos.AT_LEAST_ONCE)).receive(SECOND))
    assert seen is not None
    assert seen.key == "k1"


def test_in_client_mode_only_what_is_acknowledged_is_settled(world: World) -> None:
    session = ok(world.connection.session(AckMode.CLIENT))
    consumer = ok(session.consumer(Origin(address=TOPIC), actor="s", qos=Qos.AT_LEAST_ONCE))
    for key in ("k1", "k2"):
        world.send(key)
    first, second = ok(consumer.receive(SECOND)), ok(consumer.receive(SECOND))
    assert first is not None
    assert second is not None
    assert ("settle", "k1") not in world.story()
    ok(session.acknowledge(second))
    assert [key for what, key in world.story() if what == "settle"] == ["k2"]


def test_a_script_may_confirm(world: World) -> None:
    session = ok(world.connection.session(AckMode.CLIENT))
    consumer = ok(session.consumer(Origin(address=TOPIC), actor="s", qos=Qos.AT_LEAST_ONCE))
    ok(consumer.listen(Script(acknowledge_after=2)))
    for key in ("k1", "k2", "k3"):
        world.send(key)
    world.let(SECOND)
    assert [key for what, key in world.story() if what == "settle"] == ["k2"]


def test_nothing_is_handed_over_without_a_listener_or_a_receive(world: World) -> None:
    consumer = ok(world.session.consumer(Origin(address=TOPIC), actor="s", qos=Qos.AT_LEAST_ONCE))
    world.send("k1")
    world.let(SECOND)
    assert ("seen", "k1") not in world.story()
    ok(consumer.listen(Script()))
    world.let(SECOND)
    assert ("seen", "k1") in world.story()
    ok(consumer.listen(None))
    world.send("k2")
    world.let(SECOND)
    assert ("seen", "k2") not in world.story()


def test_with_a_credit_messages_come_ahead_and_a_listener_gets_them(world: World) -> None:
    origin = Origin(address=TOPIC, credit=2)
    consumer = ok(world.session.consumer(origin, actor="s", qos=Qos.AT_LEAST_ONCE, auto_confirm=True))
    world.send("k1")
    world.let(SECOND)
    assert ("settle", "k1") in world.story()
    assert ("seen", "k1") not in world.story()
    ok(consumer.listen(Script()))
    world.let(SECOND)
    assert ("seen", "k1") in world.story()


def test_a_lost_line_is_told_and_that_it_is_back(world: World) -> None:
    origin = Origin(address=TOPIC, ttl_ms=60_000, durability=Durability.DURABLE, name="n")
    ok(ok(world.session.consumer(origin, actor="s", qos=Qos.AT_LEAST_ONCE)).listen(Script()))
    world.send("k1")
    world.let(SECOND)
    world.broker.queue_manager.cut()
    world.send("k2")
    world.let(SECOND)
    told = [(event.what, event.actor, event.link) for event in world.events if event.what in {"lost", "back", "seen"}]
    assert told == [
        ("seen", "s", "s/mqlight-1.1/1"),
        ("lost", "s", ""),
        ("back", "s", ""),
        ("seen", "s", "s/mqlight-1.2/1"),
    ]


def test_a_session_that_the_broker_ends_is_told_with_its_connection_and_error(world: World) -> None:
    why = Refused(JmsErrorKind.MESSAGING, "a bug")
    LightTeller(world.events.append, "mqlight-1")(SessionEnded(why))
    assert [(event.what, event.actor, event.refused) for event in world.events[-1:]] == [
        ("session-ended", "mqlight-1", why)
    ]


def test_a_client_that_was_aborted_does_not_come_back(world: World) -> None:
    ok(world.session.consumer(Origin(address=TOPIC), actor="s"))
    world.connection.abort()
    world.let(600 * SECOND)
    assert [event.what for event in world.events] == ["lost"]
    ok(world.connect("a-client").close())


def test_a_subscription_that_was_closed_can_be_ended(world: World) -> None:
    origin = Origin(address=TOPIC, ttl_ms=60_000, durability=Durability.DURABLE, name="n")
    for closed in (True, False):
        consumer = ok(world.session.consumer(origin, actor="s", qos=Qos.AT_LEAST_ONCE))
        if closed:
            ok(consumer.close())
            world.send("k1")
        ok(world.session.unsubscribe("n"))
    consumer = ok(world.session.consumer(origin, actor="s", qos=Qos.AT_LEAST_ONCE))
    assert ok(consumer.receive(SECOND)) is None


def test_clients_of_several_ids_share_a_subscription(world: World) -> None:
    origin = Origin(address=TOPIC, shared=True, name="n")
    other = ok(world.connect("other").session(AckMode.AUTO))
    one = ok(world.session.consumer(origin, actor="one"))
    two = ok(other.consumer(origin, actor="two"))
    world.send("k1")
    assert [ok(one.receive(SECOND)) is None, ok(two.receive(SECOND)) is None] == [False, True]


UNSUPPORTED: list[Ask] = [
    lambda world: world.connection.session(AckMode.TRANSACTED),
    lambda world: world.connection.session(AckMode.XA),
    lambda world: world.session.browse("Q"),
    lambda world: world.session.commit(),
    lambda world: world.session.rollback(),
    lambda world: world.session.recover(),
    lambda world: world.session.xa(),
    lambda world: world.session.consumer(Origin(address=TOPIC, selector="a = 1"), actor="s"),
    lambda world: world.session.consumer(Origin(address=TOPIC, no_local=True), actor="s"),
    lambda world: ok(world.session.consumer(Origin(address=TOPIC), actor="s")).listen_batch(Script(), 2, 5),
    lambda world: ok(world.session.producer(TOPIC)).set(Setting.DELAY, 5),
    lambda world: ok(world.session.producer(TOPIC)).set(Setting.MODE, 2),
    lambda world: ok(world.session.producer(TOPIC)).get(Setting.TTL),
    lambda world: ok(world.session.producer(TOPIC)).send(draft("k"), mode=Mode.PERSISTENT),
    lambda world: ok(world.session.producer(TOPIC)).send(draft("k"), priority=3),
    lambda world: ok(world.session.producer(TOPIC)).send(Draft(key="k", body="k", group_id="g")),
]


@pytest.mark.parametrize("ask", UNSUPPORTED)
def test_what_mq_light_has_not_is_unsupported(world: World, ask: Ask) -> None:
    refused = ask(world)
    assert isinstance(refused, Refused)
    assert refused.kind is JmsErrorKind.UNSUPPORTED
    assert refused.text.startswith("MQ Light has no ")


NOWHERE: list[Ask] = [
    lambda world: world.session.producer(QUEUE),
    lambda world: world.session.consumer(Origin(address=QUEUE), actor="s"),
    lambda world: ok(world.session.producer(None)).send(draft("k")),
    lambda world: ok(world.session.producer(None)).send(draft("k"), to=QUEUE),
    lambda world: world.session.unsubscribe("unknown"),
]


@pytest.mark.parametrize("ask", NOWHERE)
def test_what_is_no_topic_or_no_subscription_is_no_destination(world: World, ask: Ask) -> None:
    refused = ask(world)
    assert isinstance(refused, Refused)
    assert refused.kind is JmsErrorKind.INVALID_DESTINATION


def test_a_producer_without_a_destination_takes_it_from_the_send_and_its_time_to_live_from_its_setting(
    world: World,
) -> None:
    consumer = ok(world.session.consumer(Origin(address=TOPIC), actor="s"))
    producer = ok(world.session.producer(None))
    ok(producer.set(Setting.TTL, 5_000))
    ok(producer.send(draft("k1"), to=TOPIC))
    seen = ok(consumer.receive(SECOND))
    assert seen is not None
    assert seen.fields["JMSExpiration"] == world.broker.runner.clock.wall_ns() // MS + 5_000
    ok(producer.close())
    ok(world.session.close())
    ok(world.connection.close())
