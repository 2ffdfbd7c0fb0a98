"""Tests for failures grouped by their cause, on the start page and on a rule's page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay_reports.views.causes import grouped, pattern_of

pytest_plugins = ["tests.cli.conftest"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"m1" was seen 1.5 s before its delay was over', '"m2" was seen 998 ms before its delay was over'),
        ("queue assay.1a2b3c4d.q has 2 messages", "queue assay.99aabbcc.q has 13 messages"),
        ("it was seen 2 times", "it was seen  3\n times"),
    ],
)
def test_reasons_that_differ_in_names_and_numbers_are_one_cause(one: str, other: str) -> None:
    assert pattern_of(one) == pattern_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("it was never seen", "it was seen twice"), ('"a" was refused', '"a" was accepted'), ("", "it was lost")],
)
def test_reasons_that_differ_in_their_words_are_two(one: str, other: str) -> None:
    assert pattern_of(one) != pattern_of(other)


def test_groups_stand_in_the_order_of_their_first_item() -> None:
    assert grouped("abcab", lambda letter: (letter,)) == (("a", "a"), ("b", "b"), ("c",))


def test_many_failures_of_one_defect_are_a_few_causes_with_one_open_each(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--out", tmp_path / "out", "--rule", "DD-02", "--defect", "early-delivery")
    assert ended.code is Exit.NOT_AS_EXPECTED
    page = (tmp_path / "out" / "report" / "rules" / "DD-02.html").read_text(encoding="utf-8")
    failed = re.findall(r'<details class="scenario fail" id="([^"]+)"( open)?>', page)
    listed = re.search(r'<nav class="causes".*?</nav>', page, re.DOTALL)
    assert listed is not None
    links = re.findall(r'href="#([^"]+)"', listed[0])
    assert sorted(anchor for anchor, _ in failed) == sorted(set(links))
    causes = listed[0].count("<ol>") and len(re.findall(r'<span class="verdict fail small">', listed[0]))
    assert 1 <= causes < len(failed)
    assert sum(bool(is_open) for _, is_open in failed) == causes
