"""Tests of a rule's verdict by its scenarios' roles: each cell of `assay_evidence.concluding.rule_verdicts`."""

from __future__ import annotations

import pytest

from assay_evidence.concluding.rule_verdicts import Conclusion, conclude
from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_features import Role

BOTH = ("client", "broker")
RAN = [verdict for verdict in Verdict if verdict is not Verdict.PARTIAL]


def one(
    verdict: Verdict = Verdict.PASS, role: Role = Role.CORE, *, judged: str = "broker", apart: bool = False
) -> ScenarioVerdict:
    reason = "It has none." if verdict is Verdict.UNSUPPORTED else ""
    return ScenarioVerdict("a", ("DD-02",), verdict, "must", judged, reason=reason, apart=apart, role=role.value)


@pytest.mark.parametrize("verdict", RAN)
@pytest.mark.parametrize("role", [Role.CONTROL, Role.EVIDENCE, Role.KIT])
def test_a_passed_core_stands_unless_another_role_says_otherwise(role: Role, verdict: Verdict) -> None:
    silent = {Verdict.PASS, Verdict.UNSUPPORTED}
    if role is Role.EVIDENCE:
        silent |= {Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED}
    expected = Verdict.PASS if verdict in silent else verdict
    assert conclude([one(), one(verdict, role)], 0, BOTH).verdict is expected


@pytest.mark.parametrize("verdict", RAN)
@pytest.mark.parametrize("judged", ["broker", "client+broker"])
def test_what_the_kit_asks_of_its_own_parts_changes_nothing_on_a_foreign_one(verdict: Verdict, judged: str) -> None:
    found = conclude([one(), one(verdict, Role.KIT, judged=judged)], 0, ("client",))
    assert found == Conclusion(Verdict.PASS, 1, 1)


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED])
def test_a_core_scenario_that_decides_is_the_rules_verdict(verdict: Verdict) -> None:
    assert conclude([one(), one(verdict)], 3, BOTH).verdict is verdict


def test_some_core_passed_and_others_could_not_run_is_partial_with_the_reason() -> None:
    found = conclude([one(), one(), one(Verdict.UNSUPPORTED)], 0, BOTH)
    assert found == Conclusion(Verdict.PARTIAL, 2, 3, "It has none.")


def test_a_narrowed_run_is_no_plain_pass() -> None:
    assert conclude([one()], 2, BOTH) == Conclusion(Verdict.PARTIAL, 1, 3, "The run left out 2 more scenarios.")


def test_without_a_core_scenario_nothing_is_shown() -> None:
    found = conclude([one(role=Role.CONTROL)], 1, BOTH)
    assert (found.verdict, found.passed) == (Verdict.NOT_DEMONSTRATED, 0)


def test_no_core_scenario_that_could_run_is_unsupported() -> None:
    found = conclude([one(Verdict.UNSUPPORTED), one(role=Role.CONTROL)], 0, BOTH)
    assert found == Conclusion(Verdict.UNSUPPORTED, 0, 1, "It has none.")


def test_a_scenario_apart_counts_only_alone() -> None:
    apart = one(Verdict.UNSUPPORTED, apart=True)
    assert conclude([one(), apart], 0, BOTH) == Conclusion(Verdict.PASS, 1, 1)
    assert conclude([apart], 0, BOTH).verdict is Verdict.UNSUPPORTED
