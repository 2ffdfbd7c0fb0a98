"""Subscriptions, unshared or shared, durable or non-durable (Jakarta Messaging 3.1, 8.3)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.messages.entries import Owner
from assay_broker.core.queues.homes import MANAGED_QUEUES
from assay_broker.core.queues.queue import Queue, Receiver
from assay_broker.core.refusals import illegal_state, refusal
from assay_broker.core.states.links import LinkTable
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.selectors import Selector


class Terms(Struct, frozen=True, kw_only=True):
    """The terms of a subscription, as its receiver asks for them.

    Args:
        topic: The topic.
        client_id: The client id to which the subscription belongs; None without a client id.
        name: The subscription's name; None is valid only for an unshared non-durable subscription.
        selector: JMS selector; None without a selector.
        no_local: Whether to leave out messages sent by the same connection or under the same client id.
        shared: Whether several receivers may share the subscription.
        durable: Whether the subscription outlives its receivers.
        timeout_ms: How long a durable subscription outlives its last receiver, in milliseconds; None for ever.
    """

    topic: Address
    client_id: str | None
    name: str | None
    selector: str | None
    no_local: bool
    shared: bool
    durable: bool
    timeout_ms: int | None = None

    def managed_queue(self, number: int) -> str:
        """Return the name that the subscription's queue has for administrators.

        Args:
            number: The number of the subscription.
        """
        return f"{MANAGED_QUEUES}{'DURABLE' if self.durable else 'NDURABLE'}.{number}"

    def object_name(self, queue_manager: str) -> str:
        """Return the subscription's name for administrators, in the form of IBM MQ's JMS client; empty for no name."""
        return "" if self.name is None else f"JMS:{queue_manager}:{self.client_id or ''}:{self.name}"

    @property
    def identity(self) -> tuple[bool, str | None, str] | None:
        """The durability, client id and name, which identify a subscription (PD-16, JMS 2.0, 8.3.2 to 8.3.4).

        None for a subscription without a name.
        """
        return None if self.name is None else (self.durable, self.client_id, self.name)


class Subscription:
    """One subscription, with its queue.

    Args:
        number: The subscription's number, unique for ever.
        terms: The subscription's terms.
        selector: The parsed selector; None without a selector.
        connection: The number of the connection that opened the subscription. If the subscription is non-durable,
            ``no_local`` leaves out the messages of this connection.
        queue: The subscription's queue.
    """

    def __init__(self, number: int, terms: Terms, selector: Selector | None, connection: int, queue: Queue) -> None:
        self.number = number
        self.terms = terms
        self.topic = terms.topic
        self.queue = queue
        self.receivers: dict[tuple[int, int], Receiver] = {}
        self.left_ms: int | None = None
        """The time at which the last receiver left, in milliseconds since the epoch.

        None while the subscription has a receiver, and for a subscription without a time to live.
        """
        self.batch = 0
        """The number of the batch that stores the subscription; 0 for none."""
        self._selector = selector
        self._connection = connection

    @property
    def home(self) -> str:
        """The home of the subscription's queue."""
        return self.queue.home

    @property
    def name(self) -> str:
        """The subscription's name in refusals."""
        return self.queue.name

    @property
    def managed_queue(self) -> str:
        """The name that the subscription's queue has for administrators."""
        return self.terms.managed_queue(self.number)

    @property
    def durable(self) -> bool:
        """Whether the subscription outlives its receivers."""
        return self.terms.durable

    @property
    def ends_ms(self) -> int | None:
        """The end of the time to live, in milliseconds since the epoch; None while the time to live does not run."""
        timeout_ms = self.terms.timeout_ms
        return None if self.left_ms is None or timeout_ms is None else self.left_ms + timeout_ms

    def over(self, now_ms: int) -> bool:
        """Return whether the subscription's time to live is over."""
        return self.ends_ms is not None and self.ends_ms <= now_ms

    @property
    def active(self) -> bool:
        """Whether the subscription has a receiver, or a unit of work holds some of its messages."""
        return bool(self.receivers) or self.queue.held

    def wants(self, message: Message, connection: int, client_id: str | None) -> bool:
        """Return whether the subscription gets a publication on its topic, by selector and ``no_local``.

        Args:
            message: The publication.
            connection: The number of the publisher's connection.
            client_id: The publisher's client id; None without a client id.
        """
        if self.terms.no_local:
            same_client = client_id is not None and client_id == self.terms.client_id
            if same_client or (not self.terms.durable and connection == self._connection):
                return False
        return self._selector is None or self._selector.matches(message)


_ADMINISTERED_HOME = "sub://"


class SubscriptionReceiver(Receiver):
    """A receiver on a subscription; it has no selector of its own, because the subscription selects the messages."""

    def __init__(
        self,
        owner: Owner,
        number: int,
        address: Address,
        subscription: Subscription,
        table: LinkTable,
        *,
        settled: bool,
    ) -> None:
        super().__init__(owner, number, address, subscription.queue, table, selector=None, settled=settled)
        self.subscription = subscription


