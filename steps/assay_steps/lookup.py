"""Finding the step definition of a step, quickly.

pytest-bdd asks pytest about every fixture for every step: with a vocabulary of this size that was more than half of a
run.  What is visible to a module does not change while its scenarios run, so it is asked once for each module, and a
definition whose text begins otherwise is not parsed at all.  The rules of pytest and pytest-bdd stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from msgspec import Struct
from pytest_bdd import parsers
from pytest_bdd.compat import get_fixture_names, getfixturedefs
from pytest_bdd.parser import Step
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry

from assay_steps.mistakes import MistakeError
from assay_steps.trail import TRAIL
from assay_steps.vocabulary import VOCABULARY

# Not `pytest_bdd.scenario`: the package has a function of that name.
_SEARCH = import_module("pytest_bdd.scenario")
_NAME = "find_fixturedefs_for_step"


class _Candidate(Struct, frozen=True, eq=False):
    definition: Any
    context: StepFunctionContext
    begins: str


class StepLookup:
    """A pytest plugin that takes the place of pytest-bdd's search while a session lasts."""

    def __init__(self) -> None:
        self._visible: WeakKeyDictionary[Any, tuple[_Candidate, ...]] = WeakKeyDictionary()
        self._found: WeakKeyDictionary[Any, dict[tuple[str, str], tuple[Any, ...]]] = WeakKeyDictionary()
        self._before = getattr(_SEARCH, _NAME)

    def pytest_sessionstart(self) -> None:
        """From now on steps are found so."""
        setattr(_SEARCH, _NAME, self.find)

    def pytest_sessionfinish(self) -> None:
        """Steps are found as before."""
        setattr(_SEARCH, _NAME, self._before)

    def find(self, step: Step, fixturemanager: Any, node: Any) -> tuple[Any, ...]:
        """The definitions that can parse a step and are visible to a node.

        Raises:
            MistakeError: A definition would fit, but for a word that names nothing.
        """
        trail = node.stash.get(TRAIL, None)
        if trail is not None:
            trail.come_to(step)
        found = self._found.setdefault(node.parent, {})
        key = step.type, step.name
        if key not in found:
            problems: list[str] = []
            matches = tuple(self._matching(step, fixturemanager, node, problems))
            if problems and not matches:
                raise MistakeError(problems[0])
            found[key] = matches
        return found[key]

    def _matching(self, step: Step, fixturemanager: Any, node: Any, problems: list[str]) -> Iterator[Any]:
        name = step.name.casefold()
        for one in self._candidates(fixturemanager, node):
            if one.context.type is not None and one.context.type != step.type:
                continue
            if not name.startswith(one.begins):
                continue
            try:
                fits = one.context.parser.is_matching(step.name)
            except (LookupError, ValueError) as problem:  # a word of the step is none of its kind
                problems.append(str(problem))
            else:
                if fits:
                    yield one.definition

    def _candidates(self, fixturemanager: Any, node: pytest.Item) -> tuple[_Candidate, ...]:
        module = node.parent
        known = self._visible.get(module)
        if known is None:
            known = self._visible[module] = tuple(_visible(fixturemanager, node))
        return known


def _visible(fixturemanager: Any, node: pytest.Item) -> Iterator[_Candidate]:
    for name in get_fixture_names(fixturemanager=fixturemanager):
        for definition in getfixturedefs(fixturemanager, name, node) or ():
            context = step_function_context_registry.get(definition.func)
            if context is not None:
                yield _Candidate(definition, context, _beginning(context))


def _beginning(context: StepFunctionContext) -> str:
    """What every step that this definition parses begins with, whatever its case; empty for other kinds of parsers."""
    return context.parser.name.partition("{")[0].casefold() if type(context.parser) is parsers.parse else ""


def is_ours(text: str) -> bool:
    """Whether a step's text fits a step of the kit's vocabulary, even where one of its words names nothing."""
    return any(_fits(context, text) for context in vocabulary())


@cache
def vocabulary() -> tuple[StepFunctionContext, ...]:
    """Every step definition of the kit's vocabulary."""
    markers = (marker for name in VOCABULARY for marker in vars(import_module(name)).values())
    functions = (getattr(marker, "_get_wrapped_function", None) for marker in markers)
    found = (step_function_context_registry.get(function()) for function in functions if function is not None)
    return tuple(context for context in found if context is not None)


def _fits(context: StepFunctionContext, text: str) -> bool:
    if not text.casefold().startswith(_beginning(context)):
        return False
    try:
        return context.parser.is_matching(text)
    except (LookupError, ValueError):
        return True
