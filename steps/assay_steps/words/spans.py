"""Durations in the words of features, multiplied by the run's pace.

Scenarios are written for a pair that answers in less than a tenth of a second: a message with a delay of 2 s is still
staged after the next steps.  With a pair that needs a second for each answer it is not, and a right broker would fail.
So every duration of every step is multiplied by one factor, which the run chooses once (`assay_steps.cast.pace`).
"""

from __future__ import annotations

from assay_sdk.model.durations import parse_duration

_LONGEST_MS = 180_000
"""Longer durations stay as they are: they leave time enough, and stand for limits such as an hour or a year."""


class _Pace:
    """The factor of this process; pytest-bdd parses steps without an object of ours that could hold it."""

    factor = 1


def set_pace(factor: int) -> None:
    """Multiply the durations of all steps that are read from now on.

    Args:
        factor: From 1 to `assay_steps.cast.pace.LARGEST`.
    """
    _Pace.factor = factor


def read_span(text: str) -> int:
    """Read a duration of a step, and multiply it by the pace.

    Returns:
        Milliseconds.

    Raises:
        DurationError: See `assay_sdk.model.durations.parse_duration`.
    """
    span_ms = parse_duration(text)
    return span_ms * _Pace.factor if span_ms <= _LONGEST_MS else span_ms
