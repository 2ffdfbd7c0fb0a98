"""A queue with its receivers, and the deliveries to them.

Applications have queues, and behind each subscription is one (PD-18: a queue is one built-in subscription).
"""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct

from assay_broker.core.commands import Settle
from assay_broker.core.messages.entries import Entry, Owner, Place, UnitOfWork
from assay_broker.core.messages.groups import Holders, heads, is_last
from assay_broker.core.networks.transmission_queues import onward
from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.copies import Copies
from assay_broker.core.queues.lines import Line, OwnLine
from assay_broker.core.refusals import refusal
from assay_broker.core.states.links import Link, LinkState, LinkTable
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.selectors import Selector

_WAITING, _HELD, _GONE = Place.WAITING, Place.HELD, Place.GONE
"""Cached at import, because `Enum` attribute lookup is slow and this runs for each message."""


def rank(entry: Entry) -> tuple[int, int]:
    """Return a message's position in the order of delivery: priority first, then arrival (JMS 3.4.10)."""
    return -entry.priority, entry.order


class Delivery(Struct, eq=False):
    """One delivery, from the core's decision to its settlement.

    Args:
        number: Its number on the connection.
        gate: The batch that it waits for; 0 for none.
        unit: The unit of work that settled it; None for none.
        settled_by: The settlement in that unit; None for none.
    """

    number: int
    entry: Entry
    queue: Queue
    link: Receiver
    gate: int
    unit: UnitOfWork | None = None
    settled_by: Settle | None = None


class Receiver(Link):
    """A receiver on a queue, or on the queue behind a subscription.

    Args:
        owner: Its connection and its session there.
        number: Its number on the connection.
        address: The destination that its client named.
        queue: Where its messages come from.
        table: The transitions of a link.
        selector: The text of its selector on the queue; None for none, and for a subscription, which selects before
            its queue does.
        settled: Whether its deliveries are settled as they leave (at most once).
    """

    line: Line[Receiver]

    def __init__(
        self,
        owner: Owner,
        number: int,
        address: Address,
        queue: Queue,
        table: LinkTable,
        *,
        selector: str | None,
        settled: bool,
    ) -> None:
        super().__init__(owner[0], number, address, LinkState.RECEIVING, table)
        self.owner = owner
        self.origin = address
        self.queue = queue
        self.selector = selector
        self.settled = settled
        self.credit = 0
        self.served = 0
        """The queue's turn of its last delivery; before the first, the queue's turn at its attach."""
        self.gate = 0
        self.unsettled: dict[int, Delivery] = {}

    def grant(self, credit: int) -> None:
        """Add credit, which makes the receiver ready."""
        self.credit += credit
        if self.credit > 0 and self.key not in self.line.ready:
            self.line.line_up(self)

    def withdraw(self, credit: int) -> None:
        """Take back credit that is not used."""
        self.credit = max(0, self.credit - credit)
        if self.credit == 0:
            self.line.ready.pop(self.key, None)

    def exhaust(self) -> None:
        """Take back all credit."""
        self.credit = 0
        self.line.ready.pop(self.key, None)


