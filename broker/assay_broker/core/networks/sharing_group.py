"""What the queue managers of a sharing group have in common: the coupling facility, which outlives each of them.

It is memory on which all members work directly: shared queues with everything that stands on them, and the definitions
of those.  So a shared queue behaves as any queue does, for units of work, checks at the send and the delay processor
alike, and what stands on it survives a member, persistent or not (DD-47).  With it go the numbers that must differ in
the whole group.  A queue manager that is in no group has all this to itself.
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
    """Batches: which was the newest, and which are not stored yet."""

    def __init__(self) -> None:
        self.newest = 0
        self.stored = 0
        """The newest batch of which nothing older is pending."""
        self.pending: dict[int, Batch] = {}
        """Batches that are not stored yet."""

    def gate(self, batch: int) -> int:
        """A batch to wait for: the one given or, once that has failed, the newest before it; 0 when none is pending."""
        if batch <= self.stored or batch in self.pending:
            return batch if batch > self.stored else 0
        return max((number for number in self.pending if number < batch), default=0)


class Group:
    """What is common.

    Args:
        several: Whether it has several members; a queue manager by itself has one of its own.
    """

    def __init__(self, *, several: bool = False) -> None:
        self.several = several
        self.ledger = Ledger()
        self.queues: dict[str, Queue] = {}
        """The shared queues by their homes."""
        self.objects: dict[tuple[Namespace, str], Definition] = {}
        """The definitions of shared queues: every member sees them."""
        self.connections: dict[int, Connection] = {}
        """The connections of all members: who receives from a shared queue may be another member's client."""
        self.expiry: Schedule[Entry] = Schedule()
        """When the messages on shared queues expire."""
        self.keys = 0
        self.orders = 0


class Expiry:
    """When messages expire: the queue manager's own, and those on shared queues, for which every member looks.

    Args:
        shared: The group's.
    """

    def __init__(self, shared: Schedule[Entry]) -> None:
        self._own: Schedule[Entry] = Schedule()
        self._shared = shared
        self.schedules = self._own, self._shared
        """Where it stands when the next copy expires."""

    def __iter__(self) -> Iterator[Entry]:
        """The copies that will expire."""
        return chain(self._own, self._shared)

    def add(self, key: int, due_ms: int, entry: Entry) -> None:
        """From now on the copy goes when that time comes."""
        (self._shared if is_shared(entry.home) else self._own).add(key, due_ms, entry)

    def discard(self, key: int) -> None:
        """Forget a copy; nothing happens when it never expires."""
        self._own.discard(key)
        self._shared.discard(key)

    def pop_due(self, now_ms: int) -> Entry | None:
        """Take a copy whose time to live is over; None when there is none."""
        return self._own.pop_due(now_ms) or self._shared.pop_due(now_ms)
