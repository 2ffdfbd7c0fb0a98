from __future__ import annotations

import pytest

from assay_adapters.brokers.reference.inprocess.backend import CAPABILITIES, LACKS, ReferenceBackend, ReferenceInstance
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import (
    AckMode,
    ClientConnection,
    ClientProducer,
    ClientSession,
    Draft,
    Mode,
    Origin,
    Seen,
    Setting,
)
from assay_adapters.ports.faults import (
    AfterAnswer,
    Arrival,
    At,
    BeforeAnswer,
    BlockWrite,
    Cut,
    DiskEvent,
    FaultRequest,
    FirstSight,
    Kill,
    PowerLoss,
    Restart,
    StoreError,
    Trigger,
    Unreachable,
    WorkerDies,
)
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc

QUEUE = Address(AddressKind.QUEUE, "Q")


def value(outcome: Outcome[object]) -> object:
    assert isinstance(outcome, Ok), outcome
    return outcome.value


def instance(**options: str) -> ReferenceInstance:
    made = ReferenceBackend(**({"store": "memory"} | options)).provision(Needs())  # type: ignore[arg-type]  # options by name
    assert isinstance(made, ReferenceInstance)
    return made


class Actor:
    """A client's connection with a session and a producer."""

    def __init__(self, of: ReferenceInstance, face: str = "simplified", member: str | None = None) -> None:
        connection = value(of.clients()[face].connect(of.endpoint("amqp", member)))
        self.connection: ClientConnection = connection  # type: ignore[assignment]  # value() knows no type
        self.session: ClientSession = value(self.connection.session(AckMode.AUTO))  # type: ignore[assignment]  # value() knows no type
        self.producer: ClientProducer = value(self.session.producer(QUEUE))  # type: ignore[assignment]  # value() knows no type

    def send(self, key: str, mode: Mode = Mode.PERSISTENT) -> Outcome[object]:
        return self.producer.send(Draft(key=key, body=f"{key} body"), mode=mode)

    def receive(self, timeout_ms: int = 1_000) -> Seen | None:
        consumer = value(self.session.consumer(Origin(address=QUEUE), actor="reader"))
        return value(consumer.receive(timeout_ms))  # type: ignore[attr-defined,no-any-return]  # value() knows no type


@pytest.mark.parametrize("face", ["simplified", "classic"])
def test_a_message_goes_round_in_both_faces(face: str) -> None:
    actor = Actor(instance(), face)
    value(actor.send("k"))
    seen = actor.receive()
    assert seen is not None
    assert seen.key == "k"


@pytest.mark.parametrize(
    ("fault", "when", "survives"),
    [
        (Kill(), AfterAnswer("k"), True),
        (Kill(), BeforeAnswer("k"), True),
        (PowerLoss(), AfterAnswer("k"), True),
        (Restart(), AfterAnswer("k"), True),
        (Cut(), AfterAnswer("k"), True),
        (Cut(), Arrival("k"), True),
        (Kill(), At(1), False),
    ],
)
def test_a_fault_happens_at_its_trigger(fault: FaultRequest, when: Trigger, *, survives: bool) -> None:
    of = instance()
    actor = Actor(of)
    injection = of.faults.inject(fault, when)
    assert not isinstance(injection, Unsupported)
    outcome = actor.send("k")
    answered = isinstance(outcome, Ok)
    assert answered is isinstance(when, AfterAnswer)
    assert isinstance(injection.wait(), tuple)
    refused = actor.send("later")
    assert isinstance(refused, Refused)
    assert refused.kind is JmsErrorKind.CONNECTION_LOST
    assert (Actor(of).receive() is not None) is survives


def test_a_kill_at_first_sight_brings_the_message_again() -> None:
    of = instance()
    value(Actor(of).send("k"))
    injection = of.faults.inject(Kill(), FirstSight("k"))
    assert not isinstance(injection, Unsupported)
    Actor(of).receive()
    injection.wait()
    again = Actor(of).receive()
    assert again is not None
    assert again.key == "k"


def test_a_trigger_that_never_comes_is_said() -> None:
    injection = instance().faults.inject(Kill(), AfterAnswer("never"))
    assert not isinstance(injection, Unsupported)
    assert isinstance(injection.wait(), Unsupported)


