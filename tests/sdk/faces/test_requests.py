"""Tests of the reply queues of `request`, with the broker in the same process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assay_broker.inprocess import InProcessBroker, in_process_broker
from assay_sdk import (
    AckMode,
    Context,
    InvalidDestinationRuntimeError,
    Message,
    Queue,
    connect,
)
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.operations import Operation
from assay_sdk.engine.sessions import requests
from assay_sdk.model.destinations import Destination
from assay_sdk.model.reasons import JmsErrorKind, Refused

ORDERS: Queue[str] = Queue("ORDERS")


@pytest.fixture
def broker() -> Iterator[InProcessBroker]:
    with in_process_broker() as broker:
        yield broker


def answers(context: Context) -> list[Destination[Any]]:
    """Answer each request, and return the list of their reply queues."""
    producer, queues = context.create_producer(), list[Destination[Any]]()

    def answer(ask: Message[str]) -> None:
        assert ask.reply_to is not None
        queues.append(ask.reply_to)
        producer.send_to(ask.reply_to, f"{ask.body}!")

    context.create_consumer(ORDERS).set_message_listener(answer)
    return queues


@pytest.fixture
def undeletable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the broker refuse to delete temporary queues."""

    def refuse(*_: object) -> Operation[None]:
        raise RefusedError(Refused(JmsErrorKind.MESSAGING, "the broker keeps it"))
        yield

    monkeypatch.setattr(requests, "delete_temporary", refuse)


@pytest.mark.usefixtures("undeletable")
def test_a_reply_is_returned_even_if_its_queue_cannot_be_deleted(broker: InProcessBroker) -> None:
    with connect(broker.url) as asking, connect(broker.url) as answering:
        answers(answering)
        reply = asking.request(ORDERS, "one", timeout=1_000)
        assert reply is not None
        assert reply.body == "one!"


@pytest.mark.usefixtures("undeletable")
def test_the_error_of_a_request_is_raised_even_if_its_queue_cannot_be_deleted(broker: InProcessBroker) -> None:
    with connect(broker.url) as asking, pytest.raises(InvalidDestinationRuntimeError):
        asking.request("ORDERS", "one", timeout=0)  # type: ignore[call-overload]  # the mistake under test


def test_a_reply_queue_whose_reply_is_not_acknowledged_is_deleted_at_a_later_request(broker: InProcessBroker) -> None:
    with connect(broker.url, session_mode=AckMode.CLIENT) as asking, connect(broker.url) as answering:
        queues = answers(answering)
        first = asking.request(ORDERS, "one", timeout=1_000)
        assert first is not None
        asking.request(ORDERS, "two", timeout=1_000)
        first.acknowledge()  # acknowledges all messages of the session
        asking.request(ORDERS, "three", timeout=1_000)
        for queue in queues[:2]:
            with pytest.raises(InvalidDestinationRuntimeError):
                answering.create_producer(queue)
        answering.create_producer(queues[2]).send("its consumer still has an unacknowledged reply")
