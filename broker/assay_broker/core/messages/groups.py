"""Message groups: members in the order of their sequence numbers, to one consumer at a time.

The documents leave details open: in IBM MQ an application asks for logical order in its get, and JMS leaves groups to
the provider. This broker does what applications rely on, for queues and subscriptions alike:

1. A message with a group id (JMSXGroupID, not empty) is a member of a group. JMSXGroupSeq is its sequence number; the
   number is 0 without that property. Members with equal numbers are ordered by arrival. Priority does not change the
   order in a group.
2. A receiver gets those waiting members that its selector selects, in the order of their sequence numbers. The queue
   does not wait for missing members.
3. Among the other messages of the queue, a group has the position of its next member, by priority and arrival.
4. The receiver that gets a member becomes the holder of the group. The queue delivers further members to the holder
   only, even while the holder has no credit, until the holder is closed, or the group's last member
   (JMS_IBM_Last_Msg_In_Group) was consumed or has expired. Members that the holder's selector does not let through go
   to other receivers.
5. A member whose delivery fails waits again, at its position in the sequence.
6. Uncommitted members (DD-25) have a sequence of their own. They come before or after the waiting members by priority
   and arrival.

A queue remembers `MOST_HELD` holders. Above that number, the group whose last delivery is oldest loses its holder.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar

from assay_broker.core.messages.entries import Entry
from assay_sdk.model.message import Message

LAST_IN_GROUP = "JMS_IBM_Last_Msg_In_Group"
MOST_HELD = 10_000
"""The highest number of groups of one queue whose holder is remembered."""

_SLACK = 64  # a heap is rebuilt when it has more than twice as many items as can be valid, plus this number

_Key = tuple[int, int]
_Item = tuple[int, int, int, str]
"""A heap's item for a group's next member: the member's priority (negated), order and key, and the group's id."""


class Selecting(Protocol):
    """The interface through which message groups use a waiting line."""

    def lets_through(self, entry: Entry) -> bool:
        """Return whether the selector of the waiting line selects a message."""
        ...


class Ready(Protocol):
    """The interface through which a waiting line and its message groups use a receiver."""

    @property
    def key(self) -> tuple[int, int]:
        """The number of the receiver's connection, and the receiver's number on that connection."""
        ...

    @property
    def served(self) -> int:
        """The number of the last delivery to the receiver, in one sequence for all deliveries of the queue."""
        ...

    @property
    def line(self) -> Selecting:
        """The waiting line to which the receiver belongs."""
        ...


ReceiverT = TypeVar("ReceiverT", bound=Ready)


def is_member(message: Message) -> bool:
    """Return whether a message belongs to a group; a sequence number or end mark without a group id has no effect."""
    return bool(message.group_id)


def is_last(message: Message) -> bool:
    """Return whether a message is marked as the last of its group."""
    return message.properties.get(LAST_IN_GROUP) is True


def heads(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Return the messages outside groups, and then the first member of each group."""
    first: dict[str, Entry] = {}
    for entry in entries:
        group = entry.message.group_id
        if not group:
            yield entry
        elif group not in first or place_in_group(entry) < place_in_group(first[group]):
            first[group] = entry
    yield from first.values()


def place_in_group(entry: Entry) -> tuple[int, int]:
    """Return a member's position in its group: sequence number and order of arrival."""
    return entry.message.group_sequence or 0, entry.order


class Holders(Generic[ReceiverT]):
    """The receivers that hold the message groups of one queue."""

    def __init__(self) -> None:
        self._holders: OrderedDict[str, ReceiverT] = OrderedDict()

    def of(self, group: str) -> ReceiverT | None:
        """Return the holder of a group; None if the group has none."""
        return self._holders.get(group)

    def allow(self, entry: Entry, receiver: ReceiverT) -> bool:
        """Return whether a receiver may get a message.

        The receiver may not get the message if another receiver holds the message's group, and the holder's selector
        selects the message.
        """
        holder = self._holders.get(entry.message.group_id or "")
        return holder is None or holder is receiver or not holder.line.lets_through(entry)

    def give(self, group: str, receiver: ReceiverT) -> tuple[str, ...]:
        """Make a receiver the holder of a group.

        Returns:
            The ids of the groups whose holder has changed.
        """
        changed = () if self._holders.get(group) is receiver else (group,)
        self._holders[group] = receiver
        self._holders.move_to_end(group)
        if len(self._holders) > MOST_HELD:
            oldest, _ = self._holders.popitem(last=False)
            changed = (*changed, oldest)
        return changed

    def end(self, group: str) -> bool:
        """Forget the holder of a group; return whether the group had one."""
        return self._holders.pop(group, None) is not None

    def had_by(self, receiver: ReceiverT) -> tuple[str, ...]:
        """Return the ids of the groups that a receiver holds."""
        return tuple(group for group, holder in self._holders.items() if holder is receiver)

    def leave(self, receiver: ReceiverT) -> tuple[str, ...]:
        """Forget a closed receiver as the holder of its groups, and return the ids of these groups."""
        left = self.had_by(receiver)
        for group in left:
            del self._holders[group]
        return left


