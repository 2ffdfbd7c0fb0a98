"""Tests of the errors for unknown steps: the mistake, and the closest known step."""

from __future__ import annotations

import pytest

from assay_steps.plugin.steps.lookup import vocabulary
from assay_steps.plugin.steps.unknown import explain, nearest_steps


@pytest.mark.parametrize(
    ("keyword", "text", "says"),
    [
        (
            "when",
            'message "m" is sent to the queue with a delay of 2 s',
            "'a delay of 2 s' is not a valid option of a send; did you mean 'a delivery delay of 2 s'?",
        ),
        (
            "when",
            'message "m" is sent to the queue with priority 4 and delay of 2 s',
            "'delay of 2 s' is not a valid option of a send; did you mean 'a delivery delay of 2 s'?",
        ),
        (
            "when",
            'message "m" is sent to the queue with a delay of 2 s and the broker is killed just after it answers',
            "'a delay of 2 s' is not a valid option of a send; did you mean 'a delivery delay of 2 s'?",
        ),
        ("when", 'message "m" is sent to the queue with a delivery delay of soon', "'soon' is no duration"),
        ("when", 'message "m" is sent to the qeue', "'the qeue' is not a valid Place, such as the queue, topic"),
        ("when", 'message "m" is sent to the qeue', "(did you mean the queue?)"),
        ("given", 'receiver "a" on the queue in clint mode', "'clint' is not a valid Ack, such as auto, client"),
        ("given", 'subscriber "s" on the topic with a pony', "'a pony' is not a valid term of a subscriber"),
        ("then", 'the receiver sees "m" within two seconds after its send', "'two seconds' is no duration; write a"),
        ("then", 'the receiver sees "m" within 2 weeks after its send', "'2 weeks' is no duration; write a"),
        ("then", "an empty queue", "the vocabulary has it as a Given only"),
        ("given", "an empty quue", "the vocabulary has no such step; the nearest are `an empty queue`, "),
        ("given", "Übung macht den Meister", "the vocabulary has no such step; `assay steps WORD`"),
        ("given", "", "the vocabulary has no such step"),
    ],
)
def test_a_misfit_is_told_by_what_is_wrong_with_it(keyword: str, text: str, says: str) -> None:
    assert says in explain(keyword, text)


@pytest.mark.parametrize(
    ("keyword", "text", "meant"),
    [
        ("when", 'the order "x" is sent', "message {label:Name} is sent to {place:Place}"),
        ("when", "I send a message to the queue", "a message is sent to {place:Place}"),
        ("then", "the receiver gets the message", "the receiver sees the message exactly once"),
    ],
)
def test_the_steps_that_say_most_of_the_same_are_the_nearest(keyword: str, text: str, meant: str) -> None:
    assert meant in nearest_steps(keyword, text)


def test_only_steps_of_the_keyword_are_near() -> None:
    phrases = {str(step.parser.name) for step in vocabulary() if step.type == "given"}
    assert set(nearest_steps("given", "a message is sent to the queu")) <= phrases
