"""Tests for the places of scenarios in feature files."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_features import feature_root
from assay_reports.places import place_of


@pytest.mark.parametrize("row", ["", "[1 ms]"])
def test_a_scenario_of_the_kit_has_a_line(row: str) -> None:
    feature = "delay/early.feature"
    path = Path(feature_root()) / feature
    lines = path.read_text(encoding="utf-8").splitlines()
    number, heading = next((n, line) for n, line in enumerate(lines, 1) if line.strip().startswith("Scenario"))
    name = heading.partition(":")[2].strip()
    assert place_of(feature, f"{name}{row}") == f"{feature}:{number}"


@pytest.mark.parametrize(
    ("feature", "scenario"),
    [
        ("orders.feature", "An order comes"),
        ("delay/early.feature", "No such scenario"),
        ("../../etc/passwd", "root"),
        ("", "x"),
    ],
)
def test_what_the_kit_does_not_have_is_named_without_a_line(feature: str, scenario: str) -> None:
    assert place_of(feature, scenario) == feature
