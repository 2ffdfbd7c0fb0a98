"""Tests of the backend reference-server+stomp: its clients use STOMP, also through the kit's proxy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay_adapters.brokers.reference.server.instance import ServerInstance
from assay_adapters.brokers.reference.server.stomp import CAPABILITIES, LACKS, StompServerBackend
from assay_adapters.ports.backend import Available
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import AckMode, Draft
from assay_adapters.ports.faults import Kill
from assay_adapters.ports.outcome import Ok
from assay_adapters.registry import open_backend
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind

pytestmark = pytest.mark.xdist_group("reference-server")


@pytest.fixture(scope="module")
def backend() -> Iterator[StompServerBackend]:
    made = StompServerBackend()
    yield made
    made.close()


def given(backend: StompServerBackend, needs: Needs) -> ServerInstance:
    instance = backend.provision(needs)
    assert isinstance(instance, ServerInstance)
    return instance


def send(instance: ServerInstance, key: str) -> None:
    connection = instance.clients()["simplified"].connect(instance.endpoint("stomp"))
    assert isinstance(connection, Ok), connection
    session = connection.value.session(AckMode.AUTO)
    assert isinstance(session, Ok)
    producer = session.value.producer(Address(AddressKind.QUEUE, "Q"))
    assert isinstance(producer, Ok)
    assert isinstance(producer.value.send(Draft(key=key, body=f"body of {key}")), Ok)
    connection.value.close()


def test_it_is_installed_and_its_clients_use_stomp(backend: StompServerBackend) -> None:
    assert open_backend("reference-server+stomp").name == "reference-server+stomp"
    assert isinstance(backend.probe(), Available)
    instance = given(backend, Needs())
    assert instance.protocol == "stomp"
    assert instance.endpoint("stomp").url.startswith("stomp://")
    assert tuple(instance.clients()) == ("simplified", "classic")
    with pytest.raises(LookupError):
        instance.endpoint("amqp")
    assert instance.environment.details["protocol"] == "STOMP 1.2"


def test_a_server_of_its_own_is_reached_through_the_proxy_and_can_be_killed(backend: StompServerBackend) -> None:
    instance = given(backend, Needs(own_instance=True))
    send(instance, "one")
    assert instance.faults is not None
    injection = instance.faults.inject(Kill())
    assert not isinstance(injection, Unsupported)
    injection.wait()
    injection.heal()
    send(instance, "two")
    looked = instance.admin.browse("Q")
    assert isinstance(looked, Ok)
    assert [message.body for message in looked.value] == [b"body of one", b"body of two"]
    instance.close()


def test_each_lack_has_a_reason_and_no_capability_is_both(backend: StompServerBackend) -> None:
    assert not CAPABILITIES.keys() & LACKS.keys()
    unmet = backend.provision(Needs(capabilities=frozenset({Capability.XA})))
    assert isinstance(unmet, Unsupported)
    assert "STOMP has no frames" in unmet.source.text
