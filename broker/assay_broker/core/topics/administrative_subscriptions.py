"""Administrative subscriptions: SUB objects, which name the queue to which the queue manager puts publications."""

from __future__ import annotations

from assay_broker.core.clients.links import parse_selector
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.objects.status import sub_id, subscription_id
from assay_broker.core.queues.obstacles import obstacles
from assay_broker.core.refusals import RefusalError, refusal
from assay_broker.core.state import State
from assay_broker.core.topics.retained_delivery import put_retained, retained_for
from assay_broker.core.topics.subscriber_queues import target_of
from assay_broker.core.topics.subscriptions import Administered
from assay_broker.core.topics.topic_tree import topic_settings
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc


def check_sub(state: State, definition: Definition) -> None:
    """Refuse a new SUB object that could get no publications.

    Raises:
        RefusalError: The topic does not allow subscriptions or durable subscriptions, the selector is not valid, or the
            object asks for a managed queue.
    """
    topic = definition.text("TOPICSTR")
    if not topic:
        return  # SYSTEM.DEFAULT.SUB, from which DEFINE copies attributes
    settings = topic_settings(state.objects, topic)
    if not settings.subscribing:
        raise refusal(Mqrc.SUB_INHIBITED, f"Subscriptions to the topic {topic} are disabled.", topic)
    if not settings.durable:
        raise refusal(
            Mqrc.DURABILITY_NOT_ALLOWED, f"Durable subscriptions to the topic {topic} are not allowed.", topic
        )
    if definition.says("DESTCLAS", "MANAGED"):
        raise refusal(
            Mqrc.FUNCTION_NOT_SUPPORTED,
            f"{definition.name} cannot have a managed queue (DESTCLAS); name a queue in DEST.",
            definition.name,
        )
    parse_selector(definition.text("SELECTOR"))


def identified(state: State, definition: Definition, before: Definition | None, now_ms: int) -> Definition:
    """Return a SUB object with its SUBID, which is new unless the object replaces another.

    Args:
        state: The queue manager.
        definition: The object, perhaps with the SUBID of the object from which its attributes were copied.
        before: The object that it replaces; None for none.
        now_ms: The time, in milliseconds since the epoch.
    """
    new = f"{definition.name} {now_ms} {state.next_key()}"
    identifier = subscription_id(new) if before is None else sub_id(before)
    return Definition(definition.kind, definition.name, definition.attributes | {"SUBID": identifier})


def activate_sub(state: State, name: str) -> None:
    """Apply the present definition of a SUB object, after its definition, change, deletion or recovery."""
    known = state.subscriptions.administered.pop(name, None)
    if known is not None:
        state.topics.discard(known)
    definition = state.objects.find(Namespace.SUB, name)
    if definition is None or not definition.text("DEST"):
        return
    made = Administered(
        state.next_subscription() if known is None else known.number,
        name,
        sub_id(definition),
        Address(AddressKind.TOPIC, definition.text("TOPICSTR")),
        definition.text("DEST"),
        parse_selector(definition.text("SELECTOR")),
    )
    state.subscriptions.administered[name] = made
    state.topics.add(made)


def activate_subs(state: State) -> None:
    """Apply the definitions of all SUB objects, at the start of the queue manager."""
    for definition in state.objects:
        if definition.kind is Kind.SUB:
            activate_sub(state, definition.name)


def deliver_retained_to_sub(state: State, turn: Turn, name: str) -> None:
    """Put the retained publications for a new SUB object on its queue, except those that the queue cannot take."""
    made = state.subscriptions.administered.get(name)
    if made is None:
        return
    for one in retained_for(state, made, turn.now_ms):
        try:
            target = target_of(state, made)
        except RefusalError:
            return
        if target.queue is not None and not obstacles(target, one.message):
            put_retained(state, turn, target.queue, one)
