"""A fast search for the definition of a step.

For every step, pytest-bdd reads every fixture of pytest, and makes a fixture from the definition that it finds.  With
the kit's vocabulary, this took more than half of a run's time.  The definitions that a module sees do not change while
its scenarios run.  So this search reads them once for each module, and parses only definitions whose longest word is in
the step.  The search finds the definition that pytest-bdd would find: of several matching definitions, the one nearest
to the scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from msgspec import Struct
from pytest_bdd import parsers
from pytest_bdd.compat import get_fixture_names, getfixturedefs
from pytest_bdd.parser import Step
from pytest_bdd.scenario import iterparentnodeids
from pytest_bdd.steps import StepFunctionContext, step_function_context_registry
from pytest_bdd.types import STEP_TYPES

from assay_steps.plugin.steps.current_step import CURRENT_STEP
from assay_steps.vocabulary import VOCABULARY
from assay_steps.words.mistakes import MistakeError

# `pytest_bdd.scenario` would be the package's function of that name, not the module.
_SEARCH = import_module("pytest_bdd.scenario")
_NAME = "get_step_function"
_FIELD = re.compile(r"\{[^}]*\}")


class _Candidate(Struct, frozen=True, eq=False):
    definition: Any
    context: StepFunctionContext
    begins: str
    has: str


class StepLookup:
    """A pytest plugin that replaces pytest-bdd's search for step definitions during a session."""

    def __init__(self) -> None:
        self._visible: WeakKeyDictionary[Any, tuple[_Candidate, ...]] = WeakKeyDictionary()
        self._found: WeakKeyDictionary[Any, dict[tuple[str, str], StepFunctionContext | None]] = WeakKeyDictionary()
        self._before = getattr(_SEARCH, _NAME)

    def pytest_sessionstart(self) -> None:
        """Replace pytest-bdd's search."""
        setattr(_SEARCH, _NAME, self.find)

    def pytest_sessionfinish(self) -> None:
        """Restore pytest-bdd's search."""
        setattr(_SEARCH, _NAME, self._before)

    def find(self, request: pytest.FixtureRequest, step: Step) -> StepFunctionContext | None:
        """Find the definition that matches a step and is visible to the scenario; None if no definition does.

        Raises:
            MistakeError: No definition matches, but one would match without an invalid word of the step, such as an
                unknown name.
        """
        node = request.node
        current = node.stash.get(CURRENT_STEP, None)
        if current is not None:
            current.begin(step)
        found = self._found.setdefault(node.parent, {})
        key = step.type, step.name
        if key not in found:
            problems: list[str] = []
            matches = sorted(self._matching(step, request, problems), key=_nearness)
            if problems and not matches:
                raise MistakeError(problems[0])
            found[key] = matches[-1].context if matches else None
        return found[key]

    def _matching(self, step: Step, request: pytest.FixtureRequest, problems: list[str]) -> Iterator[_Candidate]:
        name = step.name.casefold()
        for one in self._candidates(request):
            if one.context.type is not None and one.context.type != step.type:
                continue
            if one.has not in name or not name.startswith(one.begins):
                continue
            try:
                fits = one.context.parser.is_matching(step.name)
            except (LookupError, ValueError) as problem:  # a word of the step is not valid for its type
                problems.append(str(problem))
            else:
                if fits:
                    yield one

    def _candidates(self, request: Any) -> tuple[_Candidate, ...]:
        module = request.node.parent
        known = self._visible.get(module)
        if known is None:
            # pytest has no public list of all fixtures; pytest-bdd's own search uses the same private attribute.
            known = self._visible[module] = tuple(_visible(request._fixturemanager, request.node))  # noqa: SLF001 - see above
        return known


def _visible(fixturemanager: Any, node: pytest.Item) -> Iterator[_Candidate]:
    for name in get_fixture_names(fixturemanager=fixturemanager):
        for definition in getfixturedefs(fixturemanager, name, node) or ():
            context = step_function_context_registry.get(definition.func)
            if context is not None:
                _remember_signature(context)
                yield _Candidate(definition, context, _beginning(context), _longest_word(context))


def _nearness(one: _Candidate) -> list[str]:
    """Return a sort key with which the definition nearest to the scenario comes last, as in pytest-bdd."""
    return list(iterparentnodeids(one.definition.baseid))


def _remember_signature(context: StepFunctionContext) -> None:
    """Cache the signature on the function, because pytest and pytest-bdd call `inspect` at each call of the step."""
    function = context.step_func
    if not hasattr(function, "__signature__"):
        vars(function)["__signature__"] = signature(function)


def _beginning(context: StepFunctionContext) -> str:
    """Return the text before a definition's first field, in lower case; empty for a parser other than `parse`."""
    return context.parser.name.partition("{")[0].casefold() if isinstance(context.parser, parsers.parse) else ""


def _longest_word(context: StepFunctionContext) -> str:
    """Return the longest word in lower case that every step of a definition contains; empty if none is certain."""
    name = context.parser.name.casefold()
    if not isinstance(context.parser, parsers.parse) or "{{" in name or "}}" in name:
        return ""
    words = _FIELD.sub("{}", name).split()
    return max((word for word in words if "{}" not in word), key=len, default="")


def is_ours(text: str) -> bool:
    """Return whether a text matches a step of the kit's vocabulary, even if one of its words is invalid."""
    return any(_fits(context, text) for context in vocabulary())


def keywords_of(text: str) -> tuple[str, ...]:
    """Return the keywords, such as ``Given``, under which the kit's vocabulary has a step with this text."""
    types = {context.type for context in vocabulary() if context.type is not None and _fits(context, text)}
    return tuple(name.capitalize() for name in STEP_TYPES if name in types)


@cache
def vocabulary() -> tuple[StepFunctionContext, ...]:
    """Return every step definition of the kit's vocabulary."""
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
