"""Tests of the administration of real products, each in a container."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from assay_adapters.brokers.activemq.product import ACTIVEMQ
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.brokers.broker_j.product import BROKER_J
from assay_adapters.brokers.rabbitmq.product import RABBITMQ
from assay_adapters.ports.administration import (
    EVERYBODY,
    ORDINARY_USERS,
    Admin,
    Alter,
    Authorise,
    Clear,
    Define,
    Delete,
    ObjectKind,
)
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import AckMode, ClientSession, Draft, Origin, Sent, Setting
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_sdk.driver import Durability, Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.runners.real import RealRunner

pytestmark = pytest.mark.docker

ADMINISTERED = [ARTEMIS, ACTIVEMQ, BROKER_J, RABBITMQ]
HOUR_MS = 3_600_000
_names = count(1)


@pytest.fixture(scope="module", params=ADMINISTERED, ids=lambda product: product.name)
def product(request: pytest.FixtureRequest) -> Product:
    return request.param


@pytest.fixture(scope="module")
def instance(product: Product) -> Iterator[ProductInstance]:
    runner = RealRunner()
    backend = ProductBackend(product, runner=runner)
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
def admin(instance: ProductInstance) -> Admin:
    assert instance.admin is not None
    return instance.admin


def session(instance: ProductInstance, client_id: str | None = None, user: str | None = None) -> ClientSession:
    login = Login(user, user) if user else None
    connected = instance.clients()["simplified"].connect(instance.endpoint("amqp"), client_id=client_id, login=login)
    assert isinstance(connected, Ok), connected
    opened = connected.value.session(AckMode.AUTO)
    assert isinstance(opened, Ok), opened
    return opened.value


def sending(own: ClientSession, to: Address, draft: Draft, delay_ms: int = 0) -> Outcome[Sent]:
    producer = own.producer(to)
    assert isinstance(producer, Ok), producer
    if delay_ms:
        producer.value.set(Setting.DELAY, delay_ms)
    return producer.value.send(draft)


def send(own: ClientSession, to: Address, draft: Draft, delay_ms: int = 0) -> str:
    sent = sending(own, to, draft, delay_ms)
    assert isinstance(sent, Ok), sent
    assert sent.value.message_id is not None
    return sent.value.message_id


def depth(admin: Admin, name: str) -> object:
    shown = admin.inspect(ObjectKind.QUEUE, name)
    assert isinstance(shown, Ok), shown
    return shown.value["CURDEPTH"]


def having(product: Product, *capabilities: Capability) -> None:
    """Skip the test if the product lacks a capability."""
    for capability in capabilities:
        if capability not in product.capabilities:
            pytest.skip(product.lacks[capability].text)


@pytest.mark.parametrize("name", ["plain", "with a+b"])
def test_a_queue_is_defined_filled_counted_cleared_and_deleted(
    instance: ProductInstance, admin: Admin, name: str
) -> None:
    assert admin.execute(Define(ObjectKind.QUEUE, name)) == Ok(None)
    assert admin.execute(Define(ObjectKind.QUEUE, name)) == Ok(None)
    send(session(instance), Address(AddressKind.QUEUE, name), Draft(key="kit/1", body="kit/1 hello"))
    assert depth(admin, name) == 1
    assert admin.execute(Clear(name)) == Ok(None)
    assert depth(admin, name) == 0
    assert admin.execute(Delete(ObjectKind.QUEUE, name)) == Ok(None)
    assert isinstance(admin.inspect(ObjectKind.QUEUE, name), Refused)


def test_a_look_shows_messages_without_taking_them(product: Product, instance: ProductInstance, admin: Admin) -> None:
    having(product, Capability.QUEUE_LOOK)
    name = f"administered.{next(_names)}"
    assert admin.browse(name) == Ok(())
    own, queue = session(instance), Address(AddressKind.QUEUE, name)
    message_id = send(own, queue, Draft(key="kit/1", body="kit/1 hello", properties={"colour": "red"}))
    send(own, queue, Draft(key="kit/2", body="kit/2 hello", bare=True))
    send(own, queue, Draft(key="kit/3", body="kit/3 hello"), delay_ms=HOUR_MS)
    for _ in range(2):
        seen = admin.browse(name)
        assert isinstance(seen, Ok), seen
        message, bare = seen.value
        assert message.properties == {"assay_kid": "kit/1", "colour": "red"}
        assert message.descriptor["MsgId"] == admin.identify(message_id).hex()
        assert (message.descriptor["Persistence"], message.descriptor["Expiry"]) == (1, -1)
        assert bare.properties == {"assay_kid": "kit/2"}
        assert depth(admin, name) == 2
    assert admin.execute(Clear(name)) == Ok(None)
    assert admin.browse(name) == Ok(())


def test_a_full_queue_refuses(product: Product, instance: ProductInstance, admin: Admin) -> None:
    having(product, Capability.QUEUE_LIMIT)
    name = f"administered.{next(_names)}"
    assert admin.execute(Define(ObjectKind.QUEUE, name, {"MAXDEPTH": 1})) == Ok(None)
    own, queue, draft = session(instance), Address(AddressKind.QUEUE, name), Draft(key="kit/1", body="kit/1 hello")
    send(own, queue, draft)
    assert isinstance(sending(own, queue, draft), Refused)
    assert admin.execute(Alter(ObjectKind.QUEUE, name, {"MAXDEPTH": 2})) == Ok(None)
    send(own, queue, draft)
    assert isinstance(sending(own, queue, draft), Refused)
    assert admin.execute(Delete(ObjectKind.QUEUE, name)) == Ok(None)
    assert admin.execute(Define(ObjectKind.QUEUE, name)) == Ok(None)
    for _ in range(3):
        send(own, queue, draft)


def test_a_subscription_is_listed(instance: ProductInstance, admin: Admin) -> None:
    topic = Address(AddressKind.TOPIC, f"administered.{next(_names)}")
    assert admin.subscriptions(topic.name) == Ok(())
    passing = session(instance).consumer(Origin(address=topic), actor="passing")
    assert isinstance(passing, Ok), passing
    listed = admin.subscriptions(topic.name)
    assert isinstance(listed, Ok), listed
    assert len(listed.value) == 1
    passing.value.close()


def test_durable_subscriptions_are_listed_with_their_messages(
    product: Product, instance: ProductInstance, admin: Admin
) -> None:
    having(product, Capability.DURABLE_SUBSCRIPTION)
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
    send(own, topic, Draft(key="kit/2", body="kit/2 hello"))
    left = admin.subscriptions(topic.name)
    assert isinstance(left, Ok), left
    (row,) = left.value
    seen = admin.browse(str(row["DEST"]))
    if Capability.SUBSCRIPTION_LOOK not in product.capabilities:
        assert isinstance(seen, Refused)
    else:
        assert isinstance(seen, Ok), seen
        assert [message.properties["assay_kid"] for message in seen.value] == ["kit/2"]


def test_a_user_may_send_only_with_the_authority_to_put(
    product: Product, instance: ProductInstance, admin: Admin
) -> None:
    having(product, Capability.AUTHORITY)
    name = f"administered.{next(_names)}"
    queue, draft = Address(AddressKind.QUEUE, name), Draft(key="kit/1", body="kit/1 hello")

    def authorise(user: str, *, grant: tuple[str, ...] = (), revoke: tuple[str, ...] = (), group: bool = False) -> None:
        change = Authorise(user, ObjectKind.QUEUE, name, grant=grant, revoke=revoke, group=group)
        assert admin.execute(change) == Ok(None)

    def refused(user: str) -> bool:
        producer = session(instance, user=user).producer(queue)
        outcome = producer if isinstance(producer, Refused) else producer.value.send(draft)
        assert isinstance(outcome, Ok) or outcome.kind is JmsErrorKind.SECURITY, outcome
        return isinstance(outcome, Refused)

    assert not any(refused(user) for user in ORDINARY_USERS)
    authorise(EVERYBODY, grant=("NONE",), revoke=("ALL",), group=True)
    assert all(refused(user) for user in ORDINARY_USERS)
    authorise("alice", grant=("PUT",))
    authorise("bob", grant=("GET", "BROWSE"))
    assert [user for user in ORDINARY_USERS if not refused(user)] == ["alice"]
    authorise("alice", revoke=("PUT",))
    assert all(refused(user) for user in ORDINARY_USERS)
    assert depth(admin, name) == len(ORDINARY_USERS) + 1
