"""Tests that scenarios have tags for features that MQ Light's face lacks, so that another face runs them."""

from __future__ import annotations

import re

import pytest
from pytest_bdd.feature import get_features

from assay_adapters.clients import mqlight, sdk
from assay_features import feature_root

LACKING = {f"needs-{capability.value}" for capability in sdk.CAPABILITIES if capability not in mqlight.CAPABILITIES}
"""The tags of a scenario that MQ Light's face cannot run."""

STEPS = [
    pytest.param(r'\ban empty queue\b|\b(to|on|at|from) the queue\b(?! of)|\bqueue "', id="queue"),
    pytest.param(r"^the data folder holds the body of", id="persistence-of-the-send"),
]
"""Patterns of steps that an MQ Light client cannot run: they use a queue, or a persistence that the sender chooses."""


def steps_without_the_tag(words: str) -> list[str]:
    """Return the scenarios, without probes, that MQ Light's face would run although a step has these words."""
    return [
        f"{feature.rel_filename}::{scenario.name}: {step.name}"
        for feature in get_features([str(feature_root())])
        for scenario in feature.scenarios.values()
        if "probes/" not in feature.rel_filename
        if not LACKING & (feature.tags | scenario.tags | (scenario.rule.tags if scenario.rule else set()))
        for step in scenario.steps
        if re.search(words, step.name)
    ]


@pytest.mark.parametrize("words", STEPS)
def test_a_scenario_that_needs_a_client_with_queues_says_so(words: str) -> None:
    needs = ", ".join(f"@{tag}" for tag in sorted(LACKING))
    advice = f"MQ Light's client cannot run these steps: add @needs-queue, or another of {needs}"
    assert steps_without_the_tag(words) == [], advice
