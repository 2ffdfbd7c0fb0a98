"""The DISPLAY commands: objects with their present state, authority records, and topic status."""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.administration.authority import AuthorityRecord, shown_records
from assay_broker.core.administration.changes import DisplayAuthority, DisplayObjects, DisplayTopicStatus
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.conditions import check_condition, selected
from assay_broker.core.objects.factory import BASE_TOPIC, LOCAL_DEFAULT
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.objects.names import fits
from assay_broker.core.objects.status import TopicStatus, complete, subscription_id
from assay_broker.core.queues.homes import name_at
from assay_broker.core.queues.resolution import depth
from assay_broker.core.state import State
from assay_broker.core.topics.subscriptions import Subscription
from assay_broker.core.topics.topic_tree import topic_settings
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Address, AddressKind


def display_objects(state: State, _turn: Turn, change: DisplayObjects) -> tuple[Definition, ...]:
    """Carry out DISPLAY of objects.

    Returns:
        The matching objects with their present state, sorted by name.

    Raises:
        RefusalError: None of the kinds of objects to display has the attribute that the condition (WHERE) names, or
            the attribute does not allow the condition's comparison or value.
    """
    host = state.settings.host
    if change.where is not None:
        check_condition(change.kinds, change.where, host)
    found = [
        definition
        for definition in _known(state, change)
        if (not change.name or fits(definition.name, change.name))
        and (change.where is None or selected(definition, change.where, host))
    ]
    return tuple(sorted(found, key=lambda definition: definition.name))


def display_authority(state: State, _turn: Turn, change: DisplayAuthority) -> tuple[AuthorityRecord, ...]:
    """Carry out DISPLAY AUTHREC: return the matching records, in the order in which they were first set."""
    return shown_records(state.authorities, change)


def display_topic_status(state: State, turn: Turn, change: DisplayTopicStatus) -> tuple[TopicStatus, ...]:
    """Carry out DISPLAY TPSTATUS: return a topic string's attributes, with inherited values, and its present state."""
    settings = topic_settings(state.objects, change.topic)
    topic = Address(AddressKind.TOPIC, change.topic)
    nearest = next(iter(state.objects.topics.above(change.topic)), None)
    retained = state.retained.at(topic)
    attributes: dict[str, Value] = {
        "ADMIN": BASE_TOPIC if nearest is None else nearest.name,
        "DEFPRTY": settings.priority,
        "DEFPSIST": _yes(settings.persistent),
        "DURSUB": _yes(settings.durable),
        "NPMSGDLV": settings.other_reach.value,
        "PMSGDLV": settings.persistent_reach.value,
        "PUB": "ENABLED" if settings.publishing else "DISABLED",
        "RETAINED": _yes(retained is not None and retained.there(turn.now_ms)),
        "SUB": "ENABLED" if settings.subscribing else "DISABLED",
        "SUBCOUNT": len(state.topics.of(topic)),
        "USEDLQ": _yes(settings.dead_letters),
    }
    return (TopicStatus(change.topic, attributes),)


def _yes(fact: bool) -> str:
    return "YES" if fact else "NO"


def _known(state: State, change: DisplayObjects) -> Iterator[Definition]:
    host = state.settings.host
    for definition in state.objects:
        if definition.kind in change.kinds:
            yield complete(definition, host, _live(state, definition))
    if Kind.QLOCAL in change.kinds:
        for definition in _made_on_use(state, change):
            yield complete(definition, host, _live(state, definition))
    if Kind.SUB in change.kinds:
        for subscription in state.topics:
            if isinstance(subscription, Subscription):
                yield complete(_subscription(state, subscription), host, _live_subscription(subscription))


def _live(state: State, definition: Definition) -> dict[str, Value]:
    if definition.kind is Kind.QMGR:
        host = state.settings.host
        return {"OPMODE": f"{state.settings.opmode},{host.level}"} if host.zos else {}
    if definition.kind is not Kind.QLOCAL:
        return {}
    queue = state.queues.named(definition.name)
    if queue is None:
        return {"CURDEPTH": depth(state, definition.name)}
    return {
        "CURDEPTH": depth(state, definition.name),
        "IPPROCS": sum(line.receivers for line in queue.lines.values()),
        "OPPROCS": len(queue.senders),
    }


def _made_on_use(state: State, change: DisplayObjects) -> Iterator[Definition]:
    """Return local queues without a definition, as definitions for DISPLAY.

    The result has the undefined queues in use. If the command has `on_use`, the result also has the queue that the
    command names, provided that the queue manager would create this queue on use.
    """
    shown: set[str] = set()
    for queue in state.queues:
        name = name_at(queue.home)
        if name is not None and state.objects.queue(name) is None:
            shown.add(name)
            yield Definition(Kind.QLOCAL, name, queue.definition.attributes)
    default = state.objects.queue(LOCAL_DEFAULT)
    wanted = change.on_use and state.objects.on_use and change.name not in shown
    if wanted and default is not None and state.objects.queue(change.name) is None and not change.name.endswith("*"):
        yield Definition(Kind.QLOCAL, change.name, default.attributes)


def _subscription(state: State, subscription: Subscription) -> Definition:
    """Return a client's subscription as a SUB definition; its name is empty if the client gave none."""
    terms = subscription.terms
    given: dict[str, Value] = {
        "TOPICSTR": terms.topic.name,
        "DEST": subscription.managed_queue,
        "DESTCLAS": "MANAGED",
        "SELECTOR": terms.selector or "",
    }
    return Definition(Kind.SUB, terms.object_name(state.settings.name), defaults(Kind.SUB) | given)


def _live_subscription(subscription: Subscription) -> dict[str, Value]:
    return {
        "DURABLE": "YES" if subscription.terms.durable else "NO",
        "SUBTYPE": "API",
        "SUBID": subscription_id(str(subscription.number)),
    }
