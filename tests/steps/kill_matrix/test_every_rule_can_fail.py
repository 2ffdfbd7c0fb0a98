"""Tests of one defect for each rule with scenarios; `assay defects` tries all defects."""

from __future__ import annotations

import pytest

from assay_steps.defects import all_defects
from assay_steps.kill_matrix.trials import Trial, outcomes_of

pytestmark = pytest.mark.exhaustive

FIRST = {rule: defect.name for defect in reversed(all_defects().values()) for rule in defect.rules}
"""The first defect of each rule that has one."""


@pytest.mark.parametrize(("rule", "defect"), sorted(FIRST.items()))
def test_a_defect_of_the_rule_fails_its_scenarios(rule: str, defect: str) -> None:
    verdicts = [outcome.verdict for outcome in outcomes_of(Trial("reference", defect, (rule,))).values()]
    assert "fail" in verdicts
