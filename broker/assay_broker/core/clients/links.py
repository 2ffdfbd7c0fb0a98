"""Functions that open and close links, subscriptions and temporary destinations."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from assay_broker.core.administration.authority_checks import check_permitted
from assay_broker.core.clients.connections import Connection
from assay_broker.core.clients.senders import Sender
from assay_broker.core.clients.subscription_lifetime import (
    add_subscription,
    defined,
    drop_entries,
    end_subscription,
    forget_subscription,
    new_subscription,
    receiver_left,
    resume,
)
from assay_broker.core.commands import Attach, AttachSender
from assay_broker.core.networks.clusters import binding, check_here
from assay_broker.core.objects.factory import DURABLE_MODEL, NON_DURABLE_MODEL, STAGING_QUEUE
from assay_broker.core.queues.delivery import give_back
from assay_broker.core.queues.queue import Queue, Receiver
from assay_broker.core.queues.resolution import managed, resolve
from assay_broker.core.refusals import illegal_state, refusal
from assay_broker.core.state import State
from assay_broker.core.states.links import Link, LinkAction, LinkInput
from assay_broker.core.topics.publications import check_subscribing
from assay_broker.core.topics.retained_delivery import check_retained_fits, deliver_retained
from assay_broker.core.topics.subscriptions import Subscription, SubscriptionReceiver, Terms, check_reuse, check_terms
from assay_broker.core.turn import Turn
from assay_sdk.driver import Durability, PeerProperties
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.model.selectors import Selector, SelectorError

_QUEUES = (AddressKind.QUEUE, AddressKind.TEMPORARY_QUEUE)
_TEMPORARY = (AddressKind.TEMPORARY_QUEUE, AddressKind.TEMPORARY_TOPIC)


def parse_selector(text: str | None) -> Selector | None:
    """Parse a selector; None and an empty text select all messages (JMS 2.0, 3.8.1.1).

    Raises:
        RefusalError: The text is not a selector.
    """
    if not text:
        return None
    try:
        return Selector.parse(text)
    except SelectorError as error:
        raise refusal(Mqrc.SELECTOR_SYNTAX_ERROR, str(error)) from error


def check_address(state: State, address: Address) -> None:
    """Refuse a destination whose name is empty or too long.

    Raises:
        RefusalError: The name is empty or too long.
    """
    if not address.name or len(address.name.encode(errors="surrogatepass")) > state.settings.max_name_bytes:
        reason = Mqrc.UNKNOWN_OBJECT_NAME if address.kind in _QUEUES else Mqrc.TOPIC_STRING_ERROR
        raise refusal(reason, f"A name has 1 to {state.settings.max_name_bytes} bytes.", address.name[:64])


def _check_new_link(state: State, connection: Connection, number: int) -> None:
    if number in connection.links:
        raise illegal_state(f"Link {number} is open already.")
    if len(connection.links) >= state.settings.max_links:
        raise refusal(
            Mqrc.RESOURCE_PROBLEM, f"The connection has {state.settings.max_links} links already; close one first."
        )


def _check_owned(state: State, connection: Connection, address: Address, *, adopt: bool) -> None:
    """Refuse a temporary destination without an owner if the connection cannot become its owner.

    Raises:
        RefusalError: The destination does not exist and `adopt` is False, or the connection has too many temporary
            destinations.
    """
    if address.kind in _TEMPORARY and str(address) not in state.temporary:
        if not adopt:
            raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"{address.name} does not exist, or was deleted.", address.name)
        if len(connection.temporary) >= state.settings.max_links:
            raise refusal(Mqrc.RESOURCE_PROBLEM, "The connection has too many temporary destinations.", address.name)


def _adopt(state: State, connection: Connection, address: Address) -> None:
    """Make a connection the owner of a temporary destination that has no owner yet (JMS 2.0, 6.2.2)."""
    if address.kind in _TEMPORARY and str(address) not in state.temporary:
        state.temporary[str(address)] = connection.number
        connection.temporary.append(address)


def attach_sender(state: State, connection: Connection, command: AttachSender) -> PeerProperties:
    """Open a sender.

    Returns:
        The properties of the destination for the client; empty for a topic, or without a destination.

    Raises:
        RefusalError: The destination's name is not valid, the destination does not exist, or the user has no authority
            to put or publish. Or the link's number is in use, or the connection has too many links or temporary
            destinations.
    """
    _check_new_link(state, connection, command.link)
    address, queue = command.address, None
    properties: PeerProperties = {}
    if address is not None:
        check_address(state, address)
        check_permitted(state, connection.user, address, "PUT" if address.kind in _QUEUES else "PUB")
        _check_owned(state, connection, address, adopt=command.adopt)
        if address.kind in _QUEUES:
            target = resolve(state, address)
            queue, properties = target.queue, binding(target)
        _adopt(state, connection, address)
    sender = Sender(connection.number, command.link, address, queue, state.tables.links)
    if queue is not None:
        queue.senders.add(sender.key)
    connection.links[command.link] = sender
    return properties


def attach(state: State, turn: Turn, connection: Connection, command: Attach) -> int:
    """Open a receiver.

    Returns:
        The number of the batch that stores the receiver's durable subscription. This may be the batch of an earlier
        command, also of another client. 0 if the receiver has no durable subscription, or if the subscription is older
        than the last start of the queue manager.

    Raises:
        RefusalError: The destination's name or the selector is not valid, or the user has no authority to get or
            subscribe. Or the queue or subscription cannot be opened. Or the link's number is in use, or the connection
            has too many links or temporary destinations.
    """
    _check_new_link(state, connection, command.link)
    check_address(state, command.address)
    check_permitted(state, connection.user, command.address, "GET" if command.address.kind in _QUEUES else "SUB")
    selector = parse_selector(command.selector)
    owner = state.temporary.get(str(command.address), connection.number)
    if owner != connection.number:
        raise refusal(
            Mqrc.OBJECT_IN_USE,
            "Only the connection that created a temporary destination can receive from it.",
            command.address.name,
        )
    session = connection.number, command.session
    table = state.tables.links
    if command.address.kind in _QUEUES:
        queue = _open_queue(state, connection, command)
        text = command.selector or None
        receiver = Receiver(
            session, command.link, command.address, queue, table, selector=text, settled=command.settled
        )
        queue.join(receiver, text, selector)
        batch = 0
    else:
        subscription = _open_subscription(state, turn, connection, command, selector)
        receiver = SubscriptionReceiver(
            session, command.link, command.address, subscription, table, settled=command.settled
        )
        subscription.queue.join(receiver, None, None)  # no selector, because the subscription selects the messages
        subscription.receivers[receiver.key] = receiver
        batch = subscription.batch
    _adopt(state, connection, command.address)
    connection.links[command.link] = receiver
    return batch


def _open_queue(state: State, connection: Connection, command: Attach) -> Queue:
    """Return the queue for a new receiver.

    Raises:
        RefusalError: The receiver asks for a subscription, or the queue does not exist. Or the name belongs to the
            staging queue, to an alias of a topic, or to another queue manager's queue. Or the queue is NOSHARE and has
            a receiver, or it has too many different selectors.
    """
    durable = command.durability is Durability.DURABLE or command.timeout_ms is not None
    if durable or command.name is not None or command.shared:
        raise refusal(Mqrc.OPTIONS_ERROR, "A subscription needs a topic, but this is a queue.", command.address.name)
    _check_owned(state, connection, command.address, adopt=command.adopt)
    if command.address.name == STAGING_QUEUE:
        raise refusal(
            Mqrc.OBJECT_IN_USE,
            f"The delivery delay processor has {STAGING_QUEUE} open; only an administrator can remove messages.",
            STAGING_QUEUE,
        )
    found = resolve(state, command.address).queue
    if found is None:
        raise refusal(
            Mqrc.OPTIONS_ERROR,
            f"{command.address.name} is an alias of a topic; receive from the topic.",
            command.address.name,
        )
    if found.lines and found.definition.says("SHARE", "NO"):
        raise refusal(Mqrc.OBJECT_IN_USE, f"{found.name} is NOSHARE and has a receiver already.", found.name)
    check_here(found)
    found.check_room(command.selector or None, state.settings.max_selectors)
    return found


def _open_subscription(
    state: State, turn: Turn, connection: Connection, command: Attach, selector: Selector | None
) -> Subscription:
    terms = Terms(
        topic=command.address,
        client_id=None if command.shared and command.is_global else connection.client_id,
        name=command.name,
        selector=command.selector or None,
        no_local=command.no_local and not command.shared,
        shared=command.shared,
        durable=command.durability is Durability.DURABLE,
        timeout_ms=command.timeout_ms,
    )
    check_terms(terms)
    if terms.name is not None and len(terms.name.encode(errors="surrogatepass")) > state.settings.max_name_bytes:
        raise refusal(Mqrc.SUB_NAME_ERROR, "The subscription's name is too long.", terms.name[:64])
    check_subscribing(state, terms)
    _check_owned(state, connection, command.address, adopt=command.adopt)
    found, terms = _present(state, terms, turn.now_ms)
    if found is not None and not found.over(turn.now_ms) and check_reuse(found, terms):
        found.queue.check_room(None, state.settings.max_selectors)
        found.queue.lossy = found.queue.lossy and command.settled
        key = (connection.number, command.link)
        resume(state, turn, found, terms, partial(_expel, state, found, key))
        return found
    model = managed(state, DURABLE_MODEL if terms.durable else NON_DURABLE_MODEL)
    subscription = new_subscription(state.next_subscription(), terms, selector, connection.number, model)
    subscription.queue.lossy = command.settled and not terms.durable  # QS-30, QS-36
    check_retained_fits(state, subscription, turn.now_ms)
    state.queues.check_room(subscription.queue, leaving=0 if found is None else 1)
    if found is not None:
        end_subscription(state, turn, found)
    add_subscription(state, subscription)
    if terms.durable:  # PD-13: after this record is stored, the subscription survives a kill
        subscription.batch = turn.record(defined(subscription), partial(_unmake, state, subscription))
    deliver_retained(state, turn, subscription)
    return subscription


def _present(state: State, terms: Terms, now_ms: int) -> tuple[Subscription | None, Terms]:
    """Return the existing subscription for these terms (None if no subscription fits), and the terms to use.

    The time to live of the returned subscription may be over. A receiver that asks for a non-durable subscription with
    a time to live of 0 usually gets one. But if a durable subscription of the same name has a time to live that is not
    over, the receiver gets this subscription, and the subscription's time to live becomes 0.
    """
    asked = (terms,) if terms.durable or terms.timeout_ms != 0 else (terms, replace(terms, durable=True))
    for one in asked:
        found = state.subscriptions.find(one)
        if found is not None and (one is terms or found.terms.timeout_ms is not None):
            return found, terms if found.over(now_ms) else one
    return None, terms


def _unmake(state: State, subscription: Subscription, turn: Turn) -> None:
    """Undo the creation of a durable subscription: close its receivers and drop its messages."""
    forget_subscription(state, subscription)
    for key in tuple(subscription.receivers):
        _expel(state, subscription, key, turn)
    drop_entries(state, turn, subscription.queue)


def _expel(state: State, subscription: Subscription, key: tuple[int, int], turn: Turn) -> None:
    """Close a receiver, because the store refused to create or change the subscription for the receiver's attach."""
    receiver = subscription.receivers.get(key)
    if receiver is None:
        return
    name = str(subscription.terms.name)
    why = refused(Mqrc.STORAGE_MEDIUM_FULL, f'The subscription "{name}" could not be stored.', name)
    close_link(state, turn, state.connections.get(receiver.connection), receiver, LinkInput.REVOKED, why)


