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
    """What is asked for when a receiver opens a subscription.

    Args:
        topic: The topic.
        client_id: The connection's client id; None for none.
        name: The subscription's name; None for an unshared non-durable one.
        selector: JMS selector; None for none.
        no_local: Whether to leave out what its own connection or client sends.
        shared: Whether others may share it.
        durable: Whether it outlives its receivers.
        timeout_ms: How long it then outlives the last of them, in milliseconds; None for ever.
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
        """What the queue of the subscription of that number is called, to administrators."""
        return f"{MANAGED_QUEUES}{'DURABLE' if self.durable else 'NDURABLE'}.{number}"

    def object_name(self, queue_manager: str) -> str:
        """What administrators call the subscription, as IBM MQ's JMS client names it; empty for an anonymous one."""
        return "" if self.name is None else f"JMS:{queue_manager}:{self.client_id or ''}:{self.name}"

    @property
    def identity(self) -> tuple[bool, str | None, str] | None:
        """Client id and name, durable ones apart from others (PD-16, JMS 8.3.2 to 8.3.4); None for an anonymous one."""
        return None if self.name is None else (self.durable, self.client_id, self.name)


class Subscription:
    """One subscription, with the queue on which its copies stand.

    Args:
        number: Its number; never used again.
        terms: What it was opened with.
        selector: The selector, ready for use.
        connection: Who opened it, for ``no_local`` of clients without an id.
        queue: Its queue.
    """

    def __init__(self, number: int, terms: Terms, selector: Selector | None, connection: int, queue: Queue) -> None:
        self.number = number
        self.terms = terms
        self.topic = terms.topic
        self.queue = queue
        self.receivers: dict[tuple[int, int], Receiver] = {}
        self.left_ms: int | None = None
        """When its last receiver left, if it has a time to live; None while it has one."""
        self.batch = 0
        """The batch that stores it; 0 for none."""
        self._selector = selector
        self._connection = connection

    @property
    def home(self) -> str:
        """Where its copies go, as `Entry.home` has it."""
        return self.queue.home

    @property
    def name(self) -> str:
        """Its name in refusals."""
        return self.queue.name

    @property
    def managed_queue(self) -> str:
        """What its queue is called, to administrators."""
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
        """Whether it has a receiver, or messages of it are held by a unit of work that is still open."""
        return bool(self.receivers) or self.queue.held

    def wants(self, message: Message, connection: int, client_id: str | None) -> bool:
        """Whether a publication is for it."""
        if self.terms.no_local:
            same_client = client_id is not None and client_id == self.terms.client_id
            if same_client or (not self.terms.durable and connection == self._connection):
                return False
        return self._selector is None or self._selector.matches(message)


_ADMINISTERED_HOME = "sub://"


class SubscriptionReceiver(Receiver):
    """A receiver on a subscription, which selects before its queue does."""

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
    """What a SUB object subscribes to: its copies go to the queue that it names, found anew for each.

    Args:
        number: Its number, in one sequence with those of subscriptions.
        sub: The name of the SUB object.
        topic: The topic.
        destination: The name of the queue (DEST).
        selector: The selector, ready for use; None for none.
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
        """Where its copies are staged for: the object, so that they go with it (DD-76)."""
        return _ADMINISTERED_HOME + self.sub

    def wants(self, message: Message, _connection: int, _client_id: str | None) -> bool:
        """Whether a publication is for it."""
        return self._selector is None or self._selector.matches(message)


Subscriber = Subscription | Administered
"""Whoever gets publications."""


def sub_at(home: str) -> str | None:
    """The name of the SUB object for which a copy is staged; None when it is for something else."""
    return home.removeprefix(_ADMINISTERED_HOME) if home.startswith(_ADMINISTERED_HOME) else None


class Subscriptions:
    """The named subscriptions by their identities, and the administered ones by their objects."""

    def __init__(self) -> None:
        self.administered: dict[str, Administered] = {}
        self._named: dict[tuple[bool, str | None, str], Subscription] = {}

    def __iter__(self) -> Iterator[Subscription]:
        """All named subscriptions."""
        return iter(tuple(self._named.values()))

    def add(self, subscription: Subscription) -> None:
        """Remember a subscription, when it has a name."""
        identity = subscription.terms.identity
        if identity is not None:
            self._named[identity] = subscription

    def discard(self, subscription: Subscription) -> None:
        """Forget a subscription."""
        identity = subscription.terms.identity
        if identity is not None and self._named.get(identity) is subscription:
            del self._named[identity]

    def find(self, terms: Terms) -> Subscription | None:
        """The subscription with the identity of these terms (PD-15); None when there is none."""
        return None if terms.identity is None else self._named.get(terms.identity)

    def durable(self, client_id: str | None, name: str) -> Subscription | None:
        """A durable subscription by client id and name; None when there is none."""
        return self._named.get((True, client_id, name))


def check_terms(terms: Terms) -> None:
    """Refuse terms that make no subscription.

    Raises:
        RefusalError: A name is missing, or an unshared durable subscription has no client id (PD-17, JMS 8.3.3).
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
    """Decide what becomes of a subscription that is there already (JMS 8.3.2 to 8.3.4).

    Returns:
        True when it is used as it is; False when it is inactive and unlike, so that it is made anew.

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
