"""Tests of a team's own Then-steps with assertions: the journal has their results, and a failure fails the scenario."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.steps.plugin.steps.test_lost_steps import PLUGINS

from assay_evidence.verdicts import ScenarioVerdict, Verdict, load_verdicts

pytest_plugins = ["pytester"]

FEATURE = """Feature: Own
  Scenario: A ledger
    Given an empty queue
    When message "m1" is sent to the queue
    {}
    {}
"""
STEPS = """
import pytest
from pytest_bdd import then, when

@then("the ledger balances")
def _(): pass

@then("the ledger is full")
def _(): assert False, "it holds 1 of 2"

@then("the ledger is empty")
def _(): pytest.fail("it holds 1 of 0")

@then("the ledger is told")
def _():
    raise AssertionError

@then("the ledger burns")
def _(): raise RuntimeError("smoke")

@when("the ledger is opened")
def _(): assert False, "it is locked"

@then("the ledger knows the last send")
def _(world, evidence): evidence.claim("accepted", {"call": world.last.ref})
"""
SENT = "Then the depth of the queue is 1"
BALANCES, FULL = "Then the ledger balances", "Then the ledger is full"


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def verdict(pytester: pytest.Pytester, *steps: str) -> ScenarioVerdict:
    pytester.makeconftest(STEPS)
    pytester.makefile(".feature", own=FEATURE.format(*steps))
    pytester.runpytest_inprocess(*PLUGINS, "own.feature", "--assay-out=out")
    (scenario,) = load_verdicts(Path("out/verdicts.json")).scenarios
    return scenario


@pytest.mark.parametrize(
    ("steps", "expected", "reason"),
    [
        ((SENT, BALANCES), Verdict.PASS, ""),
        ((BALANCES, BALANCES), Verdict.PASS, ""),
        ((SENT, FULL), Verdict.FAIL, "The step's own check does not hold: it holds 1 of 2"),
        ((FULL, SENT), Verdict.FAIL, "The step's own check does not hold: it holds 1 of 2"),
        ((SENT, "Then the ledger is empty"), Verdict.FAIL, "The step's own check does not hold: it holds 1 of 0"),
        ((SENT, "Then the ledger is told"), Verdict.FAIL, "does not hold: raise AssertionError (conftest.py:"),
        ((SENT, "Then the ledger burns"), Verdict.ERROR, "RuntimeError: smoke"),
        (("When the ledger is opened", BALANCES), Verdict.ERROR, "AssertionError: it is locked"),
    ],
)
def test_an_own_steps_assertion_decides(
    pytester: pytest.Pytester, steps: tuple[str, str], expected: Verdict, reason: str
) -> None:
    found = verdict(pytester, *steps)
    assert found.verdict is expected
    assert reason in found.reason


def test_an_own_step_that_claims_something_is_decided_by_its_claim_alone(pytester: pytest.Pytester) -> None:
    found = verdict(pytester, *["Then the ledger knows the last send"] * 2)
    assert found.verdict is Verdict.PASS
    assert [finding.expected for finding in found.findings] == ["the send is accepted"] * 2
