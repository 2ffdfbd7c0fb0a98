"""The staging queue: the copies whose delay is not over, and the copies that their target could not take yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay_broker.core.messages.descriptor import native_id
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.queues.copies import weight
from assay_broker.core.schedule import Schedule


class Staging:
    """The messages on the staging queue, in the order of their due times (DD-02 to DD-05)."""

    def __init__(self) -> None:
        self.reserved = 0
        """The number of places that open units of work and branches in doubt have reserved for their commits."""
        self._weights: dict[int, int] = {}
        self.schedule: Schedule[Entry] = Schedule()
        """The copies, by the times at which they are due."""
        self._by_id: defaultdict[bytes, dict[int, Entry]] = defaultdict(dict)
        """The copies, by their CorrelId on the staging queue (DD-37) and then by their keys."""

    @property
    def octets(self) -> int:
        """The memory that the staged messages take, in octets, approximately."""
        return sum(self._weights.values())

    def __len__(self) -> int:
        return len(self.schedule)

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over the staged copies, in the order of their due times."""
        return iter(self.schedule)

    def stage(self, entry: Entry, due_ms: int) -> None:
        """Add a copy, which the processor can release from `due_ms` on, in milliseconds since the epoch."""
        entry.state = CopyState.STAGED
        self._weights[entry.key] = weight(entry)
        self.schedule.add(entry.key, due_ms, entry)
        self._by_id[native_id(entry.message.message_id)][entry.key] = entry

    def unstage(self, entry: Entry) -> None:
        """Remove a copy; the caller sets its `Entry.state`."""
        self.schedule.discard(entry.key)
        self._weights.pop(entry.key, None)
        found = native_id(entry.message.message_id)
        if found in self._by_id:
            self._by_id[found].pop(entry.key, None)
            if not self._by_id[found]:
                del self._by_id[found]

    def copies(self, message_id: str) -> tuple[Entry, ...]:
        """Return all staged copies of one message.

        Args:
            message_id: The message id that the sender knows; or ``ID:`` and the 48 hexadecimal digits of the CorrelId
                that the copies have on the staging queue.
        """
        return tuple(self._by_id.get(native_id(message_id), {}).values())

    def due(self, now_ms: int) -> Entry | None:
        """Return the next copy whose delay is over (DD-02), without removing it; None if no copy is due."""
        return self.schedule.peek_due(now_ms)

    def later(self, entry: Entry, due_ms: int) -> None:
        """Postpone the release of a copy that its target could not take (DD-71).

        Args:
            entry: The copy.
            due_ms: When the release is tried again, in milliseconds since the epoch.
        """
        self.schedule.add(entry.key, due_ms, entry)
