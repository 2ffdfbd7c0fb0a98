"""Queues with their receivers, and the deliveries to the receivers.

A queue belongs to an application or a subscription, or is a transmission queue; all behave alike (PD-18).
"""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct

from assay_broker.core.commands import Settle
from assay_broker.core.messages.entries import CopyState, Entry, Owner, UnitOfWork
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

_WAITING, _HELD, _GONE = CopyState.WAITING, CopyState.HELD, CopyState.GONE
"""Cached at import, because `Enum` lookups are slow.

Without caching, 13 lookups would take 0.8 of the 24 us that a message takes (`bench/broker.py durable`, 2026-11-28).
"""


def rank(entry: Entry) -> tuple[int, int]:
    """Return a message's position in the order of delivery: priority first, then arrival (JMS 2.0, 3.4.10)."""
    return -entry.priority, entry.order


class Delivery(Struct, eq=False):
    """One delivery of a message to a receiver, from the core's decision to its settlement.

    Args:
        number: The number of the delivery on the connection.
        entry: The delivered copy of the message.
        queue: The queue of the message.
        link: The receiver.
        gate: The batch that has to be stored before the delivery is sent; 0 for none.
        unit: The unit of work in which the client settled the delivery; None without a unit of work.
        settled_by: The settlement in that unit of work; None without a unit of work.
    """

    number: int
    entry: Entry
    queue: Queue
    link: Receiver
    gate: int
    unit: UnitOfWork | None = None
    settled_by: Settle | None = None