def test_a_restart_at_an_earlier_level_takes_the_delay_away() -> None:
    of = instance()
    injection = of.faults.inject(Restart(level="7.5"))
    assert not isinstance(injection, Unsupported)
    assert isinstance(injection.wait(), tuple)
    refused = Actor(of).producer.set(Setting.DELAY, 1_000)
    assert isinstance(refused, Refused)
    assert refused.mqrc == Mqrc.FUNCTION_NOT_SUPPORTED


def test_a_store_that_fails_once_refuses_one_send_and_takes_the_next() -> None:
    of = instance()
    actor = Actor(of)
    injection = of.faults.inject(StoreError())
    assert not isinstance(injection, Unsupported)
    assert isinstance(injection.wait(), tuple)
    assert isinstance(actor.send("refused"), Refused)
    value(actor.send("kept"))


def test_a_write_that_waits_keeps_its_sender_waiting_until_it_is_healed() -> None:
    of = instance()
    actor = Actor(of)
    injection = of.faults.inject(BlockWrite("Q"))
    assert not isinstance(injection, Unsupported)
    began = of.clock.monotonic_ns()
    of.runner.call_at(began + 7 * 10**9, injection.heal)
    value(actor.send("k"))
    assert of.clock.monotonic_ns() >= began + 7 * 10**9
    assert injection.wait() == (began, began + 7 * 10**9)
    injection.heal()  # a second heal does nothing
    assert injection.wait() == (began, began + 7 * 10**9)


def test_an_unreachable_broker_refuses_clients_until_it_is_healed() -> None:
    of = instance()
    actor = Actor(of)
    injection = of.faults.inject(Unreachable())
    assert not isinstance(injection, Unsupported)
    refused = actor.send("lost")
    assert isinstance(refused, Refused)
    assert refused.kind is JmsErrorKind.CONNECTION_LOST
    assert isinstance(of.clients()["simplified"].connect(of.endpoint("amqp")), Refused)
    injection.heal()
    assert isinstance(injection.wait(), tuple)
    value(Actor(of).send("k"))


def test_a_worker_that_dies_leaves_its_queue_manager_alive() -> None:
    of = instance()
    actor = Actor(of)
    injection = of.faults.inject(WorkerDies())
    assert not isinstance(injection, Unsupported)
    assert isinstance(injection.wait(), tuple)
    value(actor.send("k"))


def test_the_disk_is_watched_and_searched() -> None:
    of = instance()
    told: list[DiskEvent] = []
    of.watch_disk(told.append)
    actor = Actor(of)
    value(actor.send("stored"))
    value(actor.send("not stored", Mode.NON_PERSISTENT))
    assert [(event.op, event.keys) for event in told] == [("write", ("stored",)), ("flush", ("stored",))]
    assert of.storage_holds(b"stored body") == Ok(value=True)
    assert of.storage_holds(b"not stored body") == Ok(value=False)


def test_every_capability_is_declared_or_its_absence_explained() -> None:
    assert CAPABILITIES.keys() | LACKS.keys() == set(Capability)
    assert not CAPABILITIES.keys() & LACKS.keys()


def test_what_cannot_be_met_is_unsupported_with_its_reason() -> None:
    backend = ReferenceBackend(store="memory")
    assert isinstance(backend.provision(Needs(capabilities=frozenset({Capability.CANCEL}))), Unsupported)


def test_two_instances_share_nothing() -> None:
    backend = ReferenceBackend(store="memory")
    first, second = backend.provision(Needs()), backend.provision(Needs())
    assert isinstance(first, ReferenceInstance)
    assert isinstance(second, ReferenceInstance)
    value(Actor(first).send("k"))
    assert Actor(second).receive(10) is None
    assert first.clock.boot != second.clock.boot


@pytest.mark.parametrize(("option", "word"), [("store", "store"), ("defect", "defect")])
def test_an_unknown_store_or_defect_is_named(option: str, word: str) -> None:
    with pytest.raises(LookupError, match=f"no {word} 'nonsense'"):
        instance(**{option: "nonsense"})


def test_a_defect_is_named_in_the_environment_and_felt() -> None:
    of = instance(defect="non-persistent-twice")
    assert of.environment.details["defect"] == "non-persistent-twice"
