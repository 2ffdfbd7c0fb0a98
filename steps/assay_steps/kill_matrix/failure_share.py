"""The share of all scenarios that fail with a defect.

Running all scenarios with every defect would take hours.  So each defect runs a sample (every n-th scenario, in file
order), and only a defect whose share of the sample is suspicious runs them all.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec import Struct

from assay_evidence.verdicts import Verdict

TOO_BROAD = 0.15
"""A defect that fails this share of all scenarios proves nothing about its rules."""

SAMPLED = 7
"""The sample holds one scenario of this many; with more than a thousand scenarios the share is exact to about 3 %."""

SUSPECT = TOO_BROAD / 2
"""A defect with this share of the sample runs all scenarios: more than two standard deviations below `TOO_BROAD`."""


class Outcome(Struct, frozen=True):
    """The outcome of one scenario in one trial.

    Args:
        verdict: Its verdict.
        rules: The ids of the rules that it tries.
        reason: The reason of the verdict.
    """

    verdict: str
    rules: tuple[str, ...]
    reason: str = ""


Outcomes = Mapping[str, Outcome]
"""Scenario id -> its outcome."""


class Sample:
    """A pytest plugin that keeps every n-th scenario and drops the others.

    Args:
        every: The n.
        first: The index of the first that it keeps.
    """

    def __init__(self, every: int, first: int = 0) -> None:
        self._every = every
        self._first = first % every

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop scenarios, after the plugins that count them have counted."""
        items[:] = items[self._first :: self._every]


def share_of(outcomes: Outcomes) -> float:
    """The share of these scenarios that fail; 0 of none."""
    failed = sum(outcome.verdict == Verdict.FAIL for outcome in outcomes.values())
    return failed / len(outcomes) if outcomes else 0.0
