"""Finds steps and step arguments that pytest would ignore without a warning, so that a scenario could pass.

Gherkin reads a line without a keyword as a description: ``given the queue ...`` after ``Scenario:``.  pytest-bdd passes
a table or a text under a step only to a step function with a parameter for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from gherkin.dialect import Dialect
from gherkin.parser import Parser
from msgspec import Struct
from pytest_bdd.parser import ScenarioTemplate
from pytest_bdd.steps import step_function_context_registry

_ALIKE = 0.7
"""The least likeness, from 0 to 1, of a mistyped word and its keyword: ``Gven`` and ``Given`` have 0.89."""


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
    """Report each line of a description that looks like a step, one sentence each, with file and line.

    Args:
        template: The scenario.
        place: The feature file's name for the user.
    """
    for line in _described(Path(template.feature.filename).read_text(encoding="utf-8")):
        if line.owner in {None, template.line_number} and _is_step(line.rest):
            yield (
                f"{place}:{line.number}: Gherkin reads {line.text!r} as a description, so pytest would not run it;"
                f" begin the step with {line.keyword}."
            )


def lost_arguments(template: ScenarioTemplate, speaks: Callable[[str], bool]) -> Iterator[str]:
    """Report each step of the kit's vocabulary with a table or a text under it, one sentence each.

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
    feature = Parser().parse(text)["feature"]
    dialect = Dialect.for_name(feature["language"])
    if dialect is None:
        raise LookupError(f"Gherkin has read a feature in {feature['language']!r} but has no keywords for it.")
    kinds = (dialect.given_keywords, dialect.when_keywords, dialect.then_keywords, dialect.and_keywords)
    keywords = {word.strip() for kind in (*kinds, dialect.but_keywords) for word in kind} - {"*"}
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
        described = {line.strip() for line in part["description"].splitlines()}
        for number in range(begin + 1, len(lines) + 1):
            text = lines[number - 1].strip()
            if text and not text.startswith("#") and text not in described:
                break
            yield owner, number


def _is_step(text: str) -> bool:
    """Return whether a step definition, the kit's or the user's own, matches a text."""
    for context in tuple(step_function_context_registry.values()):
        try:
            if context.parser.is_matching(text):
                return True
        except (LookupError, ValueError):
            return True
    return False
