"""The coupling facility: the state that the queue managers of a sharing group share; it survives the end of a member.

The facility holds the shared queues with their messages, the definitions of these queues, and the counters for numbers
that must be unique in the group. All members use the facility directly. So units of work, checks at the send and the
delay processor treat a shared queue like any other. The messages of a shared queue survive the end of a member,
persistent or not (DD-47). A queue manager outside a group has a facility of its own.
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
    """The numbers of the newest batch and the newest stored batch, and all batches that are not stored yet."""

    def __init__(self) -> None:
        self.newest = 0
        self.stored = 0
        """The number of the newest stored batch; each earlier batch is stored or has failed."""
        self.pending: dict[int, Batch] = {}
        """The batches that are not stored yet, by number."""
        self.refusal = ""
        """The reason why the store refused the last batch; empty if the store took it."""

    def gate(self, batch: int) -> int:
        """Return the number of the batch that has to be stored before an effect is carried out.

        Args:
            batch: The number of the batch with the records that the effect needs; 0 for none.

        Returns:
            The number of this batch while it is pending; 0 once it is stored. If the batch has failed, the number of
            the newest earlier batch that is pending, or 0 if none is.
        """
        if batch <= self.stored or batch in self.pending:
            return batch if batch > self.stored else 0
        return max((number for number in self.pending if number < batch), default=0)


class Group:
    """The state that the members of a queue-sharing group share.

    Args:
        several: Whether the group has several members; False for a queue manager outside a group.
    """

    def __init__(self, *, several: bool = False) -> None:
        self.several = several
        self.ledger = Ledger()
        self.queues: dict[str, Queue] = {}
        """The shared queues, by their homes."""
        self.objects: dict[tuple[Namespace, str], Definition] = {}
        """The definitions of the shared queues."""
        self.connections: dict[int, Connection] = {}
        """The connections of all members, because receivers on a shared queue may be clients of any member."""
        self.expiry: Schedule[Entry] = Schedule()
        """The expiry times of messages on shared queues."""
        self.keys = 0
        self.orders = 0


class Expiry:
    """The expiry times of a queue manager's own messages, and of the messages on shared queues.

    Every member of a sharing group removes expired messages from the shared queues.

    Args:
        shared: The group's schedule of messages on shared queues.
    """

    def __init__(self, shared: Schedule[Entry]) -> None:
        self._own: Schedule[Entry] = Schedule()
        self._shared = shared
        self.schedules = self._own, self._shared
        """The expiry times of own and of shared messages."""

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over the copies with an expiry time."""
        return chain(self._own, self._shared)

    def add(self, key: int, due_ms: int, entry: Entry) -> None:
        """Schedule the expiry of a copy for a time, in milliseconds since the epoch."""
        (self._shared if is_shared(entry.home) else self._own).add(key, due_ms, entry)

    def discard(self, key: int) -> None:
        """Cancel the expiry of a copy, if it is scheduled."""
        self._own.discard(key)
        self._shared.discard(key)

    def pop_due(self, now_ms: int) -> Entry | None:
        """Remove and return a copy that has expired by this time; None if no copy has expired."""
        return self._own.pop_due(now_ms) or self._shared.pop_due(now_ms)
