"""The share of all scenarios that fail with a defect.

A run of all scenarios with every defect would take hours.  So each defect first runs a sample: every n-th scenario, in
file order.  All scenarios run with a defect only if many scenarios of its sample fail.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import Struct

from assay_evidence.verdicts import Verdict

TOO_BROAD = 0.15
"""A defect proves nothing about its rules if at least this share of all scenarios fails with it."""

SAMPLED = 7
"""The number n: a sample has every n-th scenario.

With a thousand scenarios, the standard deviation of a measured share of `TOO_BROAD` is about 0.03.
"""

SUSPECT = TOO_BROAD / 2
"""If at least this share of a sample fails with a defect, all scenarios run with the defect.

The share is more than two standard deviations below `TOO_BROAD`, so that the sample misses almost no broad defect.
"""


class Outcome(Struct, frozen=True):
    """The outcome of one scenario in one trial.

    Args:
        verdict: The scenario's verdict.
        rules: The ids of the rules that the scenario tests.
        reason: The reason for the verdict.
    """

    verdict: str
    rules: tuple[str, ...]
    reason: str = ""


Outcomes = Mapping[str, Outcome]
"""The outcomes of a trial, by scenario id."""


class Sample:
    """A pytest plugin that selects every n-th scenario.

    Args:
        every: The number n; the plugin keeps every n-th scenario.
        first: The index of the first scenario that the plugin keeps.
    """

    def __init__(self, every: int, first: int = 0) -> None:
        self._every = every
        self._first = first % every

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep every n-th scenario only; this hook runs last, so other plugins see all scenarios."""
        items[:] = items[self._first :: self._every]


def share_of(outcomes: Outcomes) -> float:
    """Return the share of the scenarios that fail, from 0 to 1; 0 if no scenario ran."""
    failed = sum(outcome.verdict == Verdict.FAIL for outcome in outcomes.values())
    return failed / len(outcomes) if outcomes else 0.0
