"""Finds scenarios, steps and step arguments that pytest would ignore silently, so that a run would pass without them.

Gherkin reads a line without a keyword as a description: ``given the queue ...`` after ``Scenario:``, or, before the
first scenario of a feature or a rule, ``Scenaro: ...`` and the steps below it.  pytest-bdd passes a table or a text
under a step only to a step function with a parameter for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from gherkin.dialect import Dialect
from msgspec import Struct
from pytest_bdd.parser import ScenarioTemplate
from pytest_bdd.steps import step_function_context_registry

from assay_features.gherkin import document_of

_ALIKE = 0.7
"""The least likeness, from 0 to 1, of a mistyped word and its keyword: ``Gven`` and ``Given`` have 0.89."""
_ALIKE_PART = 0.85
"""The least likeness, from 0 to 1, of a keyword that begins a part and its mistyped form, such as ``Scenaro``.

It is above 0.77, the likeness of ``Background story`` and ``Background``, because ``Background story`` is no mistake.
"""
_HEADING = re.compile(r"([^\W\d_][\w -]*?)\s*:(?:\s|$)")
"""The form of a line that begins a part of a feature, such as ``Scenario: It arrives``."""


class _Line(Struct, frozen=True):
    """A line of the description of a scenario or of a background.

    Args:
        owner: The line of the scenario; None for a background, which belongs to several scenarios.
        number: The number of this line.
        text: The line's text.
        keyword: The keyword that the line's first word resembles.
    """

    owner: int | None
    number: int
    text: str
    keyword: str

    @property
    def rest(self) -> str:
        """The line's text without its first word."""
        return self.text.partition(" ")[2].strip()


def lost_steps(template: ScenarioTemplate, place: str) -> Iterator[str]:
    """Return errors for lines of descriptions that look like steps or like headings of scenarios (``Scenaro: ...``).

    Gherkin reads these lines as text of a description, so pytest would not run them.  Each error is one sentence, with
    the file and the line's number.

    Args:
        template: The scenario.
        place: The feature file's name for the user.
    """
    text = Path(template.feature.filename).read_text(encoding="utf-8")
    yield from lost_parts(text, place)
    for line in _described(text):
        if line.owner in {None, template.line_number} and _is_step(line.rest):
            yield (
                f"{place}:{line.number}: Gherkin reads {line.text!r} as a description, so pytest would not run it;"
                f" begin the step with {line.keyword}."
            )


def lost_parts(text: str, place: str) -> Iterator[str]:
    """Return an error for each description of a feature or a rule that contains steps.

    Gherkin reads every line before the first part that it recognises as the description.  So a scenario or a background
    with a mistyped keyword there would be lost with all its steps.  Each error is one sentence, with the file and the
    number of the line to correct.

    Args:
        text: The text of a feature file with a feature, in which Gherkin finds no mistake.
        place: The feature file's name for the user.
    """
    dialect, descriptions = _part_descriptions(text)
    parts = _part_keywords(dialect)
    steps = tuple(word for kind in _step_keywords(dialect) for word in kind if word != "* ")
    for description in descriptions:
        for (number, line), (_, below) in pairwise([*description, (0, "")]):
            told = f"{place}:{number}: Gherkin reads {line!r} as a description, so pytest would not run"
            heading = _HEADING.match(line)
            near = get_close_matches(heading[1].casefold(), parts, n=1, cutoff=_ALIKE_PART) if heading else []
            if near and below.startswith(steps):
                yield f"{told} the steps below it; begin the line with `{parts[near[0]]}:`."
                break
            if line.startswith(steps) and _is_step(line.partition(" ")[2].strip()):
                yield f"{told} it; write `{dialect.scenario_keywords[-1]}:` above the steps."
                break


