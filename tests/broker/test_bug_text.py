"""Tests of an exception in the broker in process: as on a server, only one connection is lost."""

from __future__ import annotations

import logging

import pytest

from assay_broker.core.commands import Command
from assay_broker.core.delay.staging import Staging
from assay_broker.core.messages.entries import Entry
from assay_broker.core.records import Record
from assay_broker.core.state import State
from assay_broker.core.turn import Turn
from assay_broker.inprocess import InProcessDriver, in_process_broker
from assay_broker.seams import Seams
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk import Queue
from assay_sdk.errors import JmsError
from assay_sdk.faces.simplified import connect
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.runners.virtual import VirtualRunner

Q = Queue("Q", str)


def _raise_on_stage(_staging: Staging, _entry: Entry, _due_ms: int) -> None:
    raise KeyError("stage")


def _raise_on_release(_state: State, _turn: Turn) -> None:
    raise KeyError("release")


def _raise_on_apply(_store: MemoryStore, _record: Record, _octets: bytes) -> None:
    raise KeyError("apply")


def test_the_connection_of_the_command_is_lost_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Staging, "stage", _raise_on_stage)
    with in_process_broker() as broker, connect(broker.url) as other:
        with connect(broker.url) as client:
            with pytest.raises(
                JmsError, match=r"The broker has a bug: find the stack trace in the broker's log, .*\.$"
            ) as lost:
                client.create_producer(Q).set_delivery_delay(1000).send("late")
            assert lost.value.kind is JmsErrorKind.CONNECTION_LOST
        other.create_producer(Q).send("now")
        assert other.create_consumer(Q).receive_body() == "now"
    (record,) = (one for one in caplog.records if one.name == "assay_broker.shell")
    assert record.levelno == logging.ERROR
    assert record.getMessage() == "ASSAY: a command has failed; the queue manager goes on"
    assert record.exc_info is not None


def test_what_is_due_fails_without_harm_to_a_client(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("assay_broker.core.handlers.release_due", _raise_on_release)
    with in_process_broker() as broker, connect(broker.url) as client:
        client.create_producer(Q).set_delivery_delay(1000).send("late")
        assert client.create_consumer(Q).receive(5000) is None
    assert "ASSAY: a timed job has failed; the queue manager goes on" in {one.getMessage() for one in caplog.records}


def test_a_flush_fails_and_refuses_what_waits_for_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with in_process_broker() as broker, connect(broker.url) as other:
        with connect(broker.url) as client, monkeypatch.context() as patched:
            patched.setattr(MemoryStore, "_apply", _raise_on_apply)
            with pytest.raises(
                JmsError, match=r"the flush has failed\. The broker has a bug: find the stack trace in the broker's log"
            ) as refused:
                client.create_producer(Q).send("lost")
            assert refused.value.kind is JmsErrorKind.RESOURCE_ALLOCATION
        other.create_producer(Q).send("now")
        assert other.create_consumer(Q).receive_body() == "now"
    assert "ASSAY: a flush has failed; the queue manager goes on" in {one.getMessage() for one in caplog.records}


def test_the_exception_of_a_defect_is_raised() -> None:
    def broken(_command: Command, _now_ms: int) -> tuple[Command, ...]:
        raise KeyError("defect")

    runner = VirtualRunner()
    queue_manager = QueueManager(runner, MemoryStore(), seams=Seams(command=broken))
    with pytest.raises(KeyError, match="defect"):
        connect("in-process://ASSAY", driver=InProcessDriver(queue_manager), runner=runner)
