"""Opening and closing links and subscriptions."""

from __future__ import annotations

from functools import partial

from assay_broker.core.administration.permitting import check_permitted
from assay_broker.core.clients.connections import Connection
from assay_broker.core.clients.links import Link, LinkAction, LinkInput, Receiver, Sender
from assay_broker.core.commands import Attach, AttachSender
from assay_broker.core.messages.entries import Entry, Place
from assay_broker.core.networks.clustering import binding, check_here
from assay_broker.core.objects.factory import DURABLE_MODEL, NON_DURABLE_MODEL, STAGING_QUEUE
from assay_broker.core.queues.delivery import give_back
from assay_broker.core.queues.queues import SUBSCRIPTION_HOME, Queue
from assay_broker.core.queues.resolution import managed, resolve
from assay_broker.core.records import MessageRemoved, SubscriptionDefined, SubscriptionRemoved
from assay_broker.core.refusals import RefusalError, illegal_state, refusal
from assay_broker.core.state import State
from assay_broker.core.topics.publishing import check_subscribing
from assay_broker.core.topics.subscriptions import Subscription, Terms, check_reuse, check_terms
from assay_broker.core.topics.welcoming import check_welcome, welcome
from assay_broker.core.turn import Turn
from assay_sdk.driver import Durability, PeerProperties
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.model.selectors import Selector, SelectorError

_QUEUES = (AddressKind.QUEUE, AddressKind.TEMPORARY_QUEUE)
_TEMPORARY = (AddressKind.TEMPORARY_QUEUE, AddressKind.TEMPORARY_TOPIC)
_SYSTEM = "SYSTEM."


def parse_selector(text: str | None) -> Selector | None:
    """A selector ready for use; None and the empty one select everything (JMS 3.8.1.1).

    Raises:
        RefusalError: It is not a selector.
    """
    if not text:
        return None
    try:
        return Selector.parse(text)
    except SelectorError as error:
        raise refusal(Mqrc.SELECTOR_SYNTAX_ERROR, str(error)) from error


