"""Subscriptions: unshared and shared, durable and not (Jakarta Messaging 3.1, 8.3)."""

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
    """The request of a receiver that opens a subscription.

    Args:
        topic: The topic.
        client_id: The connection's client id; None for none.
        name: The subscription's name; None for an unshared non-durable one.
        selector: JMS selector; None for none.
        no_local: Whether to leave out messages that the same connection or client sent.
        shared: Whether others may share it.
        durable: Whether it outlives its receivers.
        timeout_ms: How long it outlives its last receiver, in milliseconds; None for ever.
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
        """Return the name, for administrators, of the queue of the subscription with this number."""
        return f"{MANAGED_QUEUES}{'DURABLE' if self.durable else 'NDURABLE'}.{number}"

    def object_name(self, queue_manager: str) -> str:
        """Return the name for administrators, as IBM MQ's JMS client forms it; empty for an anonymous subscription."""
        return "" if self.name is None else f"JMS:{queue_manager}:{self.client_id or ''}:{self.name}"

    @property
    def identity(self) -> tuple[bool, str | None, str] | None:
        """Durability, client id and name (PD-16, JMS 8.3.2 to 8.3.4); None for an anonymous subscription."""
        return None if self.name is None else (self.durable, self.client_id, self.name)


class Subscription:
    """One subscription, with its queue.

    Args:
        number: Its number, unique for ever.
        terms: Its terms.
        selector: Its parsed selector.
        connection: The connection that opened it, for ``no_local`` of clients without an id.
        queue: Its queue.
    """

    def __init__(self, number: int, terms: Terms, selector: Selector | None, connection: int, queue: Queue) -> None:
        self.number = number
        self.terms = terms
        self.topic = terms.topic
        self.queue = queue
        self.receivers: dict[tuple[int, int], Receiver] = {}
        self.left_ms: int | None = None
        """When its last receiver left, if it has a time to live; None while it has a receiver."""
        self.batch = 0
        """The batch that stores it; 0 for none."""
        self._selector = selector
        self._connection = connection

    @property
    def home(self) -> str:
        """The home of its queue, as in `Entry.home`."""
        return self.queue.home

    @property
    def name(self) -> str:
        """Its name in refusals."""
        return self.queue.name

    @property
    def managed_queue(self) -> str:
        """The name of its queue, for administrators."""
        return self.terms.managed_queue(self.number)

    @property
    def durable(self) -> bool:
        """Whether it outlives its receivers."""
        return self.terms.durable

    @property
    def ends_ms(self) -> int | None:
        """When its time to live is over; None while that does not run."""
        timeout_ms = self.terms.timeout_ms
        return None if self.left_ms is None or timeout_ms is None else self.left_ms + timeout_ms

    @property
    def active(self) -> bool:
        """Whether it has a receiver, or an open unit of work holds some of its messages."""
        return bool(self.receivers) or self.queue.held

    def wants(self, message: Message, connection: int, client_id: str | None) -> bool:
        """Return whether a publication is for it."""
        if self.terms.no_local:
            same_client = client_id is not None and client_id == self.terms.client_id
            if same_client or (not self.terms.durable and connection == self._connection):
                return False
        return self._selector is None or self._selector.matches(message)


_ADMINISTERED_HOME = "sub://"


class SubscriptionReceiver(Receiver):
    """A receiver on a subscription; the subscription's selector applies, not one of the queue."""

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
    """The subscription of a SUB object; its copies go to the queue that the object names, resolved anew for each copy.

    Args:
        number: Its number, in one sequence with those of subscriptions.
        sub: The name of the SUB object.
        topic: The topic.
        destination: The name of the queue (DEST).
        selector: The parsed selector; None for none.
    """

    durable = True

    def __init__(self, number: int, sub: str, topic: Address, destination: str, selector: Selector | None) -> None:
        self.number = number
        self.sub = sub
        self.topic = topic
        self.name = destination
        self._selector = selector

    @property
    def home(self) -> str:
        """The home of its staged copies: the object, because they are dropped when it is deleted (DD-76)."""
        return _ADMINISTERED_HOME + self.sub

    def wants(self, message: Message, _connection: int, _client_id: str | None) -> bool:
        """Return whether a publication is for it."""
        return self._selector is None or self._selector.matches(message)


Subscriber = Subscription | Administered
"""A recipient of publications."""


def sub_at(home: str) -> str | None:
    """Return the name of the SUB object for which a copy is staged; None for any other copy."""
    return home.removeprefix(_ADMINISTERED_HOME) if home.startswith(_ADMINISTERED_HOME) else None


class Subscriptions:
    """The named subscriptions by their identities, and those of SUB objects by the objects' names."""

    def __init__(self) -> None:
        self.administered: dict[str, Administered] = {}
        self._named: dict[tuple[bool, str | None, str], Subscription] = {}

    def __iter__(self) -> Iterator[Subscription]:
        """All named subscriptions."""
        return iter(tuple(self._named.values()))

    def add(self, subscription: Subscription) -> None:
        """Add a subscription, if it has a name."""
        identity = subscription.terms.identity
        if identity is not None:
            self._named[identity] = subscription

    def discard(self, subscription: Subscription) -> None:
        """Remove a subscription."""
        identity = subscription.terms.identity
        if identity is not None and self._named.get(identity) is subscription:
            del self._named[identity]

    def find(self, terms: Terms) -> Subscription | None:
        """Return the subscription with the identity of these terms (PD-15); None if there is none."""
        return None if terms.identity is None else self._named.get(terms.identity)

    def durable(self, client_id: str | None, name: str) -> Subscription | None:
        """Return a durable subscription by client id and name; None if there is none."""
        return self._named.get((True, client_id, name))


def check_terms(terms: Terms) -> None:
    """Refuse terms that are not valid.

    Raises:
        RefusalError: A name is missing, an unshared durable subscription has no client id (PD-17, JMS 8.3.3), or a time
            to live is not valid.
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
            f"A subscription that outlives its receivers is durable, and none does by {terms.timeout_ms} ms"
            f"{'' if terms.durable else ' otherwise'}.",
            terms.topic.name,
        )


def check_reuse(found: Subscription, terms: Terms) -> bool:
    """Decide whether an existing subscription fits new terms (JMS 8.3.2 to 8.3.4).

    Returns:
        True to use it as it is; False if it is inactive and different, so that it is created anew.

    Raises:
        RefusalError: It is in use, or of the other kind (shared, unshared).
    """
    name = str(terms.name)
    if found.terms.shared != terms.shared:
        kind = "shared" if found.terms.shared else "unshared"
        raise refusal(
            Mqrc.SUBSCRIPTION_IN_USE, f'The subscription "{name}" is {kind} and cannot be opened otherwise.', name
        )
    if found.active and not terms.shared:
        raise refusal(Mqrc.SUBSCRIPTION_IN_USE, f'The subscription "{name}" has a consumer already.', name)
    if replace(found.terms, timeout_ms=terms.timeout_ms) == terms:
        return True
    if found.active:
        raise refusal(
            Mqrc.SUBSCRIPTION_IN_USE,
            f'The shared subscription "{name}" is in use with another topic or selector.',
            name,
        )
    return False