class Administered:
    """The subscription of a SUB object.

    For each copy, the queue manager resolves the name of the object's queue anew.

    Args:
        number: The subscription's number, unique among all subscriptions.
        sub: The name of the SUB object.
        identifier: The SUBID of the SUB object; an earlier or later object of the same name has another SUBID.
        topic: The topic.
        destination: The name of the queue for the copies (DEST).
        selector: The parsed selector; None without a selector.
    """

    durable = True

    def __init__(  # noqa: PLR0917  a subscription has all these parts
        self, number: int, sub: str, identifier: str, topic: Address, destination: str, selector: Selector | None
    ) -> None:
        self.number = number
        self.sub = sub
        self.home = f"{_ADMINISTERED_HOME}{identifier}/{sub}"
        """The home of staged copies.

        The home has both SUBID and name of the SUB object, so that after the object's deletion the copies are dropped
        (DD-76), and a new object of the same name does not get them (DD-51).
        """
        self.topic = topic
        self.name = destination
        self._selector = selector

    def wants(self, message: Message, _connection: int, _client_id: str | None) -> bool:
        """Return whether the subscription's selector selects a publication."""
        return self._selector is None or self._selector.matches(message)


Subscriber = Subscription | Administered
"""A subscription of a client or of a SUB object."""


def sub_at(home: str) -> str | None:
    """Return the name of the SUB object from the home of its staged copies; None for any other home."""
    return home.removeprefix(_ADMINISTERED_HOME).partition("/")[2] if home.startswith(_ADMINISTERED_HOME) else None


class Subscriptions:
    """The named subscriptions of clients, by identity, and the subscriptions of SUB objects, by the objects' names."""

    def __init__(self) -> None:
        self.administered: dict[str, Administered] = {}
        self._named: dict[tuple[bool, str | None, str], Subscription] = {}

    def __iter__(self) -> Iterator[Subscription]:
        """Iterate over the named subscriptions of clients."""
        return iter(tuple(self._named.values()))

    def add(self, subscription: Subscription) -> None:
        """Add a subscription, if it has a name."""
        identity = subscription.terms.identity
        if identity is not None:
            self._named[identity] = subscription

    def discard(self, subscription: Subscription) -> None:
        """Remove a subscription, if it has a name."""
        identity = subscription.terms.identity
        if identity is not None and self._named.get(identity) is subscription:
            del self._named[identity]

    def find(self, terms: Terms) -> Subscription | None:
        """Return the subscription with the identity of these terms (PD-15); None if no subscription has it."""
        return None if terms.identity is None else self._named.get(terms.identity)

    def durable(self, client_id: str | None, name: str) -> Subscription | None:
        """Return a durable subscription by its client id and name; None if no subscription has them."""
        return self._named.get((True, client_id, name))


def check_terms(terms: Terms) -> None:
    """Refuse terms of a subscription that are not valid.

    Raises:
        RefusalError: A durable or shared subscription has no name, or an unshared durable subscription has no client id
            (PD-17, JMS 2.0, 8.3.3). Or the time to live is negative, or a non-durable subscription has one above 0.
    """
    if (terms.durable or terms.shared) and not terms.name:
        raise refusal(
            Mqrc.SUB_NAME_ERROR, "A durable or shared subscription needs a name; none was given.", terms.topic.name
        )
    if terms.durable and not terms.shared and terms.client_id is None:
        raise illegal_state(
            f'The durable subscription "{terms.name}" needs a client id on its connection; give one, or share it.',
            str(terms.name),
        )
    if terms.timeout_ms is not None and (terms.timeout_ms < 0 or (terms.timeout_ms and not terms.durable)):
        raise refusal(
            Mqrc.OPTIONS_ERROR,
            f"A time to live of {terms.timeout_ms} ms is not valid: it must be 0 or more, and above 0 the subscription "
            "must be durable.",
            terms.topic.name,
        )


def check_reuse(found: Subscription, terms: Terms) -> bool:
    """Decide whether a receiver can use an existing subscription (JMS 2.0, 8.3.2 to 8.3.4).

    Args:
        found: The existing subscription.
        terms: The terms that the receiver asks for.

    Returns:
        True if the subscription has these terms; the time to live may differ. False if it has other terms and is not in
        use; the caller then ends the subscription and creates it anew.

    Raises:
        RefusalError: The subscription is in use, and is unshared or has other terms. Or the subscription is shared and
            the receiver asks for an unshared one, or the reverse.
    """
    name = str(terms.name)
    if found.terms.shared != terms.shared:
        kind = "shared" if found.terms.shared else "unshared"
        raise refusal(
            Mqrc.SUBSCRIPTION_IN_USE,
            f'The subscription "{name}" is {kind}; open it as such, or choose another name.',
            name,
        )
    if found.active and not terms.shared:
        raise refusal(Mqrc.SUBSCRIPTION_IN_USE, f'The subscription "{name}" is in use by another consumer.', name)
    if replace(found.terms, timeout_ms=terms.timeout_ms) == terms:
        return True
    if found.active:
        raise refusal(
            Mqrc.SUBSCRIPTION_IN_USE,
            f'The shared subscription "{name}" is in use with another topic or selector.',
            name,
        )
    return False
