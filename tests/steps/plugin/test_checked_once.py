"""Tests that a scenario of the kit without mistakes is checked once in a process, and one with mistakes every time."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest
from pytest_bdd.feature import get_feature
from pytest_bdd.parser import ScenarioTemplate

from assay_features import feature_root, load_catalogue
from assay_steps.plugin import cases
from assay_steps.plugin.steps.lookup import is_ours

CATALOGUE = load_catalogue()
FIRST = min(feature_root().glob("delay/**/*.feature")).relative_to(feature_root())


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> ScenarioTemplate:
    """Provide a scenario of the kit, which no other test has checked, as the scenario of all items."""
    monkeypatch.setattr(cases, "_FAULTLESS", type(cases._FAULTLESS)())
    found = next(iter(get_feature(str(feature_root()), str(FIRST)).scenarios.values()))
    monkeypatch.setattr(cases, "template_of", lambda _item: found)
    return found


def item_of(template: ScenarioTemplate, *more: str) -> pytest.Item:
    """Make an item with the scenario's tags and some more."""
    tags = {*template.feature.tags, *(template.rule.tags if template.rule else ()), *template.tags, *more}
    return cast("pytest.Item", SimpleNamespace(iter_markers=lambda: [SimpleNamespace(name=tag) for tag in tags]))


def test_a_scenario_without_mistakes_is_checked_once(
    template: ScenarioTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[ScenarioTemplate] = []

    def counted(template: ScenarioTemplate, *_: object, **__: object) -> Iterator[str]:
        checked.append(template)
        yield from ()

    monkeypatch.setattr(cases, "of_tags", counted)
    assert cases.mistakes_of(item_of(template), CATALOGUE, is_ours) == []
    assert cases.mistakes_of(item_of(template), CATALOGUE, is_ours) == []
    assert checked == [template]


def test_a_mistake_is_told_each_time_also_after_the_scenario_had_none(template: ScenarioTemplate) -> None:
    assert cases.mistakes_of(item_of(template), CATALOGUE, is_ours) == []
    for _ in range(2):
        (mistake,) = cases.mistakes_of(item_of(template, "needs-wings"), CATALOGUE, is_ours)
        assert "there is no capability wings" in mistake
