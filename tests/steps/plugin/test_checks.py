"""Tests of the plugin's guards against scenarios that would pass without a check."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

from assay_features import feature_root
from assay_steps.plugin import checks

FEATURE = """\
Feature: Two of one name
  Scenario: Outside
    Given a
  Rule: One
    Background:
      Given nothing
    Scenario: Same
      Given a
    Scenario Outline: Row <n>
      Given <n>
      Examples:
        | n |
        | 1 |
        | 2 |
      Examples:
        | n |
        | 3 |
  Rule: Two
    Scenario: Same
      Given b
"""


@pytest.fixture
def feature(tmp_path: Path) -> Path:
    path = tmp_path / "twice.feature"
    path.write_text(FEATURE)
    return path


def test_gherkin_counts_scenarios_rows_and_namesakes(feature: Path) -> None:
    counts = checks.written([feature, feature])
    assert counts == Counter({(str(feature), "Outside"): 1, (str(feature), "Same"): 2, (str(feature), "Row <n>"): 3})


def test_a_scenario_that_another_of_its_name_hides_is_told(feature: Path) -> None:
    written = checks.written([feature])
    collected = written.copy()
    collected[str(feature), "Same"] = 1
    (told,) = checks.missing_scenarios(written, collected)
    assert "'Same' is written 2 times and was collected 1 time" in told
    assert "give each scenario of a file a name of its own" in told
    assert checks.missing_scenarios(written, written) == []


def test_every_scenario_of_the_kit_has_a_name_of_its_own_in_its_file() -> None:
    for path in feature_root().rglob("*.feature"):
        lines = [line.strip() for line in path.read_text().splitlines()]
        names = Counter(line for line in lines if line.startswith(("Scenario:", "Scenario Outline:")))
        assert [name for name, count in names.items() if count > 1] == [], path


def test_a_coroutine_function_is_no_step() -> None:
    async def step() -> None:
        await asyncio.sleep(0)

    with pytest.raises(TypeError, match="is a coroutine, and pytest-bdd does not await it: make it a function"):
        checks.refuse_coroutine(step)
    checks.refuse_coroutine(len)


def test_a_coroutine_that_was_dropped_is_an_error() -> None:
    async def dropped() -> None:
        await asyncio.sleep(0)

    with pytest.raises(TypeError, match=r"dropped.* was never awaited"), checks.require_awaits():
        dropped()  # type: ignore[unused-coroutine]  # dropping it is what is tested


def test_other_warnings_pass_through_the_guard() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with checks.require_awaits():
            warnings.warn("something else", UserWarning, stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["something else"]


def test_the_sleeping_functions_raise_while_the_guard_lasts() -> None:
    kept = time.sleep, asyncio.sleep
    with checks.forbid_sleep():
        with pytest.raises(RuntimeError, match="called a real sleep"):
            time.sleep(0)
        with pytest.raises(RuntimeError, match="called a real sleep"):
            asyncio.sleep(0)  # type: ignore[unused-coroutine]  # it raises before there is one
    assert (time.sleep, asyncio.sleep) == kept


def test_the_guard_ends_with_an_error_too() -> None:
    kept = time.sleep
    with pytest.raises(LookupError), checks.forbid_sleep():
        raise LookupError
    assert time.sleep is kept
