"""Topic strings: their levels, their wildcards, and which of many patterns a topic string fits.

IBM MQ's topic-based scheme, the one its JMS client asks for: ``/`` parts levels, an empty level is a level, ``+`` as a
whole level stands for one level and ``#`` as a whole level for any number of them, none included, wherever it stands.
Anything else is literal, ``USA#`` too.  A publication's own topic string is always literal, as is a temporary topic's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

SEPARATOR = "/"
ONE_LEVEL = "+"
ANY_LEVELS = "#"

Kept = TypeVar("Kept")


def levels(topic: str) -> tuple[str, ...]:
    """The levels of a topic string, empty ones included."""
    return tuple(topic.split(SEPARATOR))


def has_wildcards(topic: str) -> bool:
    """Whether a topic string, used to subscribe, can fit more than itself."""
    return (ONE_LEVEL in topic or ANY_LEVELS in topic) and not {ONE_LEVEL, ANY_LEVELS}.isdisjoint(levels(topic))


class _Node(Generic[Kept]):
    """One level of the patterns that begin alike."""

    __slots__ = ("below", "kept", "stays")

    def __init__(self, *, stays: bool = False) -> None:
        self.stays = stays
        """Whether any further level leads here again: the level is ``#``."""
        self.below: dict[str, _Node[Kept]] = {}
        self.kept: dict[int, Kept] = {}


class Patterns(Generic[Kept]):
    """Things kept under patterns: all that fit a topic string are found in one walk along its levels.

    The walk carries the set of nodes that the levels so far can have led to, so its cost is bounded by the number of
    levels times the number of nodes, however the wildcards are nested.
    """

    def __init__(self) -> None:
        self._root: _Node[Kept] = _Node()

    def __bool__(self) -> bool:
        """Whether anything is kept."""
        return bool(self._root.below)

    def add(self, pattern: str, number: int, thing: Kept) -> None:
        """Keep a thing.

        Args:
            pattern: A topic string, with wildcards or without.
            number: Its number, unique under the pattern.
            thing: The thing.
        """
        node = self._root
        for level in levels(pattern):
            found = node.below.get(level)
            if found is None:
                found = node.below[level] = _Node(stays=level == ANY_LEVELS)
            node = found
        node.kept[number] = thing

    def discard(self, pattern: str, number: int) -> None:
        """Forget a thing, and every node that is of no further use; nothing happens when it is not kept."""
        path: list[tuple[_Node[Kept], str]] = []
        node = self._root
        for level in levels(pattern):
            path.append((node, level))
            found = node.below.get(level)
            if found is None:
                return
            node = found
        node.kept.pop(number, None)
        for above, level in reversed(path):
            child = above.below[level]
            if child.kept or child.below:
                return
            del above.below[level]

    def fitting(self, topic: str) -> Iterator[Kept]:
        """Everything whose pattern fits a topic string, each once, in no particular order."""
        reached = _with_no_level([self._root])
        for level in levels(topic):
            further: list[_Node[Kept]] = []
            for node in reached:
                if node.stays:
                    further.append(node)
                further += [node.below[step] for step in (level, ONE_LEVEL) if step in node.below]
            reached = _with_no_level(further)
        for node in reached:
            yield from node.kept.values()


def _with_no_level(nodes: list[_Node[Kept]]) -> tuple[_Node[Kept], ...]:
    """Nodes, each once, with those that can be reached from them because ``#`` stands for no level too."""
    found: dict[_Node[Kept], None] = {}
    while nodes:
        node = nodes.pop()
        if node not in found:
            found[node] = None
            if ANY_LEVELS in node.below:
                nodes.append(node.below[ANY_LEVELS])
    return tuple(found)
