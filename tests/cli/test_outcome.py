"""Tests of a run's table and of its exit code."""

from __future__ import annotations

import pytest
from msgspec import structs
from rich.console import Console

from assay.exits import Exit
from assay.outcome import covers_all, ending
from assay.tables import rules_table
from assay_adapters.known import Surprise
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict, Verdicts
from assay_features import load_catalogue


def verdicts(*found: Verdict) -> Verdicts:
    scenarios = tuple(
        ScenarioVerdict(
            f"delay/early.feature::{verdict}", ("DD-02",), verdict, "must", "broker", reason="because " * 20
        )
        for verdict in found
    )
    rule = RuleVerdict("DD-02", max(found, key=lambda verdict: verdict.badness), "must", "broker", "delay", scenarios)
    return Verdicts(1, "run", "reference", "sdk", (rule,), {})


@pytest.mark.parametrize("verdict", Verdict)
def test_the_table_fits_a_terminal_of_80_columns(verdict: Verdict) -> None:
    console = Console(width=80, force_terminal=False)
    with console.capture() as shown:
        console.print(rules_table(verdicts(verdict), load_catalogue()))
    lines = shown.get().splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("DD-02  ") and verdict.value in line for line in lines)


STALE = None
"""The verdict in a `Surprise` about an entry that no longer holds."""


@pytest.mark.parametrize(
    ("found", "surprises", "code"),
    [
        ((Verdict.PASS,), [], Exit.AS_EXPECTED),
        ((Verdict.FAIL,), [], Exit.AS_EXPECTED),
        ((Verdict.FAIL, Verdict.ERROR), [Verdict.FAIL, Verdict.ERROR], Exit.NOT_AS_EXPECTED),
        ((Verdict.FAIL, Verdict.ERROR), [Verdict.ERROR], Exit.INCONCLUSIVE),  # the fail is a known outcome
        ((Verdict.PASS,), [STALE], Exit.NOT_AS_EXPECTED),
        ((Verdict.PASS, Verdict.ERROR), [STALE], Exit.NOT_AS_EXPECTED),
        ((Verdict.PASS, Verdict.ERROR), [STALE, Verdict.ERROR], Exit.NOT_AS_EXPECTED),
        ((Verdict.PASS, Verdict.ERROR), [Verdict.ERROR], Exit.INCONCLUSIVE),
        ((Verdict.INCONCLUSIVE,), [Verdict.INCONCLUSIVE], Exit.INCONCLUSIVE),
        ((Verdict.NOT_DEMONSTRATED,), [Verdict.NOT_DEMONSTRATED], Exit.INCONCLUSIVE),
    ],
)
def test_the_exit_code_follows_from_verdicts_and_surprises(
    found: tuple[Verdict, ...], surprises: list[Verdict | None], code: Exit
) -> None:
    told = [Surprise("it says so", one) for one in surprises]
    assert ending(verdicts(*found), told) is code


def test_a_run_covers_all_if_it_selected_each_scenario_of_each_rule_that_can_be_tested() -> None:
    tested = tuple(
        RuleVerdict(rule.id, Verdict.PASS, "must", "broker", "delay", ())
        for rule in load_catalogue().rules
        if rule.observable
    )
    whole = Verdicts(1, "run", "reference", "sdk", tested, {})
    assert covers_all(whole)
    assert not covers_all(structs.replace(whole, rules=tested[1:]))
    narrowed = structs.replace(tested[0], left_out=1)
    assert not covers_all(structs.replace(whole, rules=(narrowed, *tested[1:])))
