"""Publishing: what the topic tree allows, whom a publication reaches, and what cannot go together with a delay."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.connections import Connection
from assay_broker.core.groups import is_last, is_member
from assay_broker.core.queues import Queue
from assay_broker.core.refusals import refusal
from assay_broker.core.retained import Retention, asks_retention, check_retainable, without_mark
from assay_broker.core.state import State
from assay_broker.core.subscriptions import Subscription, Terms
from assay_broker.core.topic_tree import Reach, TopicSettings, topic_settings
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc


class Publication(Struct, frozen=True, eq=False):
    """A publication that may go out.

    Args:
        message: The message, persistence and priority filled in from the topic, as subscribers get it.
        queues: The queues of the subscriptions that it is for and that can take it.
        retained: Where it is kept as the retained publication; None when it is not.
    """

    message: Message
    queues: tuple[Queue, ...]
    retained: Retention | None


def check_delayed(address: Address, message: Message) -> None:
    """Refuse a message with a delay that is in a group (DD-17).

    Raises:
        RefusalError: As said.
    """
    if is_member(message) or message.group_sequence is not None or is_last(message):
        raise refusal(
            Mqrc.OPTIONS_ERROR,
            "A message in a group cannot have a delivery delay; leave one of them out.",
            address.name,
        )


def publish(
    state: State, connection: Connection, topic: Address, message: Message, now_ms: int, *, delayed: bool
) -> Publication:
    """Find out what becomes of a publication; nothing is changed.

    Args:
        state: The queue manager.
        connection: Who publishes.
        topic: Where; the string is taken as it is, also when a topic object has it as its name.
        message: The message.
        now_ms: When, in milliseconds since the epoch.
        delayed: Whether it has a delivery delay.

    Raises:
        RefusalError: Publications are disabled (PUB), a delayed one must reach more than the topic lets it (DD-82),
            it cannot be retained (with a delay: DD-16), or somebody whom it must reach cannot take it.
    """
    settings = topic_settings(state.objects, topic.name)
    if not settings.publishing:
        raise refusal(Mqrc.PUT_INHIBITED, f"Publications on the topic {topic.name} are disabled.", topic.name)
    message = _filled(message, settings)
    reach = settings.reach(persistent=bool(message.durable))
    retained = None
    if asks_retention(message):
        if delayed:  # DD-16
            raise refusal(
                Mqrc.OPTIONS_ERROR,
                "A retained publication cannot have a delivery delay; leave one of them out.",
                topic.name,
            )
        check_retainable(state, topic, now_ms)
        retained = Retention(topic, connection.number, connection.client_id)
        message = without_mark(message)
    if delayed and reach is not Reach.AVAILABLE:  # DD-82: of the two attributes, the one for its persistence
        keyword = "PMSGDLV" if message.durable else "NPMSGDLV"
        raise refusal(
            Mqrc.PUBLICATION_FAILURE,
            f"A delayed publication needs {keyword}(ALLAVAIL), and the topic {topic.name} has {keyword}({reach}).",
            topic.name,
        )
    found = tuple(state.topics.matching(topic, message, connection.number, connection.client_id))
    return Publication(message, _reached(found, reach), retained)


def _filled(message: Message, settings: TopicSettings) -> Message:
    """Persistence and priority that the sender left to the destination, as the topic says."""
    if message.durable is None:
        message = replace(message, durable=settings.persistent)
    return message if message.priority is not None else replace(message, priority=settings.priority)


def _reached(found: tuple[Subscription, ...], reach: Reach) -> tuple[Queue, ...]:
    """The queues of those who can take a publication (PMSGDLV, NPMSGDLV).

    Raises:
        RefusalError: One of those cannot who must; nobody gets it.
    """
    unable = [subscription for subscription in found if subscription.queue.full]
    failing = [one.queue.name for one in unable if reach is Reach.ALL or (reach is Reach.DURABLE and one.terms.durable)]
    if failing:
        raise refusal(
            Mqrc.PUBLICATION_FAILURE,
            f"{' and '.join(failing)} cannot take the publication, so nobody receives it.",
            *failing,
        )
    return tuple(subscription.queue for subscription in found if subscription not in unable)


def check_subscribing(state: State, terms: Terms) -> None:
    """Refuse a subscription that the topic does not allow.

    SUB(DISABLED) keeps everybody from opening one, old or new; DURSUB(NO) keeps durable ones from being made, and
    leaves those alone that are there already.

    Raises:
        RefusalError: As said.
    """
    topic = terms.topic.name
    settings = topic_settings(state.objects, topic)
    if not settings.subscribing:
        raise refusal(Mqrc.SUB_INHIBITED, f"Subscriptions to the topic {topic} are disabled.", topic)
    if terms.durable and not settings.durable:
        found = state.subscriptions.find(terms)
        if found is None or found.terms != terms:
            raise refusal(
                Mqrc.DURABILITY_NOT_ALLOWED, f"Durable subscriptions to the topic {topic} are not allowed.", topic
            )
