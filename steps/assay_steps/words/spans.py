"""The durations in features, multiplied by the run's pace.

Scenarios assume a pair that answers in less than a tenth of a second.  For example, they assume that a message with a
delay of 2 s is still staged after the next steps.  If each answer takes a second, the message is no longer staged then,
and a correct broker would fail.  So the run chooses one factor (`assay_steps.cast.timing.pace`) and multiplies the
durations of all steps by it, except durations of more than three minutes.
"""

from __future__ import annotations

from assay_sdk.model.durations import parse_duration

_LONGEST_MS = 180_000
"""The longest duration that the pace multiplies.  Longer durations, such as an hour, leave a slow pair enough time."""


class _Pace:
    """The pace of this process: a global value, because pytest-bdd parses steps without any object of the kit."""

    factor = 1


def set_pace(factor: int) -> None:
    """Set the factor for the durations of all steps that are parsed from now on.

    Args:
        factor: The pace, from 1 to `assay_steps.cast.timing.pace.LARGEST`.
    """
    _Pace.factor = factor


def read_span(text: str) -> int:
    """Read a duration of a step, and multiply it by the pace if it is three minutes or less.

    Returns:
        The duration in milliseconds.

    Raises:
        DurationError: The text is not a valid duration (`assay_sdk.model.durations.parse_duration`).
    """
    span_ms = parse_duration(text)
    return span_ms * _Pace.factor if span_ms <= _LONGEST_MS else span_ms
