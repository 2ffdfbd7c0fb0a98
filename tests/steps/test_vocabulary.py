"""docs/vocabulary.md shows every step, and each of its examples is just one step."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from assay_steps.parsing import TYPES
from assay_steps.vocabulary import VOCABULARY

PAGE = (Path(__file__).parents[2] / "docs" / "vocabulary.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith(("| Given", "| When", "| Then"))
]
STEP = re.compile(r"(Given|When|Then) `([^`]+)`")


def contexts(module: ModuleType) -> Iterator[StepFunctionContext]:
    """The steps that a module of the vocabulary defines."""
    for name, marker in vars(module).items():
        if name.startswith("pytestbdd_stepdef_"):
            yield step_function_context_registry[marker._get_wrapped_function()]


STEPS = [context for name in VOCABULARY for context in contexts(importlib.import_module(name))]


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
    functions = {step.step_func for step in matching}
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
