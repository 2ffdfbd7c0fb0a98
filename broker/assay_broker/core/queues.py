"""Queues: those of applications, and one behind each subscription (PD-18: a queue is one built-in subscription)."""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.entries import Entry, Place
from assay_broker.core.lines import Line
from assay_broker.core.links import Receiver, Sender
from assay_broker.core.refusals import refusal
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.selectors import Selector

STAGING_QUEUE = "SYSTEM.DDELAY.LOCAL.QUEUE"
"""Name of the staging queue of delayed messages, IBM MQ's (DELAY:30)."""


class Queue:
    """Messages, those waiting and those held by receivers and units of work.

    Args:
        home: Its unique name in records.
        name: Its name in refusals.
        max_depth: How many messages it takes.
        recorded: Whether persistent messages on it are on disk; not for non-durable subscriptions (PD-26, PD-27) and
            temporary queues.
        on_use: Whether it was made on use and goes as soon as nobody uses it: a queue of an application.
    """

    def __init__(self, home: str, name: str, max_depth: int, *, recorded: bool, on_use: bool = False) -> None:
        self.home = home
        self.name = name
        self.max_depth = max_depth
        self.recorded = recorded
        self.on_use = on_use
        self.gone = False
        self.reserved = 0
        self.senders: dict[tuple[int, int], Sender] = {}
        self.entries: dict[int, Entry] = {}
        self.lines: dict[str | None, Line] = {}
        self._waiting: dict[int, Entry] = {}
        self._turn = 0

    @property
    def full(self) -> bool:
        """Whether it takes no further message; places reserved by open units of work count."""
        return len(self.entries) + self.reserved >= self.max_depth

    @property
    def idle(self) -> bool:
        """Whether nothing would be missed if it were not there."""
        return not (self.entries or self.lines or self.reserved or self.senders)

    @property
    def held(self) -> bool:
        """Whether a receiver or a unit of work holds a message."""
        return len(self.entries) > len(self._waiting)

    def enter(self, entry: Entry) -> None:
        """A message comes to stand here; `Entry.order` is set."""
        self.entries[entry.key] = entry
        self.put_back(entry)

    def put_back(self, entry: Entry) -> None:
        """A message waits, again at its original place."""
        entry.place = Place.WAITING
        self._waiting[entry.key] = entry
        for line in self.lines.values():
            line.offer(entry)

    def take(self, entry: Entry) -> None:
        """A message is handed out: it is held, not waiting."""
        entry.place = Place.HELD
        del self._waiting[entry.key]

    def remove(self, entry: Entry) -> None:
        """A message is gone."""
        entry.place = Place.GONE
        self._waiting.pop(entry.key, None)
        self.entries.pop(entry.key, None)

    def clear(self) -> None:
        """All messages are gone."""
        self.entries.clear()
        self._waiting.clear()

    def waiting(self) -> list[Entry]:
        """The messages that wait, in the order of delivery."""
        return sorted(self._waiting.values(), key=lambda entry: (-entry.priority, entry.order))

    def join(self, receiver: Receiver, text: str | None, selector: Selector | None, max_selectors: int) -> Line:
        """A receiver takes its place in the line of its selector.

        Raises:
            RefusalError: When the queue has too many different selectors.
        """
        line = self.lines.get(text)
        if line is None:
            if len(self.lines) >= max_selectors:
                raise refusal(
                    Mqrc.RESOURCE_PROBLEM,
                    f"{self.name} has {max_selectors} receivers with different selectors and takes no further one.",
                    self.name,
                )
            line = self.lines[text] = Line(self._waiting, selector)
        line.receivers += 1
        receiver.line = line
        return line

    def leave(self, receiver: Receiver, text: str | None) -> None:
        """A receiver goes; the last one takes its line with it."""
        line = self.lines[text]
        line.receivers -= 1
        line.ready.pop(receiver.key, None)
        if line.receivers == 0:
            del self.lines[text]

    def next_pair(self) -> tuple[Receiver, Entry] | None:
        """The receiver whose turn it is and the message that is next for it; None when no pair fits.

        Of several lines with a message and a ready receiver, the one whose receiver was served longest ago comes first.
        """
        best: tuple[Receiver, Entry] | None = None
        for line in self.lines.values():
            if not line.ready:
                continue
            entry = line.first()
            if entry is None:
                continue
            receiver = next(iter(line.ready.values()))
            if best is None or receiver.served < best[0].served:
                best = (receiver, entry)
        return best

    def served(self, receiver: Receiver) -> None:
        """A receiver has had its turn: it goes to the end of its line, or out of it when its credit is used up."""
        self._turn += 1
        receiver.served = self._turn
        receiver.credit -= 1
        if receiver.credit > 0:
            receiver.line.ready.move_to_end(receiver.key)
        else:
            receiver.line.ready.pop(receiver.key, None)


class Queues:
    """All queues by their homes.

    Args:
        max_queues: How many there may be.
        max_depth: How many messages each takes.
    """

    def __init__(self, max_queues: int, max_depth: int) -> None:
        self._max_queues = max_queues
        self._max_depth = max_depth
        self._queues: dict[str, Queue] = {}

    def __iter__(self) -> Iterator[Queue]:
        """All queues."""
        return iter(tuple(self._queues.values()))

    def find(self, home: str) -> Queue | None:
        """A queue by its home; None when there is none."""
        return self._queues.get(home)

    def of(self, address: Address) -> Queue:
        """The queue that an address names; made on use.

        Raises:
            RefusalError: When there are too many queues.
        """
        home = str(address)
        queue = self._queues.get(home)
        if queue is not None:
            return queue
        permanent = address.kind is AddressKind.QUEUE
        return self.make(home, address.name, recorded=permanent, on_use=permanent)

    def make(self, home: str, name: str, *, recorded: bool, on_use: bool = False) -> Queue:
        """Make a queue.

        Raises:
            RefusalError: When there are too many queues.
        """
        if len(self._queues) >= self._max_queues:
            raise refusal(
                Mqrc.RESOURCE_PROBLEM, f"{name} cannot be made: there are {self._max_queues} queues already.", name
            )
        queue = self._queues[home] = Queue(home, name, self._max_depth, recorded=recorded, on_use=on_use)
        return queue

    def restore(self, home: str) -> Queue:
        """The application's queue of that home, made when it is not there: for a start from records, without limits."""
        queue = self._queues.get(home)
        if queue is None:
            name = home.partition("://")[2]
            queue = self._queues[home] = Queue(home, name, self._max_depth, recorded=True, on_use=True)
        return queue

    def forget_if_idle(self, queue: Queue) -> None:
        """Let a queue go that was made on use and that nobody uses."""
        if queue.on_use and queue.idle:
            self.forget(queue)

    def revive(self, queue: Queue) -> None:
        """Undo `forget`."""
        queue.gone = False
        self._queues[queue.home] = queue

    def forget(self, queue: Queue) -> None:
        """Let a queue go; whoever still knows it sees that it has gone."""
        queue.gone = True
        if self._queues.get(queue.home) is queue:
            del self._queues[queue.home]
