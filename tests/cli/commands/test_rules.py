"""Tests of ``assay rules``: a rule with its scenarios, code and defects."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.commands import rules
from assay.rule_guide import guide_to
from assay_evidence.verdicts import load_verdicts
from assay_features import feature_root, load_catalogue
from assay_features.dimensions import Cell, State
from assay_features.rule import Judged, Rule, Strength
from assay_steps.defects import all_defects
from assay_steps.plugin.checks import rule_counts

CATALOGUE = load_catalogue()


def test_a_rule_leads_to_its_scenarios_code_defects_and_invariant(assay: Assay) -> None:
    told = assay("rules", "DD-56")
    assert told.code == 0
    assert "delay/expiry.feature:" in told.out
    assert "assay_broker/core/queues/delivery.py  pump" in told.out
    assert "ttl-check-missing  Messages are delivered although their time to live is over." in told.out
    assert "(assay_pipeline/rules/expiry.py)" in told.out


def test_a_rule_without_an_invariant_says_why(assay: Assay) -> None:
    reason = "none: the catalogue does not say that a history can show a breach of the rule"
    assert f"invariant\n  {reason}\n" in assay("rules", "DD-12").out


def test_an_outline_with_several_examples_is_listed_once(assay: Assay) -> None:
    listed = [line for line in assay("rules", "PD-20").out.splitlines() if line.startswith("  persistence/")]
    assert listed
    assert len(set(listed)) == len(listed)


def test_a_rule_shows_what_it_is_tried_across_and_why_not_across_the_rest(assay: Assay) -> None:
    told = assay("rules", "DD-20").out
    tried, _, rest = told.partition("tested circumstances (scenarios)")[2].partition("not applicable")
    assert " queue (" in tried
    assert "two queue managers: The document mentions a second queue manager only" in rest
    assert "not tested yet" in rest


def test_a_trait_that_is_neither_tried_nor_explained_is_shown_with_what_to_do(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "table_of", lambda _: (Cell("message", "empty body", State.UNEXPLAINED),))
    told = assay("rules", "DD-20").out
    assert "neither tested nor explained\n  empty body: write a scenario that tries it, or a reason in" in told


def test_a_rule_that_there_is_not_is_refused(assay: Assay) -> None:
    told = assay("rules", "DD-390")
    assert (told.code, told.err) == (3, "assay: There is no rule DD-390; did you mean DD-39?\n")


@pytest.mark.parametrize("rule", CATALOGUE.rules, ids=lambda rule: rule.id)
def test_what_a_guide_names_is_there(rule: Rule) -> None:
    guide = guide_to(rule)
    if rule.observable:
        assert guide.scenarios
        assert guide.defects
    for one in guide.scenarios:
        assert one.name in one.feature.read_text(encoding="utf-8").splitlines()[one.line - 1]
        assert one.feature.is_relative_to(feature_root())
    assert {proof.name for proof in guide.defects} == {
        defect.name for defect in all_defects().values() if rule.id in defect.rules
    }


def test_every_rule_that_the_broker_must_keep_is_named_in_code() -> None:
    kept = [rule for rule in CATALOGUE.rules if rule.strength is Strength.MUST and rule.judged == (Judged.BROKER,)]
    assert [rule.id for rule in kept if not guide_to(rule).code] == []


def test_no_line_of_a_table_ends_in_blanks_elsewhere_than_on_a_terminal(assay: Assay) -> None:
    for line in assay("rules").out.splitlines():
        assert line == line.rstrip()


def test_a_rule_asked_for_by_its_id_is_shown_with_its_sentence(assay: Assay) -> None:
    rule = load_catalogue().rule("DD-02")
    assert rule.rule not in assay("rules").out
    assert rule.rule in " ".join(assay("rules", "--rule", "DD-02").out.split())  # the output breaks it into lines


def test_rules_say_how_many_scenarios_try_them(assay: Assay, done: Path) -> None:
    ran = {rule.id: len(rule.scenarios) for rule in load_verdicts(done / "verdicts.json").rules}
    counts = rule_counts(feature_root().rglob("*.feature"))
    assert {rule: counts[rule] for rule in ran} == ran
    row = next(line.split() for line in assay("rules").out.splitlines() if line.startswith("DD-02"))
    assert str(counts["DD-02"]) in row
