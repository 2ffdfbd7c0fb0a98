"""The state of one queue manager."""

from __future__ import annotations

from assay_broker.core.administration.authority import Authorities
from assay_broker.core.clients.branches import Branches
from assay_broker.core.clients.connections import Connections
from assay_broker.core.delay.processor import Processor
from assay_broker.core.delay.staging import Staging
from assay_broker.core.networks.members import Members
from assay_broker.core.networks.sharing_group import Expiry, Group
from assay_broker.core.objects.directory import Directory
from assay_broker.core.queues.queues import Queues
from assay_broker.core.schedule import Schedule
from assay_broker.core.settings import Settings
from assay_broker.core.states.tables import Tables
from assay_broker.core.topics.retained import Retained
from assay_broker.core.topics.subscriptions import Subscription, Subscriptions
from assay_broker.core.topics.topics import Topics


class State:
    """The state of one queue manager, and its counters for new numbers.

    Args:
        settings: The queue manager's settings.
        tables: The state tables.
        group: The state that the queue manager shares with the members of its queue-sharing group; None outside a
            group.
    """

    def __init__(self, settings: Settings, tables: Tables, group: Group | None = None) -> None:
        group = group or Group()
        self.alone = not (group.several or settings.connected)
        """Whether the queue manager is in no network and no sharing group, and so uses only its own objects."""
        self.settings = settings
        self.tables = tables
        self.connections = Connections(settings.max_connections, group.connections)
        self.branches = Branches(settings.max_branches)
        self.objects = Directory(settings.fresh_objects(), group.objects)
        self.authorities = Authorities(settings.authorities)
        self.queues = Queues(settings.max_queues, group.queues)
        self.subscriptions = Subscriptions()
        self.topics = Topics()
        self.retained = Retained()
        self.staging = Staging()
        self.members = Members(connected=settings.connected)
        self.processor = Processor(tables.processor[settings.platform])
        self.expiry = Expiry(group.expiry)
        self.endings: Schedule[Subscription] = Schedule()
        """The subscriptions with a time to live and without a receiver, by the time at which they end."""
        self.temporary: dict[str, int] = {}
        """The number of the connection that owns each temporary destination, by the destination's address as a text."""
        self.ledger = group.ledger
        self._group = group
        self._subscription = 0

    @property
    def batch(self) -> int:
        """The number of the newest batch of records."""
        return self.ledger.newest

    def gate(self, batch: int) -> int:
        """Return the number of the batch for which an effect has to wait.

        Args:
            batch: The number of the batch with the records that the effect needs; 0 for none.

        Returns:
            The number of this batch while it is pending; 0 once it is stored. If the batch has failed, the number of
            the newest earlier batch that is pending, or 0 if none is.
        """
        return self.ledger.gate(batch)

    def next_key(self) -> int:
        """Return a new number for a message copy, a branch or a message id; no stored record has the same number."""
        self._group.keys += 1
        return self._group.keys

    def next_order(self) -> int:
        """Return a new position (`Entry.order`) behind all messages of the same priority on any queue."""
        self._group.orders += 1
        return self._group.orders

    def next_subscription(self) -> int:
        """Return a new number for a subscription, unique across restarts."""
        self._subscription += 1
        return self._subscription

    def reserve_numbers(self, key: int, subscription: int) -> None:
        """Skip the numbers that were used before a restart.

        Args:
            key: The highest number of a message copy or branch in the records.
            subscription: The highest number of a subscription in the records.
        """
        self._group.keys = max(self._group.keys, key)
        self._subscription = max(self._subscription, subscription)
