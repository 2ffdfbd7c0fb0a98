"""What the topic tree says of a topic string: each attribute from the nearest node that sets it.

An attribute that is ASPARENT at a node, or at no node at all, is as the nearest administered ancestor says, and in the
end as SYSTEM.BASE.TOPIC says.  When that object has been deleted, or is ASPARENT itself, its shipped values hold.
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
"""How each inherited attribute says that it is inherited: that is the factory setting of all of them."""

_SHIPPED = next(one for one in factory("", zos=False) if one.name == BASE_TOPIC)


class Reach(StrEnum):
    """Whom a publication must reach (PMSGDLV, NPMSGDLV)."""

    ALL = "ALL"
    """Every subscriber, or nobody gets it and the send fails."""
    DURABLE = "ALLDUR"
    """Every durable subscriber, or nobody gets it and the send fails; others if they can take it."""
    AVAILABLE = "ALLAVAIL"
    """Whoever can take it; the send never fails for those who cannot."""


class TopicSettings(Struct, frozen=True, kw_only=True):
    """What holds for one topic string.

    Args:
        persistent: Persistence of a publication whose sender said nothing (DEFPSIST).
        priority: Priority of a publication whose sender said nothing (DEFPRTY).
        publishing: Whether publications are allowed (PUB).
        subscribing: Whether subscriptions are allowed (SUB).
        durable: Whether durable subscriptions can be made (DURSUB).
        persistent_reach: Whom persistent publications must reach (PMSGDLV).
        other_reach: Whom other publications must reach (NPMSGDLV).
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
        """Whom a publication of this persistence must reach."""
        return self.persistent_reach if persistent else self.other_reach


def topic_settings(objects: Directory, topic: str) -> TopicSettings:
    """Resolve the attributes of a topic string.

    Args:
        objects: The queue manager's objects.
        topic: The topic string; one with wildcards is a node like any other.
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
    """The nearest node that sets an attribute; the shipped base topic, the last one, sets them all."""
    inherits = _AS_PARENT[keyword]
    return next(node for node in nodes if node.attributes[keyword] != inherits)
