"""Tests of the narrowed test modules: a run of certain rules binds all scenarios of these rules and few others."""

from __future__ import annotations

from assay_features import feature_root, load_catalogue
from assay_steps.plugin.checks import tagged_scenarios
from assay_steps.plugin.narrowing import features_of

TAGS = {
    path: frozenset(tag for one in tagged_scenarios(path) for tag in one.tags)
    for path in sorted(feature_root().rglob("*.feature"))
}


def test_the_files_of_a_rule_are_those_with_its_scenarios() -> None:
    for rule in load_catalogue().rules:
        assert list(features_of(feature_root(), [rule.id])) == [path for path, tags in TAGS.items() if rule.id in tags]


def test_the_files_of_two_rules_are_those_of_either() -> None:
    both = features_of(feature_root(), ["DD-02", "BT-04"])
    assert set(both) == {*features_of(feature_root(), ["DD-02"]), *features_of(feature_root(), ["BT-04"])}
    assert len(both) < len(TAGS)
