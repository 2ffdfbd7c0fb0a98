"""A waiting line: the messages of one queue that one selector lets through, and the receivers that take them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import Generic

from assay_broker.core.messages.entries import Entry
from assay_broker.core.messages.groups import Groups, Holders, ReceiverT, is_member
from assay_sdk.model.selectors import Selector

_SLACK = 64  # dead heap items tolerated before the heap is rebuilt


class Line(Generic[ReceiverT]):
    """Orders messages by priority, then arrival (JMS 3.4.10), and receivers by their last delivery, oldest first.

    All receivers with the same selector share one line, so a message costs as many selector evaluations as there are
    different selectors, however many receivers and messages there are.

    `Groups` keeps the members of message groups, because the next member depends on the receiver.

    Args:
        waiting: The queue's waiting messages by key; other messages are skipped.
        selector: Selects messages; None selects all.
        holders: The receivers that hold message groups.
    """

    def __init__(self, waiting: dict[int, Entry], selector: Selector | None, holders: Holders[ReceiverT]) -> None:
        self.selector = selector
        self.receivers = 0
        self.ready: OrderedDict[tuple[int, int], ReceiverT] = OrderedDict()
        """The receivers with credit; the one with the oldest delivery, or attach, comes first."""
        self._waiting = waiting
        self._heap: list[tuple[int, int, int]] = []
        self._present: set[int] = set()
        self._holders = holders
        self._groups: Groups[ReceiverT] | None = None
        for entry in waiting.values():
            self.offer(entry)

    def lets_through(self, entry: Entry) -> bool:
        """Return whether the selector lets a message through."""
        return self.selector is None or self.selector.matches(entry.message)

    def offer(self, entry: Entry) -> None:
        """Add a message that waits, or waits again at its old place."""
        if entry.key in self._present or not self.lets_through(entry):
            return
        if is_member(entry.message):
            if self._groups is None:
                self._groups = Groups(self._waiting, self._holders, self)
            self._groups.offer(entry)
            return
        if len(self._heap) > 2 * len(self._waiting) + _SLACK:
            self._heap = [item for item in self._heap if item[2] in self._waiting]
            heapify(self._heap)
            self._present = {item[2] for item in self._heap}
        self._present.add(entry.key)
        heappush(self._heap, (-entry.priority, entry.order, entry.key))

    def look(self, group: str) -> None:
        """Check a message group for a new next member or holder."""
        if self._groups is not None:
            self._groups.look(group)

    def line_up(self, receiver: ReceiverT) -> None:
        """Add a receiver that has credit now, before those with newer deliveries."""
        after: list[ReceiverT] = []
        for other in reversed(self.ready.values()):
            if other.served <= receiver.served:
                break
            after.append(other)
        self.ready[receiver.key] = receiver
        for other in reversed(after):
            self.ready.move_to_end(other.key)

    def leave(self, receiver: ReceiverT) -> None:
        """Remove a receiver."""
        self.receivers -= 1
        self.ready.pop(receiver.key, None)
        if self._groups is not None:
            self._groups.leave(receiver)

    def next_pair(self) -> tuple[ReceiverT, Entry] | None:
        """Return the first ready receiver that has a message, with the message, which stays."""
        for receiver in self.ready.values():
            entry = self.first(receiver)
            if entry is not None:
                return receiver, entry
            if self._groups is None:
                return None  # without groups all receivers of the line have the same next message
        return None

    def first(self, receiver: ReceiverT) -> Entry | None:
        """Return the next message for a receiver of the line; it stays."""
        plain = self._first_plain()
        member = None if self._groups is None else self._groups.first(receiver)
        if plain is None or member is None:
            return plain or member
        return min(plain, member, key=lambda entry: (-entry.priority, entry.order))

    def _first_plain(self) -> Entry | None:
        while self._heap:
            key = self._heap[0][2]
            entry = self._waiting.get(key)
            if entry is not None:
                return entry
            heappop(self._heap)
            self._present.discard(key)
        return None


class OwnLine(Line[ReceiverT]):
    """The line of one receiver that gave messages back as undeliverable to it."""

    def __init__(self, waiting: dict[int, Entry], selector: Selector | None, holders: Holders[ReceiverT]) -> None:
        self._left_out: set[int] = set()
        super().__init__(waiting, selector, holders)

    def leave_out(self, entry: Entry, present: Mapping[int, Entry]) -> None:
        """Leave out one more message.

        Args:
            entry: The message, which does not wait now.
            present: The messages of the queue; only these need to be remembered.
        """
        self._left_out.add(entry.key)
        if len(self._left_out) > 2 * len(present) + _SLACK:
            self._left_out.intersection_update(present)
        if self._groups is not None:
            self._groups.leave_out(entry)

    def renumbered(self, before: int, now: int) -> None:
        """Note a message's new number."""
        if before in self._left_out:
            self._left_out.remove(before)
            self._left_out.add(now)

    def lets_through(self, entry: Entry) -> bool:
        """Return whether the selector lets a message through that the receiver has not given back as undeliverable."""
        return entry.key not in self._left_out and super().lets_through(entry)

    def _first_plain(self) -> Entry | None:
        while (entry := super()._first_plain()) is not None and entry.key in self._left_out:
            heappop(self._heap)  # from when it was still for this receiver
            self._present.discard(entry.key)
        return entry
