from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_broker.core.topics.topic_strings import Patterns, has_wildcards, levels

LEVEL = st.sampled_from(["", "a", "b", "+", "#", "a+", "#b"])
TOPIC = st.lists(LEVEL, min_size=1, max_size=5).map("/".join)


def fits(pattern: str, topic: str) -> bool:
    kept: Patterns[str] = Patterns()
    kept.add(pattern, 1, pattern)
    return list(kept.fitting(topic)) == [pattern]


@pytest.mark.parametrize(
    ("pattern", "topic", "expected"),
    [
        ("USA/Alaska/#", "USA/Alaska", True),
        ("USA/Alaska/#", "USA/Alaska/Juneau", True),
        ("USA/#", "USA/Alaska/Juneau/x", True),
        ("USA/#", "USAlaska", False),
        ("#", "anything/at/all", True),
        ("#/Results", "Results", True),
        ("#/Results", "IBM/Software/Results", True),
        ("IBM/#/Results", "IBM/Results", True),
        ("IBM/#/Results", "IBM/a/b/Results", True),
        ("IBM/#/Results", "IBM/a/b/Results/c", False),
        ("IBM/+/Results", "IBM/Software/Results", True),
        ("IBM/+/Results", "IBM/Results", False),
        ("USA/+", "USA/Alabama", True),
        ("USA/+", "USA/Alabama/Auburn", False),
        ("USA/+", "USA", False),
        ("USA/+", "USA/", True),
        ("+", "", True),
        ("USA#", "USA/Alaska", False),
        ("USA#", "USA#", True),
        ("a+/b", "ax/b", False),
        ("usa", "USA", False),
        ("#/#", "a", True),
        ("+/#", "a", True),
    ],
)
def test_wildcards_stand_for_whole_levels(pattern: str, topic: str, expected: bool) -> None:
    assert fits(pattern, topic) is expected


@pytest.mark.parametrize("topic", ["a/#", "#", "+/b", "a/+/b", "/+"])
def test_a_whole_level_that_is_a_wildcard_makes_a_pattern(topic: str) -> None:
    assert has_wildcards(topic)


@pytest.mark.parametrize("topic", ["a", "a#", "a+/b", "#a/b", "a/b", "/"])
def test_anything_else_is_literal(topic: str) -> None:
    assert not has_wildcards(topic)


def as_regex(pattern: str) -> re.Pattern[str]:
    """Return the regular expression with the meaning of a pattern, for topics with a separator after each level."""
    parts = {"+": "[^/]*/", "#": "(?:[^/]*/)*"}
    return re.compile("".join(parts.get(level, re.escape(level) + "/") for level in levels(pattern)))


@given(patterns=st.lists(TOPIC, max_size=6), topic=TOPIC)
def test_many_patterns_are_matched_as_each_alone_would_be(patterns: list[str], topic: str) -> None:
    kept: Patterns[int] = Patterns()
    for number, pattern in enumerate(patterns):
        kept.add(pattern, number, number)
    expected = [number for number, pattern in enumerate(patterns) if as_regex(pattern).fullmatch(topic + "/")]
    assert sorted(kept.fitting(topic)) == expected


@given(patterns=st.lists(TOPIC, max_size=6), gone=st.integers(0, 5))
def test_a_discarded_pattern_leaves_no_nodes(patterns: list[str], gone: int) -> None:
    kept: Patterns[int] = Patterns()
    for number, pattern in enumerate(patterns):
        kept.add(pattern, number, number)
    for number, pattern in enumerate(patterns):
        if number != gone:
            kept.discard(pattern, number)
            kept.discard(pattern, number)
    left = [gone] if gone < len(patterns) else []
    assert [number for pattern in patterns[gone : gone + 1] for number in kept.fitting(pattern)] == left
    assert bool(kept) is bool(left)


def test_nested_wildcards_against_a_long_topic_take_no_time() -> None:
    kept: Patterns[int] = Patterns()
    kept.add("/".join(["#", "a"] * 50), 1, 1)
    assert list(kept.fitting("/".join(["a"] * 2000))) == [1]
    assert list(kept.fitting("/".join(["a"] * 1999 + ["b"]))) == []
