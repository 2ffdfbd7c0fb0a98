"""The delivery delay processor: the staging queue, and the table by which messages leave it.

Everything that the processor's state decides is in `PROCESSOR`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from types import MappingProxyType

from assay_broker.core.entries import Entry, Place
from assay_broker.core.schedule import Schedule


class ProcessorState(Enum):
    """What the processor does."""

    STOPPED = auto()
    IDLE = auto()
    WATCHING = auto()


class ProcessorInput(Enum):
    """What can happen to it."""

    START = auto()
    STAGED = auto()
    DUE = auto()
    TARGET_FULL = auto()
    EMPTIED = auto()


class ProcessorAction(Enum):
    """What it then does."""

    LOOK = auto()
    HOLD = auto()
    RELEASE = auto()
    RETRY = auto()
    REST = auto()


ProcessorTable = Mapping[tuple[ProcessorState, ProcessorInput], tuple[ProcessorState, ProcessorAction]]

PROCESSOR: ProcessorTable = MappingProxyType(
    {
        (ProcessorState.STOPPED, ProcessorInput.START): (ProcessorState.IDLE, ProcessorAction.LOOK),
        (ProcessorState.IDLE, ProcessorInput.STAGED): (ProcessorState.WATCHING, ProcessorAction.HOLD),
        (ProcessorState.WATCHING, ProcessorInput.STAGED): (ProcessorState.WATCHING, ProcessorAction.HOLD),
        (ProcessorState.WATCHING, ProcessorInput.DUE): (ProcessorState.WATCHING, ProcessorAction.RELEASE),
        (ProcessorState.WATCHING, ProcessorInput.TARGET_FULL): (ProcessorState.WATCHING, ProcessorAction.RETRY),
        (ProcessorState.WATCHING, ProcessorInput.EMPTIED): (ProcessorState.IDLE, ProcessorAction.REST),
    }
)


class Staging:
    """The staging queue with its processor (DD-02 to DD-04, DD-51).

    Args:
        table: The processor's transitions.
        retry_ms: How long a message is left alone whose target could not take it.
    """

    def __init__(self, table: ProcessorTable, retry_ms: int) -> None:
        self.state = ProcessorState.STOPPED
        self.reserved = 0
        self._table = table
        self._retry_ms = retry_ms
        self._schedule: Schedule[Entry] = Schedule()
        self._by_id: defaultdict[str, dict[int, Entry]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._schedule)

    def __iter__(self) -> Iterator[Entry]:
        """What is staged, in the order in which it falls due."""
        return iter(self._schedule)

    def step(self, happened: ProcessorInput) -> ProcessorAction:
        """Go on to the next state; a pair that the table lacks is a fault of the core, not of a client.

        Raises:
            KeyError: The table knows no such transition.
        """
        self.state, action = self._table[self.state, happened]
        return action

    def stage(self, entry: Entry, due_ms: int) -> None:
        """Keep a copy until its delay is over."""
        self.step(ProcessorInput.STAGED)
        entry.place = Place.STAGED
        self._schedule.add(entry.key, due_ms, entry)
        if entry.message.message_id is not None:
            self._by_id[entry.message.message_id][entry.key] = entry

    def unstage(self, entry: Entry) -> None:
        """Let a copy go that was cancelled or has expired; its place is the caller's to set."""
        self._schedule.discard(entry.key)
        self._forget(entry)
        self._rest_if_empty()

    def copies(self, message_id: str) -> tuple[Entry, ...]:
        """All staged copies of one message."""
        return tuple(self._by_id.get(message_id, {}).values())

    def next_due_ms(self) -> int | None:
        """When the processor has something to do; None when it does not watch."""
        return self._schedule.next_due_ms() if self.state is ProcessorState.WATCHING else None

    def pop_due(self, now_ms: int) -> Entry | None:
        """Take the next copy whose delay is over (DD-02: not a moment before); None when there is none."""
        due = self.next_due_ms()
        if due is None or due > now_ms or self.step(ProcessorInput.DUE) is not ProcessorAction.RELEASE:
            return None
        entry = self._schedule.pop_due(now_ms)
        if entry is not None:
            self._forget(entry)
            self._rest_if_empty()
        return entry

    def retry(self, entry: Entry, now_ms: int) -> None:
        """Stage a copy again whose target could not take it, for a while."""
        self.stage(entry, now_ms + self._retry_ms)
        self.step(ProcessorInput.TARGET_FULL)

    def _forget(self, entry: Entry) -> None:
        message_id = entry.message.message_id
        if message_id is not None and message_id in self._by_id:
            self._by_id[message_id].pop(entry.key, None)
            if not self._by_id[message_id]:
                del self._by_id[message_id]

    def _rest_if_empty(self) -> None:
        if not self._schedule and self.state is ProcessorState.WATCHING:
            self.step(ProcessorInput.EMPTIED)
