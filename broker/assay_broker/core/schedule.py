"""Things that fall due, in the order of their due times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_SLACK = 64  # dead heap items tolerated before the heap is rebuilt


class Schedule(Generic[T]):
    """A heap of due times that also forgets: adding and discarding cost O(log n), amortised."""

    def __init__(self) -> None:
        self.heap: list[tuple[int, int]] = []
        """Due times and keys; some of what is forgotten is still there."""
        self._live: dict[int, tuple[int, T]] = {}

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[T]:
        """What is scheduled, in the order of due times and then of keys."""
        return (self._live[key][1] for _, key in sorted((due, key) for key, (due, _) in self._live.items()))

    def add(self, key: int, due_ms: int, what: T) -> None:
        """Schedule something; an earlier due time of the same key is forgotten."""
        self._live[key] = (due_ms, what)
        heappush(self.heap, (due_ms, key))

    def discard(self, key: int) -> None:
        """Forget something; nothing happens when it is not scheduled."""
        if self._live.pop(key, None) is not None and len(self.heap) > 2 * len(self._live) + _SLACK:
            self.heap = [(due, key) for key, (due, _) in self._live.items()]
            heapify(self.heap)

    def next_due_ms(self) -> int | None:
        """When the next thing is due; None when nothing is scheduled."""
        while self.heap:
            due, key = self.heap[0]
            live = self._live.get(key)
            if live is not None and live[0] == due:
                return due
            heappop(self.heap)
        return None

    def peek_due(self, now_ms: int) -> T | None:
        """The next thing that is due at this time, which stays; None when nothing is."""
        due = self.next_due_ms()
        return None if due is None or due > now_ms else self._live[self.heap[0][1]][1]

    def pop_due(self, now_ms: int) -> T | None:
        """Take the next thing that is due at this time; None when nothing is."""
        due = self.next_due_ms()
        if due is None or due > now_ms:
            return None
        _, key = heappop(self.heap)
        return self._live.pop(key)[1]


def soonest(schedules: Iterable[Schedule[Any]], moment: int | None = None) -> int | None:
    """When the next thing of several schedules is due, or the moment if that comes first; None when there is neither.

    It is asked after each turn, mostly of nothing.
    """
    first = moment
    for schedule in schedules:
        due = schedule.next_due_ms() if schedule.heap else None
        if due is not None and (first is None or due < first):
            first = due
    return first
