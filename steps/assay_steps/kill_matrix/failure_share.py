"""How broad a defect is: the share of all scenarios that fail with it.

All scenarios with every defect would take hours.  So each defect runs a sample, every so-and-so-many-th scenario as
they stand in their files, and only what could be too broad by that runs them all.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from assay_evidence.verdicts import Verdict

TOO_BROAD = 0.15
"""The share of all scenarios from which on a defect is no defect of its rules any more."""

SAMPLED = 7
"""One scenario of so many is in the sample: with more than a thousand scenarios, a share is known to about 3 %."""

SUSPECT = TOO_BROAD / 2
"""A share of the sample from which on a defect runs all scenarios: more than two deviations below what counts."""

Outcomes = Mapping[str, tuple[str, tuple[str, ...]]]
"""Scenario id -> its verdict and its rules."""


class Sample:
    """A pytest plugin that leaves every n-th scenario and drops the others.

    Args:
        every: The n.
    """

    def __init__(self, every: int) -> None:
        self._every = every

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Thin them out, after everything that counts them has counted."""
        items[:] = items[:: self._every]


def share_of(outcomes: Outcomes) -> float:
    """The share of these scenarios that fail; 0 of none."""
    failed = sum(verdict == Verdict.FAIL for verdict, _ in outcomes.values())
    return failed / len(outcomes) if outcomes else 0.0
