"""Tests that public attributes of the faces' objects are in their classes, so that `help` and `dir` show them."""

from __future__ import annotations

import pytest

from assay_broker.inprocess import in_process_broker
from assay_sdk import Client, ConnectionFactory, Context, Delivery, Queue, Topic, XaContext, XaSession, connect
from assay_sdk.faces.mqlight.client import connect_mqlight


def objects() -> list[object]:
    """Return one object of each class of the faces."""
    with (
        in_process_broker() as broker,
        connect(broker.url, driver=broker.driver, runner=broker.runner) as context,
        ConnectionFactory(broker.url, driver=broker.driver, runner=broker.runner).create_connection() as connection,
        connect_mqlight(broker.url, driver=broker.driver, runner=broker.runner) as client,
    ):
        queue = Queue("Q")
        session = connection.create_session()
        subscription = client.subscribe("t")
        client.send("t", "x")
        return [
            context,
            context.create_xa_context(),
            context.create_producer(queue),
            context.create_consumer(queue),
            context.create_browser(queue),
            connection,
            session,
            connection.create_xa_session(),
            session.create_producer(queue),
            session.create_consumer(Topic("t")),
            client,
            subscription,
            subscription.receive(1_000),
        ]


def test_no_object_has_a_public_attribute_that_its_class_lacks() -> None:
    for one in objects():
        assert one is not None
        assert {name for name in getattr(one, "__dict__", {}) if not name.startswith("_")} == set(), one


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (XaContext, "xa_resource"),
        (XaSession, "xa_resource"),
        (Context, "auto_start"),
        (Client, "client_id"),
        (Client, "service"),
        (Delivery, "pattern"),
        (Delivery, "share"),
    ],
)
def test_what_it_shows_is_told(kind: type, name: str) -> None:
    assert getattr(kind, name).__doc__


def test_a_context_starts_its_connection_only_where_it_is_to() -> None:
    with in_process_broker() as broker, connect(broker.url, driver=broker.driver, runner=broker.runner) as context:
        assert context.auto_start
        context.auto_start = False
        queue = Queue("Q")
        context.create_producer(queue).send("x")
        consumer = context.create_consumer(queue)
        assert consumer.receive(timeout=1_000) is None
        context.start()
        assert consumer.receive_body(timeout=1_000) == "x"
