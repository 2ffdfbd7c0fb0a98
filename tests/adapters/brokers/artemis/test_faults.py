"""Tests of kills and restarts of a real Apache Artemis, through the backend."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TypeVar

import pytest

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.disks import process as disks
from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.ports.backend import Available, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import AckMode, ClientSession, Draft, Mode, Origin, Seen
from assay_adapters.ports.faults import (
    AfterAnswer,
    BeforeAnswer,
    Cut,
    FirstSight,
    Kill,
    Pause,
    PowerLoss,
    Restart,
    Slow,
    StoreError,
    Unreachable,
)
from assay_adapters.ports.outcome import Ok, Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.runners.real import RealRunner

pytestmark = pytest.mark.docker

_numbers = count(1)


@pytest.fixture(scope="module")
def instance() -> Iterator[ProductInstance]:
    runner = RealRunner()
    backend = ProductBackend(ARTEMIS, runner=runner)
    probed = backend.probe()
    if isinstance(probed, Unavailable):
        runner.close()
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    try:
        instance = backend.provision(Needs(own_instance=True, slow_disk=True))
        assert isinstance(instance, ProductInstance)
        again = backend.provision(Needs(own_instance=True, slow_disk=True))
        assert isinstance(again, ProductInstance)
        assert again.endpoint("amqp") == instance.endpoint("amqp")
        yield instance
    finally:
        backend.close()
        runner.close()


T = TypeVar("T")


def value(outcome: Outcome[T]) -> T:
    assert isinstance(outcome, Ok), outcome
    return outcome.value


def queue() -> Address:
    return Address(AddressKind.QUEUE, f"faults.queue.{next(_numbers)}")


def session(instance: ProductInstance, ack: AckMode = AckMode.CLIENT) -> ClientSession:
    client = instance.clients()["simplified"]
    return value(value(client.connect(instance.endpoint("amqp"))).session(ack))


def armed(injection: HalvesInjection | Unsupported) -> HalvesInjection:
    assert isinstance(injection, HalvesInjection)
    return injection


def suffered(instance: ProductInstance, injection: HalvesInjection, since_ns: int) -> None:
    """Wait for the end of a fault; check that it began after an instant, and that the broker answers again.

    The test has no time limit of its own, because the backend raises an error after its own limits.
    """
    span = injection.wait()
    assert not isinstance(span, Unsupported), span
    begin_ns, end_ns = span
    assert since_ns <= begin_ns < end_ns <= instance.clock.monotonic_ns()


def receive(session: ClientSession, of: Address, limit_ms: int = 30_000) -> Seen | None:
    return value(value(session.consumer(Origin(address=of), actor="receiver")).receive(limit_ms))


def faults(instance: ProductInstance) -> ProxiedFaults:
    assert instance.faults is not None
    return instance.faults


def test_a_persistent_message_outlives_an_orderly_restart_and_others_need_not(instance: ProductInstance) -> None:
    to = queue()
    value(value(session(instance).producer(to)).send(Draft(key="r1", body="r1")))
    answered_ns = instance.clock.monotonic_ns()
    suffered(instance, armed(faults(instance).inject(Restart())), answered_ns)
    seen = receive(session(instance), to)
    assert seen is not None
    assert seen.key == "r1"


def test_a_kill_at_the_answer_comes_after_the_answer_and_loses_nothing(instance: ProductInstance) -> None:
    to = queue()
    producer = value(session(instance).producer(to))
    injection = armed(faults(instance).inject(Kill(), AfterAnswer("k1")))
    value(producer.send(Draft(key="other", body="other")))
    answered_ns = instance.clock.monotonic_ns()
    value(producer.send(Draft(key="k1", body="k1")))
    suffered(instance, injection, answered_ns)
    consumer = value(session(instance).consumer(Origin(address=to), actor="receiver"))
    came = [value(consumer.receive(30_000)) for _ in range(2)]
    assert [seen.key for seen in came if seen is not None] == ["other", "k1"]


def test_a_kill_at_the_first_sight_comes_before_the_settlement(instance: ProductInstance) -> None:
    to = queue()
    value(value(session(instance).producer(to)).send(Draft(key="s1", body="s1")))
    injection = armed(faults(instance).inject(Kill(), FirstSight("s1")))
    automatic = session(instance, AckMode.AUTO)
    consumer = value(automatic.consumer(Origin(address=to), actor="first"))
    waiting_ns = instance.clock.monotonic_ns()
    seen = value(consumer.receive(30_000))
    assert seen is not None
    suffered(instance, injection, waiting_ns)
    again = receive(session(instance), to)
    assert again is not None  # no redelivered flag: Artemis stores the delivery count only after a delivery has failed
    assert again.key == "s1"


def test_the_data_folder_holds_what_is_persistent_and_nothing_else(instance: ProductInstance) -> None:
    producer = value(session(instance).producer(queue()))
    value(producer.send(Draft(key="kept-on-disk", body="kept-on-disk")))
    value(producer.send(Draft(key="kept-in-memory", body="kept-in-memory"), mode=Mode.NON_PERSISTENT))
    assert value(instance.storage_holds(b"kept-on-disk"))
    assert not value(instance.storage_holds(b"kept-in-memory"))


def test_what_a_container_cannot_suffer_is_unsupported(instance: ProductInstance) -> None:
    inject = faults(instance).inject
    assert isinstance(inject(StoreError()), Unsupported)
    assert isinstance(inject(Restart(level="9.0")), Unsupported)
    possible = {Kill, Restart, Cut, Unreachable, Pause, Slow}
    assert faults(instance).kinds == (possible | {PowerLoss} if isinstance(disks.probe(), Available) else possible)


def test_a_persistent_message_outlives_a_loss_of_power(instance: ProductInstance) -> None:
    if isinstance(probed := disks.probe(), Unavailable):
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    to = queue()
    value(value(session(instance).producer(to)).send(Draft(key="p1", body="p1")))
    answered_ns = instance.clock.monotonic_ns()
    suffered(instance, armed(faults(instance).inject(PowerLoss())), answered_ns)
    seen = receive(session(instance), to)
    assert seen is not None
    assert seen.key == "p1"


def test_a_kill_before_the_answer_keeps_the_answer_from_the_client(instance: ProductInstance) -> None:
    to = queue()
    producer = value(session(instance).producer(to))
    injection = armed(faults(instance).inject(Kill(), BeforeAnswer("b1")))
    sending_ns = instance.clock.monotonic_ns()
    assert not isinstance(producer.send(Draft(key="b1", body="b1")), Ok)
    suffered(instance, injection, sending_ns)


def test_a_cut_ends_the_connections_and_leaves_the_broker(instance: ProductInstance) -> None:
    to = queue()
    producer = value(session(instance).producer(to))
    value(producer.send(Draft(key="c1", body="c1"), mode=Mode.NON_PERSISTENT))
    assert not isinstance(armed(faults(instance).inject(Cut())).wait(), Unsupported)
    assert not isinstance(producer.send(Draft(key="c2", body="c2")), Ok)
    seen = receive(session(instance), to)
    assert seen is not None
    assert seen.key == "c1"


def test_a_trigger_that_never_comes_ends_the_wait(instance: ProductInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_adapters.faults.injections._TRIGGER_LIMIT_NS", 50_000_000)
    assert isinstance(armed(faults(instance).inject(Kill(), AfterAnswer("never"))).wait(), Unsupported)
