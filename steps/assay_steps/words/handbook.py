"""The handbook of the step vocabulary: each step with its effect and an example, and the words that steps contain.

The source is ``vocabulary/handbook.toml``, which is part of the wheel.  `assay steps` shows the handbook, errors about
steps quote it, and ``python -m tools.pages`` writes the tables of ``docs/vocabulary.md`` from it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from msgspec import Struct, convert, field
from msgspec.structs import replace

_PREDICATE = re.compile(r"\*([a-z-]+)\*")


class Word(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of field in a step's wording, such as ``Duration`` in ``{delay:Duration}``.

    Args:
        name: The name of the kind.
        meaning: The meaning of a value of this kind.
        examples: Values of this kind.
    """

    name: str
    meaning: str
    examples: tuple[str, ...]


class Saying(Struct, frozen=True, forbid_unknown_fields=True):
    """An option of a send, or a term of a subscription.

    Args:
        examples: Its wordings in steps, with example values.
        what: Its effect.
    """

    examples: tuple[str, ...]
    what: str


class StepEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One step with all its wordings.

    Args:
        phrases: The wordings, each with its keyword.
        what: The step's effect; for a claim, also the predicate, in italics.
        example: One of the wordings, with values in its fields.
    """

    phrases: tuple[str, ...]
    what: str
    example: str

    @property
    def plainly(self) -> str:
        """The text of `what` without Markdown."""
        return plain(self.what)


class Topic(Struct, frozen=True, forbid_unknown_fields=True):
    """A group of steps on one subject.

    Args:
        title: The subject.
        text: The introduction to the steps.
        steps: The steps.
    """

    title: str
    text: str
    steps: tuple[StepEntry, ...] = field(name="step")


class Handbook(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole vocabulary, or the part that a search found.

    Args:
        words: The kinds of fields in steps.
        options: The options of a send, which steps write after ``with``.
        terms: The terms of a subscription, which steps write after ``with``.
        topics: The groups of steps.
    """

    words: tuple[Word, ...] = field(name="word")
    options: tuple[Saying, ...] = field(name="option")
    terms: tuple[Saying, ...] = field(name="term")
    topics: tuple[Topic, ...] = field(name="topic")

    def about(self, wanted: Sequence[str]) -> Handbook:
        """Return the part of the handbook whose entries contain all wanted words; the whole handbook without words.

        Args:
            wanted: Words or parts of words, in upper or lower case.
        """
        parts = [word.casefold() for word in wanted]

        def has(*texts: str) -> bool:
            text = "\n".join(texts).casefold()
            return all(part in text for part in parts)

        found = (
            replace(topic, steps=tuple(s for s in topic.steps if has(topic.title, *s.phrases, s.what, s.example)))
            for topic in self.topics
        )
        return Handbook(
            words=tuple(word for word in self.words if has(word.name, word.meaning, *word.examples)),
            options=tuple(option for option in self.options if has(*option.examples, option.what)),
            terms=tuple(term for term in self.terms if has(*term.examples, term.what)),
            topics=tuple(topic for topic in found if topic.steps),
        )


@cache
def handbook() -> Handbook:
    """Return the handbook of the installed kit."""
    source = resources.files("assay_steps").joinpath("vocabulary", "handbook.toml")
    return convert(tomllib.loads(source.read_text(encoding="utf-8")), Handbook)


def plain(text: str) -> str:
    """Return a text of the handbook without Markdown."""
    return _PREDICATE.sub(r"\1", text).replace("`", "")
