"""Tests of tolerated variants: they pass every scenario of the suite, and differ visibly from the reference pair."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assay_evidence.events import Begin, Seen
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict, Verdicts, load_verdicts
from assay_features import Role, Strength, load_catalogue
from assay_steps.kill_matrix.failure_share import Outcome, Outcomes
from assay_steps.kill_matrix.matrix import KillMatrix, kill_matrix
from assay_steps.kill_matrix.tolerance import Tolerance, TriedVariant, convictions, tolerance
from assay_steps.kill_matrix.trials import DONE, Trial, outcomes_of
from assay_steps.plugin.suite import SuiteOptions, run_suite
from assay_steps.variants import all_variants

pytestmark = pytest.mark.exhaustive

VARIANTS = all_variants()
RULES = [rule.id for rule in load_catalogue().rules if rule.observable]
EACH_OF = len(VARIANTS)
"""Each variant runs the scenarios of every n-th rule, from another first rule; `assay defects --tolerated` runs all.

With the number of variants as n, each rule is tried with one variant.
"""
FEW = 8
"""The reference pair first runs about this many of a variant's scenarios, and the others only if no outcome differs."""
WRONG = {Verdict.FAIL, Verdict.ERROR}


def run(out: Path, variant: str | None, rules: tuple[str, ...], scenarios: tuple[str, ...] = ()) -> Verdicts:
    assert run_suite(SuiteOptions(out=out, rules=rules, variant=variant, probes=False, scenarios=scenarios)) in DONE
    return load_verdicts(out / "verdicts.json")


def asked_of(foreign: Verdicts) -> set[Verdict]:
    """Return the verdicts of the scenarios that also count for foreign brokers and clients."""
    return {
        scenario.verdict
        for scenario in foreign.scenarios
        if scenario.strength != Strength.KIT and scenario.role != Role.KIT
    }


def told(out: Path, verdicts: Verdicts) -> dict[str, object]:
    """Return, for each scenario, the disclosed outcome, the redelivery marks and the waiting time."""
    events = read_journals(out / "journals").events
    marks = Counter(event.scenario for event in events if isinstance(event, Seen) and event.redelivered)
    return {
        one.scenario: (one.verdict, one.disclosed, one.observed, one.waited_seconds, marks[one.scenario])
        for one in verdicts.scenarios
    }


def portions(scenarios: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return a few scenarios from everywhere, and then the others: most variants differ in one of the few."""
    few = scenarios[:: max(1, len(scenarios) // FEW)]
    others = tuple(scenario for scenario in scenarios if scenario not in few)
    return [portion for portion in (few, others) if portion]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_passes_and_is_seen_to_differ(name: str, tmp_path: Path) -> None:
    verdicts = run(tmp_path / "theirs", name, VARIANTS[name].rules)
    assert asked_of(verdicts) == {Verdict.PASS}
    theirs = told(tmp_path / "theirs", verdicts)
    for number, scenarios in enumerate(portions(tuple(theirs))):
        out = tmp_path / f"ours-{number}"
        ours = told(out, run(out, None, VARIANTS[name].rules, scenarios))
        if any(ours[scenario] != theirs[scenario] for scenario in scenarios):
            return
    pytest.fail(f"no scenario of its rules shows a difference between {name} and the reference pair")


@pytest.mark.parametrize(("first", "name"), list(enumerate(VARIANTS)))
def test_no_scenario_of_other_rules_convicts_a_variant(first: int, name: str) -> None:
    outcomes = outcomes_of(Trial("reference", None, rules=tuple(RULES[first % EACH_OF :: EACH_OF]), variant=name))
    assert {scenario for scenario, outcome in outcomes.items() if outcome.verdict in WRONG} == set()


def test_a_run_treats_the_part_that_varies_as_foreign(tmp_path: Path) -> None:
    run(tmp_path, "tried-again-rarely", ("DD-65",))
    (ours,) = {event.ours for event in read_journals(tmp_path / "journals").events if isinstance(event, Begin)}
    assert ours == ("client",)


def test_a_scenario_that_a_variant_does_not_pass_convicts_it() -> None:
    unbroken: Outcomes = {
        name: Outcome(verdict, ("DD-56",)) for name, verdict in {"a": "pass", "b": "pass", "c": "error"}.items()
    }
    (variant,) = convictions(unbroken, {"other": {**unbroken, "b": Outcome("fail", ("DD-56",))}})
    assert variant == TriedVariant("other", ("b",))
    matrix = KillMatrix(rules=(), alarms=(), unkilled=(), too_broad={}, variants=(variant,))
    assert matrix.wrong
    assert not KillMatrix(rules=(), alarms=(), unkilled=(), too_broad={}).wrong
    assert Tolerance((variant, TriedVariant("right", ())), 3).convicted == (variant,)


def test_the_kill_matrix_tries_the_variants_of_its_rules() -> None:
    matrix = kill_matrix(rules=("PD-29",))
    assert TriedVariant("non-persistent-dropped-without-receiver", ()) in matrix.variants
    assert (matrix.wrong, matrix.errors) == (False, ())


def test_every_variant_of_a_rule_tries_its_scenarios() -> None:
    found = tolerance(rules=("PD-29",))
    assert {variant.name for variant in found.variants} == {
        name for name, variant in VARIANTS.items() if "PD-29" in variant.rules
    }
    assert found.scenarios > 0
    assert not found.convicted
