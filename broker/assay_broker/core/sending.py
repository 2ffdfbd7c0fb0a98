"""From a sender to queues: checks, resolution of the destination, placing."""

from __future__ import annotations

from functools import partial

from assay_broker.core.connections import Connection
from assay_broker.core.delivery import stage
from assay_broker.core.entries import Entry, Place
from assay_broker.core.queues import STAGING_QUEUE, Queue
from assay_broker.core.records import MessageStored
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.turn import Turn
from assay_broker.core.units import Pending
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

DEFAULT_PRIORITY = 4  # JMS 3.4.9
HIGHEST_PRIORITY = 9
_TEMPORARY = (AddressKind.TEMPORARY_QUEUE, AddressKind.TEMPORARY_TOPIC)
_TOPICS = (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


def prepare(state: State, connection: Connection, address: Address, message: Message, now_ms: int) -> Pending:
    """Check a message and find the queues it is for, now (DD-51); nothing is changed.

    Raises:
        RefusalError: The message or its destination is not acceptable.
    """
    _check(state, message)
    if address.kind in _TEMPORARY and str(address) not in state.temporary:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"{address.name} is no longer there, or never was.", address.name)
    expires_ms = expiry(message, now_ms)
    if expires_ms is not None and message.delivery_time_ms is not None and expires_ms < message.delivery_time_ms:
        raise refusal(Mqrc.EXPIRY_ERROR, "The message would expire before its delay is over.", address.name)  # DD-14
    if address.kind in _TOPICS:
        queues = _subscribed(state, connection, address, message)
    else:
        queues = (state.queues.of(address),)
    staged = len(queues) if message.delivery_time_ms is not None and message.delivery_time_ms > now_ms else 0
    _check_room(state, address, queues, staged)
    return Pending(message, queues, expires_ms, staged)


def expiry(message: Message, now_ms: int) -> int | None:
    """When a message expires; the time to live counts from the send (DD-56), 0 means never."""
    if message.expiry_ms:
        return message.expiry_ms
    return now_ms + message.ttl_ms if message.ttl_ms else None


def persistent(state: State, message: Message) -> bool:
    """Whether a message is persistent; one that does not say is as the queue manager's default says."""
    return state.settings.default_persistent if message.durable is None else message.durable


def _check(state: State, message: Message) -> None:
    limit = state.settings.max_message_bytes
    if size(message) > limit:
        raise refusal(Mqrc.MSG_TOO_BIG_FOR_Q_MGR, f"The message has more than {limit} bytes.", state.settings.name)
    if message.priority is not None and not 0 <= message.priority <= HIGHEST_PRIORITY:
        raise refusal(Mqrc.PRIORITY_ERROR, f"Priority {message.priority} is not between 0 and {HIGHEST_PRIORITY}.")
    if any(value is not None and value < 0 for value in (message.ttl_ms, message.expiry_ms, message.delivery_time_ms)):
        raise refusal(Mqrc.EXPIRY_ERROR, "Time to live, expiry and delivery time cannot be negative.")


def size(message: Message) -> int:
    """Bytes of body and properties, as far as the limit on messages counts them."""
    if message.encoded is not None:
        return len(message.encoded)
    return _octets(message.body) + sum(
        _octets(name) + (_octets(value) if isinstance(value, (str, bytes)) else 8)
        for name, value in message.properties.items()
    )


def _octets(value: str | bytes | None) -> int:
    if value is None:
        return 0
    return len(value) if isinstance(value, bytes) or value.isascii() else len(value.encode(errors="surrogatepass"))


def _subscribed(state: State, connection: Connection, topic: Address, message: Message) -> tuple[Queue, ...]:
    """The queues of the matching subscriptions that can take the message.

    As IBM MQ's factory settings say: a persistent publication fails when a durable subscription cannot take it
    (PMSGDLV ALLDUR); otherwise those that cannot are left out (NPMSGDLV ALLAVAIL).

    Raises:
        RefusalError: As said.
    """
    found = tuple(state.topics.matching(topic, message, connection.number, connection.client_id))
    full = tuple(subscription for subscription in found if subscription.queue.full)
    failing = tuple(subscription.queue.name for subscription in full if subscription.terms.durable)
    if failing and persistent(state, message):
        raise refusal(
            Mqrc.PUBLICATION_FAILURE, "A durable subscription is full; nobody receives the publication.", *failing
        )
    return tuple(subscription.queue for subscription in found if subscription not in full)


def _check_room(state: State, address: Address, queues: tuple[Queue, ...], staged: int) -> None:
    """Refuse what does not fit, naming every queue at fault."""
    at_fault: list[str] = []
    if address.kind not in _TOPICS:
        at_fault += [queue.name for queue in queues if queue.full]
    if len(state.staging) + state.staging.reserved + staged > state.settings.max_staged:
        at_fault.append(STAGING_QUEUE)
    if at_fault:
        raise refusal(Mqrc.Q_FULL, f"{' and '.join(at_fault)} cannot take another message.", *at_fault)


def reserve(state: State, pending: Pending, places: int) -> None:
    """Reserve places for a message of an open unit of work (1), or give them back (-1)."""
    state.staging.reserved += places * pending.staged
    for queue in pending.queues:
        queue.reserved += places


def place(state: State, turn: Turn, pending: Pending) -> None:
    """Put a message on the queues that it is for, or stage it for them.

    Queues that have gone since (a subscription that ended before the commit) are left out, and so is a message that
    has expired.
    """
    if pending.expires_ms is not None and pending.expires_ms <= turn.now_ms:
        return
    for queue in pending.queues:
        if not queue.gone:
            _place(state, turn, pending, queue)


def _place(state: State, turn: Turn, pending: Pending, queue: Queue) -> None:
    message = pending.message
    due_ms = message.delivery_time_ms
    if due_ms is not None and due_ms <= turn.now_ms:
        due_ms = None  # DD-04; DD-27: a commit after the delay delivers at once
    entry = Entry(
        key=state.next_key(),
        home=queue.home,
        message=message,
        priority=DEFAULT_PRIORITY if message.priority is None else message.priority,
        recorded=queue.recorded and persistent(state, message),
        arrived_ms=turn.now_ms,
        expires_ms=pending.expires_ms,
        due_ms=due_ms,
    )
    if entry.recorded:  # PD-20, PD-23; anything else never reaches the store (PD-22, PD-31, DD-48)
        entry.batch = turn.record(stored(entry), partial(_withdraw, state, entry))
    if due_ms is not None:
        stage(state, entry)
    else:
        entry.order = state.next_order()
        queue.enter(entry)
        if entry.expires_ms is not None:
            state.expiry.add(entry.key, entry.expires_ms, entry)
    turn.touch(queue)


def stored(entry: Entry) -> MessageStored:
    """The record of a copy."""
    return MessageStored(
        key=entry.key,
        home=entry.home,
        message=entry.message,
        arrived_ms=entry.arrived_ms,
        expires_ms=entry.expires_ms,
        due_ms=entry.due_ms,
    )


def _withdraw(state: State, entry: Entry, _turn: Turn) -> None:
    """Undo `_place`: the store could not take the copy."""
    if entry.place is Place.STAGED:
        state.staging.unstage(entry)
    queue = state.queues.find(entry.home)
    if queue is not None:
        queue.remove(entry)
    state.expiry.discard(entry.key)
    entry.place = Place.GONE
