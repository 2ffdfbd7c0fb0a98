"""The public classes of selectors: a parsed selector, and the limits of its text."""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from assay_sdk.model.message import Message
from assay_sdk.model.selectors import _evaluate, _parse, _text
from assay_sdk.model.selectors import _nodes as nodes

DEEPEST = 128
"""The largest valid limit on depth.  Matching a message takes up to three stack frames for each level, and Python
allows a thousand frames by default."""


class Limits(Struct, frozen=True):
    """Limits on selectors, so that a client cannot exhaust the broker with a selector.

    Args:
        length: The largest number of characters; 8192 by default.  IBM MQ's limit is 10240; Apache Artemis has none.
        depth: The largest nesting depth of parentheses, signs and NOTs: 64 by default, at most `DEEPEST`.

    Raises:
        ValueError: A limit is below 1, or `depth` is above `DEEPEST`.
    """

    length: int = 8192
    depth: int = 64

    def __post_init__(self) -> None:
        if self.length < 1 or not 1 <= self.depth <= DEEPEST:
            raise ValueError(
                f"A selector's limits are length {self.length} and depth {self.depth}; "
                f"give a length of at least 1 and a depth from 1 to {DEEPEST}."
            )


DEFAULT_LIMITS = Limits()


class Selector:
    """A message selector (Jakarta Messaging 3.1, 3.8).

    Applications create a selector with `parse`.

    Two selectors are equal if they have the same tree: ``a=1`` equals ``(a = 1)``.  `str` returns the canonical form:
    capital keywords, single spaces, only necessary parentheses.  `parse` returns an equal selector for the canonical
    form, unless the form exceeds the limit on the length: it may be longer than `text`.
    """

    __slots__ = ("_condition", "_spelled", "_text")

    def __init__(self, text: str, tree: nodes.Node) -> None:
        self._text = text
        self._spelled = _text.text(tree)
        self._condition = _evaluate.condition(tree)

    @classmethod
    def parse(cls, text: str, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Parse a selector.

        Args:
            text: The selector, not empty; use None instead of an empty selector (Jakarta Messaging 3.1, 3.8.1).
            limits: Limits on length and depth.

        Raises:
            SelectorError: The text is not a selector or exceeds a limit; the error has the position of the fault.
        """
        return cls(text, _parse.parse(text, length=limits.length, depth=limits.depth))

    @property
    def text(self) -> str:
        """Text of the selector, as the caller gave it to `parse`."""
        return self._text

    def matches(self, message: Message) -> bool:
        """Return whether the selector is true for a message; False if it is unknown (Jakarta Messaging 3.1, 3.8.1)."""
        return self._condition(message) is True

    def __str__(self) -> str:
        return self._spelled

    def __repr__(self) -> str:
        return f"Selector({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return self._spelled == other._spelled if isinstance(other, Selector) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._spelled)
