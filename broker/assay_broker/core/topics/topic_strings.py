"""Topic strings: levels, wildcards, and matching of patterns.

The rules are those of the topic-based wildcard scheme of IBM MQ, which its JMS client uses:

- ``/`` separates levels; a level may be empty.
- ``+`` as a whole level matches one level, at any position.
- ``#`` as a whole level matches any number of levels, also none, at any position.
- All other text is literal, also ``USA#``. The topic of a publication and a temporary topic have no wildcards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

SEPARATOR = "/"
ONE_LEVEL = "+"
ANY_LEVELS = "#"

Kept = TypeVar("Kept")


def levels(topic: str) -> tuple[str, ...]:
    """Return the levels of a topic string, empty levels included."""
    return tuple(topic.split(SEPARATOR))


def has_wildcards(topic: str) -> bool:
    """Return whether the topic string of a subscription has wildcards."""
    return (ONE_LEVEL in topic or ANY_LEVELS in topic) and not {ONE_LEVEL, ANY_LEVELS}.isdisjoint(levels(topic))


class _Node(Generic[Kept]):
    """A node in the tree of patterns: a level, shared by all patterns with the same beginning."""

    __slots__ = ("below", "kept", "stays")

    def __init__(self, *, stays: bool = False) -> None:
        self.stays = stays
        """Whether the level is ``#``, which matches any number of levels of a topic string."""
        self.below: dict[str, _Node[Kept]] = {}
        self.kept: dict[int, Kept] = {}


class Patterns(Generic[Kept]):
    """Items under topic strings with wildcards, such as subscriptions, in a tree of levels.

    To find all items that match a topic string, `fitting` goes through the levels of the topic string one time. After
    each level, it has the set of nodes that the levels so far can reach. So the cost is at most the number of levels
    times the number of nodes, however the wildcards are nested.
    """

    def __init__(self) -> None:
        self._root: _Node[Kept] = _Node()

    def __bool__(self) -> bool:
        """Return whether the tree has any items."""
        return bool(self._root.below)

    def add(self, pattern: str, number: int, thing: Kept) -> None:
        """Add an item.

        Args:
            pattern: A topic string, with wildcards or without.
            number: The item's number, unique under the pattern.
            thing: The item.
        """
        node = self._root
        for level in levels(pattern):
            found = node.below.get(level)
            if found is None:
                found = node.below[level] = _Node(stays=level == ANY_LEVELS)
            node = found
        node.kept[number] = thing

    def discard(self, pattern: str, number: int) -> None:
        """Remove an item, if it is present, and the nodes that are no longer needed.

        Args:
            pattern: The item's pattern.
            number: The item's number.
        """
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
        """Return all items whose pattern matches a topic string, each once, in no particular order."""
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
    """Return the nodes, and the ``#`` nodes below them, because ``#`` also matches no level; each node once."""
    found: dict[_Node[Kept], None] = {}
    while nodes:
        node = nodes.pop()
        if node not in found:
            found[node] = None
            if ANY_LEVELS in node.below:
                nodes.append(node.below[ANY_LEVELS])
    return tuple(found)
