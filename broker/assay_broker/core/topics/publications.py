"""Checks of publications and new subscriptions, and the copies of a publication for its subscribers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.clients.connections import Connection
from assay_broker.core.messages.groups import is_last, is_member
from assay_broker.core.messages.headers import DeadLetterHeader
from assay_broker.core.networks.hierarchy import neighbour_homes
from assay_broker.core.queues.obstacles import obstacles
from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.resolution import onward_queue, resolve
from assay_broker.core.refusals import RefusalError, refusal
from assay_broker.core.state import State
from assay_broker.core.topics.retained import Retention, asks_retention, without_mark
from assay_broker.core.topics.retained_updates import check_retainable
from assay_broker.core.topics.subscriber_queues import target_of
from assay_broker.core.topics.subscriptions import Subscriber, Terms
from assay_broker.core.topics.topic_tree import Reach, TopicSettings, topic_settings
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc


class Copy(Struct, frozen=True, eq=False):
    """The planned copy of a publication for one subscriber or neighbour.

    A neighbour is the parent or a child of the queue manager in a publish/subscribe hierarchy. Only subscribers that
    exist when the publication is sent get a copy (PD-28, PD-33).

    Args:
        home: The home of the subscriber or neighbour (`Entry.home` of a delayed copy).
        queue: The queue for a copy without delay: that of the subscriber or neighbour, or the dead-letter queue.
        dead: The dead-letter header; None if the subscriber can take the copy.
    """

    home: str
    queue: Queue
    dead: DeadLetterHeader | None = None


class Publication(Struct, frozen=True, eq=False):
    """A publication that has passed all checks, with its planned copies.

    Args:
        message: The message for subscribers, with missing persistence and priority filled in from the topic.
        copies: One copy for each subscriber that gets the publication (DD-80), and for each neighbour that wants it.
        retained: The topic and publisher, if the publication is to be retained; else None.
    """

    message: Message
    copies: tuple[Copy, ...]
    retained: Retention | None


def check_delayed(address: Address, message: Message) -> None:
    """Refuse a delayed message in a group (DD-17).

    Raises:
        RefusalError: The message has a group id, a sequence number or the mark of a last member.
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
    """Check a publication, and find the subscribers that get it; the caller puts the copies.

    Args:
        state: The queue manager.
        connection: The publisher's connection.
        topic: The topic; its name is a topic string, not the name of a topic object.
        message: The message.
        now_ms: The time, in milliseconds since the epoch.
        delayed: Whether the message has a delivery delay.

    Raises:
        RefusalError: Publications on the topic are disabled (PUB), or a subscriber that the publication must reach
            cannot take it. A delayed publication is also refused if it asks for retention (DD-16), or if the topic's
            PMSGDLV (NPMSGDLV for a non-persistent publication) is not ALLAVAIL (DD-82). A publication that asks for
            retention is also refused if the queue for retained publications cannot take it.
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
    if delayed and reach is not Reach.AVAILABLE:  # DD-82: PMSGDLV or NPMSGDLV, by persistence
        keyword = "PMSGDLV" if message.durable else "NPMSGDLV"
        raise refusal(
            Mqrc.PUBLICATION_FAILURE,
            f"A delayed publication needs {keyword}(ALLAVAIL), and the topic {topic.name} has {keyword}({reach}).",
            topic.name,
        )
    found = tuple(state.topics.matching(topic, message, connection.number, connection.client_id))
    dead_letters = settings.dead_letters and not delayed
    copies = _copies(state, found, message, reach, now_ms, dead_letters=dead_letters)
    return Publication(message, (*copies, *_proxies(state, topic)), retained)


def _filled(message: Message, settings: TopicSettings) -> Message:
    """Return a message with missing persistence or priority filled in from its topic."""
    if message.durable is None:  # the sender's choice (QS-32) precedes the topic's (QS-33)
        message = replace(message, durable=settings.persistent)
    return message if message.priority is not None else replace(message, priority=settings.priority)


def _proxies(state: State, topic: Address) -> Iterator[Copy]:
    """Return a copy for each neighbour that wants publications on the topic (DD-81)."""
    for home in neighbour_homes(state, topic):
        queue = onward_queue(state, home)
        if queue is not None:
            yield Copy(home, queue)


def _copies(
    state: State, found: tuple[Subscriber, ...], message: Message, reach: Reach, now_ms: int, *, dead_letters: bool
) -> tuple[Copy, ...]:
    """Return copies for the subscribers that can take the publication (PMSGDLV, NPMSGDLV).

    If a subscriber cannot take its copy, the copy goes to the dead-letter queue, provided that the topic allows this
    (USEDLQ) and the queue can take the copy. The subscriber then counts as reached.

    Args:
        state: The queue manager.
        found: The subscribers.
        message: The publication.
        reach: The subscribers that the publication must reach.
        now_ms: The time, in milliseconds since the epoch.
        dead_letters: Whether copies may go to the dead-letter queue; False for a delayed publication before its
            release.

    Raises:
        RefusalError: A subscriber that the publication must reach cannot take it, so no subscriber gets it.
    """
    copies: list[Copy] = []
    failing: list[str] = []
    taken: Counter[str] = Counter()
    for subscriber in found:
        copy = _copy(state, subscriber, message, taken)
        if isinstance(copy, Mqrc) and dead_letters:
            copy = _dead_letter(state, subscriber, message, taken, copy, now_ms) or copy
        if isinstance(copy, Copy):
            taken[copy.queue.home] += 1
            copies.append(copy)
        elif reach is Reach.ALL or (reach is Reach.DURABLE and subscriber.durable):
            failing.append(subscriber.name)
    if failing:
        raise refusal(
            Mqrc.PUBLICATION_FAILURE,
            f"{' and '.join(failing)} cannot take the publication, so no subscriber receives it.",
            *failing,
        )
    return tuple(copies)


def _copy(state: State, subscriber: Subscriber, message: Message, taken: Counter[str]) -> Copy | Mqrc:
    """Return a subscriber's copy, or the reason code if the subscriber cannot take one.

    Args:
        state: The queue manager.
        subscriber: The subscriber.
        message: The publication.
        taken: The number of copies of this publication that are planned for each queue, by the queues' homes.
    """
    try:
        target = target_of(state, subscriber)
    except RefusalError as error:
        return Mqrc(error.refused.mqrc or Mqrc.UNEXPECTED_ERROR)
    queue = target.queue
    if queue is None:
        return Mqrc.UNKNOWN_OBJECT_NAME
    found = obstacles(target, message, taken[queue.home] + 1)
    return found[0].mqrc if found else Copy(subscriber.home, queue)


def _dead_letter(  # noqa: PLR0917  a dead-letter header needs all these values
    state: State, subscriber: Subscriber, message: Message, taken: Counter[str], why: Mqrc, now_ms: int
) -> Copy | None:
    """Return a subscriber's copy for the dead-letter queue; None if that queue does not exist or cannot take it.

    Args:
        state: The queue manager.
        subscriber: The subscriber.
        message: The publication.
        taken: The number of copies of this publication that are planned for each queue, by the queues' homes.
        why: The reason code of the obstacle at the subscriber's queue.
        now_ms: The time, in milliseconds since the epoch.
    """
    name = state.objects.dead_letter_queue
    if not name:
        return None
    try:
        target = resolve(state, Address(AddressKind.QUEUE, name))
    except RefusalError:
        return None
    queue = target.queue
    if queue is None or obstacles(target, message, taken[queue.home] + 1):
        return None
    header = DeadLetterHeader(reason=why, queue=subscriber.name, manager=state.settings.name, put_ms=now_ms)
    return Copy(subscriber.home, queue, header)


def check_subscribing(state: State, terms: Terms) -> None:
    """Refuse a receiver whose subscription the topic does not allow.

    Args:
        state: The queue manager.
        terms: The terms that the receiver asks for.

    Raises:
        RefusalError: The topic has SUB(DISABLED), which applies to new and existing subscriptions. Or it has
            DURSUB(NO), and the receiver asks for a durable subscription that does not exist with these terms.
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
