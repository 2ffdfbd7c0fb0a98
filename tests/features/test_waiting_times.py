"""Tests of the waiting times in scenarios, which a run on a real broker must spend."""

from __future__ import annotations

import re

from pytest_bdd.feature import get_features

from assay_features import feature_root
from assay_sdk.model.durations import parse_duration

_PASSED = re.compile(r"(\d+ [a-z]+) have passed")
_VIRTUAL = "needs-virtual-time"
_LONGEST_MS = 60_000


def test_where_time_is_real_no_scenario_lets_more_than_a_minute_pass() -> None:
    spans = {
        f"{feature.rel_filename}: {scenario.name}": [parse_duration(text) for text in texts]
        for feature in get_features([str(feature_root())])
        for scenario in feature.scenarios.values()
        if _VIRTUAL not in scenario.tags | (scenario.rule.tags if scenario.rule else set())
        if (texts := [text for step in scenario.steps for text in _PASSED.findall(step.name)])
    }
    assert spans
    assert {name for name, found in spans.items() if max(found) > _LONGEST_MS} == set()
