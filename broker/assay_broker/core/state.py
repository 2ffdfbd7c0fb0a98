"""Everything that one queue manager knows."""

from __future__ import annotations

from assay_broker.core.authority import Authorities
from assay_broker.core.connections import Connections
from assay_broker.core.entries import Entry
from assay_broker.core.objects.directory import Directory
from assay_broker.core.processor import Processor
from assay_broker.core.queues import Queues
from assay_broker.core.retained import Retained
from assay_broker.core.schedule import Schedule
from assay_broker.core.settings import Settings
from assay_broker.core.staging import Staging
from assay_broker.core.subscriptions import Subscriptions
from assay_broker.core.tables import Tables
from assay_broker.core.topics import Topics
from assay_broker.core.turn import Batch


class State:
    """The parts, and the counters from which numbers are given.

    Args:
        settings: What the queue manager is set to.
        tables: Its state machines.
    """

    def __init__(self, settings: Settings, tables: Tables) -> None:
        self.settings = settings
        self.tables = tables
        self.connections = Connections(settings.max_connections)
        self.objects = Directory(settings.fresh_objects())
        self.authorities = Authorities(settings.authorities)
        self.queues = Queues(settings.max_queues)
        self.subscriptions = Subscriptions()
        self.topics = Topics()
        self.retained = Retained()
        self.staging = Staging()
        self.processor = Processor(tables.processor[settings.platform])
        self.expiry: Schedule[Entry] = Schedule()
        self.temporary: dict[str, int] = {}
        """Owning connections of temporary destinations, by address."""
        self.pending: dict[int, Batch] = {}
        """Batches that are not stored yet."""
        self.stored = 0
        """The newest batch of which nothing older is pending."""
        self.batch = 0
        """The newest batch."""
        self._key = 0
        self._order = 0
        self._subscription = 0

    def gate(self, batch: int) -> int:
        """A batch to wait for: the one given or, once that has failed, the newest before it; 0 when none is pending."""
        if batch <= self.stored or batch in self.pending:
            return batch if batch > self.stored else 0
        return max((number for number in self.pending if number < batch), default=0)

    def next_key(self) -> int:
        """A number for a copy; never used again, a restart included."""
        self._key += 1
        return self._key

    def next_order(self) -> int:
        """A place at the end of a queue."""
        self._order += 1
        return self._order

    def next_subscription(self) -> int:
        """A number for a subscription; never used again, a restart included."""
        self._subscription += 1
        return self._subscription

    def reserve_numbers(self, key: int, subscription: int) -> None:
        """Numbers up to these were used before the restart."""
        self._key = max(self._key, key)
        self._subscription = max(self._subscription, subscription)