def close_link(  # noqa: PLR0917  the state and the turn come first everywhere
    state: State, turn: Turn, connection: Connection, link: Link, happened: LinkInput, why: Refused | None = None
) -> None:
    """Close a link.

    Args:
        state: The queue manager.
        turn: The present turn.
        connection: The connection of the link.
        link: The link.
        happened: The reason, as an input of the link's state table.
        why: The reason for the client; None if the client or the end of its connection closes the link.
    """
    action = link.step(happened)
    connection.links.pop(link.number, None)
    if isinstance(link, Sender) and link.queue is not None:
        link.queue.senders.discard(link.key)
        state.queues.forget_if_idle(link.queue)
    if isinstance(link, Receiver):
        _close_receiver(state, turn, link)
    if action is LinkAction.EXPEL and why is not None:
        turn.close_link(link.connection, link.number, why)


def _close_receiver(state: State, turn: Turn, receiver: Receiver) -> None:
    receiver.exhaust()
    receiver.queue.leave(receiver, receiver.selector)
    for delivery in receiver.unsettled.values():
        if delivery.unit is None:  # otherwise the unit of work keeps the delivery (QS-09, QS-10)
            give_back(state, turn, delivery, failed=True)
    receiver.unsettled = {}
    if isinstance(receiver, SubscriptionReceiver):
        del receiver.subscription.receivers[receiver.key]
        receiver_left(state, turn, receiver.subscription)
    turn.touch(receiver.queue)


