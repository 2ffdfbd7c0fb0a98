"""Checks of sends, and resolution of their destinations, before anything is put."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.administration.authority_checks import check_permitted
from assay_broker.core.clients.connections import Connection
from assay_broker.core.clients.senders import Sender
from assay_broker.core.clients.units import Pending
from assay_broker.core.messages.descriptor import made_id
from assay_broker.core.messages.reports import check_options
from assay_broker.core.networks.clusters import check_bound
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.homes import home_of
from assay_broker.core.queues.obstacles import Obstacle, body_octets, full, limits, message_octets, obstacles
from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.resolution import resolve, staging_depth, staging_queue
from assay_broker.core.queues.routes import InstanceChoice, Route, Target
from assay_broker.core.refusals import RefusalError, refusal
from assay_broker.core.state import State
from assay_broker.core.topics.publications import check_delayed, publish
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc, refused

HIGHEST_PRIORITY = 9
_PRIORITIES = frozenset((None, *range(HIGHEST_PRIORITY + 1)))
_TEMPORARY = (AddressKind.TEMPORARY_QUEUE, AddressKind.TEMPORARY_TOPIC)
_TOPICS = (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


def prepare(state: State, connection: Connection, sender: Sender, message: Message, now_ms: int) -> Pending:
    """Check a message, and find the queues or subscriptions that receive it if it is sent now (DD-51).

    Args:
        state: The queue manager.
        connection: The sender's connection.
        sender: The sender.
        message: The message.
        now_ms: The time, in milliseconds since the epoch.

    Returns:
        The checked message, which the caller puts or adds to a unit of work.

    Raises:
        RefusalError: The message is not valid, its destination does not exist or cannot take it, or the user has no
            authority to put or publish.
    """
    route = _remembered(state, sender)
    target = None if route is None else route.target
    queue = None if target is None else target.queue
    if route is not None and target and queue and _is_plain(message, route.longest) and not queue.full:
        return Pending(_as_defined(message, target.path[0]), route.homes, route.queues, None, 0)
    _check(state, message)
    message = _identified(state, message, now_ms)
    address = sender.address or message.to
    if address is None:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, "Neither the sender nor the message names a destination.")
    if target is None:
        _check_address(state, connection, address)
    expires_ms = expiry(message, now_ms)
    if expires_ms is not None and message.delivery_time_ms is not None and expires_ms < message.delivery_time_ms:
        raise refusal(Mqrc.EXPIRY_ERROR, "The message would expire before its delay is over.", address.name)  # DD-14
    delayed = message.delivery_time_ms is not None and message.delivery_time_ms > now_ms
    if delayed:
        _check_level(state)
        check_delayed(address, message)
    if address.kind in _TOPICS:
        return _publication(state, connection, address, message, now_ms, delayed=delayed)
    target = target or _resolved(state, sender, address, message)
    if target.topic is not None:
        return _publication(state, connection, target.topic, message, now_ms, delayed=delayed)
    return _queue_message(state, address, target, message, expires_ms, delayed=delayed)


def _check_address(state: State, connection: Connection, address: Address) -> None:
    """Refuse a missing temporary destination, or a user without authority to put or publish (DD-30: at each put)."""
    if address.kind in _TEMPORARY and str(address) not in state.temporary:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"{address.name} does not exist, or was deleted.", address.name)
    check_permitted(state, connection.user, address, "PUB" if address.kind in _TOPICS else "PUT")


def _is_plain(message: Message, longest: int) -> bool:
    """Return whether a message needs no further check; most messages need none.

    Args:
        message: The message.
        longest: The highest number of octets of the message (`Route.longest`).
    """
    octets = message.encoded
    return (
        octets is not None
        and len(octets) <= longest
        and message.delivery_time_ms is None
        and not message.ttl_ms
        and not message.expiry_ms
        and not message.properties
        and message.priority in _PRIORITIES
    )


def _remembered(state: State, sender: Sender) -> Route | None:
    """Return the sender's last resolved and authorised destination; None if it is no longer valid (`Route`).

    In a network or sharing group the result is always None, because other queue managers influence the resolution.
    """
    route = sender.route
    if route is None or not route.holds(state.objects.changes, state.authorities.changes):
        return None
    return route


def _resolved(state: State, sender: Sender, address: Address, message: Message) -> Target:
    target = resolve(state, address, InstanceChoice(sender.queue, message.group_id))
    if address is sender.address and address.kind is AddressKind.QUEUE and state.alone:
        sender.route = Route(
            target=target,
            objects=state.objects.changes,
            authorities=state.authorities.changes,
            longest=_longest(state, target),
            homes=() if target.queue is None else (target.queue.home,),
            queues=() if target.queue is None else (target.queue,),
        )
    return target


def _longest(state: State, target: Target) -> int:
    if target.queue is None or target.inhibited is not None:
        return -1
    return min(
        state.objects.queue_manager().number("MAXMSGL"),
        target.queue.definition.number("MAXMSGL"),
    )


def _queue_message(
    state: State, address: Address, target: Target, message: Message, expires_ms: int | None, *, delayed: bool
) -> Pending:
    found = obstacles(target, message)
    if delayed:
        check_bound(target, address)
        found += _staging_obstacles(state, body_octets(message), 1)
    _refuse(found)
    settled = _as_defined(message, target.path[0])
    queue = target.queue
    if queue is None:
        raise TypeError("a target without a topic has a queue")
    home = queue.home if address.kind in _TEMPORARY else home_of(address.name)
    if delayed:
        return Pending(settled, (home,), (), expires_ms, 1)
    return Pending(settled, (queue.home,), (queue,), expires_ms, 0)


def check_put(state: State, name: str, message: Message) -> tuple[Queue, Message]:
    """Check a message without delay that an administrator puts to a queue.

    Args:
        state: The queue manager.
        name: The queue's name.
        message: The message.

    Returns:
        The queue, and the message with missing persistence and priority filled in from the queue's definition.

    Raises:
        RefusalError: The message is not valid, or the queue does not exist or cannot take the message.
    """
    _check(state, message)
    target = resolve(state, Address(AddressKind.QUEUE, name))
    if target.queue is None:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"{name} is an alias of a topic; name a queue.", name)
    _refuse(obstacles(target, message))
    return target.queue, _as_defined(message, target.path[0])


def _publication(
    state: State,
    connection: Connection,
    topic: Address,
    message: Message,
    now_ms: int,
    *,
    delayed: bool,
) -> Pending:
    publication = publish(state, connection, topic, message, now_ms, delayed=delayed)
    expires_ms = expiry(message, now_ms)
    homes = tuple(copy.home for copy in publication.copies)
    if delayed:
        _refuse(_staging_obstacles(state, body_octets(message), len(homes)))
        return Pending(publication.message, homes, (), expires_ms, len(homes))
    return Pending(
        publication.message,
        homes,
        tuple(copy.queue for copy in publication.copies),
        expires_ms,
        0,
        dead=tuple(copy.dead for copy in publication.copies),
        retained=publication.retained,
    )


def expiry(message: Message, now_ms: int) -> int | None:
    """Return when a message expires, in milliseconds since the epoch; None for never.

    The time to live begins at the send and includes the delay (DD-55, DD-56). A time to live or expiry of 0 means that
    the message never expires.
    """
    if message.expiry_ms:
        return message.expiry_ms
    return now_ms + message.ttl_ms if message.ttl_ms else None


def _as_defined(message: Message, definition: Definition) -> Message:
    """Return a message with missing persistence or priority filled in from its destination's definition (DD-52)."""
    if message.durable is not None and message.priority is not None:
        return message
    durable = definition.says("DEFPSIST", "YES") if message.durable is None else message.durable
    priority = definition.number("DEFPRTY") if message.priority is None else message.priority
    return replace(message, durable=durable, priority=priority)


