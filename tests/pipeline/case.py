"""The type of a miniature scenario."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from tests.pipeline.tales import Telling

from assay_evidence.subjects import Outcome

KEPT, BROKEN, UNDECIDED = Outcome.KEPT, Outcome.BROKEN, Outcome.UNDECIDED


class Case(Struct, frozen=True):
    """One miniature scenario.

    Args:
        rule: The rule of the scenario.
        name: The scenario in a sentence.
        telling: Writes the scenario's events.
        subjects: The subjects that the invariant must find, with their outcomes.
    """

    rule: str
    name: str
    telling: Telling
    subjects: Mapping[str, Outcome]
