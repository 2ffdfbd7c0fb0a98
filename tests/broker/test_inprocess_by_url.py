"""Tests of a broker in this process by its URL alone, as in an installed kit."""

from __future__ import annotations

import gc
from datetime import timedelta
from importlib.metadata import EntryPoint

import pytest

from assay_broker.inprocess import InProcessBroker, InProcessDrivers, in_process_broker
from assay_broker.mqsc.defaults import default_settings
from assay_sdk import (
    ConnectionFactory,
    MessagingError,
    MessagingRuntimeError,
    Queue,
    TemporaryQueue,
    connect,
    connect_mqlight,
    drivers,
)
from assay_sdk.driver import RunnerProvider, Target
from assay_sdk.drivers import GROUP
from assay_sdk.model.converters import NoConverterError
from assay_sdk.model.reasons import Mqrc


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("in-process", "assay_broker.inprocess:InProcessDrivers", GROUP)

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == GROUP
        return [point]

    monkeypatch.setattr(drivers, "entry_points", entry_points)


def test_its_url_is_all_that_a_client_needs_and_time_is_the_brokers() -> None:
    with in_process_broker() as broker, connect(broker.url) as context:
        queue: Queue[str] = Queue("Q", str)
        context.create_producer(queue, delivery_delay=timedelta(hours=1)).send("late")
        with context.create_consumer(queue) as consumer:
            message = consumer.receive(timeout=timedelta(hours=2))
    assert message is not None
    assert message.body == "late"
    assert broker.runner.clock.monotonic_ns() >= 3600 * 10**9


def test_brokers_side_by_side_have_addresses_of_their_own() -> None:
    with in_process_broker() as one, in_process_broker(default_settings("QM2")) as other:
        assert one.url != other.url
        assert other.queue_manager.name == "QM2"
        for broker in (one, other):
            with connect(broker.url) as context:
                context.create_producer(Queue("Q", str)).send(broker.url)
        with connect(one.url) as context, context.create_consumer(Queue("Q", str)) as consumer:
            message = consumer.receive(timeout=1)
            assert message is not None
            assert message.body == one.url


def test_every_face_finds_it() -> None:
    with in_process_broker() as broker:
        ConnectionFactory(broker.url).create_connection().close()
        connect_mqlight([broker.url]).close()


def test_an_address_that_nothing_has_is_refused_by_every_face() -> None:
    gone = "in-process://ASSAY/0"
    with pytest.raises(MessagingRuntimeError, match="no broker runs at in-process://ASSAY/0") as caught:
        connect(gone)
    assert caught.value.reason is Mqrc.Q_MGR_NOT_AVAILABLE
    with pytest.raises(MessagingError, match="no broker runs at"):
        ConnectionFactory(gone).create_connection()
    with pytest.raises(MessagingError, match="no broker runs at"):
        connect_mqlight(gone)


def test_a_broker_that_nobody_has_any_more_is_not_kept() -> None:
    url = InProcessBroker().url
    gc.collect()
    assert InProcessDrivers().runner_at(url) is None


def test_a_runner_of_ones_own_does_not_make_an_address() -> None:
    with in_process_broker() as broker, pytest.raises(LookupError, match="no broker at in-process://nowhere"):
        InProcessDrivers().connect(Target(url="in-process://nowhere"), print, broker.runner)
    assert isinstance(InProcessDrivers(), RunnerProvider)


def test_a_temporary_queue_has_a_name_of_its_own_and_goes_with_its_connection_or_before() -> None:
    with in_process_broker() as broker, connect(broker.url) as other:
        with connect(broker.url) as context:
            replies, more = context.create_temporary_queue(), context.create_temporary_queue(dict)
            assert replies != more
            other.create_producer(TemporaryQueue(replies.name)).send("an answer")
            with context.create_consumer(replies) as consumer:
                assert consumer.receive_body(timeout=0) == "an answer"
                with pytest.raises(MessagingRuntimeError, match="has a consumer"):
                    context.delete_temporary(replies)
            context.delete_temporary(replies)
            with pytest.raises(MessagingRuntimeError, match="only the connection that created it"):
                context.delete_temporary(replies)
            with pytest.raises(NoConverterError):
                context.create_temporary_topic(int)
            to_more = other.create_producer(TemporaryQueue(more.name, dict))
        with pytest.raises(MessagingRuntimeError, match="was deleted at the end of its connection"):
            to_more.send({})
