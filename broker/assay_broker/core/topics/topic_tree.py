"""The topic tree: the attributes that apply to a topic string.

The value of an attribute comes from the nearest topic object, at the topic string or an ancestor, that does not have
ASPARENT. If no such topic object exists, the value comes from SYSTEM.BASE.TOPIC. If SYSTEM.BASE.TOPIC was deleted or
has ASPARENT, the factory setting of SYSTEM.BASE.TOPIC applies.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_broker.core.objects.attributes import ATTRIBUTES
from assay_broker.core.objects.directory import Directory
from assay_broker.core.objects.factory import BASE_TOPIC, factory
from assay_broker.core.objects.model import Definition, Kind, Namespace

_AS_PARENT = {
    attribute.keyword: attribute.default
    for attribute in ATTRIBUTES[Kind.TOPIC]
    if attribute.default == "ASPARENT" or attribute.keyword == "DEFPRTY"
}
"""For the keyword of each inheritable attribute, the value that means ASPARENT, which is also the factory setting."""

_SHIPPED = next(one for one in factory("", zos=False) if one.name == BASE_TOPIC)


class Reach(StrEnum):
    """The subscribers that a publication must reach (PMSGDLV, NPMSGDLV).

    A subscriber whose copy goes to the dead-letter queue counts as reached.
    """

    ALL = "ALL"
    """Every subscriber; if one of them cannot take the publication, the send fails and no subscriber gets it."""
    DURABLE = "ALLDUR"
    """Every durable subscriber; if one of them cannot take the publication, the send fails and no subscriber gets it.

    A non-durable subscriber gets the publication if its queue can take the message.
    """
    AVAILABLE = "ALLAVAIL"
    """Every subscriber that can take the publication; the send succeeds even if other subscribers cannot take it."""


class TopicSettings(Struct, frozen=True, kw_only=True):
    """The settings that apply to one topic string.

    Args:
        persistent: Whether a publication is persistent if its sender did not decide (DEFPSIST).
        priority: The priority of a publication whose sender set none (DEFPRTY).
        publishing: Whether publications are allowed (PUB).
        subscribing: Whether subscriptions are allowed (SUB).
        durable: Whether durable subscriptions can be created (DURSUB).
        persistent_reach: The subscribers that persistent publications must reach (PMSGDLV).
        other_reach: The subscribers that other publications must reach (NPMSGDLV).
        dead_letters: Whether a copy that a subscriber cannot take may go to the dead-letter queue instead (USEDLQ).
    """

    persistent: bool
    priority: int
    publishing: bool
    subscribing: bool
    durable: bool
    persistent_reach: Reach
    other_reach: Reach
    dead_letters: bool

    def reach(self, *, persistent: bool) -> Reach:
        """Return the subscribers that a publication of this persistence must reach."""
        return self.persistent_reach if persistent else self.other_reach


def topic_settings(objects: Directory, topic: str) -> TopicSettings:
    """Return the settings that apply to a topic string.

    Args:
        objects: The queue manager's objects.
        topic: The topic string; this function treats wildcards as literal text.
    """
    base = objects.find(Namespace.TOPIC, BASE_TOPIC)
    nodes = (*objects.topics.above(topic), *((base,) if base is not None else ()), _SHIPPED)
    return TopicSettings(
        persistent=_node(nodes, "DEFPSIST").text("DEFPSIST") == "YES",
        priority=_node(nodes, "DEFPRTY").number("DEFPRTY"),
        publishing=_node(nodes, "PUB").text("PUB") == "ENABLED",
        subscribing=_node(nodes, "SUB").text("SUB") == "ENABLED",
        durable=_node(nodes, "DURSUB").text("DURSUB") == "YES",
        persistent_reach=Reach(_node(nodes, "PMSGDLV").text("PMSGDLV")),
        other_reach=Reach(_node(nodes, "NPMSGDLV").text("NPMSGDLV")),
        dead_letters=_node(nodes, "USEDLQ").text("USEDLQ") == "YES",
    )


def _node(nodes: tuple[Definition, ...], keyword: str) -> Definition:
    """Return the nearest topic object that sets an attribute; the last of the objects sets all attributes."""
    inherits = _AS_PARENT[keyword]
    return next(node for node in nodes if node.attributes[keyword] != inherits)
