"""Checks for mistakes that pytest does not report: scenarios not collected, steps not awaited, real sleeps.

`assay_steps.plugin.collection`, `assay_steps.plugin.hooks` and `assay_steps.plugin.steps.recorder` run the checks.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.expression import Expression
from msgspec import Struct

from assay_evidence.figures import counted
from assay_features.gherkin import document_of, feature_in

NEVER_AWAITED = "coroutine .* was never awaited"

Counts = Counter[tuple[str, str]]
"""The number of scenarios by feature file and name; each row of an outline counts."""


def check_expressions(config: pytest.Config) -> None:
    """Check the expressions of ``-k`` and ``-m`` before pytest-xdist's workers start.

    If a worker found the mistake, the run would crash instead of reporting it.

    Raises:
        pytest.UsageError: An expression is wrong; the error has the text that pytest itself would show.
    """
    for option, expression in (("-k", config.option.keyword), ("-m", config.option.markexpr)):
        try:
            Expression.compile(expression or "_")
        except SyntaxError as fault:
            where = f"{expression}: at column {fault.offset}: {fault.msg}"
            raise pytest.UsageError(f"Wrong expression passed to '{option}': {where}") from fault


def written(features: Iterable[Path]) -> Counts:
    """Count the scenarios in feature files with Gherkin's own parser, to compare them with pytest-bdd's collection."""
    counts: Counts = Counter()
    for path in sorted(set(features)):
        for name, rows in _written(path.read_text(encoding="utf-8")):
            counts[str(path), name] += rows
    return counts


@lru_cache(maxsize=1024)
def _written(text: str) -> tuple[tuple[str, int], ...]:
    """Return the names of a feature's scenarios, each with its number of rows.

    Cached, because each trial of a defect asks for it.
    """
    found: list[tuple[str, int]] = []
    for child in document_of(text)["feature"]["children"]:
        for scenario in _scenarios(child):
            rows = sum(len(table.get("tableBody", ())) for table in scenario["examples"])
            found.append((scenario["name"], rows if scenario["examples"] else 1))
    return tuple(found)


def _scenarios(child: Any) -> Iterator[Any]:
    if "scenario" in child:
        yield child["scenario"]
    for inner in child.get("rule", {}).get("children", ()):
        yield from _scenarios(inner)


class TaggedScenario(Struct, frozen=True):
    """A scenario of a feature file, or one Examples table of a scenario outline.

    Args:
        feature: The feature file.
        line: The line of the scenario's keyword.
        name: The scenario's name.
        tags: The tags of the scenario, with those that it inherits, without the @.
        rows: The number of tests that pytest makes of it.
    """

    feature: Path
    line: int
    name: str
    tags: frozenset[str]
    rows: int


def tagged_scenarios(path: Path) -> Iterator[TaggedScenario]:
    """Find the scenarios of a feature file with their tags; each Examples table of an outline is one entry."""
    feature = feature_in(path)
    for child in feature["children"]:
        yield from _tagged(path, child, _tags(feature))


def rule_counts(features: Iterable[Path]) -> Counter[str]:
    """Count the scenarios with each tag, such as a rule's id; each row of an outline counts."""
    counts: Counter[str] = Counter()
    for path in sorted(set(features)):
        for scenario in tagged_scenarios(path):
            counts.update(dict.fromkeys(scenario.tags, scenario.rows))
    return counts


def _tagged(path: Path, child: Any, inherited: frozenset[str]) -> Iterator[TaggedScenario]:
    if "scenario" in child:
        scenario = child["scenario"]
        tags, line, name = inherited | _tags(scenario), scenario["location"]["line"], scenario["name"]
        for table in scenario["examples"]:
            yield TaggedScenario(path, line, name, tags | _tags(table), len(table.get("tableBody", ())))
        if not scenario["examples"]:
            yield TaggedScenario(path, line, name, tags, 1)
    for inner in child.get("rule", {}).get("children", ()):
        yield from _tagged(path, inner, inherited | _tags(child["rule"]))


def _tags(node: Any) -> frozenset[str]:
    return frozenset(tag["name"].removeprefix("@") for tag in node["tags"])


def missing_scenarios(expected: Counts, collected: Counts) -> list[str]:
    """Return a sentence for each scenario that pytest collected more or less often than its file contains it."""
    return [
        f"{path}: scenario {name!r} {_uncollected(expected[path, name], collected[path, name])}"
        for path, name in sorted(expected.keys() | collected.keys())
        if expected[path, name] != collected[path, name]
    ]


def _uncollected(written: int, collected: int) -> str:
    if not written:
        return "has no row in its Examples, so it would test nothing: add a row, or delete the scenario."
    told = f"is written {counted(written, 'time')} and was collected {counted(collected, 'time')}"
    if collected > written:
        return f"{told}: bind each feature in one test module."
    return f"{told}: give each scenario of a file a name of its own."


def duplicate_names(features: Iterable[tuple[str, str]]) -> list[str]:
    """Return a sentence for each name that several feature files share, because their scenario ids would be equal.

    Args:
        features: The path of each feature file, and its name in scenario ids.
    """
    paths: dict[str, set[str]] = {}
    for path, name in features:
        paths.setdefault(name, set()).add(path)
    return [
        f"{' and '.join(sorted(found))} are both called {name} in the verdicts: "
        "start in a folder that holds them all, or rename one."
        for name, found in sorted(paths.items())
        if len(found) > 1
    ]


def refuse_coroutine(step: Callable[..., object]) -> None:
    """Refuse an ``async def`` step, because pytest-bdd would not await it and the step would pass.

    Raises:
        TypeError: The step is a coroutine function.
    """
    if iscoroutinefunction(step):
        raise TypeError(
            f"Step {step.__module__}.{step.__name__} is a coroutine, and pytest-bdd does not await it: "
            "make it a function."
        )


@contextmanager
def require_awaits() -> Generator[None, None, None]:
    """Raise an error at the end of the block if a coroutine object was never awaited, because Python only warns.

    Raises:
        TypeError: A coroutine object that the block created was never awaited.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=NEVER_AWAITED, category=RuntimeWarning)
        yield
    for warning in caught:
        text = str(warning.message)
        if re.match(NEVER_AWAITED, text):
            raise TypeError(f"{text}: a step must not create a coroutine without running it.")
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


@contextmanager
def forbid_sleep() -> Generator[None, None, None]:
    """Make `time.sleep` and `asyncio.sleep` raise an error in this thread, inside the `with` block.

    Scenarios must wait through the runner.  Other threads, such as a library's, may sleep.
    """
    thread = threading.get_ident()
    kept = time.sleep, asyncio.sleep

    def refused(sleep: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(*arguments: Any, **named: Any) -> Any:
            if threading.get_ident() != thread:
                return sleep(*arguments, **named)
            raise RuntimeError("A step called a real sleep; use a step that waits through the backend's runner.")

        return refuse

    time.sleep, asyncio.sleep = refused(kept[0]), refused(kept[1])
    try:
        yield
    finally:
        time.sleep, asyncio.sleep = kept