class Receiver(Link):
    """A receiver on a queue, or on the queue of a subscription.

    Args:
        owner: The numbers of the receiver's connection and of its session there.
        number: The receiver's number on the connection.
        address: The destination that the client named.
        queue: The queue.
        table: The state table of links.
        selector: The text of the receiver's selector; None without a selector. It is also None for a receiver on a
            subscription, because the subscription selects the messages of its queue.
        settled: Whether the deliveries are sent settled (at most once).
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
        """The number of the last delivery to the receiver, in the queue's count of deliveries to all receivers.

        Before its first delivery, a receiver has the number of the queue's last delivery before the attach.
        """
        self.gate = 0
        """The number of the batch for which the last delivery to the receiver waits; later deliveries wait for it, too.

        0 if they wait for no batch.
        """
        self.unsettled: dict[int, Delivery] = {}

    def grant(self, credit: int) -> None:
        """Add credit; with credit the receiver is ready for deliveries."""
        self.credit += credit
        if self.credit > 0 and self.key not in self.line.ready:
            self.line.line_up(self)

    def withdraw(self, credit: int) -> None:
        """Take back this amount of credit, or all credit if the receiver has less."""
        self.credit = max(0, self.credit - credit)
        if self.credit == 0:
            self.line.ready.pop(self.key, None)

    def exhaust(self) -> None:
        """Take back all credit."""
        self.credit = 0
        self.line.ready.pop(self.key, None)


class Queue:
    """One queue: its receivers, and its messages, which are waiting, uncommitted or held.

    Args:
        home: The unique name of the queue in the store's records.
        name: The name of the queue in refusals.
        definition: The queue's definition; for a queue without one, the definition of its model queue, of the default
            local queue or of transmission queues.
        recorded: Whether the store holds the queue's persistent messages. The store holds no messages of temporary
            queues and non-durable subscriptions (PD-26, PD-27, QS-31).
        on_use: Whether the queue exists in memory only while it has messages or users: an application's queue or a
            transmission queue.
    """

    def __init__(self, home: str, name: str, definition: Definition, *, recorded: bool, on_use: bool = False) -> None:
        self.home = home
        self.onward = onward(home)
        """For a transmission queue, the other queue manager's name and the destination there; otherwise None."""
        self.name = name
        self.definition = definition
        self.recorded = recorded
        self.on_use = on_use
        self.gone = False
        self.lossy = False
        """Whether the queue makes its messages non-persistent, for a non-durable at-most-once subscription (QS-30)."""
        self.reserved = 0
        """The number of places that open units of work have reserved for their commits."""
        self.senders: set[tuple[int, int]] = set()
        """The keys (connection and number) of the senders that have the queue open."""
        self.entries = Copies()
        self.lines: dict[str | tuple[int, int] | None, Line[Receiver]] = {}
        """The waiting lines, by the text of the selector, or by the key of a receiver with a separate line."""
        self._waiting: dict[int, Entry] = {}
        self._own: defaultdict[Owner, dict[int, Entry]] = defaultdict(dict)
        self._holders: Holders[Receiver] = Holders()
        self._turn = 0

    @property
    def full(self) -> bool:
        """Whether the queue is full, with uncommitted messages and reserved places counted."""
        return len(self.entries) + self.reserved >= self.definition.number("MAXDEPTH")

    def fills(self, further: int) -> bool:
        """Return whether the queue has no place for this number of further messages."""
        return len(self.entries) + self.reserved + further > self.definition.number("MAXDEPTH")

    @property
    def idle(self) -> bool:
        """Whether the queue has no messages, reserved places, receivers or senders."""
        return not (self.entries or self.lines or self.reserved or self.senders)

    @property
    def held(self) -> bool:
        """Whether a receiver or a unit of work holds a message of the queue."""
        return any(entry.state is CopyState.HELD for entry in self.entries.values())

    def enter(self, entry: Entry) -> None:
        """Add a message that waits for receivers from now on; the caller has set `Entry.order`."""
        self.entries.add(entry)
        self.put_back(entry)

    def put_back(self, entry: Entry) -> None:
        """Let a message wait again at its original position.

        A message of an open unit of work becomes uncommitted again, so that only the unit's session can get it (DD-25).
        """
        if entry.unit is not None:
            entry.state = CopyState.UNCOMMITTED
            return
        entry.state = _WAITING
        self._waiting[entry.key] = entry
        for line in self.lines.values():
            line.offer(entry)

    def enter_uncommitted(self, entry: Entry, owner: Owner) -> None:
        """Add a message of an open unit of work; only the unit's session can get the message (DD-25).

        Args:
            entry: The message.
            owner: The unit's connection and session.
        """
        self.entries.add(entry)
        entry.state = CopyState.UNCOMMITTED
        self._own[owner][entry.key] = entry

    def enter_unseen(self, entry: Entry) -> None:
        """Add a message of a branch in doubt; no receiver can get the message."""
        self.entries.add(entry)
        entry.state = CopyState.UNCOMMITTED

    def renumber(self, entry: Entry, key: int) -> None:
        """Remove a message and give it another key; the caller adds it again."""
        self.entries.discard(entry.key)
        for line in self.lines.values():
            if isinstance(line, OwnLine):
                line.renumbered(entry.key, key)
        entry.key = key

    def disown(self, entry: Entry, owner: Owner) -> None:
        """Stop offering a message to the session of its unit of work, for example because the unit has ended.

        Args:
            entry: The message.
            owner: The unit's connection and session.
        """
        own = self._own.get(owner)
        if own is not None:
            own.pop(entry.key, None)
            if not own:
                del self._own[owner]

    def take(self, entry: Entry) -> None:
        """Mark a message as held, so that no other receiver gets it."""
        entry.state = _HELD
        self._waiting.pop(entry.key, None)
        if entry.message.group_id:
            self._offer_next(entry.message.group_id)

    def remove(self, entry: Entry) -> None:
        """Remove a message that was consumed or has expired; the last member of a group ends the group."""
        if entry.message.group_id and is_last(entry.message):
            self._holders.end(entry.message.group_id)
        self.withdraw(entry)

    def withdraw(self, entry: Entry) -> None:
        """Remove a message, as after a backout or a refusal of the store; its group continues."""
        entry.state = _GONE
        self._waiting.pop(entry.key, None)
        self.entries.discard(entry.key)
        if entry.message.group_id:
            self._offer_next(entry.message.group_id)

    def clear(self) -> None:
        """Remove all messages."""
        self.entries.clear()
        self._waiting.clear()
        self._own.clear()

    def waiting(self) -> list[Entry]:
        """Return the waiting messages in the order of delivery."""
        return sorted(self._waiting.values(), key=rank)

    def check_room(self, text: str | None, max_selectors: int) -> None:
        """Refuse a receiver if the queue has too many different selectors.

        Args:
            text: The text of the receiver's selector; None without a selector.
            max_selectors: The highest number of waiting lines.

        Raises:
            RefusalError: The receiver needs a further waiting line, and the queue has too many.
        """
        if text not in self.lines and len(self.lines) >= max_selectors:
            raise refusal(
                Mqrc.RESOURCE_PROBLEM,
                f"{self.name} has {max_selectors} receivers with different selectors and takes no further one.",
                self.name,
            )

    def join(self, receiver: Receiver, text: str | None, selector: Selector | None) -> None:
        """Add a receiver to the waiting line of its selector; the caller has checked that the queue takes it.

        Args:
            receiver: The receiver.
            text: The selector's text, which identifies the line; None without a selector.
            selector: The parsed selector; None without a selector.
        """
        line = self.lines.get(text)
        if line is None:
            line = self.lines[text] = Line(self._waiting, selector, self._holders)
        line.receivers += 1
        receiver.line = line
        receiver.served = self._turn

    def leave(self, receiver: Receiver, text: str | None) -> None:
        """Remove a receiver that is closed, and the receiver's waiting line if the line has no other receiver.

        Args:
            receiver: The receiver.
            text: The text of the receiver's selector; None without a selector.
        """
        self._step_out(receiver, text)
        self._offer_next(*self._holders.leave(receiver))

    def _step_out(self, receiver: Receiver, text: str | None) -> None:
        line = receiver.line
        line.leave(receiver)
        if line.receivers == 0:
            del self.lines[receiver.key if isinstance(line, OwnLine) else text]

    def leave_out(self, receiver: Receiver, entry: Entry) -> None:
        """Never deliver a message to this receiver again (AMQP 1.0, 3.4.5, undeliverable-here).

        From now on the receiver has a separate waiting line.

        Args:
            receiver: The receiver.
            entry: The message, which the receiver holds; the caller then returns it to the queue.
        """
        line = receiver.line
        if not isinstance(line, OwnLine):
            self._step_out(receiver, receiver.selector)
            line = OwnLine(self._waiting, line.selector, self._holders)
            self.lines[receiver.key] = receiver.line = line
            line.receivers = 1
            receiver.grant(0)
            self._offer_next(*self._holders.had_by(receiver))
        line.leave_out(entry, self.entries)
        self._offer_next(entry.message.group_id)

    def next_pair(self) -> tuple[Receiver, Entry] | None:
        """Return the receiver of the next delivery, and its message; None if no delivery is possible.

        The candidates are the next receiver of each waiting line, and one receiver that can get an uncommitted message
        of its own session. The candidate whose last delivery is oldest comes first.
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
        """Return a receiver whose next message is an uncommitted one of its own session (DD-25), and the message."""
        for line in self.lines.values():
            for receiver in line.ready.values():
                own = [
                    entry
                    for entry in self._own.get(receiver.owner, {}).values()
                    if entry.state is CopyState.UNCOMMITTED
                    and line.lets_through(entry)
                    and self._holders.allow(entry, receiver)
                ]
                entry = min(heads(own), key=rank, default=None)
                first = line.first(receiver)
                if entry is None or receiver.settled or (first is not None and rank(first) < rank(entry)):
                    continue
                return receiver, entry
        return None

    def _offer_next(self, *groups: str | None) -> None:
        for group in groups:
            if group:
                for line in self.lines.values():
                    line.offer_next(group)

    def served(self, receiver: Receiver, entry: Entry) -> None:
        """Note a delivery: the receiver loses one credit, and becomes the last in its waiting line.

        From now on the receiver holds the message's group, unless the receiver has consumed the group's last member.
        """
        group = entry.message.group_id
        if group and not (entry.state is CopyState.GONE and is_last(entry.message)):
            self._offer_next(*self._holders.give(group, receiver))
        self._turn += 1
        receiver.served = self._turn
        receiver.credit -= 1
        if receiver.credit > 0:
            receiver.line.ready.move_to_end(receiver.key)
        else:
            receiver.line.ready.pop(receiver.key, None)
