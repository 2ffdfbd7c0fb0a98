"""Tests that tags name the capabilities that a scenario needs; otherwise a correct broker that lacks one would fail."""

from __future__ import annotations

import re

from assay_features.dimensions._texts import scenario_texts

_PATTERN = re.compile(r'\btopic "[^"]*[#+][^"]*"')
_WILDCARDS, _OWN_PARTS = "needs-topic-wildcard", "kit"


def test_a_subscription_to_a_pattern_needs_wildcards_or_our_own_broker() -> None:
    with_patterns = [one for one in scenario_texts() if any(_PATTERN.search(step) for step in one.steps)]
    assert len(with_patterns) > 20
    assert [one.name for one in with_patterns if not one.tags & {_WILDCARDS, _OWN_PARTS}] == []