class Queue:
    """Messages that wait, and messages that receivers and units of work hold.

    Args:
        home: Its unique name in records.
        name: Its name in refusals.
        definition: Its attributes; those of the model for a queue that the queue manager made itself.
        recorded: Whether persistent messages on it are on disk; not for non-durable subscriptions (PD-26, PD-27) and
            temporary queues.
        on_use: Whether it is an application's queue, which is dropped as soon as it has neither messages nor users.
    """

    def __init__(self, home: str, name: str, definition: Definition, *, recorded: bool, on_use: bool = False) -> None:
        self.home = home
        self.onward = onward(home)
        """The queue manager and destination that its messages are on their way to; None for a local queue."""
        self.name = name
        self.definition = definition
        self.recorded = recorded
        self.on_use = on_use
        self.gone = False
        self.lossy = False
        """Whether it makes its messages non-persistent: at most once and non-durable (QS-30)."""
        self.reserved = 0
        self.senders: set[tuple[int, int]] = set()
        """Connections and numbers of the links that send to it."""
        self.entries = Copies()
        self.lines: dict[str | tuple[int, int] | None, Line[Receiver]] = {}
        """The waiting lines, by selector or by the key of the receiver that has a line of its own."""
        self._waiting: dict[int, Entry] = {}
        self._own: defaultdict[Owner, dict[int, Entry]] = defaultdict(dict)
        self._holders: Holders[Receiver] = Holders()
        self._turn = 0

    @property
    def full(self) -> bool:
        """Whether it is full, uncommitted messages and places reserved by open units of work included."""
        return len(self.entries) + self.reserved >= self.definition.number("MAXDEPTH")

    def fills(self, further: int) -> bool:
        """Return whether this many further messages do not fit."""
        return len(self.entries) + self.reserved + further > self.definition.number("MAXDEPTH")

    @property
    def idle(self) -> bool:
        """Whether it has neither messages nor users."""
        return not (self.entries or self.lines or self.reserved or self.senders)

    @property
    def held(self) -> bool:
        """Whether a receiver or a unit of work holds a message."""
        return any(entry.place is Place.HELD for entry in self.entries.values())

    def enter(self, entry: Entry) -> None:
        """Add a message whose `Entry.order` is set."""
        self.entries.add(entry)
        self.put_back(entry)

    def put_back(self, entry: Entry) -> None:
        """Make a message wait at its original place; only for its own unit of work while that is open (DD-25)."""
        if entry.unit is not None:
            entry.place = Place.UNCOMMITTED
            return
        entry.place = _WAITING
        self._waiting[entry.key] = entry
        for line in self.lines.values():
            line.offer(entry)

    def enter_uncommitted(self, entry: Entry, owner: Owner) -> None:
        """Add a message of an open unit of work; only the unit's session can get it (DD-25)."""
        self.entries.add(entry)
        entry.place = Place.UNCOMMITTED
        self._own[owner][entry.key] = entry

    def enter_unseen(self, entry: Entry) -> None:
        """Add a message of a unit of work that is in doubt: it has its place, and no receiver can get it."""
        self.entries.add(entry)
        entry.place = Place.UNCOMMITTED

    def renumber(self, entry: Entry, key: int) -> None:
        """Remove a message and give it another number, before it enters again."""
        self.entries.discard(entry.key)
        for line in self.lines.values():
            if isinstance(line, OwnLine):
                line.renumbered(entry.key, key)
        entry.key = key

    def disown(self, entry: Entry, owner: Owner) -> None:
        """Note that the unit of work of a message is over."""
        own = self._own.get(owner)
        if own is not None:
            own.pop(entry.key, None)
            if not own:
                del self._own[owner]

    def take(self, entry: Entry) -> None:
        """Mark a message as held by a receiver."""
        entry.place = _HELD
        self._waiting.pop(entry.key, None)
        if entry.message.group_id:
            self._look(entry.message.group_id)

    def remove(self, entry: Entry) -> None:
        """Remove a message, and its group with the last member."""
        if entry.message.group_id and is_last(entry.message):
            self._holders.end(entry.message.group_id)
        self.withdraw(entry)

    def withdraw(self, entry: Entry) -> None:
        """Remove a message that was backed out or that the store refused."""
        entry.place = _GONE
        self._waiting.pop(entry.key, None)
        self.entries.discard(entry.key)
        if entry.message.group_id:
            self._look(entry.message.group_id)

    def clear(self) -> None:
        """Remove all messages."""
        self.entries.clear()
        self._waiting.clear()
        self._own.clear()

    def waiting(self) -> list[Entry]:
        """Return the waiting messages in the order of delivery."""
        return sorted(self._waiting.values(), key=rank)

    def join(
        self, receiver: Receiver, text: str | None, selector: Selector | None, max_selectors: int
    ) -> Line[Receiver]:
        """Add a receiver to the line of its selector.

        Raises:
            RefusalError: The queue has too many different selectors.
        """
        line = self.lines.get(text)
        if line is None:
            if len(self.lines) >= max_selectors:
                raise refusal(
                    Mqrc.RESOURCE_PROBLEM,
                    f"{self.name} has {max_selectors} receivers with different selectors and takes no further one.",
                    self.name,
                )
            line = self.lines[text] = Line(self._waiting, selector, self._holders)
        line.receivers += 1
        receiver.line = line
        receiver.served = self._turn
        return line

    def leave(self, receiver: Receiver, text: str | None) -> None:
        """Remove a receiver, and its line with the last one."""
        self._step_out(receiver, text)
        self._look(*self._holders.leave(receiver))

    def _step_out(self, receiver: Receiver, text: str | None) -> None:
        line = receiver.line
        line.leave(receiver)
        if line.receivers == 0:
            del self.lines[receiver.key if isinstance(line, OwnLine) else text]

    def leave_out(self, receiver: Receiver, entry: Entry) -> None:
        """Never deliver a message to this receiver again, which is about to give it back (AMQP 1.0, 3.4.5).

        From now on the receiver has a line of its own.
        """
        line = receiver.line
        if not isinstance(line, OwnLine):
            self._step_out(receiver, receiver.selector)
            line = OwnLine(self._waiting, line.selector, self._holders)
            self.lines[receiver.key] = receiver.line = line
            line.receivers = 1
            receiver.grant(0)
            self._look(*self._holders.had_by(receiver))
        line.leave_out(entry, self.entries)
        self._look(entry.message.group_id)

    def next_pair(self) -> tuple[Receiver, Entry] | None:
        """Return the next receiver and its message; None if no pair fits.

        Of all ready receivers with a message, in whichever line, the one with the oldest delivery comes first.
        """
        if self.definition.says("GET", "DISABLED"):
            return None
        best = self._next_own() if self._own else None
        for line in self.lines.values():
            pair = line.next_pair()
            if pair is not None and (best is None or pair[0].served < best[0].served):
                best = pair
        return best

    def _next_own(self) -> tuple[Receiver, Entry] | None:
        """Return a receiver and a message that its own open unit of work put (DD-25); None if no pair fits."""
        for line in self.lines.values():
            for receiver in line.ready.values():
                own = [
                    entry
                    for entry in self._own.get(receiver.owner, {}).values()
                    if entry.place is Place.UNCOMMITTED
                    and line.lets_through(entry)
                    and self._holders.allow(entry, receiver)
                ]
                entry = min(heads(own), key=rank, default=None)
                everybodys = line.first(receiver)
                if entry is None or receiver.settled or (everybodys is not None and rank(everybodys) < rank(entry)):
                    continue
                return receiver, entry
        return None

    def _look(self, *groups: str | None) -> None:
        for group in groups:
            if group:
                for line in self.lines.values():
                    line.look(group)

    def served(self, receiver: Receiver, entry: Entry) -> None:
        """Move a receiver to the end of its line after a delivery, or out of it if its credit is used up.

        It holds the message group of the message from now on, unless that was the last member.
        """
        group = entry.message.group_id
        if group and not (entry.place is Place.GONE and is_last(entry.message)):
            self._look(*self._holders.give(group, receiver))
        self._turn += 1
        receiver.served = self._turn
        receiver.credit -= 1
        if receiver.credit > 0:
            receiver.line.ready.move_to_end(receiver.key)
        else:
            receiver.line.ready.pop(receiver.key, None)
