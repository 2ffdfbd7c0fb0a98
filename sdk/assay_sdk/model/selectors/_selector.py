"""A message selector, ready to be asked."""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from assay_sdk.model.message import Message
from assay_sdk.model.selectors import _evaluate, _parse, _text
from assay_sdk.model.selectors import _nodes as nodes

DEEPEST = 128
"""No limit may allow more: every level costs up to three of Python's frames when a message is matched, of the thousand
that Python has."""


class Limits(Struct, frozen=True):
    """What a selector may be, so that a peer cannot make one that hurts.

    Args:
        length: Most characters (default 8192; IBM MQ allows 10240, Apache Artemis has no limit).
        depth: Most brackets, signs and NOTs within each other, at most `DEEPEST`.

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

    Two selectors are equal when they say the same in the same order, however they are spelled: ``a=1`` equals
    ``(a = 1)``.  Make one with `parse`.
    """

    __slots__ = ("_condition", "_spelled", "_text")

    def __init__(self, text: str, tree: nodes.Node) -> None:
        self._text = text
        self._spelled = _text.text(tree)
        self._condition = _evaluate.condition(tree)

    @classmethod
    def parse(cls, text: str, limits: Limits = DEFAULT_LIMITS) -> Self:
        """Read a selector.

        Args:
            text: The selector.  An empty one is refused: that there is none is said with None (3.8.1).
            limits: How long and how deep it may be.

        Raises:
            SelectorError: The text is no selector, or is beyond a limit; it says where and what was expected.
        """
        return cls(text, _parse.parse(text, length=limits.length, depth=limits.depth))

    @property
    def text(self) -> str:
        """As it was given."""
        return self._text

    def matches(self, message: Message) -> bool:
        """Whether the selector is true for a message; false and unknown are both no (3.8.1)."""
        return self._condition(message) is True

    def evaluate(self, message: Message) -> bool | None:
        """True, False, or None for unknown (3.8.1.2)."""
        return self._condition(message)

    def to_text(self) -> str:
        """The selector in its one spelling: reserved words in capitals, single spaces, only the brackets it needs.

        Parsing it gives an equal selector (it may be longer than `text`, and so beyond a tight limit).
        """
        return self._spelled

    def __str__(self) -> str:
        return self._spelled

    def __repr__(self) -> str:
        return f"Selector({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return self._spelled == other._spelled if isinstance(other, Selector) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._spelled)
