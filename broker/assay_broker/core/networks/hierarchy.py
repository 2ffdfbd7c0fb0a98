"""Publish/subscribe hierarchies: publications for neighbours, and announcements of subscriptions to neighbours.

The neighbours of a queue manager are its parent and its children.

A neighbour announces its interest in a topic, and the announcement acts as a proxy subscription. At the send, the queue
manager makes one copy of a publication for each neighbour with a matching proxy subscription, and stages these copies
if the publication is delayed (DD-81). When a copy arrives at the neighbour, the neighbour publishes it to all its
subscribers of that time, also to those that subscribed after the send (DD-84). A publication never returns to a queue
manager through which it has passed.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.networks.parcels import Bulletin, Interest
from assay_broker.core.networks.transmission_queues import onward_home
from assay_broker.core.objects.factory import BASE_TOPIC
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.state import State
from assay_broker.core.topics.subscriptions import Administered, Subscriber
from assay_broker.core.topics.topic_strings import Patterns
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Address, AddressKind


def neighbour_homes(state: State, topic: Address, via: tuple[str, ...] = ()) -> list[str]:
    """Return the homes of the transmission queues to the neighbours that want a publication.

    Args:
        state: The queue manager.
        topic: The topic of the publication.
        via: The names of the queue managers through which the publication has passed.
    """
    if not state.members.connected or topic.kind is not AddressKind.TOPIC or not _in_scope(state, topic, "PUBSCOPE"):
        return []
    return [
        onward_home(member, topic)
        for member, bulletin in _neighbours(state)
        if member not in via and _wants(bulletin, topic.name, state.settings.name)
    ]


def announce(state: State, turn: Turn) -> None:
    """Send all other queue managers the present announcement (`Bulletin`), unless the last one was equal."""
    bulletin = Bulletin(
        state.objects.queue_manager().text("PARENT"),
        tuple(sorted(_interests(state))),
        tuple(sorted(_instances(state), key=lambda one: one.name)),
    )
    if bulletin != state.members.told:
        state.members.told = bulletin
        turn.to_member(None, bulletin)


def _neighbours(state: State) -> Iterator[tuple[str, Bulletin]]:
    """Return the names and announcements (`Bulletin`) of the parent and the children."""
    parent = state.objects.queue_manager().text("PARENT")
    for member, neighbour in state.members:
        if member == parent or neighbour.bulletin.parent == state.settings.name:
            yield member, neighbour.bulletin


def _wants(bulletin: Bulletin, topic: str, name: str) -> bool:
    patterns: Patterns[Interest] = Patterns()
    for number, interest in enumerate(bulletin.interests):
        if name not in interest.via:
            patterns.add(interest.topic, number, interest)
    return any(True for _ in patterns.fitting(topic))


def _interests(state: State) -> set[Interest]:
    """Return the topics to announce: those of local subscriptions (by SUBSCOPE), and those that neighbours announce."""
    name = state.settings.name
    own = {one.topic.name for one in state.topics if one.topic.kind is AddressKind.TOPIC and _is_for_all(state, one)}
    relayed = {
        Interest(interest.topic, (*interest.via, name))
        for _, bulletin in _neighbours(state)
        for interest in bulletin.interests
        if interest.topic not in own and name not in interest.via
    }
    return relayed | {Interest(topic, (name,)) for topic in own}


def _instances(state: State) -> Iterator[Definition]:
    for definition in state.objects:
        clustered = definition.attributes.get("CLUSTER") or definition.attributes.get("CLUSNL")
        if clustered and definition.kind in {Kind.QLOCAL, Kind.QALIAS}:
            yield definition


def _is_for_all(state: State, subscriber: Subscriber) -> bool:
    """Return whether to announce a subscription to neighbours, by SUBSCOPE of its SUB object and of its topic."""
    if isinstance(subscriber, Administered):
        definition = state.objects.find(Namespace.SUB, subscriber.sub)
        if definition is not None and definition.says("SUBSCOPE", "QMGR"):
            return False
    return _in_scope(state, subscriber.topic, "SUBSCOPE")


def _in_scope(state: State, topic: Address, keyword: str) -> bool:
    """Return whether a topic's attribute PUBSCOPE or SUBSCOPE is ALL, by its own or an inherited value."""
    base = state.objects.find(Namespace.TOPIC, BASE_TOPIC)
    nodes = (*state.objects.topics.above(topic.name), *((base,) if base is not None else ()))
    said = (node.attributes.get(keyword, "ASPARENT") for node in nodes)
    return next((word for word in said if word != "ASPARENT"), "ALL") == "ALL"
