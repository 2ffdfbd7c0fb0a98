"""Tests of a scenario's world on the reference broker: names, evidence and waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend, ReferenceInstance
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import ClientEvent, Origin, Script
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused
from assay_evidence import events
from assay_evidence.names import plain
from assay_evidence.verdicts import Verdict
from assay_evidence.writer import JournalWriter
from assay_steps.cast.actors import Consumer
from assay_steps.cast.claims import Evidence
from assay_steps.cast.faces import Faces
from assay_steps.cast.journal import ScenarioJournal, instant
from assay_steps.cast.recording import Answer, SetupRefusedError
from assay_steps.cast.world import Role, World
from assay_steps.plugin.run import VIRTUAL_LIMITS
from assay_steps.vocabulary.clients.sending import send
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.names import Names, Place

QUEUE = Place("queue", "queue")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Provide a world with a journal of its own."""
    instance = ReferenceBackend(store="memory").provision(Needs())
    assert isinstance(instance, ReferenceInstance)
    with JournalWriter(tmp_path / "main.jsonl", run="run", writer="main") as writer:
        at = instant(instance.clock)
        writer.write(
            events.Begin,
            at,
            backend="reference",
            client="sdk",
            ours=(),
            environment={},
            catalogue_hash="",
            seed=0,
            capabilities={},
        )
        journal = ScenarioJournal(writer, "own.feature::It", instance.clock)
        journal.write(events.ScenarioBegin, rules=("PD-34",), judged="broker", strength="must")
        faces = Faces(instance.clients())
        world = World(
            instance, journal, Evidence(journal, "PD-34", VIRTUAL_LIMITS.quiet_ms), limits=VIRTUAL_LIMITS, faces=faces
        )
        yield world
        world.connections.close()
        instance.close()


def written(world: World, kind: type[events.Event]) -> list[events.AnyEvent]:
    return [event for event in world.recorder.journal.events if isinstance(event, kind)]


def test_two_scenarios_never_meet_on_one_broker(world: World) -> None:
    assert world.names.token in world.names.own("queue")
    assert world.address(QUEUE).name == world.names.own("queue")
    assert world.coming_key("m").startswith(world.names.token)


def test_two_runs_never_meet_on_a_broker_that_is_not_ours() -> None:
    scenario = "own.feature::It"
    ours, one, two = (Names(scenario, (), run) for run in (None, "one", "two"))
    assert len({ours.own("queue"), one.own("queue"), two.own("queue")}) == 3
    assert plain(f"{one.own('queue')} {one.identifier('reader')} {one.key('m')}", scenario) == "queue reader m"


def test_a_send_leaves_a_call_with_the_values_in_effect_and_a_return(world: World) -> None:
    send(world, world.producer(QUEUE), "m", QUEUE)
    calls = [event for event in written(world, events.Call) if isinstance(event, events.Call) and event.op == "send"]
    assert [call.args["priority"] for call in calls] == [4]
    assert calls[0].msg is not None
    assert calls[0].msg.key == world.key("m")
    returns = [event for event in written(world, events.Return) if isinstance(event, events.Return)]
    assert returns[-1].call == calls[0].id
    assert world.recorder.returned(calls[0].ref) == returns[-1].ref


def test_what_a_listener_is_handed_stands_in_the_journal_inside_its_watch(world: World) -> None:
    world.consumer("receiver", Origin(address=world.address(QUEUE))).needed().listen(Script()).needed()
    send(world, world.producer(QUEUE), "m", QUEUE)
    world.observe(("receiver",), world.keys(("m",)))
    assert [sighting.key for sighting in world.seen_by(("receiver",), (world.key("m"),))] == [world.key("m")]
    kinds = [type(event) for event in world.recorder.journal.events]
    assert kinds.index(events.Watch) < kinds.index(events.Seen)


@pytest.mark.parametrize(
    ("op", "close"),
    [
        ("close-consumer", lambda consumer: consumer.close()),
        ("close-session", lambda consumer: consumer.session.close()),
        ("close-connection", lambda consumer: consumer.session.connection.close()),
    ],
)
def test_a_watch_ends_before_the_close_which_may_take_seconds(
    op: str, close: Callable[[Consumer], Answer[None]], world: World
) -> None:
    consumer = world.consumer("receiver", Origin(address=world.address(QUEUE))).needed()
    consumer.listen(Script()).needed()
    close(consumer).needed()
    told = world.recorder.journal.events
    ends = [place for place, one in enumerate(told) if isinstance(one, events.Watch) and one.phase == "end"]
    calls = [place for place, one in enumerate(told) if isinstance(one, events.Call) and one.op == op]
    assert [len(ends), len(calls)] == [1, 1]
    assert ends < calls


def test_a_session_that_the_broker_ended_stands_in_the_journal_under_the_scenarios_name(world: World) -> None:
    sightings = world.sightings
    sightings.connecting = "client"
    sightings.tell(ClientEvent(what="frames", actor="classic-7", frames=tuple))
    sightings.connecting = ""
    why = Refused(JmsErrorKind.MESSAGING, "a bug", mqrc=2195)
    for actor in ("classic-7", "another"):
        sightings.tell(ClientEvent(what="session-ended", actor=actor, refused=why))
    told = [event for event in written(world, events.SessionEnded) if isinstance(event, events.SessionEnded)]
    assert [(event.actor, event.refused.text, event.refused.mqrc) for event in told] == [
        ("client", "a bug", 2195),
        ("another", "a bug", 2195),
    ]