def lost_arguments(template: ScenarioTemplate, speaks: Callable[[str], bool]) -> Iterator[str]:
    """Return a sentence for each step of the kit's vocabulary that has a table or a text under it.

    No step of the vocabulary takes a table or a text.

    Args:
        template: The scenario.
        speaks: Returns whether a step's text belongs to the kit's vocabulary.
    """
    for step in template.steps:
        given = "a table" if step.datatable else "a text" if step.docstring is not None else ""
        if given and speaks(step.name):
            yield f"the step {step.name!r} has {given} under it, but takes none; write its options in the step."


@lru_cache(maxsize=64)
def _described(text: str) -> tuple[_Line, ...]:
    """Find the lines of descriptions that may be steps; cached, because each scenario of a feature asks for them."""
    feature = document_of(text)["feature"]
    keywords = {word.strip() for kind in _step_keywords(_dialect(feature)) for word in kind} - {"*"}
    by_lower = {word.casefold(): word for word in sorted(keywords)}
    lines = text.splitlines()
    return tuple(
        _Line(owner, number, line, by_lower[alike])
        for owner, number in _numbers(feature, lines)
        if (line := lines[number - 1].strip())
        for alike in get_close_matches(line.partition(" ")[0].casefold(), by_lower, n=1, cutoff=_ALIKE)
    )


def _numbers(node: Any, lines: list[str]) -> Iterator[tuple[int | None, int]]:
    """Find the descriptions of scenarios and backgrounds.

    Yields:
        The line of the scenario (None for a background), and the number of a line of its description.
    """
    for child in node["children"]:
        if "rule" in child:
            yield from _numbers(child["rule"], lines)
            continue
        kind = "background" if "background" in child else "scenario"
        part = child[kind]
        begin = part["location"]["line"]
        owner = None if kind == "background" else begin
        for number in _lines_of(begin, part["description"], lines):
            yield owner, number


def _lines_of(begin: int, description: str, lines: list[str]) -> list[int]:
    """Return the numbers of the lines of a description that follows line ``begin``."""
    described = {line.strip() for line in description.splitlines()}
    found: list[int] = []
    for number in range(begin + 1, len(lines) + 1):
        text = lines[number - 1].strip()
        if text and not text.startswith("#") and text not in described:
            break
        found.append(number)
    return found


@lru_cache(maxsize=64)
def _part_descriptions(text: str) -> tuple[Dialect, tuple[tuple[tuple[int, str], ...], ...]]:
    """Find the descriptions of a feature and its rules; cached, because each scenario of a feature asks for them.

    Returns:
        The feature's dialect, and for each description the numbers and texts of its lines.
    """
    feature = document_of(text)["feature"]
    nodes = [feature, *(child["rule"] for child in feature["children"] if "rule" in child)]
    lines = text.splitlines()
    return _dialect(feature), tuple(
        tuple(
            (number, line)
            for number in _lines_of(node["location"]["line"], node["description"], lines)
            if (line := lines[number - 1].strip())
        )
        for node in nodes
    )


def _dialect(feature: Any) -> Dialect:
    dialect = Dialect.for_name(feature["language"])
    if dialect is None:
        raise LookupError(f"Gherkin has read a feature in {feature['language']!r} but has no keywords for it.")
    return dialect


def _step_keywords(dialect: Dialect) -> tuple[list[str], ...]:
    return (
        dialect.given_keywords,
        dialect.when_keywords,
        dialect.then_keywords,
        dialect.and_keywords,
        dialect.but_keywords,
    )


def _part_keywords(dialect: Dialect) -> dict[str, str]:
    """Return the keywords of backgrounds, scenarios, outlines and rules, by their forms in lower case."""
    kinds = (dialect.background_keywords, dialect.scenario_keywords, dialect.scenario_outline_keywords)
    return {word.casefold(): word for kind in (*kinds, dialect.rule_keywords) for word in kind}


def _is_step(text: str) -> bool:
    """Return whether a text is a step of the kit or of the user, even if one of the step's words is invalid."""
    for context in tuple(step_function_context_registry.values()):
        try:
            if context.parser.is_matching(text):
                return True
        except (LookupError, ValueError):
            return True
    return False
