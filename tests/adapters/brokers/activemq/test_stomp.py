"""Tests of ActiveMQ over STOMP: temporary queues, which the owner and other connections name by different texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay_adapters.brokers.activemq.stomp import ACTIVEMQ_STOMP
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_sdk import Message, Queue, TemporaryQueue, connect
from assay_sdk.drivers.stomp import StompDriver

pytestmark = pytest.mark.docker
LIMIT_MS = 10_000


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    backend = ProductBackend(ACTIVEMQ_STOMP)
    if isinstance(probed := backend.probe(), Unavailable):
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    provisioned = backend.provision(Needs())
    assert isinstance(provisioned, ProductInstance)
    yield provisioned.endpoint("stomp").url
    backend.close()


@pytest.mark.parametrize("client_id", [None, "asking"])
def test_another_connection_sends_to_a_temporary_queue_by_its_name_and_by_a_reply_to(
    url: str, client_id: str | None
) -> None:
    login = ACTIVEMQ_STOMP.login
    requests = Queue(f"REQUESTS.{client_id}")
    with (
        connect(url, login=login, client_id=client_id, driver=StompDriver()) as asking,
        connect(url, login=login, driver=StompDriver()) as answering,
    ):
        asking.create_temporary_queue()
        replies = asking.create_temporary_queue()
        consumer = asking.create_consumer(replies)
        answering.create_producer(TemporaryQueue(replies.name)).send("by its name")
        assert consumer.receive_body(LIMIT_MS) == "by its name"
        asking.create_producer(requests).send(Message("?", reply_to=replies))
        request = answering.create_consumer(requests).receive(LIMIT_MS)
        assert request is not None
        assert request.reply_to is not None
        answering.create_producer(request.reply_to, delivery_delay=500).send("by the reply-to")
        assert consumer.receive_body(LIMIT_MS) == "by the reply-to"
