"""Finds, from the sentences of a scenario, the steps before which the kit prepares a fault.

Before some steps, scenarios that share a fault wait for each other.  Just before a scenario's last action before a
kill, the kit makes the broker's disk slow, if it can.

A kill must follow its scenario's last action at once: otherwise a broker that writes its data late would write it
during the wait for the other scenarios, and its defect would not show.  So a scenario waits for the others *before* its
last action (docs/decisions/0025-joint-faults.md).  A scenario with a delay or a time to live waits before the step that
begins this time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from assay_sdk.model.durations import DURATION

ENDINGS = frozenset({"the broker is killed and comes back", "the broker is restarted", "the broker has been restarted"})
"""The sentences of the steps that end the broker at once, for all scenarios that share it."""

_BEGINS_TIME = re.compile(rf"\b(delivery delay|time to live|{DURATION})\b")
"""Finds a step that begins a delay, a time to live or another span of time."""
_ACTS = re.compile(
    r"\b(is sent|are sent|sends messages?|is committed|is rolled back|is closed|is lost|is inactive|goes away"
    r"|unsubscribes|shares (non-)?durable subscription)\b|^a (non-)?durable subscriber\b|^a connection\b"
)
"""Finds a step that ends as soon as the broker has answered it."""
_WAITS = re.compile(r"\b(pass|passed|seen|sees|killed|restarted)\b")
"""Finds a step that waits for a time, for a message or for the broker's return."""
_IS_THE_END = re.compile(r"^the broker (is killed|loses its power) and comes back$")
"""Finds a step that ends the broker at once, after the action of the step before it."""
_ENDS_AT_ONCE = re.compile(r"\bthe broker (is|will be) killed\b|\bthe broker loses its power\b")
"""Finds a step that kills the broker, prepares a kill, or lets the broker lose its power."""
_NAMES = re.compile(r'"[^"]*"((,| and| to) "[^"]*")*')
_OPTIONS = re.compile(r" with .*")


class Told(NamedTuple):
    """A step of a scenario.

    Args:
        line: The step's line in the feature file.
        text: The step's sentence.
    """

    line: int
    text: str


def meeting_lines(steps: Sequence[Told], *, timed: bool) -> frozenset[int] | None:
    """Find the steps before which a scenario waits for the others, one step for each fault.

    Args:
        steps: The steps of the scenario and its background, in their order.
        timed: Whether the scenario has a delay or a time to live, which continues during a wait.

    Returns:
        The steps' lines.  None if the scenario cannot share its faults, for one of these reasons:

        - No step restarts or kills the broker at once.
        - A fault is the first step.
        - A step between meeting and fault would make the other scenarios wait.
        - The scenario has a delay or a time to live, and several faults.
    """
    ends = [place for place, step in enumerate(steps) if step.text in ENDINGS]
    if not ends or (timed and len(ends) > 1):
        return None
    lines: set[int] = set()
    for end in ends:
        begin = end - 1
        if timed:
            begin = next((place for place in range(end) if _BEGINS_TIME.search(steps[place].text)), begin)
        between = steps[max(begin, 0) : end]
        if not between or not all(_is_prompt(step.text) for step in between):
            return None
        lines.add(between[0].line)
    return frozenset(lines)


def last_work(steps: Sequence[Told]) -> str:
    """Return the sentence of the step before the first fault, without names and options; empty if no step is before it.

    Scenarios with the same sentence make the broker do the same kind of work just before the fault.
    """
    end = next((place for place, step in enumerate(steps) if step.text in ENDINGS), 0)
    if end == 0:
        return ""
    plain = _OPTIONS.sub("", _NAMES.sub("X", steps[end - 1].text))
    return plain.replace("messages X are", "message X is")


def slow_lines(steps: Sequence[Told]) -> frozenset[int]:
    """Find the steps before which the disk of the scenario's broker becomes slow, one for each kill or loss of power.

    It is the step of the last action before the fault. If the disk were slow earlier, a broker that answers too early
    would break the rules of all scenarios, and not only of those about the action that it answers too early.

    Args:
        steps: The steps of the scenario and its background, in their order.

    Returns:
        The steps' lines.
    """
    places = [place for place, step in enumerate(steps) if _ENDS_AT_ONCE.search(step.text)]
    last = (max(place - 1, 0) if _IS_THE_END.search(steps[place].text) else place for place in places)
    return frozenset(steps[place].line for place in last)


def _is_prompt(text: str) -> bool:
    return _ACTS.search(text) is not None and _WAITS.search(text) is None
