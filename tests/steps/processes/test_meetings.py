"""Tests of the steps before which scenarios wait for each other, or their broker's disk becomes slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_steps.processes.meetings import ENDINGS, Told, last_work, meeting_lines, slow_lines
from assay_steps.vocabulary.setup import faults

KILLED = "the broker is killed and comes back"
SENT = 'message "m1" is sent to the queue'
DELAYED = 'message "m1" is sent to the queue with a delivery delay of 2 s'
SEEN = '"first" has seen "m1" to "m3"'


def steps(*texts: str) -> list[Told]:
    return [Told(line, text) for line, text in enumerate(texts, start=1)]


def test_the_endings_are_sentences_of_the_vocabulary() -> None:
    source = Path(faults.__file__).read_text("utf-8")
    assert all(f'("{sentence}")' in source for sentence in ENDINGS)


@pytest.mark.parametrize(
    ("told", "timed", "lines"),
    [
        (("an empty queue", SENT, KILLED, SEEN), False, {2}),
        (("an empty queue", SENT, SENT, KILLED, SEEN), False, {3}),
        ((SENT, KILLED, 'session "work" is committed', KILLED, SEEN), False, {1, 3}),
        (("an empty queue", DELAYED, SENT, KILLED, SEEN), True, {2}),
        (("an empty queue", SENT, KILLED, DELAYED), True, {2}),
        ((SENT, "the broker is restarted", SEEN), False, {1}),
    ],
    ids=["before the last action", "not earlier", "before each", "before a delay", "a delay afterwards", "a restart"],
)
def test_a_scenario_meets_the_others_before_its_last_action(
    told: tuple[str, ...], timed: bool, lines: set[int]
) -> None:
    assert meeting_lines(steps(*told), timed=timed) == lines


@pytest.mark.parametrize(
    ("told", "timed"),
    [
        ((SENT, SEEN, KILLED), False),
        ((SENT, "1 s pass", KILLED), False),
        ((KILLED, SENT), False),
        ((SENT, "the broker will be killed 500 ms after it is first seen", SEEN), False),
        ((SENT, KILLED, SEEN, KILLED), False),
        ((DELAYED, '1 s have passed since "m1" was sent', KILLED), True),
        ((DELAYED, KILLED, SENT, KILLED), True),
        ((SENT, "my own step", KILLED), False),
        (("5 m pass", SENT, KILLED), True),
        (("1.5minutes pass", SENT, KILLED), True),
        (("2 days pass", SENT, KILLED), True),
    ],
)
def test_a_scenario_that_would_let_the_others_wait_shares_no_kill(told: tuple[str, ...], timed: bool) -> None:
    assert meeting_lines(steps(*told), timed=timed) is None


def test_the_last_work_leaves_names_and_options_out() -> None:
    told = 'messages "m1", "m2" and "m3" are sent to the topic with priority 9'
    assert last_work(steps("an empty queue", told, KILLED)) == "message X is sent to the topic"
    assert last_work(steps(KILLED)) == last_work(steps(SENT)) == ""


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        (("an empty queue", SENT, KILLED, SEEN), {2}),
        ((SENT, KILLED, SENT, "the broker loses its power and comes back", SEEN), {1, 3}),
        (("an empty queue", f"{SENT} and the broker is killed just after it answers"), {2}),
        ((SENT, 'the broker will be killed when "m1" is first seen', "the broker has been killed and is back"), {2}),
        ((KILLED,), {1}),
        ((SENT, "the broker is restarted", SEEN), set()),
    ],
    ids=["a kill", "two faults", "within a send", "announced", "nothing before it", "a restart"],
)
def test_the_disk_becomes_slow_before_the_last_action(told: tuple[str, ...], lines: set[int]) -> None:
    assert slow_lines(steps(*told)) == lines
