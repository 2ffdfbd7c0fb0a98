"""Tests of the roles of the packaged scenarios: each rule has scenarios that decide it."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
from pytest_bdd.feature import get_features

from assay_features import Role, feature_root, load_catalogue

_RULE = re.compile(r"[A-Z]{2}-\d\d")
_ROLES = {role.value for role in Role}


def roles() -> dict[str, list[set[str]]]:
    """Return the role tags of each scenario, by rule."""
    found: defaultdict[str, list[set[str]]] = defaultdict(list)
    for feature in get_features([str(feature_root())]):
        for scenario in feature.scenarios.values():
            tags = scenario.tags | (scenario.rule.tags if scenario.rule else set())
            for rule in filter(_RULE.fullmatch, tags):
                found[rule].append(scenario.tags & _ROLES)
    return found


ROLES = roles()


@pytest.mark.parametrize("rule", [rule.id for rule in load_catalogue().rules if rule.observable])
def test_each_rule_has_a_scenario_that_decides_it(rule: str) -> None:
    assert any(tags <= {Role.CORE.value} for tags in ROLES[rule])


def test_no_scenario_has_two_roles() -> None:
    assert all(len(tags) <= 1 for scenarios in ROLES.values() for tags in scenarios)


@pytest.mark.parametrize("role", [Role.EVIDENCE, Role.KIT])
def test_the_suite_has_scenarios_of_the_role(role: Role) -> None:
    assert any(role.value in tags for scenarios in ROLES.values() for tags in scenarios)


@pytest.mark.parametrize("rule", ["DD-04", "PD-20", "PD-23", "QS-04"])
def test_what_needs_a_look_into_the_broker_does_not_decide_a_common_rule(rule: str) -> None:
    assert {Role.EVIDENCE.value} in ROLES[rule]
