"""Mistakes in a feature, reported to its author in a sentence (what, where, what to do) instead of a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import TypeVar

from pytest_bdd.parser import ScenarioTemplate

from assay_features import Catalogue, UnknownRuleError
from assay_sdk.model.capabilities import Capability

T = TypeVar("T")

NEEDS_PREFIX = "needs-"
RULE_TAG = re.compile(r"[A-Z]{2}-\d+")
"""The form of a rule's id: a tag of this form is a rule, or a mistyped one."""
SHAPED_LIKE_OURS = re.compile(rf"{RULE_TAG.pattern}|(?:{NEEDS_PREFIX}|judges-|platform-|level-|topology-).+")
"""The form of the kit's tags, known or mistyped."""


class MistakeError(LookupError):
    """A mistake in a feature; the text is one sentence for its author."""


class Cast(dict[str, T]):
    """The actors or objects that a scenario's steps have named so far.

    Args:
        kind: The kind of actor or object, such as ``session``, for the error about an unknown name.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, name: str) -> T:
        """Refuse a name that no step has made.

        Raises:
            MistakeError: Always; lists the known names.
        """
        there = f"there are {', '.join(sorted(self))}" if self else f"no step before has made a {self._kind}"
        article = "nobody" if self._kind != "message" else "no message"
        as_what = "" if self._kind == "message" else f" (as {self._kind})"
        raise MistakeError(f"{article} in this scenario is called {name}{as_what}; {there}")


def nearest(word: str, known: Iterable[str]) -> str:
    """``the nearest is X; `` if a known word is similar; otherwise empty."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.4)
    return f"the nearest is {close[0]}; " if close else ""


def of_tags(
    template: ScenarioTemplate, tags: Iterable[str], catalogue: Catalogue, *, foreign: bool = False
) -> Iterator[str]:
    """The mistakes in a scenario's tags, a sentence each.

    Args:
        template: The scenario.
        tags: All its tags.
        catalogue: The rules.
        foreign: Whether it is a team's own scenario: it may name no rule, and have the team's ids as tags (``@OR-12``).
    """
    given = sorted(tags)
    known = {rule.id for rule in catalogue.rules}
    families = {rule.id.partition("-")[0] for rule in catalogue.rules}
    told = f"scenario {template.name!r}"
    for tag in given:
        if foreign and tag.partition("-")[0] not in families and RULE_TAG.fullmatch(tag):
            continue
        if RULE_TAG.fullmatch(tag) and tag not in known:
            try:
                catalogue.rule(tag)
            except UnknownRuleError as error:
                hint = f"the nearest is {error.nearest}; " if error.nearest else ""
                yield f"{told} is tagged @{tag}, which is no rule of the catalogue; {hint}`assay rules` lists them all."
        elif tag.startswith(NEEDS_PREFIX) and tag.removeprefix(NEEDS_PREFIX) not in set(Capability):
            word = tag.removeprefix(NEEDS_PREFIX)
            hint = f"{nearest(word, Capability)}docs/vocabulary.md lists them all."
            yield f"{told} is tagged @{tag}, and there is no capability {word}; {hint}"
    if not foreign and not any(RULE_TAG.fullmatch(tag) for tag in given):
        yield f"{told} bears no rule of the catalogue; tag it or its Rule: with one, see `assay rules`."
