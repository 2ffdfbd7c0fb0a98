"""A waiting line: the messages of one queue that one selector lets through, and the receivers that take them."""

from __future__ import annotations

from collections import OrderedDict
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from assay_broker.core.entries import Entry
from assay_sdk.model.selectors import Selector

if TYPE_CHECKING:
    from assay_broker.core.links import Receiver

_SLACK = 64  # dead heap items tolerated before the heap is rebuilt


class Line:
    """Priority first, then arrival (JMS 3.4.10); receivers in turn.

    All receivers with the same selector share one line, so a message costs as many selector evaluations as there are
    different selectors, however many receivers and messages there are.

    Args:
        waiting: The queue's waiting messages by key: what is not in there is skipped.
        selector: What lets a message through; None lets all through.
    """

    def __init__(self, waiting: dict[int, Entry], selector: Selector | None) -> None:
        self.selector = selector
        self.receivers = 0
        self.ready: OrderedDict[tuple[int, int], Receiver] = OrderedDict()
        self._waiting = waiting
        self._heap: list[tuple[int, int, int]] = []
        self._present: set[int] = set()
        for entry in waiting.values():
            self.offer(entry)

    def lets_through(self, entry: Entry) -> bool:
        """Whether the selector lets a message through."""
        return self.selector is None or self.selector.matches(entry.message)

    def offer(self, entry: Entry) -> None:
        """A message waits, or waits again at its old place."""
        if entry.key in self._present or not self.lets_through(entry):
            return
        if len(self._heap) > 2 * len(self._waiting) + _SLACK:
            self._heap = [item for item in self._heap if item[2] in self._waiting]
            heapify(self._heap)
            self._present = {item[2] for item in self._heap}
        self._present.add(entry.key)
        heappush(self._heap, (-entry.priority, entry.order, entry.key))

    def first(self) -> Entry | None:
        """The message that is next; it stays."""
        while self._heap:
            key = self._heap[0][2]
            entry = self._waiting.get(key)
            if entry is not None:
                return entry
            heappop(self._heap)
            self._present.discard(key)
        return None
