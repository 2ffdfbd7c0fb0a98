"""Tests of IBM MQ's instance, with the reference broker as a server in the place of IBM MQ's container.

Like IBM MQ, this server creates no queue when a client first uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.servers import running

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.ibmmq.product import IBM_MQ
from assay_adapters.ports.administration import ObjectKind
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import AckMode, Draft, Endpoint, Origin
from assay_adapters.ports.outcome import Ok, Refused
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.runners.real import RealRunner

QUEUE, TOPIC = Address(AddressKind.QUEUE, "ORDERS"), Address(AddressKind.TOPIC, "news/today")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProductInstance]:
    folder = tmp_path_factory.mktemp("server")
    script = _script(folder)
    runner = RealRunner()
    with running(folder, "--name", "QM1", "--mqsc", script) as server:
        shared = Endpoint(server.amqp, None, Endpoint(server.http))
        backend = ProductBackend(IBM_MQ, shared=shared, runner=runner)
        try:
            provisioned = backend.provision(Needs())
            assert isinstance(provisioned, ProductInstance)
            yield provisioned
        finally:
            backend.close()
            runner.close()


def _script(folder: Path) -> Path:
    script = folder / "as-ibm-mq.mqsc"
    script.write_text("ALTER QMGR CUSTOM('ONUSE(NO)')\n", encoding="utf-8")
    return script


def test_a_queue_is_created_before_a_client_uses_it(instance: ProductInstance) -> None:
    admin = instance.admin
    assert admin is not None
    assert isinstance(admin.inspect(ObjectKind.QUEUE, QUEUE.name), Refused)
    connected = instance.clients()["simplified"].connect(instance.endpoint("amqp"))
    assert isinstance(connected, Ok), connected
    session = connected.value.session(AckMode.AUTO)
    assert isinstance(session, Ok), session
    producer = session.value.producer(QUEUE)
    assert isinstance(producer, Ok), producer
    sent = producer.value.send(Draft(key="kit/1", body="kit/1 hello", properties={"colour": "red"}))
    assert isinstance(sent, Ok), sent

    seen = admin.browse(QUEUE.name)
    assert isinstance(seen, Ok), seen
    (message,) = seen.value
    assert message.properties == {"assay_kid": "kit/1", "colour": "red"}
    assert message.body == b"kit/1 hello"

    consumer = session.value.consumer(Origin(address=TOPIC), actor="reader")
    assert isinstance(consumer, Ok), consumer
    listed = admin.subscriptions(TOPIC.name)
    assert isinstance(listed, Ok), listed
    assert len(listed.value) == 1
    assert admin.browse(str(listed.value[0]["DEST"])) == Ok(())
    assert connected.value.close() == Ok(None)
