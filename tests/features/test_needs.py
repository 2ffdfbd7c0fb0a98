"""Tests that tags name the capabilities that a scenario needs; otherwise a correct broker that lacks one would fail."""

from __future__ import annotations

import re

import pytest

from assay_features.dimensions._texts import ScenarioText, scenario_texts

_OWN_PARTS = "kit"
_LASTING = {"needs-durable-subscription", "needs-lasting-subscription", "needs-subscription-ttl"}
"""Clients of JMS need durable subscriptions; those of MQ Light have subscriptions that last or have a time to live."""
NEEDED: dict[str, tuple[str, set[str]]] = {
    "a pattern of topics": (r'\btopic "[^"]*[#+][^"]*"', {"needs-topic-wildcard"}),
    "a durable subscription": (r"(?<!non-)\bdurable (subscriber|subscription)\b", _LASTING),
    "a shared subscription": (r"\bshares? .*subscription", {"needs-shared-subscription"}),
    "a unit of work": ("in transacted mode|is rolled back|is committed", {"needs-local-transaction", "needs-xa"}),
    "a selector": ('for messages with "', {"needs-selector"}),
    "a delay": ("delivery delay of", {"needs-delivery-delay"}),
    "a time to live": ("time to live of", {"needs-time-to-live", "needs-subscription-ttl"}),
    "a restart": ("broker (is|was) restarted", {"needs-restart", "needs-restart-at-level"}),
}
"""The texts of steps that need a capability, and the tags of which a scenario with such a step has one."""


@pytest.mark.parametrize("thing", NEEDED)
def test_a_scenario_names_the_capabilities_of_its_steps(thing: str) -> None:
    pattern, tags = NEEDED[thing]
    with_it = [one for one in scenario_texts() if any(re.search(pattern, step) for step in one.steps)]
    assert len(with_it) > 20
    assert [one.name for one in with_it if not (one.tags & {*tags, _OWN_PARTS} or _is_probe(one))] == []


def _is_probe(scenario: ScenarioText) -> bool:
    """Return whether the scenario looks for a capability, declared or not."""
    return any(tag.startswith("probe-") for tag in scenario.tags)
