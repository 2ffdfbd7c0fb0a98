"""Tests of one defect for each rule with scenarios; `assay defects` tries all defects."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from assay_evidence.verdicts import Verdict, load_verdicts
from assay_steps.defects import all_defects
from assay_steps.plugin.folder import VERDICTS
from assay_steps.plugin.probes import PROBED
from assay_steps.plugin.suite import SuiteOptions, run_suite

pytestmark = pytest.mark.exhaustive

FIRST = {rule: defect.name for defect in reversed(all_defects().values()) for rule in defect.rules}
"""The first defect of each rule that has one."""


class UntilAFail:
    """A pytest plugin that ends the run after the first scenario with the verdict fail, because one is enough."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        done = yield
        if item.stash.get(PROBED, None) is Verdict.FAIL:
            item.session.shouldfail = "a scenario has convicted the defect"
        return done


@pytest.mark.parametrize(("rule", "defect"), sorted(FIRST.items()))
def test_a_defect_of_the_rule_fails_a_scenario(rule: str, defect: str, tmp_path: Path) -> None:
    options = SuiteOptions(out=tmp_path, store="memory", rules=(rule,), defect=defect, probes=False)
    run_suite(options, plugins=[UntilAFail()])
    assert Verdict.FAIL in {scenario.verdict for scenario in load_verdicts(tmp_path / VERDICTS).scenarios}
