"""The error for a step that the vocabulary lacks: the reason, and the most similar steps.

1. The vocabulary has the step under another keyword: the error names that keyword.
2. A step of the vocabulary has the same words, but a field in the text is invalid, such as an option of a send: the
   error names the field.
3. Otherwise the error names the most similar steps.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache

from msgspec import Struct
from pytest_bdd.steps import StepFunctionContext

from assay_sdk.model.durations import parse_duration
from assay_steps.plugin.steps.lookup import keywords_of, vocabulary
from assay_steps.words.handbook import handbook
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.parsing import TYPES
from assay_steps.words.subscription_terms import read_terms

FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")
WHERE = "`assay steps WORD` finds steps by their words"
CLOSE = 0.5
"""The least likeness, from 0 to 1, of an invalid field and the valid example that the error proposes.

A wording is compared with the step only if its fixed text is at least a quarter (half of this share) as long as the
step's text.
"""
ALIKE = 0.25
"""The least likeness, from 0 to 1, of a step that an error names as similar; rare words weigh more."""
NEAREST = 3
"""The largest number of steps that an error names."""
SHOWN = 5
"""The largest number of examples that an error shows for a kind of field."""
SAME_WORD = 0.8
"""The least likeness, from 0 to 1, of a mistyped word and a word of the vocabulary."""
_QUOTED = re.compile(r'"[^"]*"')
_WORD = re.compile(r"[a-z][a-z'-]*")
_READERS: Mapping[str, Callable[[str], object]] = {"Terms": read_terms, "Duration": parse_duration}
"""The readers of some kinds of fields: for these, the reader's error explains more than a list of examples."""


def explain(keyword: str, text: str) -> str:
    """Explain in one sentence, for the feature's author, why no step of the vocabulary matches.

    Args:
        keyword: ``given``, ``when`` or ``then``.
        text: The step without its keyword.
    """
    elsewhere = keywords_of(text)
    if elsewhere:
        return f"the vocabulary has it as a {' and a '.join(elsewhere)} only; {WHERE}"
    wrong = min(_almost(keyword, text), default=None, key=lambda one: one.rank)
    if wrong is not None:
        return f"{wrong.told.rstrip('.')}; {WHERE}"
    close = nearest_steps(keyword, text)
    hint = f"the nearest {'is' if len(close) == 1 else 'are'} {', '.join(f'`{phrase}`' for phrase in close)}; "
    return f"the vocabulary has no such step; {hint if close else ''}{WHERE}"


def nearest_steps(keyword: str, text: str) -> list[str]:
    """Find the step wordings of a keyword that are most similar to a text; the most similar first."""
    weights = _weights()
    said = {found for word in _words(text) for found in get_close_matches(word, weights, n=1, cutoff=SAME_WORD)}

    def likeness(phrase: str) -> float:
        words = _words(_filled(phrase))
        total = sum(weights[word] for word in said) + sum(weights[word] for word in words)
        return 2 * sum(weights[word] for word in said & words) / total if total else 0.0

    ranked = sorted(((likeness(phrase), phrase) for phrase in _phrases(keyword)), key=lambda one: (-one[0], one[1]))
    return [phrase for alike, phrase in ranked[:NEAREST] if alike >= ALIKE]


class _Wrong(Struct, frozen=True):
    """A step wording that matches a text except for invalid fields.

    Args:
        rank: The number of invalid fields, then the negated number of fixed letters; the smallest rank fits best.
        phrase: The step's wording.
        told: The mistake in the first invalid field.
    """

    rank: tuple[int, int]
    phrase: str
    told: str


def _almost(keyword: str, text: str) -> Iterator[_Wrong]:
    for phrase in _phrases(keyword):
        found = _loose(phrase).fullmatch(text)
        given = len(FIELD.sub("", phrase))
        if found is None or given < CLOSE * len(text) / 2:
            continue
        fields = zip(FIELD.findall(phrase), found.groups(), strict=True)
        wrong = [told for (_, kind), value in fields if kind and (told := _unreadable(kind, value))]
        if wrong:
            yield _Wrong((len(wrong), -given), phrase, wrong[0])


@cache
def _loose(phrase: str) -> re.Pattern[str]:
    """Return a pattern for a wording that accepts any text in its fields."""
    words = FIELD.sub("\0", phrase).split("\0")
    return re.compile("(.+?)".join(map(re.escape, words)), re.IGNORECASE)


def _unreadable(kind: str, value: str) -> str:
    """Return the mistake in a field's value; empty if the value is valid."""
    reads = TYPES[kind]
    pattern: str = getattr(reads, "pattern", ".+")
    if re.fullmatch(pattern, value, re.IGNORECASE):
        try:
            reads(value)
        except (MistakeError, ValueError) as problem:
            return str(problem)
        return ""
    if kind in _READERS:
        try:
            _READERS[kind](value)
        except (MistakeError, ValueError) as problem:
            return str(problem)
    word = next(word for word in handbook().words if word.name == kind)
    close = get_close_matches(value, word.examples, n=1, cutoff=CLOSE)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return f"{value!r} is not a valid {kind}, such as {', '.join(word.examples[:SHOWN])}{hint}"


def _phrases(keyword: str) -> list[str]:
    return [step.parser.name for step in vocabulary() if _is_of(step, keyword)]


def _is_of(step: StepFunctionContext, keyword: str) -> bool:
    return step.type is None or step.type == keyword


def _filled(phrase: str) -> str:
    """Return a step's wording with an example in each field."""
    examples = {word.name: word.examples[0] for word in handbook().words}
    return FIELD.sub(lambda found: examples.get(found[2] or "", found[1]), phrase)


def _words(text: str) -> set[str]:
    """Return the words of a step, without quoted names, because names do not help to find the step."""
    return set(_WORD.findall(_QUOTED.sub("", text).casefold()))


@cache
def _weights() -> dict[str, float]:
    """Return the weight of each word of the vocabulary for the search; rare words weigh more."""
    phrases = [_words(_filled(str(step.parser.name))) for step in vocabulary()]
    found = Counter(word for words in phrases for word in words)
    return {word: math.log(len(phrases) / number) for word, number in found.items()}
