"""Mistakes in a feature: the feature's author gets one sentence (mistake, place, remedy) instead of a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import TypeVar

from pytest_bdd.parser import ScenarioTemplate

from assay_features import Catalogue, UnknownRuleError
from assay_sdk.model.capabilities import Capability

T = TypeVar("T")

_CAPABILITIES = frozenset(Capability)

NEEDS_PREFIX = "needs-"
PROBE_PREFIX = "probe-"
RULE_TAG = re.compile(r"[A-Z]{2}-\d+")
"""The form of a rule's id; a tag of this form is a rule's id, or a mistyped one."""
SHAPED_LIKE_OURS = re.compile(
    rf"{RULE_TAG.pattern}|(?:{NEEDS_PREFIX}|{PROBE_PREFIX}|judges-|platform-|level-|topology-).+"
)
"""The form of rules' ids and of the kit's tags with a prefix; an unknown tag of this form is a mistake."""
RULE_LIKE = re.compile(r"([a-z]{2})[-_]?0*(\d{1,3})", re.IGNORECASE)
"""A rule's id in another spelling, such as ``dd_2``."""
PLACEHOLDER = re.compile(r"<(\w(?:[\w -]*\w)?)>")
"""A placeholder in a step, such as ``<delay>``; it does not match the signs of a selector (``a < 5 and b > 3``)."""
SHORT = 6
"""The least length of a tag for which similarity to a tag of the kit counts as a typing mistake.

Shorter tags resemble each other by chance, so they may differ only in case, ``-`` and ``_``.
"""


UNNAMED = "message"
"""The label of a message that steps call only ``a message``, ``the message`` or ``it``."""


class MistakeError(LookupError):
    """A mistake in a feature; the text is one sentence for its author."""


