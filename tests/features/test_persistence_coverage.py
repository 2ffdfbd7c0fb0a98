"""Tests that the tables of docs/persistence-coverage.md agree with the features."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from gherkin.parser import Parser

from assay_features.folder import feature_root

HOLDERS = ("queue", "durable active", "durable inactive", "non-durable active", "non-durable later")
MODES = ("persistent", "non-persistent")
FATES = ("no restart", "orderly restart", "kill")
NEEDS = {
    "no restart": frozenset[str](),
    "orderly restart": frozenset({"@needs-restart"}),
    "kill": frozenset({"@needs-kill", "@needs-kill-at-answer", "@needs-kill-at-first-sight"}),
}
DOCUMENT = Path(__file__).parents[2] / "docs" / "persistence-coverage.md"
FIRST, SECOND = DOCUMENT.read_text(encoding="utf-8").split("\n## ")
QUALITIES = ("at-most-once", "at-least-once")
KINDS = ("durable", "non-durable")
HEADERS = {"absent": "no durable header", "false": "the durable header false", "true": "the durable header true"}
RULE = re.compile(r"@[A-Z]{2}-\d+")
OUTCOMES = ("persistent", "non-persistent", "recorded")


class Row(NamedTuple):
    """A row of the first table."""

    holder: str
    mode: str
    fate: str
    rule: str
    scenario: str


class Written(NamedTuple):
    """A scenario, or one row of an outline, with the row's values in its text."""

    rule: str
    scenario: str
    tags: frozenset[str]
    text: str


def table() -> list[Row]:
    """Return the rows of the first table."""
    return [Row(*cells) for cells in _cells(FIRST)]


def _cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


@cache
def written(topic: str = "persistence") -> list[Written]:
    """Return every scenario of a topic's features, and every row of an outline."""
    found: list[Written] = []
    for path in sorted((feature_root() / topic).glob("*.feature")):
        document: Any = Parser().parse(path.read_text(encoding="utf-8"))
        for child in document["feature"]["children"]:
            rule = child["rule"]
            rule_tags = frozenset(tag["name"] for tag in rule["tags"])
            (rule_id,) = (tag.removeprefix("@") for tag in rule_tags if RULE.fullmatch(tag))
            for inner in rule["children"]:
                found += _rows(rule_id, rule_tags, inner["scenario"])
    return found


def _rows(rule: str, inherited: frozenset[str], scenario: Any) -> list[Written]:
    tags = inherited | {tag["name"] for tag in scenario["tags"]}
    steps = "\n".join(step["text"] for step in scenario["steps"])
    rows: list[Written] = []
    for examples in scenario["examples"]:
        names = [cell["value"] for cell in examples["tableHeader"]["cells"]]
        own = tags | {tag["name"] for tag in examples["tags"]}
        for body in examples["tableBody"]:
            text = steps
            for name, cell in zip(names, body["cells"], strict=True):
                text = text.replace(f"<{name}>", cell["value"])
            rows.append(Written(rule, scenario["name"], own, text))
    return rows or [Written(rule, scenario["name"], tags, steps)]


def covers(one: Written, row: Row) -> bool:
    """Check whether a scenario, or row of an outline, has the send and the fault of a row of the first table."""
    light = "with delivery mode non-persistent" in one.text
    hurt = {tag for needs in NEEDS.values() for tag in needs & one.tags}
    fits = bool(hurt & NEEDS[row.fate]) if NEEDS[row.fate] else not hurt
    return (one.rule, one.scenario) == (row.rule, row.scenario) and light == (row.mode == "non-persistent") and fits


def test_the_table_has_every_cell() -> None:
    assert {row[:3] for row in table()} == set(product(HOLDERS, MODES, FATES))


@pytest.mark.parametrize("row", table(), ids=" / ".join)
def test_the_scenario_of_a_cell_sends_so_and_hurts_the_broker_so(row: Row) -> None:
    assert any(covers(one, row) for one in written())


@pytest.mark.parametrize("row", table(), ids=" / ".join)
def test_the_scenario_of_a_cell_has_the_holder_of_the_cell(row: Row) -> None:
    words = {
        "queue": ("the queue",),
        "durable active": ("a durable subscriber",),
        "durable inactive": ("a durable subscriber", "is inactive"),
        "non-durable active": ("a non-durable subscriber",),
        "non-durable later": ("a non-durable subscriber", "subscribes to the topic"),
    }[row.holder]
    (text,) = {one.text for one in written() if covers(one, row)}
    assert all(word in text for word in words)


def test_the_table_of_qualities_has_every_cell() -> None:
    cells = [tuple(row[:4]) for row in _cells(SECOND)]
    assert sorted(cells) == sorted(product(QUALITIES, KINDS, HEADERS, ("YES", "NO")))


@pytest.mark.parametrize("row", _cells(SECOND), ids=" / ".join)
def test_a_scenario_tries_each_cell_of_the_table_of_qualities(row: list[str]) -> None:
    quality, kind, header, defpsist, outcome, _ = row
    words = (f"DEFPSIST({defpsist})", f"quality of service {quality}", f"with {HEADERS[header]}")
    found = [
        one.text
        for one in written("qos")
        if one.rule == "QS-36"
        and all(word in one.text for word in words)
        and not any(terms in one.text for terms in ("that lives for", "shared subscription"))
        and ("a durable subscription" in one.text) is (kind == "durable")
    ]
    assert outcome in OUTCOMES
    assert len(found) == 1
    assert f"on the queue of the subscription to the topic is {outcome}" in found[0]
