"""What is staged: copies whose delay is not over, or whose target could not take them yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay_broker.core.messages.descriptor import native_id
from assay_broker.core.messages.entries import Entry, Place
from assay_broker.core.queues.copies import weight
from assay_broker.core.schedule import Schedule


class Staging:
    """The messages on the staging queue (DD-02 to DD-05), in the order in which they fall due."""

    def __init__(self) -> None:
        self.reserved = 0
        """Places that open units of work will need at their commit."""
        self._weights: dict[int, int] = {}
        self.schedule: Schedule[Entry] = Schedule()
        """When each copy falls due."""
        self._by_id: defaultdict[bytes, dict[int, Entry]] = defaultdict(dict)
        """Copies by key, by the bytes that are their CorrelId on the staging queue (DD-37)."""

    @property
    def octets(self) -> int:
        """About how much memory the messages take."""
        return sum(self._weights.values())

    def __len__(self) -> int:
        return len(self.schedule)

    def __iter__(self) -> Iterator[Entry]:
        """What is staged, in the order in which it falls due."""
        return iter(self.schedule)

    def stage(self, entry: Entry, due_ms: int) -> None:
        """Keep a copy until then."""
        entry.place = Place.STAGED
        self._weights[entry.key] = weight(entry)
        self.schedule.add(entry.key, due_ms, entry)
        self._by_id[native_id(entry.message.message_id)][entry.key] = entry

    def unstage(self, entry: Entry) -> None:
        """Let a copy go; its place is the caller's to set."""
        self.schedule.discard(entry.key)
        self._weights.pop(entry.key, None)
        found = native_id(entry.message.message_id)
        if found in self._by_id:
            self._by_id[found].pop(entry.key, None)
            if not self._by_id[found]:
                del self._by_id[found]

    def copies(self, message_id: str) -> tuple[Entry, ...]:
        """Find all staged copies of one message.

        Args:
            message_id: Its id as its sender knows it, or ``ID:`` and the 48 digits of the staged copies' CorrelId.
        """
        return tuple(self._by_id.get(native_id(message_id), {}).values())

    def due(self, now_ms: int) -> Entry | None:
        """The next copy whose delay is over (DD-02: not a moment before); it stays.  None when there is none."""
        return self.schedule.peek_due(now_ms)

    def later(self, entry: Entry, due_ms: int) -> None:
        """A copy stays for a while longer: its target could not take it (DD-71)."""
        self.schedule.add(entry.key, due_ms, entry)
