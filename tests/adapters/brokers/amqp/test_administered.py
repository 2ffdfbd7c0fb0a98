"""Tests of the administration of real products, each in a container."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from assay_adapters.brokers.activemq.product import ACTIVEMQ
from assay_adapters.brokers.amqp.administration import ProductAdmin
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.ports.administration import Clear, Define, Delete, ObjectKind
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import AckMode, ClientSession, Draft, Origin
from assay_adapters.ports.outcome import Ok, Refused
from assay_sdk.driver import Durability
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.runners.real import RealRunner

pytestmark = pytest.mark.docker

ADMINISTERED = [ARTEMIS, ACTIVEMQ]
_names = count(1)


@pytest.fixture(scope="module", params=ADMINISTERED, ids=lambda product: product.name)
def instance(request: pytest.FixtureRequest) -> Iterator[ProductInstance]:
    runner = RealRunner()
    backend = ProductBackend(request.param, runner=runner)
    if isinstance(probed := backend.probe(), Unavailable):
        runner.close()
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    try:
        provisioned = backend.provision(Needs(capabilities=frozenset({Capability.QUEUE_DEPTH})))
        assert isinstance(provisioned, ProductInstance)
        yield provisioned
    finally:
        backend.close()
        runner.close()


@pytest.fixture
def admin(instance: ProductInstance) -> ProductAdmin:
    assert instance.admin is not None
    return instance.admin


def session(instance: ProductInstance, client_id: str | None = None) -> ClientSession:
    connected = instance.clients()["simplified"].connect(instance.endpoint("amqp"), client_id=client_id)
    assert isinstance(connected, Ok), connected
    opened = connected.value.session(AckMode.AUTO)
    assert isinstance(opened, Ok), opened
    return opened.value


def send(own: ClientSession, to: Address, key: str) -> str:
    producer = own.producer(to)
    assert isinstance(producer, Ok), producer
    sent = producer.value.send(Draft(key=key, body=f"{key} hello", properties={"colour": "red"}))
    assert isinstance(sent, Ok), sent
    assert sent.value.message_id is not None
    return sent.value.message_id


def test_a_queue_is_defined_filled_looked_at_cleared_and_deleted(
    instance: ProductInstance, admin: ProductAdmin
) -> None:
    name = f"administered.{next(_names)}"
    assert admin.execute(Define(ObjectKind.QUEUE, name)) == Ok(None)
    assert admin.execute(Define(ObjectKind.QUEUE, name)) == Ok(None)
    message_id = send(session(instance), Address(AddressKind.QUEUE, name), "kit/1")
    assert admin.inspect(ObjectKind.QUEUE, name) == Ok({"QUEUE": name, "CURDEPTH": 1})
    seen = admin.browse(name)
    assert isinstance(seen, Ok), seen
    (message,) = seen.value
    assert message.properties == {"assay_kid": "kit/1", "colour": "red"}
    assert message.descriptor["MsgId"] == admin.identify(message_id).hex()
    assert (message.descriptor["Persistence"], message.descriptor["Expiry"]) == (1, -1)
    assert admin.execute(Clear(name)) == Ok(None)
    assert admin.browse(name) == Ok(())
    assert admin.inspect(ObjectKind.QUEUE, name) == Ok({"QUEUE": name, "CURDEPTH": 0})


def test_a_deleted_queue_is_gone(admin: ProductAdmin) -> None:
    name = f"administered.{next(_names)}"
    assert admin.execute(Define(ObjectKind.QUEUE, name)) == Ok(None)
    assert admin.execute(Delete(ObjectKind.QUEUE, name)) == Ok(None)
    assert isinstance(admin.inspect(ObjectKind.QUEUE, name), Refused)
    assert admin.browse(name) == Ok(())


def test_the_subscriptions_to_a_topic_are_listed_with_their_messages(
    instance: ProductInstance, admin: ProductAdmin
) -> None:
    topic = Address(AddressKind.TOPIC, f"administered.{next(_names)}")
    assert admin.subscriptions(topic.name) == Ok(())
    own = session(instance, client_id="ann")
    steady = own.consumer(Origin(address=topic, durability=Durability.DURABLE, name="steady"), actor="steady")
    assert isinstance(steady, Ok), steady
    passing = own.consumer(Origin(address=topic), actor="passing")
    assert isinstance(passing, Ok), passing
    both = admin.subscriptions(topic.name)
    assert isinstance(both, Ok), both
    assert len(both.value) == 2
    passing.value.close()
    steady.value.close()
    send(own, topic, "kit/2")
    left = admin.subscriptions(topic.name)
    assert isinstance(left, Ok), left
    (row,) = left.value
    seen = admin.browse(str(row["DEST"]))
    if isinstance(seen, Refused):
        assert instance.members == (ACTIVEMQ.name,)
    else:
        assert [message.properties["assay_kid"] for message in seen.value] == ["kit/2"]
