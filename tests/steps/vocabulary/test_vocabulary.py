"""Tests that docs/vocabulary.md shows every step, and that each of its examples matches exactly one step."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from assay_sdk.model.capabilities import Capability
from assay_steps.vocabulary import VOCABULARY
from assay_steps.words.handbook import handbook
from assay_steps.words.parsing import TYPES
from assay_steps.words.send_options import OPTION_PHRASES, SendOptions, read_options
from assay_steps.words.subscription_terms import read_terms

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[3] / "docs" / "vocabulary.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith(("| Given", "| When", "| Then"))
]
STEP = re.compile(r"(Given|When|Then) `([^`]+)`")


def contexts(module: ModuleType) -> Iterator[StepFunctionContext]:
    """Return the steps that a module of the vocabulary defines."""
    for name, marker in vars(module).items():
        if name.startswith("pytestbdd_stepdef_"):
            yield step_function_context_registry[marker._get_wrapped_function()]


STEPS = [context for name in VOCABULARY for context in contexts(importlib.import_module(name))]


def test_every_step_is_in_the_handbook_and_no_other() -> None:
    shown = [phrase.partition(" ") for topic in handbook().topics for step in topic.steps for phrase in step.phrases]
    assert sorted((keyword.lower(), text) for keyword, _, text in shown) == sorted(
        (str(step.type), step.parser.name) for step in STEPS
    )


@pytest.mark.parametrize("example", [example for saying in handbook().options for example in saying.examples])
def test_every_option_of_the_handbook_is_one(example: str) -> None:
    assert read_options(example) != SendOptions()


@pytest.mark.parametrize("example", [example for saying in handbook().terms for example in saying.examples])
def test_every_term_of_the_handbook_is_one(example: str) -> None:
    read_terms(example)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in OPTION_PHRASES])
def test_every_option_is_in_the_handbook(pattern: str) -> None:
    assert any(
        re.fullmatch(pattern, one)
        for saying in handbook().options
        for example in saying.examples
        for one in re.split(r", | and ", example)
    )


def test_every_word_of_a_step_is_in_the_handbook() -> None:
    assert {word.name for word in handbook().words} == set(TYPES)


def test_every_step_is_on_the_page_and_no_other() -> None:
    shown = [(keyword.lower(), text) for row in ROWS for keyword, text in STEP.findall(row[0])]
    assert sorted(shown) == sorted((str(step.type), step.parser.name) for step in STEPS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2])
def test_a_row_says_what_its_steps_do_and_its_example_is_one_of_them(row: list[str]) -> None:
    steps, what, example = row
    assert what[0].isupper()
    text = example.strip("`")
    matching = [step for step in STEPS if step.parser.is_matching(text)]
    own = {(keyword.lower(), shown) for keyword, shown in STEP.findall(steps)}
    assert matching
    for keyword in {step.type for step in matching}:  # a When-step may wait for the condition of a Then-step
        functions = {step.step_func for step in matching if step.type == keyword}
        assert len(functions) == 1, [step.parser.name for step in matching]
    assert {(str(step.type), step.parser.name) for step in matching} <= own
    for step in matching:
        step.parser.parse_arguments(text)


@pytest.mark.parametrize("keyword", ["given", "when", "then"])
def test_no_text_stands_for_two_steps_of_one_keyword(keyword: str) -> None:
    texts = [step.parser.name for step in STEPS if step.type == keyword]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("word", TYPES)
def test_every_word_is_explained(word: str) -> None:
    words = re.search(r"## Words\n(.*?)\n## ", PAGE, re.DOTALL)
    assert words is not None
    assert re.search(rf"^\| [\w, ]*\b{word}\b", words[1], re.MULTILINE)


def test_every_capability_is_listed_and_no_other() -> None:
    section = re.search(r"## Capabilities\n(.*?)\n## ", PAGE, re.DOTALL)
    assert section is not None
    assert re.findall(r"^\| `([\w-]+)` \|", section[1], re.MULTILINE) == [one.value for one in Capability]


def test_the_feature_that_the_page_begins_with_is_a_sample_that_is_run() -> None:
    (shown,) = re.findall(r"```gherkin\n(.*?)```", PAGE, re.DOTALL)
    assert shown == (Path(__file__).parent / "samples" / "orders.feature").read_text(encoding="utf-8")


def test_the_module_that_the_page_shows_binds_that_feature(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (feature,) = re.findall(r"```gherkin\n(.*?)```", PAGE, re.DOTALL)
    (module,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    pytester.makefile(".feature", orders=feature)
    pytester.makepyfile(test_orders=module)
    plugins = ("-p", "pytest_bdd.plugin", "-p", "assay_steps.entry", "-p", "no:cacheprovider", "--assert=plain")
    pytester.runpytest_inprocess(*plugins, "test_orders.py", "--assay-out=orders-out").assert_outcomes(passed=1)
    assert (pytester.path / "orders-out" / "verdicts.json").is_file()
