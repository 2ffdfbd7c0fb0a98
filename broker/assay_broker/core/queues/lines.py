"""Waiting lines: the messages of a queue that one selector selects, with the receivers that use this selector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import Generic

from assay_broker.core.messages.entries import Entry
from assay_broker.core.messages.groups import Groups, Holders, ReceiverT, is_member
from assay_sdk.model.selectors import Selector

_SLACK = 64  # the heap is rebuilt when it is longer than twice the number of waiting messages plus this number


class Line(Generic[ReceiverT]):
    """One waiting line of a queue.

    The line orders messages by priority, then by arrival (JMS 2.0, 3.4.10), and receivers by their last delivery, the
    oldest first. All receivers with the same selector share a line, so the queue matches each message once for each
    selector. Members of message groups are in `Groups`, because a group's next member depends on the receiver.

    Args:
        waiting: The queue's waiting messages by key. The line skips messages that no longer wait.
        selector: The selector of the line; None selects all messages.
        holders: The receivers that hold the queue's message groups.
    """

    def __init__(self, waiting: dict[int, Entry], selector: Selector | None, holders: Holders[ReceiverT]) -> None:
        self.selector = selector
        self.receivers = 0
        self.ready: OrderedDict[tuple[int, int], ReceiverT] = OrderedDict()
        """The receivers with credit by their keys, in the order of their last delivery or their attach."""
        self._waiting = waiting
        self._heap: list[tuple[int, int, int]] = []
        self._present: set[int] = set()
        self._holders = holders
        self._groups: Groups[ReceiverT] | None = None
        for entry in waiting.values():
            self.offer(entry)

    def lets_through(self, entry: Entry) -> bool:
        """Return whether the line's selector selects a message."""
        return self.selector is None or self.selector.matches(entry.message)

    def offer(self, entry: Entry) -> None:
        """Add a message that waits now, or waits again at its original position, if the line's selector selects it."""
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

    def offer_next(self, group: str) -> None:
        """Offer the next member of a changed message group to the receivers of the line that can get the member."""
        if self._groups is not None:
            self._groups.offer_next(group)

    def line_up(self, receiver: ReceiverT) -> None:
        """Add a receiver that has received credit; its place is before all receivers with a newer last delivery."""
        after: list[ReceiverT] = []
        for other in reversed(self.ready.values()):
            if other.served <= receiver.served:
                break
            after.append(other)
        self.ready[receiver.key] = receiver
        for other in reversed(after):
            self.ready.move_to_end(other.key)

    def leave(self, receiver: ReceiverT) -> None:
        """Remove a receiver from the line."""
        self.receivers -= 1
        self.ready.pop(receiver.key, None)
        if self._groups is not None:
            self._groups.leave(receiver)

    def next_pair(self) -> tuple[ReceiverT, Entry] | None:
        """Return the first receiver with credit that can get a message, and the message; None without such a pair.

        The line does not remove the message; the message leaves the line when it no longer waits.
        """
        for receiver in self.ready.values():
            entry = self.first(receiver)
            if entry is not None:
                return receiver, entry
            if self._groups is None:
                return None  # without groups all receivers of the line have the same next message
        return None

    def first(self, receiver: ReceiverT) -> Entry | None:
        """Return the next message for a receiver of the line, without removing it; None if no message waits for it."""
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
    """The waiting line of a receiver that returned messages with the mark undeliverable-here (AMQP 1.0, 3.4.5)."""

    def __init__(self, waiting: dict[int, Entry], selector: Selector | None, holders: Holders[ReceiverT]) -> None:
        self._left_out: set[int] = set()
        super().__init__(waiting, selector, holders)

    def leave_out(self, entry: Entry, present: Mapping[int, Entry]) -> None:
        """Leave a message out of this line, so that the line never offers it to its receiver again.

        Args:
            entry: The message, which does not wait now.
            present: All messages of the queue. The line forgets left-out messages that are no longer among them.
        """
        self._left_out.add(entry.key)
        if len(self._left_out) > 2 * len(present) + _SLACK:
            self._left_out.intersection_update(present)
        if self._groups is not None:
            self._groups.leave_out(entry)

    def renumbered(self, before: int, now: int) -> None:
        """Note that the key of a message has changed.

        Args:
            before: The former key.
            now: The new key.
        """
        if before in self._left_out:
            self._left_out.remove(before)
            self._left_out.add(now)

    def lets_through(self, entry: Entry) -> bool:
        """Return whether the selector selects a message, and the receiver has not returned it as undeliverable here."""
        return entry.key not in self._left_out and super().lets_through(entry)

    def _first_plain(self) -> Entry | None:
        while (entry := super()._first_plain()) is not None and entry.key in self._left_out:
            heappop(self._heap)  # the line added the message before the receiver returned it
            self._present.discard(entry.key)
        return entry
