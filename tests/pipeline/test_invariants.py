from __future__ import annotations

import pytest
from tests.pipeline.case import Case
from tests.pipeline.cases import CASES
from tests.pipeline.judgement import ENDED, HELD_UP, REMARKED, REPEATED, WHOLE, Judgement, folder_of

from assay_evidence.subjects import Outcome
from assay_evidence.verdicts import Verdict
from assay_pipeline.rules import INVARIANTS

pytestmark = pytest.mark.spark
RULES = tuple(INVARIANTS)


def expected(case: Case) -> Verdict:
    outcomes = set(case.subjects.values())
    if Outcome.BROKEN in outcomes:
        return Verdict.FAIL
    if Outcome.UNDECIDED in outcomes:
        return Verdict.INCONCLUSIVE
    return Verdict.PASS if outcomes else Verdict.NOT_DEMONSTRATED


@pytest.mark.parametrize("case", CASES, ids=folder_of)
def test_a_run_is_judged_as_its_miniature_was_made(case: Case, judgement: Judgement) -> None:
    run = judgement.runs[folder_of(case)]
    rule = next(rule for rule in run.verdicts.rules if rule.id == case.rule)
    assert run.damage == ()
    assert rule.verdict is expected(case)
    offending = {
        finding.reason
        for scenario in rule.scenarios
        for finding in scenario.findings
        if finding.verdict is Verdict.FAIL
    }
    assert offending == {f"{name} is broken." for name, found in case.subjects.items() if found is Outcome.BROKEN}


def test_the_oracle_agrees_on_every_undamaged_history(judgement: Judgement) -> None:
    assert judgement.result.disagreements == ()


@pytest.mark.parametrize("rule", RULES)
def test_a_damaged_journal_never_passes_nor_fails(rule: str, judgement: Judgement) -> None:
    assert judgement.verdict(WHOLE, rule) is Verdict.FAIL
    for folder in judgement.spoilt:
        assert judgement.verdict(folder, rule) is Verdict.INCONCLUSIVE, folder


def test_every_kind_of_damage_is_named(judgement: Judgement) -> None:
    def said(folder: str) -> str:
        return " ".join(judgement.runs[folder].damage)

    assert "quarantined: blank" in said("blank")
    assert "quarantined: checksum" in said("joined")
    assert "quarantined: no checksum" in said("torn")
    assert "no end" in said("torn")
    assert "quarantined: no checksum" in said("bare")
    assert "empty file" in said("empty")
    assert "gap (1 lines)" in said("deleted 3")
    assert "no begin" in said("deleted 0")
    assert "duplicate (1 lines)" in said("doubled 3")
    assert "quarantined: checksum" in said("altered 3")


def test_a_scenario_that_could_not_run_speaks_for_itself(judgement: Judgement) -> None:
    rule = next(rule for rule in judgement.runs[REMARKED].verdicts.rules if rule.id == "DD-02")
    assert {scenario.scenario: scenario.verdict for scenario in rule.scenarios} == {
        "scenario-0": Verdict.UNSUPPORTED,
        "scenario-1": Verdict.ERROR,
        "scenario-2": Verdict.PASS,
    }
    assert rule.verdict is Verdict.ERROR
    assert "the container died" in rule.scenarios[1].reason


def test_attempts_without_a_decision_do_not_count_beside_the_last_one(judgement: Judgement) -> None:
    rule = next(rule for rule in judgement.runs[REPEATED].verdicts.rules if rule.id == "DD-02")
    assert [(one.scenario, one.verdict) for one in rule.scenarios] == [("scenario-2", Verdict.PASS)]
    assert rule.verdict is Verdict.PASS


def test_a_harness_that_was_late_decides_only_what_no_delay_can_cause(judgement: Judgement) -> None:
    certain = {rule for rule in RULES if judgement.verdict(HELD_UP, rule) is Verdict.FAIL}
    assert certain == {rule for rule, invariant in INVARIANTS.items() if invariant.certain}
    assert all(judgement.verdict(HELD_UP, rule) is Verdict.INCONCLUSIVE for rule in set(RULES) - certain)
    rule = next(rule for rule in judgement.runs[HELD_UP].verdicts.rules if rule.id == "PD-20")
    own = next(one for one in rule.scenarios if one.scenario == f"scenario-{RULES.index('PD-20')}")
    assert own.reason == (
        "The machine was too busy: the harness was 1.6 s late in 2.0 s (use fewer --workers);"
        " the finding was: Examined: 1 broken."
    )


def test_a_session_that_a_foreign_broker_ended_leaves_a_fail_of_the_client_open(judgement: Judgement) -> None:
    rule = next(rule for rule in judgement.runs[ENDED].verdicts.rules if rule.id == "BT-04")
    assert rule.verdict is Verdict.INCONCLUSIVE
    assert "(a bug (amqp:internal-error)); the finding was" in rule.scenarios[0].reason


def test_a_verdict_names_its_figures(judgement: Judgement) -> None:
    rule = next(rule for rule in judgement.runs[WHOLE].verdicts.rules if rule.id == "DD-02")
    assert rule.scenarios[0].observed == "0 of 1 examined were kept; m: 1 ns before it was due"
    assert "plus the delay" in rule.scenarios[0].expected