def check_address(state: State, address: Address) -> None:
    """Refuse a name that names nothing an application may use.

    Raises:
        RefusalError: As said.
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


def _adopt(state: State, connection: Connection, address: Address) -> None:
    """A temporary destination belongs to the connection that opens it first, and goes with it (JMS 6.2.2)."""
    if address.kind in _TEMPORARY and str(address) not in state.temporary:
        if len(connection.temporary) >= state.settings.max_links:
            raise refusal(Mqrc.RESOURCE_PROBLEM, "The connection has too many temporary destinations.", address.name)
        state.temporary[str(address)] = connection.number
        connection.temporary.append(address)


def attach_sender(state: State, connection: Connection, command: AttachSender) -> PeerProperties:
    """Open a sender.

    Returns:
        What there is to say of its destination.

    Raises:
        RefusalError: It cannot be opened.
    """
    _check_new_link(state, connection, command.link)
    address, queue = command.address, None
    properties: PeerProperties = {}
    if address is not None:
        check_address(state, address)
        check_permitted(state, connection.user, address, "PUT" if address.kind in _QUEUES else "PUB")
        _adopt(state, connection, address)
        if address.kind in _QUEUES:
            target = resolve(state, address)
            queue, properties = target.queue, binding(target)
    sender = Sender(connection.number, command.link, address, queue, state.tables.links)
    if queue is not None:
        queue.senders[sender.key] = sender
    connection.links[command.link] = sender
    return properties


def attach(state: State, turn: Turn, connection: Connection, command: Attach) -> None:
    """Open a receiver.

    Raises:
        RefusalError: It cannot be opened.
    """
    _check_new_link(state, connection, command.link)
    check_address(state, command.address)
    check_permitted(state, connection.user, command.address, "GET" if command.address.kind in _QUEUES else "SUB")
    selector = parse_selector(command.selector)
    owner = state.temporary.get(str(command.address), connection.number)
    if owner != connection.number:
        raise refusal(
            Mqrc.OBJECT_IN_USE, "Only its own connection receives from a temporary destination.", command.address.name
        )
    if command.address.kind in _QUEUES:
        if command.durability is Durability.DURABLE or command.name is not None or command.shared:
            raise refusal(
                Mqrc.OPTIONS_ERROR, "A subscription is on a topic, and this is a queue.", command.address.name
            )
        _adopt(state, connection, command.address)
        if command.address.name == STAGING_QUEUE:
            raise refusal(
                Mqrc.OBJECT_IN_USE,
                f"The delivery delay processor has {STAGING_QUEUE} open; an administrator takes messages off it.",
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
        queue, subscription, text = found, None, command.selector or None
    else:
        subscription = _open_subscription(state, turn, connection, command, selector)
        queue, text, selector = subscription.queue, None, None
    receiver = Receiver(
        connection.number,
        command.link,
        command.address,
        queue,
        state.tables.links,
        subscription=subscription,
        selector=text,
        settled=command.settled,
        session=command.session,
    )
    queue.join(receiver, text, selector, state.settings.max_selectors)
    if subscription is not None:
        subscription.receivers[receiver.key] = receiver
    connection.links[command.link] = receiver


def _open_subscription(
    state: State, turn: Turn, connection: Connection, command: Attach, selector: Selector | None
) -> Subscription:
    terms = Terms(
        topic=command.address,
        client_id=connection.client_id,
        name=command.name,
        selector=command.selector or None,
        no_local=command.no_local and not command.shared,
        shared=command.shared,
        durable=command.durability is Durability.DURABLE,
    )
    check_terms(terms)
    if terms.name is not None and len(terms.name.encode(errors="surrogatepass")) > state.settings.max_name_bytes:
        raise refusal(Mqrc.SUB_NAME_ERROR, "The subscription's name is too long.", terms.name[:64])
    check_subscribing(state, terms)
    _adopt(state, connection, command.address)
    found = state.subscriptions.find(terms)
    if found is not None:
        if check_reuse(found, terms):
            return found
        end_subscription(state, turn, found)
    number = state.next_subscription()
    subscription = make_subscription(state, number, terms, selector, connection.number)
    try:
        check_welcome(state, subscription, turn.now_ms)
    except RefusalError:
        _forget(state, subscription)
        raise
    if terms.durable:  # PD-13: it outlives its receivers, and a kill once this is stored
        turn.record(defined(subscription), partial(_unmake, state, subscription))
    welcome(state, turn, subscription)
    return subscription


def make_subscription(
    state: State, number: int, terms: Terms, selector: Selector | None, connection: int
) -> Subscription:
    """Make a subscription with its queue; from now on publications are matched against it."""
    kind = "DURABLE" if terms.durable else "NDURABLE"
    queue = state.queues.make(
        f"{SUBSCRIPTION_HOME}{number}",
        terms.name or f"{_SYSTEM}MANAGED.{kind}.{number}",
        managed(state, DURABLE_MODEL if terms.durable else NON_DURABLE_MODEL),
        recorded=terms.durable,
    )
    subscription = Subscription(number, terms, selector, connection, queue)
    _remember(state, subscription)
    return subscription


def _remember(state: State, subscription: Subscription) -> None:
    state.topics.add(subscription)
    state.subscriptions.add(subscription)


def _unmake(state: State, subscription: Subscription, turn: Turn) -> None:
    """Undo the making of a durable subscription: its receivers cannot stay either."""
    _forget(state, subscription)
    name = str(subscription.terms.name)
    why = refused(Mqrc.STORAGE_MEDIUM_FULL, f'The subscription "{name}" could not be stored.', name)
    for receiver in tuple(subscription.receivers.values()):
        close_link(state, turn, state.connections.get(receiver.connection), receiver, LinkInput.REVOKED, why)


def _forget(state: State, subscription: Subscription) -> None:
    state.topics.discard(subscription)
    state.subscriptions.discard(subscription)
    state.queues.forget(subscription.queue)


def defined(subscription: Subscription) -> SubscriptionDefined:
    """The record of a durable subscription."""
    terms = subscription.terms
    return SubscriptionDefined(
        number=subscription.number,
        client_id=terms.client_id,
        name=str(terms.name),
        topic=terms.topic,
        selector=terms.selector,
        no_local=terms.no_local,
        shared=terms.shared,
    )


def end_subscription(state: State, turn: Turn, subscription: Subscription) -> None:
    """A subscription ends, with everything that stands on its queue (PD-12, PD-27).

    Its staged copies are dropped when their delay is over (DD-51).
    """
    if subscription.terms.durable:
        turn.record(SubscriptionRemoved(subscription.number), partial(_revive, state, subscription))
    _forget(state, subscription)
    _drop_entries(state, turn, subscription.queue)


def _drop_entries(state: State, turn: Turn, queue: Queue) -> None:
    for entry in queue.entries.values():
        entry.place = Place.GONE
        state.expiry.discard(entry.key)
        if entry.recorded:
            turn.record(MessageRemoved(entry.key), partial(_enter_again, queue, entry))
    queue.clear()


def _enter_again(queue: Queue, entry: Entry, _turn: Turn) -> None:
    """Undo one removal of `_drop_entries`."""
    queue.enter(entry)


def _revive(state: State, subscription: Subscription, _turn: Turn) -> None:
    """Undo `end_subscription`; the undoing of each removal has put its messages back already."""
    state.queues.revive(subscription.queue)
    _remember(state, subscription)
    for entry in subscription.queue.entries.values():
        if entry.expires_ms is not None:
            state.expiry.add(entry.key, entry.expires_ms, entry)


def unsubscribe(state: State, turn: Turn, connection: Connection, name: str) -> None:
    """Remove a durable subscription.

    Raises:
        RefusalError: There is none of that name, or it is in use.
    """
    found = state.subscriptions.durable(connection.client_id, name)
    if found is None:
        raise refusal(Mqrc.NO_SUBSCRIPTION, f'There is no durable subscription "{name}" of this client.', name)
    if found.active:
        raise refusal(Mqrc.SUBSCRIPTION_IN_USE, f'The subscription "{name}" has a consumer; close it first.', name)
    end_subscription(state, turn, found)


def close_link(  # noqa: PLR0917  the state and the turn come first everywhere
    state: State, turn: Turn, connection: Connection, link: Link, happened: LinkInput, why: Refused | None = None
) -> None:
    """A link ends, for one reason or another.

    Args:
        state: The queue manager.
        turn: The present turn.
        connection: Whose link it is.
        link: The link.
        happened: The reason, for the link's table.
        why: What the peer is told when the broker ends it.
    """
    action = link.step(happened)
    connection.links.pop(link.number, None)
    if isinstance(link, Sender) and link.queue is not None:
        link.queue.senders.pop(link.key, None)
        turn.touch(link.queue)
    if isinstance(link, Receiver):
        _close_receiver(state, turn, link)
    if action is LinkAction.EXPEL and why is not None:
        turn.close_link(link.connection, link.number, why)


def _close_receiver(state: State, turn: Turn, receiver: Receiver) -> None:
    receiver.exhaust()
    receiver.queue.leave(receiver, receiver.selector)
    for delivery in receiver.unsettled.values():
        if delivery.unit is None:  # what a unit of work has accepted is the unit's
            give_back(state, turn, delivery, failed=True)
    receiver.unsettled = {}
    subscription = receiver.subscription
    if subscription is not None:
        del subscription.receivers[receiver.key]
        if not subscription.terms.durable and not subscription.receivers:
            end_subscription(state, turn, subscription)  # PD-12
    turn.touch(receiver.queue)


def drop_temporary(state: State, turn: Turn, connection: Connection) -> None:
    """The temporary destinations of a connection go with it (JMS 6.2.2)."""
    for address in connection.temporary:
        del state.temporary[str(address)]
        state.retained.forget(address)
        queue = state.queues.find(str(address))
        if queue is None:
            continue
        why = refused(Mqrc.Q_DELETED, f"{address.name} has gone with its connection.", address.name)
        for sender in tuple(queue.senders.values()):
            other = state.connections.find(sender.connection)
            if other is not None:
                close_link(state, turn, other, sender, LinkInput.REVOKED, why)
        state.queues.forget(queue)
        _drop_entries(state, turn, queue)
    connection.temporary.clear()
