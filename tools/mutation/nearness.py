"""The order in which scenarios try a mutant: the scenarios that most probably convict the mutant come first."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import zip_longest
from math import log

from msgspec import Struct

from tools.mutation.coverage_map import CoverageMap

_WORD = re.compile(r"[A-Z]?[a-z]+")
_RULE = re.compile(r"\b(?:DD|PD|QS|BT)-\d\d\b")
SHORTEST = 4
"""Only words with at least this many letters are compared."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text or an identifier, in lower case and without the endings ``s`` and ``ed``."""
    return frozenset(_stem(word.lower()) for word in _WORD.findall(text) if len(word) >= SHORTEST)


def _stem(word: str) -> str:
    for ending in ("ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word.removesuffix(ending)
    return word


class MutantContext(Struct, frozen=True):
    """The context of a mutant in the code, by which `Nearness` sorts scenarios.

    Args:
        file: The file of the function, relative to the project's folder.
        body: The first and last line of the function.
        words: The words of the changed statement and of the function's name.
        rules: The rule ids in the function's text.
    """

    file: str
    body: tuple[int, int]
    words: frozenset[str]
    rules: frozenset[str]

    @classmethod
    def of(cls, file: str, body: tuple[int, int], statement: str, function: str, text: str) -> MutantContext:
        """Make a context from a statement, its function's name and the function's text."""
        return cls(file, body, words_of(f"{statement} {function}"), frozenset(_RULE.findall(text)))


class Nearness:
    """Sorts scenarios by their nearness to a mutant: scenarios that probably convict the mutant are near.

    Args:
        lines: The lines that each scenario runs.
        texts: The text of each scenario, by its number.
    """

    def __init__(self, lines: CoverageMap, texts: Sequence[str]) -> None:
        self._lines = lines
        self._words = [words_of(text) for text in texts]

    def sorted(self, numbers: Iterable[int], known: Sequence[int], context: MutantContext) -> list[int]:
        """Sort the scenarios that run a changed line.

        Scenarios that convicted a mutant of the same function come first, the latest first.  The others come in turn
        from three lists: scenarios that share words with the statement, scenarios for each path through the function,
        and scenarios of the rules that the function names.

        Args:
            numbers: The numbers of the scenarios.
            known: The numbers of scenarios that have convicted mutants of the same function, the latest last.
            context: The mutant's context.
        """
        left = set(numbers)
        named = [number for number in left if context.rules.intersection(self._lines.scenarios[number].rules)]
        lists = (self._by_words(left, context), self._by_ways(left, context), self._by_rule(named))
        mixed = (number for three in zip_longest(*lists) for number in three if number is not None)
        first = (number for number in reversed(known) if number in left)
        return list(dict.fromkeys([*first, *mixed]))

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The weight of each word: rare words weigh more."""
        counts = Counter(word for words in self._words for word in words)
        return {word: log(len(self._words) / count) for word, count in counts.items()}

    def _by_words(self, numbers: Iterable[int], context: MutantContext) -> list[int]:
        said = {number: context.words & self._words[number] for number in numbers}
        scores = {number: sum(self._weights[word] for word in words) for number, words in said.items()}
        return sorted((one for one in scores if scores[one]), key=lambda one: (-scores[one], self._length(one)))

    def _by_ways(self, numbers: Iterable[int], context: MutantContext) -> list[int]:
        """Sort scenarios by their paths through the function: first one scenario of each path, then a second of each.

        Scenarios that run the same lines of the function have the same path.  Paths with fewer scenarios come first.
        """
        bits = self._lines.bits(context.file, *context.body)
        ways: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number in numbers:
            ways[tuple(one >> number & 1 for one in bits)].append(number)
        return _in_turn([self._by_rule(way) for way in sorted(ways.values(), key=len)])

    def _by_rule(self, numbers: Iterable[int]) -> list[int]:
        """Sort scenarios: first one scenario of each rule, then a second of each.

        Scenarios of one rule are sorted by the number of lines that they run.
        """
        rules: dict[str, list[int]] = defaultdict(list)
        for number in sorted(numbers, key=self._length):
            rules[next(iter(self._lines.scenarios[number].rules), "")].append(number)
        return _in_turn(list(rules.values()))

    def _length(self, number: int) -> int:
        return self._lines.scenarios[number].lines


def _in_turn(queues: Sequence[Sequence[int]]) -> list[int]:
    """Return the first item of each queue, then the second item of each, and so on."""
    return [number for turn in zip_longest(*queues) for number in turn if number is not None]
