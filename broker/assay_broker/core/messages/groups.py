"""Message groups: members in the order of their sequence, to one consumer at a time.

What is read into the documents.  IBM MQ leaves logical order to the getter, and JMS leaves groups to the provider; here
is what applications rely on, on a queue and on the queue of a subscription alike:

1. A message with a group id (JMSXGroupID, not empty) is a member of a group; JMSXGroupSeq is its place in it, 0 when it
   has none, and arrival decides between equal places.  Priority does not change the order within a group.
2. Of the members that wait and that a receiver's selector lets through, the first in sequence comes first.  Nobody
   waits for members that have not come: an incomplete group is delivered as it comes.
3. The group as a whole stands in the queue where its next member stands, priority first.
4. Who is handed a member has the group: further members go to that receiver alone, even while it has no credit, until
   it is closed or the group's last member (JMS_IBM_Last_Msg_In_Group) is consumed.  A member that its selector does not
   let through goes to others; so an application may get one member of a group by a selector and the rest by another.
5. A member that comes back is a waiting member again, at its place in the sequence.
6. What a session has put and not committed (DD-25) does not wait yet: it is in sequence among its own kind, and comes
   before or after the members that wait as priority and arrival say.

A queue remembers so many groups without an end; beyond that, the one that was served longest ago is free again.
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

_SLACK = 64  # heap items of the past tolerated before a heap is rebuilt

_Key = tuple[int, int]
_Item = tuple[int, int, int, str]
"""Priority (negative), order, key and group of a member that is next in its group."""


class Selecting(Protocol):
    """What a message group needs to know of a waiting line."""

    def lets_through(self, entry: Entry) -> bool:
        """Whether the selector of the line lets a message through."""
        ...


class Ready(Protocol):
    """What a waiting line and its message groups need to know of a receiver."""

    @property
    def key(self) -> tuple[int, int]:
        """Its connection, and its number there."""
        ...

    @property
    def served(self) -> int:
        """Which turn of its queue it had last."""
        ...

    @property
    def line(self) -> Selecting:
        """The line in which it waits."""
        ...


ReceiverT = TypeVar("ReceiverT", bound=Ready)


def is_member(message: Message) -> bool:
    """Whether a message belongs to a group that orders it; a place or an end without a group id orders nothing."""
    return bool(message.group_id)


def is_last(message: Message) -> bool:
    """Whether a message says that it is the last of its group."""
    return message.properties.get(LAST_IN_GROUP) is True


def heads(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Messages outside of groups, and the first member of each group."""
    first: dict[str, Entry] = {}
    for entry in entries:
        group = entry.message.group_id
        if not group:
            yield entry
        elif group not in first or place_in_group(entry) < place_in_group(first[group]):
            first[group] = entry
    yield from first.values()


def place_in_group(entry: Entry) -> tuple[int, int]:
    """Where a member stands among those of its group."""
    return entry.message.group_sequence or 0, entry.order


class Holders(Generic[ReceiverT]):
    """The receivers that hold the message groups of one queue."""

    def __init__(self) -> None:
        self._holders: OrderedDict[str, ReceiverT] = OrderedDict()

    def of(self, group: str) -> ReceiverT | None:
        """Return the holder of a group; None if it has none."""
        return self._holders.get(group)

    def allow(self, entry: Entry, receiver: ReceiverT) -> bool:
        """Whether the message's group has no other holder."""
        holder = self._holders.get(entry.message.group_id or "")
        return holder is None or holder is receiver or not holder.line.lets_through(entry)

    def give(self, group: str, receiver: ReceiverT) -> tuple[str, ...]:
        """Make a receiver the holder of a group.

        Returns:
            The groups whose holder has changed.
        """
        changed = () if self._holders.get(group) is receiver else (group,)
        self._holders[group] = receiver
        self._holders.move_to_end(group)
        if len(self._holders) > MOST_HELD:
            oldest, _ = self._holders.popitem(last=False)
            changed = (*changed, oldest)
        return changed

    def end(self, group: str) -> bool:
        """End a group; returns whether it had a holder."""
        return self._holders.pop(group, None) is not None

    def had_by(self, receiver: ReceiverT) -> tuple[str, ...]:
        """Return the groups that a receiver holds."""
        return tuple(group for group, holder in self._holders.items() if holder is receiver)

    def leave(self, receiver: ReceiverT) -> tuple[str, ...]:
        """Free the groups of a receiver that has gone, and return them."""
        left = self.had_by(receiver)
        for group in left:
            del self._holders[group]
        return left


class _Members:
    """The waiting members of one group that one line lets through, and where the next of them is on offer."""

    __slots__ = ("heap", "offered", "present")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, int]] = []
        self.present: set[int] = set()
        self.offered: tuple[int, _Key | None] | None = None
        """Key of the next member, and for whom it is: a receiver of the line, or None for all of them."""


class Groups(Generic[ReceiverT]):
    """The groups in one line: which member is next in each, and for whom.

    The next members are in heaps, one for everybody and one for each receiver that has groups, so that members which
    wait for a receiver without credit are in nobody's way.

    Args:
        waiting: The queue's waiting messages by key.
        holders: The holders of the groups.
        line: The line that they belong to.
    """

    def __init__(self, waiting: dict[int, Entry], holders: Holders[ReceiverT], line: Selecting) -> None:
        self._waiting = waiting
        self._holders = holders
        self._line = line
        self._groups: dict[str, _Members] = {}
        self._heaps: dict[_Key | None, list[_Item]] = {}

    def offer(self, entry: Entry) -> None:
        """Add a member that waits, or waits again."""
        group = str(entry.message.group_id)
        members = self._groups.setdefault(group, _Members())
        if entry.key not in members.present:
            if len(members.heap) > 2 * len(self._waiting) + _SLACK:
                members.heap = sorted(item for item in members.heap if item[2] in self._waiting)
                members.present = {key for _, _, key in members.heap}
            members.present.add(entry.key)
            heappush(members.heap, (*place_in_group(entry), entry.key))
        self.look(group)

    def leave_out(self, entry: Entry) -> None:
        """Remove a member from this line; the caller then checks its group."""
        members = self._groups.get(str(entry.message.group_id))
        if members is not None and entry.key in members.present:
            members.present.discard(entry.key)
            members.heap = sorted(item for item in members.heap if item[2] != entry.key)

    def look(self, group: str) -> None:
        """Check a group for a new next member or holder, and offer the member to its receiver."""
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
            members.offered = None  # it is for a receiver of another line
            return
        offered = (entry.key, holder.key if holder is not None and holder.line is self._line else None)
        if offered != members.offered:
            members.offered = offered
            self._post(offered[1], (-entry.priority, entry.order, entry.key, group))

    def first(self, receiver: ReceiverT) -> Entry | None:
        """Return the next member for a receiver; it stays."""
        tops = [top for top in (self._top(None), self._top(receiver.key)) if top is not None]
        return self._waiting[min(tops)[2]] if tops else None

    def leave(self, receiver: ReceiverT) -> None:
        """Forget a receiver that has gone."""
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
                self.look(item[3])  # the queue was cleared
        return None
