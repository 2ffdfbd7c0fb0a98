"""Topic objects by their topic strings: the administered nodes of the topic tree."""

from __future__ import annotations

from collections import Counter

from assay_broker.core.objects.model import Definition, Kind

_SEPARATOR = "/"


class TopicObjects:
    """The topic objects that have a topic string, with a fast search for those at or above a topic string.

    Two topic objects have no topic string, so they are not here: SYSTEM.DEFAULT.TOPIC, from which DEFINE copies
    attributes, and SYSTEM.BASE.TOPIC, the ancestor of all others.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, Definition] = {}
        self._depths: Counter[int] = Counter()

    def put(self, definition: Definition) -> None:
        """Add or replace a topic object; without effect for an object of another kind."""
        if definition.kind is not Kind.TOPIC:
            return
        self.remove(definition)
        topic = definition.text("TOPICSTR")
        if topic:
            if topic not in self._nodes:
                self._depths[_depth(topic)] += 1
            self._nodes[topic] = definition

    def remove(self, definition: Definition) -> None:
        """Remove a topic object, if it is present."""
        if definition.kind is not Kind.TOPIC:
            return
        topic = definition.text("TOPICSTR")
        found = self._nodes.get(topic)
        if found is not None and found.name == definition.name:
            del self._nodes[topic]
            depth = _depth(topic)
            self._depths[depth] -= 1
            if not self._depths[depth]:
                del self._depths[depth]

    def at(self, topic: str) -> Definition | None:
        """Return the topic object with exactly this topic string; None if no topic object has it."""
        return self._nodes.get(topic)

    def above(self, topic: str) -> tuple[Definition, ...]:
        """Return the topic objects at a topic string and at its ancestors, the nearest first."""
        if not self._nodes:
            return ()
        deepest = max(self._depths)
        found: list[Definition] = []
        end = -1
        for depth in range(deepest + 1):
            end = topic.find(_SEPARATOR, end + 1)
            if depth in self._depths:
                definition = self._nodes.get(topic if end < 0 else topic[:end])
                if definition is not None:
                    found.append(definition)
            if end < 0:
                break
        return tuple(reversed(found))


def _depth(topic: str) -> int:
    return topic.count(_SEPARATOR)