class _Members:
    """The waiting members of one group in one waiting line, with the member that the line offers to a receiver."""

    __slots__ = ("heap", "offered", "present")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, int]] = []
        self.present: set[int] = set()
        self.offered: tuple[int, _Key | None] | None = None
        """The key of the next member, and the key of the receiver that may get it (None for all receivers).

        None if no receiver of the line may get the member.
        """


class Groups(Generic[ReceiverT]):
    """The message groups in one waiting line, with the next member of each group.

    The next members are in heaps: one for all receivers, and one for each receiver that holds groups. So members that
    wait for a receiver without credit do not block the members for other receivers.

    Args:
        waiting: The queue's waiting messages by key.
        holders: The holders of the queue's groups.
        line: The waiting line.
    """

    def __init__(self, waiting: dict[int, Entry], holders: Holders[ReceiverT], line: Selecting) -> None:
        self._waiting = waiting
        self._holders = holders
        self._line = line
        self._groups: dict[str, _Members] = {}
        self._heaps: dict[_Key | None, list[_Item]] = {}

    def offer(self, entry: Entry) -> None:
        """Add a member that waits now, or waits again after a failed delivery."""
        group = str(entry.message.group_id)
        members = self._groups.setdefault(group, _Members())
        if entry.key not in members.present:
            if len(members.heap) > 2 * len(self._waiting) + _SLACK:
                members.heap = sorted(item for item in members.heap if item[2] in self._waiting)
                members.present = {key for _, _, key in members.heap}
            members.present.add(entry.key)
            heappush(members.heap, (*place_in_group(entry), entry.key))
        self.offer_next(group)

    def leave_out(self, entry: Entry) -> None:
        """Remove a member from this waiting line; the caller then calls `offer_next` for the member's group."""
        members = self._groups.get(str(entry.message.group_id))
        if members is not None and entry.key in members.present:
            members.present.discard(entry.key)
            members.heap = sorted(item for item in members.heap if item[2] != entry.key)

    def offer_next(self, group: str) -> None:
        """Offer the next member of a changed group to the group's holder, or to all receivers of the line.

        All receivers can get the member if the group has no holder, or if the holder's selector does not select it. No
        receiver of the line can get the member if the holder belongs to another line and its selector selects the
        member.
        """
        members = self._groups.get(group)
        if members is None:
            return
        while members.heap and members.heap[0][2] not in self._waiting:
            members.present.discard(heappop(members.heap)[2])
        if not members.heap:
            del self._groups[group]
            return
        entry = self._waiting[members.heap[0][2]]
        holder = self._holders.of(group)
        if holder is not None and holder.line is not self._line and holder.line.lets_through(entry):
            members.offered = None  # the holder is a receiver of another waiting line
            return
        offered = (entry.key, holder.key if holder is not None and holder.line is self._line else None)
        if offered != members.offered:
            members.offered = offered
            self._post(offered[1], (-entry.priority, entry.order, entry.key, group))

    def first(self, receiver: ReceiverT) -> Entry | None:
        """Return the next member for a receiver, without removing it; None if no member is for the receiver."""
        tops = [top for top in (self._top(None), self._top(receiver.key)) if top is not None]
        return self._waiting[min(tops)[2]] if tops else None

    def leave(self, receiver: ReceiverT) -> None:
        """Remove the heap of a receiver that leaves the waiting line."""
        self._heaps.pop(receiver.key, None)

    def _post(self, whose: _Key | None, item: _Item) -> None:
        heap = self._heaps.setdefault(whose, [])
        if len(heap) > 2 * len(self._groups) + _SLACK:
            heap[:] = sorted({one for one in heap if self._holds(whose, one)})
        heappush(heap, item)

    def _holds(self, whose: _Key | None, item: _Item) -> bool:
        members = self._groups.get(item[3])
        return members is not None and members.offered == (item[2], whose)

    def _top(self, whose: _Key | None) -> _Item | None:
        heap = self._heaps.get(whose)
        while heap:
            item = heap[0]
            if not self._holds(whose, item):
                heappop(heap)
            elif item[2] in self._waiting:
                return item
            else:
                self.offer_next(item[3])  # the queue was cleared
        return None
