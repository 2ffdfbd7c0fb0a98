"""Checks of publications and subscriptions against the topic tree, and copies of publications for subscribers."""

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
    """One subscriber's copy of a publication; only present subscribers get one (PD-28, PD-33).

    Args:
        home: The home of its queue, as in `Entry.home`.
        queue: Its queue, if it has no delay.
        dead: The header with which it goes to the dead-letter queue; None if the subscriber can take it.
    """

    home: str
    queue: Queue
    dead: DeadLetterHeader | None = None


class Publication(Struct, frozen=True, eq=False):
    """A checked publication.

    Args:
        message: The message for subscribers, with the topic's persistence and priority filled in.
        copies: One for each subscriber that gets it (DD-80).
        retained: Where it is kept as the retained publication; None if it is not retained.
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
    """Check a publication and find the subscribers that get it; nothing is changed.

    Args:
        state: The queue manager.
        connection: The publisher's connection.
        topic: The topic; its string is literal, even if a topic object has it as its name.
        message: The message.
        now_ms: The time, in milliseconds since the epoch.
        delayed: Whether it has a delivery delay.

    Raises:
        RefusalError: Publications are disabled (PUB), a delayed one must reach more subscribers than the topic allows
            (DD-82), it cannot be retained (with a delay: DD-16), or a subscriber that it must reach cannot take it.
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
    dead_letters = settings.dead_letters and not delayed
    copies = _copies(state, found, message, reach, now_ms, dead_letters=dead_letters)
    return Publication(message, (*copies, *_proxies(state, topic)), retained)


def _filled(message: Message, settings: TopicSettings) -> Message:
    """Return a message with the topic's persistence and priority if it has none."""
    if message.durable is None:  # a durable header decides by itself (QS-32), else the topic does (QS-33)
        message = replace(message, durable=settings.persistent)
    return message if message.priority is not None else replace(message, priority=settings.priority)


def _proxies(state: State, topic: Address) -> Iterator[Copy]:
    """Return a copy for each neighbour with a proxy subscription (DD-81)."""
    for home in neighbour_homes(state, topic):
        queue = onward_queue(state, home)
        if queue is not None:
            yield Copy(home, queue)


def _copies(
    state: State, found: tuple[Subscriber, ...], message: Message, reach: Reach, now_ms: int, *, dead_letters: bool
) -> tuple[Copy, ...]:
    """Return copies for the subscribers that can take the publication (PMSGDLV, NPMSGDLV).

    If a subscriber cannot, its copy goes to the dead-letter queue if the topic allows that (USEDLQ) and the queue can
    take it; that counts as reaching the subscriber. A delayed publication is not dead-lettered before its delay is
    over.

    Raises:
        RefusalError: A subscriber that must be reached cannot take it, so no subscriber gets it.
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
    """Return a subscriber's copy, or why the subscriber cannot take one."""
    try:
        target = target_of(state, subscriber)
    except RefusalError as error:
        return Mqrc(error.refused.mqrc or Mqrc.UNEXPECTED_ERROR)
    queue = target.queue
    if queue is None:
        return Mqrc.UNKNOWN_OBJECT_NAME
    found = obstacles(target, message, taken[queue.home] + 1)
    return found[0].mqrc if found else Copy(subscriber.home, queue)


def _dead_letter(  # noqa: PLR0917  what a dead letter says, and where
    state: State, subscriber: Subscriber, message: Message, taken: Counter[str], why: Mqrc, now_ms: int
) -> Copy | None:
    """Return a subscriber's copy for the dead-letter queue; None if there is no such queue, or it cannot take it."""
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
    """Refuse a subscription that the topic does not allow.

    SUB(DISABLED) refuses receivers on new and existing subscriptions. DURSUB(NO) refuses new durable subscriptions, not
    existing ones.

    Raises:
        RefusalError: The topic does not allow it.
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
