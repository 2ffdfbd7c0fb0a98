"""The vocabulary for readers: every step with what it does and an example, and the words, options and terms in steps.

The source is ``vocabulary/handbook.toml``, which is part of the wheel.  `assay steps` shows it, errors about a step
quote it, and ``python -m tools.pages`` writes the tables of ``docs/vocabulary.md`` from it.
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
    """A kind of word in a step, such as ``{delay:Duration}``.

    Args:
        name: The kind.
        meaning: The meaning of such a word.
        examples: Words of the kind.
    """

    name: str
    meaning: str
    examples: tuple[str, ...]


class Saying(Struct, frozen=True, forbid_unknown_fields=True):
    """An option of a send, or a term of a subscriber.

    Args:
        examples: How a step writes it.
        what: What it does.
    """

    examples: tuple[str, ...]
    what: str


class StepEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One step in all its wordings.

    Args:
        phrases: Its wordings, each with its keyword.
        what: What it does; a claim's predicate in italics.
        example: One of the wordings, filled in.
    """

    phrases: tuple[str, ...]
    what: str
    example: str

    @property
    def plainly(self) -> str:
        """The text of `what` without Markdown."""
        return plain(self.what)


class Topic(Struct, frozen=True, forbid_unknown_fields=True):
    """Steps on one subject.

    Args:
        title: The subject.
        text: What they have in common.
        steps: The steps.
    """

    title: str
    text: str
    steps: tuple[StepEntry, ...] = field(name="step")


class Handbook(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole vocabulary, or the part that a search found.

    Args:
        words: Kinds of words.
        options: Options of a send, written behind ``with``.
        terms: Terms of a subscriber, likewise.
        topics: The steps.
    """

    words: tuple[Word, ...] = field(name="word")
    options: tuple[Saying, ...] = field(name="option")
    terms: tuple[Saying, ...] = field(name="term")
    topics: tuple[Topic, ...] = field(name="topic")

    def about(self, wanted: Sequence[str]) -> Handbook:
        """The topics, steps, options and terms whose text has every one of these words; all of it for no words.

        Args:
            wanted: Words or parts of words, in any case.
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
    """The vocabulary as the installed kit has it."""
    source = resources.files("assay_steps").joinpath("vocabulary", "handbook.toml")
    return convert(tomllib.loads(source.read_text(encoding="utf-8")), Handbook)


def plain(text: str) -> str:
    """A text of the handbook without Markdown."""
    return _PREDICATE.sub(r"\1", text).replace("`", "")
