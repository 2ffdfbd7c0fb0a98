"""Tests of the REST client of IBM MQ with a peer that gives prepared answers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.adapters.brokers.amqp.peer import peer

from assay_adapters.brokers.mq_rest.client import Command, MqRest
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused


@pytest.mark.parametrize("body", [b"<html>", b'"\xff"', {"messages": 1, "body": 1}], ids=["html", "no text", "shape"])
def test_an_answer_that_cannot_be_read_is_a_refusal(body: Any) -> None:
    with peer(lambda *_: (200, body)) as there:
        rest = MqRest("127.0.0.1", lambda: there.port, "QM1")
        answers = [
            rest.run(Command(command="DISPLAY", qualifier="QLOCAL", name="Q")),
            rest.messages("Q"),
            rest.take("Q", b"c" * 24),
        ]
    for answer in answers:
        assert isinstance(answer, Refused)
        assert answer.kind is JmsErrorKind.MESSAGING
        assert "cannot be read" in answer.text


def test_an_empty_answer_to_a_get_means_no_message() -> None:
    with peer(lambda *_: (204, b"")) as there:
        assert MqRest("127.0.0.1", lambda: there.port, "QM1").take("Q", b"c" * 24) == Ok(None)


def test_a_problem_that_cannot_be_read_is_a_refusal() -> None:
    with peer(lambda *_: (500, b'{"error": [{"message": "\xff"}]}')) as there:
        answer = MqRest("127.0.0.1", lambda: there.port, "QM1").take("Q", b"c" * 24)
    assert isinstance(answer, Refused)
    assert "(HTTP 500)" in answer.text
