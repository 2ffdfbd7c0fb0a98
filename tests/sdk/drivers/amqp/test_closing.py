"""Tests of one connection to a scripted peer: the ends of sessions and connections."""

from __future__ import annotations

import pytest
from proton import Condition
from tests.sdk.drivers.amqp.exchanges import HELLO, QUEUE, receiver
from tests.sdk.drivers.amqp.peer import Bench, bench

from assay_sdk.driver import (
    Close,
    Closed,
    CloseSession,
    Credit,
    Drain,
    Failed,
    LinkClosed,
    OpenSender,
    Send,
    SessionClosed,
)
from assay_sdk.model.reasons import JmsErrorKind


def test_closing_a_session_closes_its_links_without_telling_of_each(opened: Bench) -> None:
    receiver(opened)
    opened.done(OpenSender, 1, 1, QUEUE)
    opened.done(CloseSession, 1)
    assert not any(isinstance(event, LinkClosed | SessionClosed) for event in opened.said)
    assert opened.refused(Send, 1, HELLO).kind is JmsErrorKind.ILLEGAL_STATE


def test_a_session_that_the_peer_ends_closes_its_links(opened: Bench) -> None:
    receiver(opened)

    def end() -> None:
        opened.peer.sent_to.session.condition = Condition("amqp:illegal-state", "over")
        opened.peer.sent_to.session.close()

    opened.peer.do(end)
    assert opened.expect(LinkClosed).link == 2
    ended = opened.expect(SessionClosed)
    assert (ended.session, ended.refused.kind) == (1, JmsErrorKind.ILLEGAL_STATE)
    assert "over (amqp:illegal-state)" in ended.refused.text
    assert opened.said.index(ended) < opened.said.index(opened.expect(LinkClosed))
    assert opened.refused(Credit, 2, 1).kind is JmsErrorKind.ILLEGAL_STATE


def test_a_session_that_the_peer_ends_without_an_error_is_told_by_its_links_only(opened: Bench) -> None:
    receiver(opened)
    opened.peer.do(opened.peer.sent_to.session.close)
    assert opened.expect(LinkClosed).link == 2
    assert not any(isinstance(event, SessionClosed) for event in opened.said)


def test_an_orderly_close_is_answered_and_ends_without_a_reason(opened: Bench) -> None:
    opened.done(Close)
    assert opened.expect(Closed).refused is None
    assert "CONNECTION_REMOTE_CLOSE" in opened.peer.events


def test_a_close_whose_answer_never_comes_ends_at_its_time_limit(
    opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay_sdk.drivers.network.CLOSE_TIMEOUT_MS", 50)
    opened.peer.silent = True
    opened.done(Close)
    assert opened.expect(Closed).refused is None


def test_a_connection_that_the_broker_closes_is_lost_with_its_reason(opened: Bench) -> None:
    token = opened.submit(Drain, 2)
    opened.answer(token)

    def close() -> None:
        opened.peer.connection.condition = Condition("amqp:connection:forced", "shutting down")
        opened.peer.connection.close()

    opened.peer.do(close)
    closed = opened.expect(Closed)
    assert closed.refused is not None
    assert closed.refused.kind is JmsErrorKind.CONNECTION_LOST
    assert "shutting down" in closed.refused.text


def test_an_abort_sends_nothing_and_fails_what_is_open(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE)
    token = opened.submit(Send, 1, HELLO)
    assert opened.wire is not None
    opened.wire.abort()
    answer = opened.answer(token)
    assert isinstance(answer, Failed)
    opened.expect(Closed)
    opened.until(lambda: "EOF" in opened.peer.events)
    assert "CONNECTION_REMOTE_CLOSE" not in opened.peer.events


def test_a_peer_without_heartbeats_is_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_sdk.drivers.amqp.wire.IDLE_TIMEOUT_S", 0.1)
    with bench() as made:
        made.connect()
        closed = made.expect(Closed)  # this peer has no clock, so it sends no heartbeats
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.CONNECTION_LOST