class Cast(dict[str, T]):
    """The actors or objects of one kind that the scenario's steps have named so far.

    Args:
        kind: The kind of actor or object, such as ``session``, for the error about an unknown name.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind
        self._absent: dict[str, Exception] = {}

    def miss(self, name: str, why: Exception) -> None:
        """Note that the pair has refused to create an actor or object.

        Args:
            name: The name of the actor or object.
            why: The exception for a later step that uses the name.
        """
        self._absent[name] = why

    def __missing__(self, name: str) -> T:
        """Refuse a name under which no step has created an actor or object.

        Raises:
            MistakeError: No step has tried to create one under this name; the error lists the known names.
            Exception: The pair has refused to create the actor or object (`miss`).
        """
        if name in self._absent:
            raise self._absent[name]
        there = f"the scenario has {', '.join(sorted(self))}" if self else f"no earlier step has made a {self._kind}"
        if self._kind == "message" and name == UNNAMED:
            raise MistakeError(f"'it' and 'the message' stand for 'a message', which no earlier step has sent; {there}")
        raise MistakeError(f"no {self._kind} in this scenario is called {name}; {there}")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the hint ``the nearest is X; `` if a known word is similar; otherwise an empty text."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.4)
    return f"the nearest is {close[0]}; " if close else ""


def of_tags(
    template: ScenarioTemplate, tags: Iterable[str], catalogue: Catalogue, *, foreign: bool = False
) -> Iterator[str]:
    """Return a sentence for each mistake in a scenario's tags.

    Args:
        template: The scenario.
        tags: All tags of the scenario.
        catalogue: The rules.
        foreign: Whether the scenario belongs to a user's feature; it may have no rule, and may have the user's own ids
            as tags (``@OR-12``).
    """
    given = sorted(tags)
    told = f"scenario {template.name!r}"
    for tag in given:
        if foreign and tag.partition("-")[0] not in catalogue.families and RULE_TAG.fullmatch(tag):
            continue
        if RULE_TAG.fullmatch(tag) and tag not in catalogue.ids:
            try:
                catalogue.rule(tag)
            except UnknownRuleError as error:
                hint = f"the nearest is {error.nearest}; " if error.nearest else ""
                yield f"{told} is tagged @{tag}, which is no rule of the catalogue; {hint}`assay rules` lists all."
        elif tag.startswith(NEEDS_PREFIX) and tag.removeprefix(NEEDS_PREFIX) not in _CAPABILITIES:
            word = tag.removeprefix(NEEDS_PREFIX)
            hint = f"{nearest(word, Capability)}docs/vocabulary.md lists them all."
            yield f"{told} is tagged @{tag}, and there is no capability {word}; {hint}"
        elif tag.startswith(PROBE_PREFIX) and (foreign or tag.removeprefix(PROBE_PREFIX) not in _CAPABILITIES):
            yield f"{told} is tagged @{tag}, a tag of the kit's own probes, which have known capabilities: remove it."
    if not foreign and not any(RULE_TAG.fullmatch(tag) or tag.startswith(PROBE_PREFIX) for tag in given):
        yield f"{told} has no rule of the catalogue as a tag; tag it or its Rule: with one, see `assay rules`."


def meant_tag(tag: str, known: Iterable[str]) -> str:
    """Return the tag of the kit that a user's tag resembles; empty if it resembles none.

    A tag resembles another if they differ only in case, ``-`` and ``_``, or if it is a rule's id in another spelling.
    Tags of six characters and more also resemble each other if most letters are the same.

    Args:
        tag: A tag that the kit does not know.
        known: The kit's tags.
    """
    folded = {_folded(one): one for one in known}
    rule = RULE_LIKE.fullmatch(tag)
    written = _folded(f"{rule[1]}-{int(rule[2]):02d}") if rule else _folded(tag)
    if written in folded or len(tag) < SHORT:
        return folded.get(written, "")
    alike = [one for one in folded if one[0] == written[0]]
    return next((folded[one] for one in get_close_matches(written, alike, n=1, cutoff=0.88)), "")


def _folded(tag: str) -> str:
    return tag.casefold().replace("-", "").replace("_", "")


def of_placeholders(template: ScenarioTemplate) -> Iterator[str]:
    """Return sentences about placeholders that no column of the Examples fills; pytest-bdd would not replace them."""
    background = len(template.all_background_steps)
    used = {name for step in template.steps[background:] for name in PLACEHOLDER.findall(step.name)}
    told = f"scenario {template.name!r}"
    if not template.examples and used:
        named = " and ".join(f"<{name}>" for name in sorted(used))
        columns = "this column" if len(used) == 1 else "these columns"
        yield f"{told} has {named} in its steps and no Examples; add a table with {columns}."
    for table in template.examples:
        for name in sorted(used - set(table.example_params)):
            columns = ", ".join(table.example_params)
            yield f"{told} has <{name}> in a step, and its Examples have no such column; the columns are {columns}."


_QUOTED = re.compile(r'"[^"]*"')
_UNNAMED = {kind: re.compile(rf'\bthe {kind}\b(?! (?:"|manager|of the))') for kind in ("queue", "topic")}
_NAMED = {"queue": re.compile(r'\ban empty queue "([^"]+)"'), "topic": re.compile(r'\btopic "([^"]+)"')}
"""The patterns of named queues and topics in a scenario.

Only a queue in ``an empty queue "x"`` counts: other steps may name further queues, such as a reply-to queue.
"""
_BEGUN = re.compile(r'\ban empty queue\b(?! ")|\ba queue with\b')


def of_unnamed_places(template: ScenarioTemplate) -> Iterator[str]:
    """Return a sentence if a scenario that names its queues also has ``the queue`` in a step; likewise for topics.

    ``the queue`` and ``queue "orders"`` are two queues, so a scenario could pass because its receiver watches the
    wrong queue.  A scenario with ``an empty queue`` or ``a queue with ...`` in a step may use both.
    """
    texts = [step.name for step in template.steps]
    bare = {text: _QUOTED.sub('""', text) for text in texts}
    begun = any(_BEGUN.search(text) for text in bare.values())
    for kind, unnamed in _UNNAMED.items():
        named = dict.fromkeys(name for text in texts for name in _NAMED[kind].findall(text))
        at = next((text for text in texts if unnamed.search(bare[text])), None)
        if named and at is not None and not (kind == "queue" and begun):
            others = ", ".join(f'{kind} "{name}"' for name in named)
            begin = ", or add `Given an empty queue`" if kind == "queue" else ""
            yield (
                f"scenario {template.name!r} has {others}, and 'the {kind}' in {at!r} is another one; "
                f"write the name in that step{begin}."
            )
