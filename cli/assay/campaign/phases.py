"""Records the phase of a broker process, so that the campaign can kill it at a phase, and count kills by phase.

The process writes its phase to a memory page that survives the process.  If the campaign arms a halt at a phase, the
process stops itself there with SIGSTOP, so that the kill happens exactly at that phase.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path

from msgspec import Struct

from assay_broker.core.records import Record
from assay_broker.stores import Store
from assay_sdk.driver import (
    Commit,
    CommitXa,
    Done,
    Driver,
    DriverCommand,
    DriverEvent,
    Failed,
    Prepare,
    RollbackXa,
    Send,
    Settle,
    Target,
    Wire,
)
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner

IDLE_AFTER_NS = 2_000_000
"""A broker counts as idle if it got no command within this number of nanoseconds after its last answer."""

_PAGE = struct.Struct("<Bq")
_ASKING = (Send, Settle, Commit, Prepare, CommitXa, RollbackXa)
"""The commands after which the broker may write records."""


class Phase(IntEnum):
    """The phases of a broker's work."""

    IDLE = 0
    BEFORE_WRITE = 1
    WRITTEN = 2
    FLUSHING = 3
    FLUSHED = 4
    ANSWERED = 5

    @property
    def words(self) -> str:
        """The phase in words, for the report."""
        return _WORDS[self]


_WORDS = {
    Phase.IDLE: "idle",
    Phase.BEFORE_WRITE: "before write",
    Phase.WRITTEN: "between write and flush",
    Phase.FLUSHING: "in the flush",
    Phase.FLUSHED: "between flush and answer",
    Phase.ANSWERED: "after answer",
}

BETWEEN = frozenset({Phase.WRITTEN, Phase.FLUSHING, Phase.FLUSHED})
"""The phases from write to answer: the store has records of a command that the broker has not answered yet."""


class Halt(Struct, frozen=True):
    """The moment at which the process must stop itself.

    Args:
        phase: The phase at which the process stops.
        times: The number of times that the process must reach the phase, counted from `Progress.arm`.
        commits: Whether the phase counts only after a commit or a prepare.
    """

    phase: Phase
    times: int
    commits: bool = False


class Page:
    """The memory page with the phase: a file that broker and supervisor map into memory.

    Args:
        path: The file of the page.
    """

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _PAGE.size)

    @classmethod
    def make(cls, path: Path) -> Page:
        """Create the file with the phase idle, and map it."""
        path.write_bytes(_PAGE.pack(Phase.IDLE, 0))
        return cls(path)

    def turn(self, phase: Phase, now_ns: int) -> None:
        """Store the phase that the broker has reached, and the monotonic time in nanoseconds."""
        _PAGE.pack_into(self._memory, 0, phase, now_ns)

    def phase(self, now_ns: int) -> Phase:
        """Return the phase of the broker, or the phase in which it was killed.

        Args:
            now_ns: The present monotonic time, or the time of the kill, in nanoseconds.
        """
        number, since_ns = _PAGE.unpack_from(self._memory, 0)
        phase = Phase(number)
        return Phase.IDLE if phase is Phase.ANSWERED and now_ns - since_ns > IDLE_AFTER_NS else phase


class Progress:
    """Records which phase the broker has reached, and stops its process at the phase that was armed.

    Args:
        page: The memory page for the phases.
        now: Reads the monotonic clock, in nanoseconds.
        halted: Called just before the process stops itself.
    """

    def __init__(self, page: Page, now: Callable[[], int], halted: Callable[[], None]) -> None:
        self._page = page
        self._now = now
        self._halt: Halt | None = None
        self._halted = halted
        self._times = 0
        self._written = False
        self._commit = False

    def arm(self, halt: Halt) -> None:
        """Set the moment at which the process stops itself; the count of phases begins now."""
        self._times = 0
        self._halt = halt

    def asked(self, command: DriverCommand) -> None:
        """Record a client's command, if the broker may write records for it."""
        if not isinstance(command, _ASKING):
            return
        self._commit = isinstance(command, Commit | Prepare | CommitXa)
        if not self._written:
            self._come_to(Phase.BEFORE_WRITE)

    def written(self) -> None:
        """Record that the broker has written records to the store."""
        self._written = True
        self._come_to(Phase.WRITTEN)

    def flushing(self) -> None:
        """Record that a flush of the store begins."""
        self._come_to(Phase.FLUSHING)

    def flushed(self) -> None:
        """Record that a flush of the store has ended."""
        self._written = False
        self._come_to(Phase.FLUSHED)

    def answered(self) -> None:
        """Record that the broker has answered a command, unless written records still await their flush."""
        if not self._written:
            self._come_to(Phase.ANSWERED)

    def _come_to(self, phase: Phase) -> None:
        self._page.turn(phase, self._now())
        halt = self._halt
        if halt is not None and phase is halt.phase and (self._commit or not halt.commits):
            self._times += 1
            if self._times == halt.times:
                self._halted()
                os.kill(os.getpid(), signal.SIGSTOP)


class ObservedStore:
    """A wrapper around a store that reports its writes and flushes.

    Args:
        store: The wrapped store.
        progress: Receives the reports.
    """

    def __init__(self, store: Store, progress: Progress) -> None:
        self._store = store
        self._progress = progress

    def write(self, records: Sequence[Record]) -> None:
        """Write records."""
        self._store.write(records)
        self._progress.written()

    def flush(self) -> None:
        """Make all written records durable."""
        self._progress.flushing()
        self._store.flush()
        self._progress.flushed()

    def drop(self) -> None:
        """Discard the records that are not yet flushed."""
        self._store.drop()

    def load(self) -> tuple[Record, ...]:
        """Load the durable records."""
        return self._store.load()

    def holds(self, octets: bytes) -> bool:
        """Return whether the store's files contain these bytes."""
        return self._store.holds(octets)


class ObservedDriver:
    """A wrapper around a driver that reports its commands and answers.

    Args:
        driver: The wrapped driver.
        progress: Receives the reports.
    """

    def __init__(self, driver: Driver, progress: Progress) -> None:
        self._driver = driver
        self._progress = progress

    @property
    def name(self) -> str:
        """The URL scheme of the driver."""
        return self._driver.name

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Wire:
        """Start a connection; the driver reports its events to ``sink``."""

        def tell(event: DriverEvent) -> None:
            sink(event)
            if isinstance(event, Done | Failed):
                self._progress.answered()

        return _ObservedWire(self._driver.connect(target, tell, runner), self._progress)


class _ObservedWire:
    def __init__(self, wire: Wire, progress: Progress) -> None:
        self._wire = wire
        self._progress = progress

    @property
    def epoch(self) -> int:
        return self._wire.epoch

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._wire.capabilities

    def submit(self, command: DriverCommand) -> None:
        self._progress.asked(command)
        self._wire.submit(command)

    def abort(self) -> None:
        self._wire.abort()