def drop_temporary(state: State, turn: Turn, connection: Connection) -> None:
    """Delete the temporary destinations of a connection that ends (JMS 2.0, 6.2.2)."""
    for address in connection.temporary:
        _drop_one(state, turn, address, f"{address.name} was deleted at the end of its connection.")
    connection.temporary.clear()


def delete_temporary(state: State, turn: Turn, connection: Connection, address: Address) -> None:
    """Delete a temporary destination of a connection, with all links to it.

    Raises:
        RefusalError: The connection has no such destination.
    """
    if address not in connection.temporary:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"{address.name} does not exist, or was deleted.", address.name)
    text = f"{address.name} has been deleted."
    why = refused(Mqrc.Q_DELETED, text, address.name)
    for link in tuple(connection.links.values()):
        if link.address == address:
            close_link(state, turn, connection, link, LinkInput.REVOKED, why)
    connection.temporary.remove(address)
    _drop_one(state, turn, address, text)


def _drop_one(state: State, turn: Turn, address: Address, text: str) -> None:
    del state.temporary[str(address)]
    state.retained.forget(address)
    queue = state.queues.find(str(address))
    if queue is None:
        return
    why = refused(Mqrc.Q_DELETED, text, address.name)
    for connection, number in sorted(queue.senders):
        other = state.connections.find(connection)
        if other is not None:
            close_link(state, turn, other, other.links[number], LinkInput.REVOKED, why)
    state.queues.forget(queue)
    drop_entries(state, turn, queue)
