"""Examines journals with the plain-Python form of the invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from assay_evidence.events import AnyEvent, Event
from assay_evidence.oracle.story import Story, stories
from assay_evidence.subjects import LIMITS, Limits, Outcome, Subject

Examined = tuple[str, Outcome, int, Event]
"""The name, the outcome and the figure of a subject, and the event of `Subject.ref`."""
InPython = Callable[[Story, Limits], Iterator[Examined]]
"""The plain-Python form of an invariant: a function that examines one scenario."""


def examine(
    events: Iterable[AnyEvent], invariants: Mapping[str, InPython], limits: Limits = LIMITS
) -> tuple[Subject, ...]:
    """Examine the events of whole journals.

    Args:
        events: The events of any number of runs, in any order.
        invariants: The invariants in their plain-Python form, by rule id.
        limits: The limits of the invariants.

    Returns:
        The subjects of all rules, sorted.
    """
    return tuple(
        sorted(
            Subject(rule, run, scenario, subject, outcome, figure, at.ref)
            for (run, scenario), story in stories(events).items()
            for rule, invariant in invariants.items()
            for subject, outcome, figure, at in invariant(story, limits)
        )
    )
