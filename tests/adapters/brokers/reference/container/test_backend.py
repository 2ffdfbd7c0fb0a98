"""Tests of the backend reference-container: which brokers have a container of their own, and which share one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.adapters.brokers.reference.server.test_backend import bodies, holds, send, try_to_send

from assay_adapters.brokers.reference.container.backend import ContainerBroker, ReferenceContainerBackend
from assay_adapters.brokers.reference.container.fork_server import ContainerHost
from assay_adapters.brokers.reference.server.instance import ServerInstance
from assay_adapters.ports.backend import BackendError, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.faults import FaultRequest, Kill, Restart, StoreError
from assay_adapters.ports.outcome import Mqrc, Refused
from assay_sdk.model.capabilities import Capability

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("reference-container")]


@pytest.fixture(scope="module")
def backend() -> Iterator[ReferenceContainerBackend]:
    made = ReferenceContainerBackend()
    probed = made.probe()
    if isinstance(probed, Unavailable):
        text = f"{probed.reason}; {probed.remedy}"
        if "docker" in os.environ.get("ASSAY_REQUIRE", "").split(","):
            pytest.fail(f"ASSAY_REQUIRE names docker, but {text}")
        pytest.skip(text)
    yield made
    made.close()


def given(backend: ReferenceContainerBackend, *capabilities: Capability) -> Iterator[ServerInstance]:
    instance = backend.provision(Needs(own_instance=True, capabilities=frozenset(capabilities)))
    assert isinstance(instance, ServerInstance)
    yield instance
    instance.close()


@pytest.fixture
def controlled(backend: ReferenceContainerBackend) -> Iterator[ServerInstance]:
    yield from given(backend, Capability.STORE_ERROR)


@pytest.fixture
def killable(backend: ReferenceContainerBackend) -> Iterator[ServerInstance]:
    yield from given(backend, Capability.KILL)


@pytest.fixture
def alone(backend: ReferenceContainerBackend) -> Iterator[ServerInstance]:
    yield from given(backend, Capability.KILL, Capability.KILL_AT_ANSWER, Capability.DATA_FOLDER)


def suffer(instance: ServerInstance, fault: FaultRequest) -> None:
    assert instance.faults is not None
    injection = instance.faults.inject(fault)
    assert not isinstance(injection, Unsupported)
    assert not isinstance(injection.wait(), Unsupported)


def test_one_that_is_hurt_from_inside_shares_a_container(controlled: ServerInstance) -> None:
    assert not isinstance(controlled.own, ContainerBroker)
    send(controlled, "before")
    suffer(controlled, StoreError())
    refused = try_to_send(controlled, "lost")
    assert isinstance(refused, Refused)
    assert refused.mqrc == Mqrc.STORAGE_MEDIUM_FULL
    assert bodies(controlled) == [b"body of before"]


@pytest.mark.parametrize("fault", [Kill(), Restart()])
def test_one_that_is_killed_shares_a_container(killable: ServerInstance, fault: FaultRequest) -> None:
    assert not isinstance(killable.own, ContainerBroker)
    send(killable, "before")
    suffer(killable, fault)
    send(killable, "after")
    assert bodies(killable) == [b"body of before", b"body of after"]


@pytest.mark.parametrize("fault", [Kill(), Restart()])
def test_one_that_is_killed_at_an_answer_is_a_container_of_its_own(alone: ServerInstance, fault: FaultRequest) -> None:
    assert isinstance(alone.own, ContainerBroker)
    send(alone, "before")
    suffer(alone, fault)
    send(alone, "after")
    assert bodies(alone) == [b"body of before", b"body of after"]
    assert [holds(alone, octets) for octets in (b"body of before", b"body of another")] == [True, False]


def test_an_image_that_has_no_broker_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    box = ContainerHost("assay/no-such-image:0", tmp_path_factory.mktemp("etc"), "/etc/assay")
    with pytest.raises(BackendError, match="no broker can be started in a container of assay/no-such-image:0"):
        box.open()