def test_a_claim_is_decided_from_the_journal_and_not_by_its_step(world: World) -> None:
    send(world, world.producer(QUEUE), "m", QUEUE)
    finding = world.evidence.claim("accepted", {"call": world.last.ref})
    assert finding.verdict is Verdict.PASS
    refused = world.evidence.claim("refused-with", {"call": world.last.ref})
    assert refused.verdict is Verdict.FAIL
    assert world.evidence.findings == [finding, refused]


def test_waiting_moves_the_backends_clock_and_no_other(world: World) -> None:
    before = world.now_ms()
    world.pass_time(3_600_000)
    assert world.now_ms() - before == 3_600_000
    assert not world.wait_until(lambda: False, 5)


def test_who_was_lost_tries_its_client_id_again_while_the_broker_takes_it_for_one_in_use(world: World) -> None:
    world.connections.connect("keeper", client_id="k").needed().abort()
    holder = world.connections.connect("holder", client_id="k").needed()
    runner, begun_ms = world.instance.runner, world.now_ms()
    runner.call_at(runner.clock.monotonic_ns() + 250_000_000, lambda: void(holder.close()))
    assert world.connections.connect("keeper", client_id="k").accepted
    assert 250 <= world.now_ms() - begun_ms <= 400


def test_a_client_that_has_closed_tries_its_client_id_again_while_the_broker_frees_it(world: World) -> None:
    world.connections.connect("keeper", client_id="k").needed().close()
    client = next(iter(world.instance.clients().values()))
    slow = client.connect(
        world.instance.endpoint("amqp"), client_id=world.names.identifier("k"), login=None, checks=True
    )
    assert isinstance(slow, Ok)
    runner, begun_ms = world.instance.runner, world.now_ms()
    runner.call_at(runner.clock.monotonic_ns() + 250_000_000, lambda: void(slow.value.close()))
    assert world.connections.connect("later", client_id="k").accepted
    assert 250 <= world.now_ms() - begun_ms <= 400


def test_a_client_id_is_tried_again_while_the_broker_has_not_noticed_the_loss_of_its_reconnecting_client(
    world: World,
) -> None:
    sure = world.connections.connect("sure", client_id="k", face="mqlight").needed()
    sure.interrupted()
    runner, begun_ms = world.instance.runner, world.now_ms()
    runner.call_at(runner.clock.monotonic_ns() + 250_000_000, lambda: void(sure.close()))
    assert world.connections.connect("other", client_id="k", face="mqlight").accepted
    assert 250 <= world.now_ms() - begun_ms <= 400


def test_who_was_not_lost_is_told_at_once_that_its_client_id_is_in_use(world: World) -> None:
    world.connections.connect("holder", client_id="k").needed()
    begun_ms = world.now_ms()
    assert not world.connections.connect("other", client_id="k").accepted
    assert world.now_ms() == begun_ms


def test_a_subscriber_that_comes_back_tries_again_while_the_broker_keeps_its_first_consumer(world: World) -> None:
    topic = world.address(Place("topic", "topic"))
    role = Role(world.subscription(topic, durable=True, name="own"), client_id="k")
    first = world.play("first", role).needed()
    runner, begun_ms = world.instance.runner, world.now_ms()
    runner.call_at(runner.clock.monotonic_ns() + 250_000_000, lambda: void(first.close()))
    world.play_again("first", role)
    assert 250 <= world.now_ms() - begun_ms <= 400


def test_a_subscriber_that_stays_refused_is_told_so_after_the_time_limit(world: World) -> None:
    topic = world.address(Place("topic", "topic"))
    role = Role(world.subscription(topic, durable=True, name="own"), client_id="k")
    world.play("first", role).needed()
    begun_ms = world.now_ms()
    with pytest.raises(SetupRefusedError):
        world.play_again("first", role)
    assert world.now_ms() - begun_ms >= world.limits.expected_ms


def void(_: object) -> None:
    """Return None, as a job does."""


def test_before_anything_was_tried_there_is_no_last_answer(world: World) -> None:
    with pytest.raises(LookupError, match="No earlier step has made a call"):
        _ = world.last


def test_what_the_pair_refused_to_make_is_no_mistake_of_a_later_step(world: World) -> None:
    world.connections.connect("first", client_id="id").needed()
    assert not world.connections.connect("second", client_id="id").accepted
    with pytest.raises(SetupRefusedError, match="invalid-client-id"):
        world.connections["second"].close()
    with pytest.raises(MistakeError, match="third"):
        world.connections["third"].close()
    world.connections["first"].close().needed()
    world.connections.connect("second", client_id="id").needed()
    world.connections["second"].close().needed()


def test_a_broker_that_is_slow_for_many_messages_has_the_time_limit_for_each(world: World) -> None:
    """The broker delivers one message in 50 s, within the limit of 60 s; all four take longer than it."""
    consumer = world.consumer("slow", Origin(address=world.address(QUEUE))).needed()
    consumer.listen(Script())
    runner, clock = world.instance.runner, world.instance.clock
    labels = ("m1", "m2", "m3", "m4")
    for number, label in enumerate(labels, start=1):
        at_ns = clock.monotonic_ns() + number * 50_000_000_000
        runner.call_at(at_ns, partial(send, world, world.producer(QUEUE), label, QUEUE))
    world.observe(["slow"], [world.coming_key(label) for label in labels])
    assert [one.key for one in world.sightings.all] == [world.coming_key(label) for label in labels]
