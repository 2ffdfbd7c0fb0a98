"""Tests of one connection to a scripted peer: transactions."""

from __future__ import annotations

from typing import Any

import pytest
from proton import Condition, Delivery, Described, Terminus, ulong
from tests.sdk.drivers.amqp.exchanges import HELLO, QUEUE, deliver, receiver
from tests.sdk.drivers.amqp.peer import Bench, received, request_in

from assay_sdk.amqp import codec
from assay_sdk.driver import (
    Arrived,
    Begin,
    Commit,
    Done,
    Enlist,
    Failed,
    OpenSender,
    OpenSession,
    Outcome,
    Rollback,
    Send,
    Settle,
)
from assay_sdk.model.reasons import JmsErrorKind


def coordinator(made: Bench, *, discharge: int = Delivery.ACCEPTED) -> list[Any]:
    """Let the peer answer requests to the coordinator, and other transfers with a state; return the requests."""
    told: list[Any] = []

    def handle(delivery: Any) -> None:
        link = delivery.link
        if link.is_sender:
            told.append((int(delivery.remote_state), delivery.remote.data))
            return
        octets = received(delivery)
        if octets is None:
            return
        if link.remote_target.type == Terminus.COORDINATOR:
            request = request_in(octets)
            told.append(request)
            if request.descriptor == 0x31:
                delivery.local.data = [b"txn"]
                delivery.update(0x33)
            else:
                delivery.update(discharge)
        else:
            told.append((int(delivery.remote_state), delivery.remote.data))
            delivery.local.data = [b"txn", Described(ulong(0x24), [])]
            delivery.update(0x34)
        delivery.settle()

    made.peer.handlers["DELIVERY"] = handle
    return told


def test_a_unit_of_work_is_declared_carried_by_its_messages_and_discharged(opened: Bench) -> None:
    told = coordinator(opened)
    opened.done(OpenSender, 1, 1, QUEUE)
    begin = opened.submit(Begin, 1, 7)
    send = opened.submit(Send, 1, HELLO, unit=7)
    commit = opened.submit(Commit, 7)
    for token in (begin, send, commit):
        assert isinstance(opened.answer(token), Done)
    assert told[0] == codec.types.Described(0x31, [None])
    assert told[1] == (0x34, [b"txn"])
    assert told[2] == codec.types.Described(0x32, [b"txn", False])


def test_an_enlisted_delivery_is_gone_at_the_commit(opened: Bench) -> None:
    receiver(opened)
    told = coordinator(opened)
    deliver(opened)
    arrived = opened.expect(Arrived)
    opened.done(Begin, 1, 7)
    opened.done(Enlist, 2, (arrived.delivery,), 7)
    opened.until(lambda: any(entry[0] == 0x34 for entry in told if isinstance(entry, tuple)))
    opened.done(Commit, 7)
    assert opened.refused(Settle, 2, (arrived.delivery,), Outcome.MODIFIED).kind is JmsErrorKind.ILLEGAL_STATE


def test_an_enlisted_delivery_is_the_broker_s_again_after_a_rollback(opened: Bench) -> None:
    receiver(opened)
    told = coordinator(opened)
    deliver(opened)
    arrived = opened.expect(Arrived)
    opened.done(Begin, 1, 7)
    opened.done(Enlist, 2, (arrived.delivery,), 7)
    opened.done(Rollback, 7)
    assert codec.types.Described(0x32, [b"txn", True]) in told
    opened.done(Settle, 2, (arrived.delivery,), Outcome.MODIFIED)
    assert [entry[0] for entry in told if isinstance(entry, tuple)] == [0x34]
    assert opened.refused(Settle, 2, (arrived.delivery,), Outcome.MODIFIED).kind is JmsErrorKind.ILLEGAL_STATE


def test_a_discharge_that_is_rejected_is_a_rollback(opened: Bench) -> None:
    coordinator(opened, discharge=Delivery.REJECTED)
    opened.done(Begin, 1, 7)
    assert opened.refused(Commit, 7).kind is JmsErrorKind.TRANSACTION_ROLLED_BACK


def test_a_broker_without_a_coordinator_has_no_units_of_work(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:not-implemented", "no"))
    begin = opened.submit(Begin, 1, 7)
    commit = opened.submit(Commit, 7)
    answer = opened.answer(begin)
    assert isinstance(answer, Failed)
    assert answer.refused.kind is JmsErrorKind.UNSUPPORTED
    answer = opened.answer(commit)
    assert isinstance(answer, Failed)
    assert answer.refused.kind is JmsErrorKind.TRANSACTION_ROLLED_BACK


@pytest.mark.parametrize("condition", ["amqp:not-found", "amqp:not-implemented"])
def test_a_transacted_session_is_refused_if_the_broker_has_no_coordinator(opened: Bench, condition: str) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition(condition, "no"))
    refused = opened.refused(OpenSession, 2, transacted=True)
    assert refused.kind is JmsErrorKind.UNSUPPORTED
    assert "units of work" in refused.text
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.accept_link
    opened.done(OpenSession, 3)


def test_a_transacted_session_is_open_once_its_coordinator_is_attached(opened: Bench) -> None:
    attached: list[Any] = []

    def note(link: Any) -> None:
        attached.append(link.remote_target.type == Terminus.COORDINATOR)
        opened.peer.accept_link(link)

    opened.peer.handlers["LINK_REMOTE_OPEN"] = note
    opened.done(OpenSession, 2, transacted=True)
    assert attached == [True]
