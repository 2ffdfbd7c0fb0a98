"""Runs of pytest with the kit's plugin, and with the features of a QA team."""

from __future__ import annotations

import json
from typing import Any

import pytest

PLUGINS = ("-p", "pytest_bdd.plugin", "-p", "assay_steps.entry", "-p", "no:cacheprovider", "--assert=plain")


def own(pytester: pytest.Pytester, feature: str, steps: str = "") -> None:
    """Write a QA team's own feature, with its own steps."""
    pytester.makefile(".feature", own=feature)
    pytester.makepyfile(
        test_own=f"from pytest_bdd import given, scenarios, then, when\n\nscenarios('own.feature')\n\n{steps}"
    )


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*PLUGINS, *arguments)


def judged(pytester: pytest.Pytester) -> dict[str, Any]:
    """Return every scenario's verdict by its name."""
    verdicts = json.loads((pytester.path / "out" / "verdicts.json").read_text())
    return {scenario["scenario"].partition("::")[2]: scenario for scenario in verdicts["foreign"]}


KEPT = """\
Feature: Own
  @PD-34
  Rule: Own
    Scenario: It arrives
      Given an empty queue
      And a receiver is waiting on the queue
      When message "m" is sent to the queue
      Then the receiver sees "m" exactly once
"""
