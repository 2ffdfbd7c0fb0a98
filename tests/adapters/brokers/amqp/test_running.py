"""Tests of real brokers that the backend of products starts: three over AMQP, and three over STOMP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay_adapters.brokers.activemq.product import ACTIVEMQ
from assay_adapters.brokers.activemq.stomp import ACTIVEMQ_STOMP
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.artemis.stomp import ARTEMIS_STOMP
from assay_adapters.brokers.broker_j.product import BROKER_J
from assay_adapters.brokers.rabbitmq.product import RABBITMQ
from assay_adapters.brokers.rabbitmq.stomp import RABBITMQ_STOMP
from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import AckMode, ClientSession, Draft, Origin, Setting
from assay_adapters.ports.faults import At, Kill
from assay_adapters.ports.outcome import Ok
from assay_sdk.driver import Durability, Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.runners.real import RealRunner

pytestmark = pytest.mark.docker

QUEUE = Address(AddressKind.QUEUE, "orders")
TOPIC = Address(AddressKind.TOPIC, "news")
SOON_MS = 30_000
SECOND_NS = 1_000_000_000


STARTED = [ACTIVEMQ, BROKER_J, RABBITMQ, ARTEMIS_STOMP, ACTIVEMQ_STOMP, RABBITMQ_STOMP]


@pytest.fixture(scope="module", params=STARTED, ids=lambda product: product.name)
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
        provisioned = backend.provision(Needs(own_instance=True))
        assert isinstance(provisioned, ProductInstance)
        yield provisioned
    finally:
        backend.close()
        runner.close()


def test_the_report_names_the_product_and_the_version_that_the_broker_names(
    instance: ProductInstance, product: Product
) -> None:
    told = instance.environment
    names = {"activemq": "ActiveMQ", "artemis": "ActiveMQ-Artemis", "broker-j": "Qpid Broker-J", "rabbitmq": "RabbitMQ"}
    assert names[product.name.partition("+")[0]] in told.details["describes itself as"]
    assert told.version in told.details["describes itself as"]


def session(instance: ProductInstance, client_id: str | None = None) -> ClientSession:
    endpoint = instance.endpoint(instance.protocol)
    connected = instance.clients()["simplified"].connect(endpoint, client_id=client_id)
    assert isinstance(connected, Ok), connected
    opened = connected.value.session(AckMode.AUTO)
    assert isinstance(opened, Ok), opened
    return opened.value


def received(own: ClientSession, origin: Origin) -> str | bytes | None:
    consumer = own.consumer(origin, actor="receiver")
    assert isinstance(consumer, Ok), consumer
    answer = consumer.value.receive(SOON_MS)
    assert isinstance(answer, Ok), answer
    consumer.value.close()
    return None if answer.value is None else answer.value.body


def send(own: ClientSession, to: Address, draft: Draft, delay_ms: int = 0) -> None:
    producer = own.producer(to)
    assert isinstance(producer, Ok), producer
    if delay_ms:
        producer.value.set(Setting.DELAY, delay_ms)
    sent = producer.value.send(draft)
    assert isinstance(sent, Ok), sent


def test_a_message_outlives_a_kill_during_its_delay(product: Product, instance: ProductInstance) -> None:
    delay_ms = 1_500 if Capability.DELIVERY_DELAY in product.capabilities else 0
    send(session(instance), QUEUE, Draft(key="slow", body=b"slow \xff"), delay_ms=delay_ms)
    assert instance.faults is not None
    # A second later, because RabbitMQ 4.0 loses messages in the first milliseconds after its answer (docs/findings.md).
    injection = instance.faults.inject(Kill(), At(instance.clock.monotonic_ns() + SECOND_NS))
    assert isinstance(injection, HalvesInjection)
    injection.wait()
    assert received(session(instance), Origin(address=QUEUE)) == b"slow \xff"


def test_a_subscription_gets_what_is_published(instance: ProductInstance) -> None:
    own = session(instance)
    opened = own.consumer(Origin(address=TOPIC), actor="subscriber")
    assert isinstance(opened, Ok), opened
    send(own, TOPIC, Draft(key="told", body="told"))
    answer = opened.value.receive(SOON_MS)
    assert isinstance(answer, Ok), answer
    assert answer.value is not None
    assert answer.value.body == "told"


def test_a_durable_subscription_collects_while_its_consumer_is_closed(
    product: Product, instance: ProductInstance
) -> None:
    if Capability.DURABLE_SUBSCRIPTION not in product.capabilities:
        pytest.skip(product.lacks[Capability.DURABLE_SUBSCRIPTION].text)
    keeper = Origin(address=TOPIC, durability=Durability.DURABLE, name="keeper")
    own = session(instance, client_id="reader")
    opened = own.consumer(keeper, actor="keeper")
    assert isinstance(opened, Ok), opened
    opened.value.close()
    send(own, TOPIC, Draft(key="kept", body="kept"))
    assert received(own, keeper) == "kept"
    assert isinstance(own.unsubscribe("keeper"), Ok)


def test_a_wrong_password_is_refused(product: Product, instance: ProductInstance) -> None:
    client = instance.clients()["simplified"]
    answer = client.connect(instance.endpoint(instance.protocol), login=Login(product.login.user, "wrong"))
    assert not isinstance(answer, Ok)
