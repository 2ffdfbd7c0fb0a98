"""The coupling facility: the state that the queue managers of a sharing group share and that outlives each of them.

All members work directly on it: on the shared queues with their messages, and on the definitions of those queues. So a
shared queue behaves as any other for units of work, checks at the send and the delay processor. Its messages survive a
member's end, persistent or not (DD-47). The facility also holds the numbers that must be unique in the group. A queue
manager outside a group has a facility of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from assay_broker.core.clients.connections import Connection
from assay_broker.core.messages.entries import Entry
from assay_broker.core.objects.model import Definition, Namespace
from assay_broker.core.queues.homes import is_shared
from assay_broker.core.queues.queue import Queue
from assay_broker.core.schedule import Schedule
from assay_broker.core.turn import Batch


class Ledger:
    """The batches of records: the newest one, and those that are not stored yet."""

    def __init__(self) -> None:
        self.newest = 0
        self.stored = 0
        """The newest durable batch; no earlier one is pending."""
        self.pending: dict[int, Batch] = {}
        """The batches that are not stored yet, by number."""
        self.refusal = ""
        """Why the store refused the last batch; empty if it took it."""

    def gate(self, batch: int) -> int:
        """Return the batch to wait for: this one, or after its failure the newest before it; 0 if none is pending."""
        if batch <= self.stored or batch in self.pending:
            return batch if batch > self.stored else 0
        return max((number for number in self.pending if number < batch), default=0)


class Group:
    """The shared state.

    Args:
        several: Whether it has several members; False for a queue manager outside a group.
    """

    def __init__(self, *, several: bool = False) -> None:
        self.several = several
        self.ledger = Ledger()
        self.queues: dict[str, Queue] = {}
        """The shared queues by their homes."""
        self.objects: dict[tuple[Namespace, str], Definition] = {}
        """The definitions of shared queues, which every member sees."""
        self.connections: dict[int, Connection] = {}
        """The connections of all members, because a receiver on a shared queue may be another member's client."""
        self.expiry: Schedule[Entry] = Schedule()
        """The expiry times of messages on shared queues."""
        self.keys = 0
        self.orders = 0


class Expiry:
    """The expiry times of a queue manager's own messages, and of those on shared queues, which every member checks.

    Args:
        shared: The group's schedule.
    """

    def __init__(self, shared: Schedule[Entry]) -> None:
        self._own: Schedule[Entry] = Schedule()
        self._shared = shared
        self.schedules = self._own, self._shared
        """Both schedules, which tell when the next copy expires."""

    def __iter__(self) -> Iterator[Entry]:
        """The copies with an expiry time."""
        return chain(self._own, self._shared)

    def add(self, key: int, due_ms: int, entry: Entry) -> None:
        """Schedule the expiry of a copy."""
        (self._shared if is_shared(entry.home) else self._own).add(key, due_ms, entry)

    def discard(self, key: int) -> None:
        """Remove a copy, if it is scheduled."""
        self._own.discard(key)
        self._shared.discard(key)

    def pop_due(self, now_ms: int) -> Entry | None:
        """Remove and return a copy whose time to live is over; None if there is none."""
        return self._own.pop_due(now_ms) or self._shared.pop_due(now_ms)
