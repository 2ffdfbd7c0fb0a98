"""Tests of `answers`, which checks whether a broker answers, with a scripted peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from proton import Condition
from tests.sdk.drivers.amqp.peer import Bench, bench

from assay_adapters.brokers.amqp.backend import answers
from assay_adapters.ports.client import Endpoint
from assay_sdk.drivers.amqp import AmqpDriver


def answer(made: Bench) -> bool:
    return answers(AmqpDriver(), made.runner, Endpoint(made.peer.url)) is not None


def close(connection: Any) -> None:
    connection.condition = Condition("amqp:not-found", "no virtual host yet")
    connection.close()


def test_a_broker_that_opens_and_closes_when_asked_answers() -> None:
    with bench() as made:
        assert answer(made)


@pytest.mark.parametrize("then", [close, None])
def test_a_broker_that_ends_the_connection_by_itself_does_not_answer_yet(then: Callable[[Any], None] | None) -> None:
    with bench() as made:
        accept = made.peer.handlers["CONNECTION_REMOTE_OPEN"]

        def opened(connection: Any) -> None:
            accept(connection)
            if then is None:
                made.peer.flush()
                made.peer.drop()
            else:
                then(connection)

        made.peer.handlers["CONNECTION_REMOTE_OPEN"] = opened
        assert not answer(made)


def test_a_broker_that_accepts_the_connection_and_no_session_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_adapters.brokers.amqp.backend._ANSWER_LIMIT_NS", 50_000_000)
    with bench() as made:
        made.peer.handlers["SESSION_REMOTE_OPEN"] = lambda _event: None
        assert not answer(made)