def _check(state: State, message: Message) -> None:
    limit = state.objects.queue_manager().number("MAXMSGL")
    if message_octets(message) > limit:
        why = f"The message has more than {limit} bytes, the MAXMSGL of the queue manager."
        raise refusal(Mqrc.MSG_TOO_BIG_FOR_Q_MGR, why, state.settings.name)
    if message.priority is not None and not 0 <= message.priority <= HIGHEST_PRIORITY:
        raise refusal(Mqrc.PRIORITY_ERROR, f"Priority {message.priority} is not between 0 and {HIGHEST_PRIORITY}.")
    if (message.ttl_ms or 0) < 0 or (message.expiry_ms or 0) < 0 or (message.delivery_time_ms or 0) < 0:
        raise refusal(Mqrc.EXPIRY_ERROR, "Time to live, expiry and delivery time cannot be negative.")
    check_options(message)


def _identified(state: State, message: Message, now_ms: int) -> Message:
    """Return a message with a new id if it has none, because its staged copies and reports need one (DD-37).

    The AMQP encoding stays as it is, because the bare message is immutable (OASIS AMQP 1.0, 3.2).
    """
    if message.message_id is not None:
        return message
    return replace(message, message_id=made_id(state.settings.name, now_ms, state.next_key()))


def _check_level(state: State) -> None:
    if not state.settings.delays:
        raise refusal(
            Mqrc.FUNCTION_NOT_SUPPORTED,
            f"Level {state.settings.level} has no delivery delay; level 8.0 is the first with it.",
            state.settings.name,
        )


def _staging_obstacles(state: State, octets: int, copies: int) -> list[Obstacle]:
    """Return the obstacles to a put on the staging queue (DD-19, DD-36, DD-40).

    Args:
        state: The queue manager.
        octets: The length of the message's body.
        copies: The number of copies to stage.

    Returns:
        All obstacles; empty if the staging queue can take the copies.
    """
    definition = staging_queue(state)
    if definition is None:
        return [Obstacle(Mqrc.UNKNOWN_OBJECT_NAME, STAGING_QUEUE, "has not been defined")]
    found: list[Obstacle] = []
    if definition.says("PUT", "DISABLED"):
        found.append(Obstacle(Mqrc.PUT_INHIBITED, STAGING_QUEUE, "is disabled for puts"))
    found += limits(definition, STAGING_QUEUE, octets)
    if staging_depth(state) + copies > definition.number("MAXDEPTH"):
        found.append(full(STAGING_QUEUE))
    return found


def _refuse(found: list[Obstacle]) -> None:
    """Refuse a send that has obstacles, with the first reason code and the names of all queues (DD-19, DD-21)."""
    if found:
        why = " and ".join(dict.fromkeys(f"{one.name} {one.why}" for one in found))
        names = dict.fromkeys(one.name for one in found)
        raise RefusalError(refused(found[0].mqrc, f"{found[0].mqrc.label}: {why}.", *names))
