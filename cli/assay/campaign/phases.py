"""The phase of a broker process, recorded so that kills can be placed and counted by phase.

The process writes its phase to a memory page that survives it.  If it is told to halt at a phase, it stops itself there
with SIGSTOP, so the following kill happens exactly at that phase.
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
"""How long after its last answer a broker without a new command counts as idle."""

_PAGE = struct.Struct("<Bq")
_ASKING = (Send, Settle, Commit, Prepare, CommitXa, RollbackXa)
"""The commands that may write records."""


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
        """The phase in words."""
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
"""The phases between write and answer, when records are on disk for which no answer was given."""


class Halt(Struct, frozen=True):
    """The moment at which the process must stop itself.

    Args:
        phase: The phase.
        times: How often it must have reached the phase since then.
        commits: Whether it counts only if the last command was a commit or prepare.
    """

    phase: Phase
    times: int
    commits: bool = False


class Page:
    """The memory page with the phase, a file that two processes map.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _PAGE.size)

    @classmethod
    def make(cls, path: Path) -> Page:
        """Create a page with the phase idle."""
        path.write_bytes(_PAGE.pack(Phase.IDLE, 0))
        return cls(path)

    def turn(self, phase: Phase, now_ns: int) -> None:
        """Record that the broker has reached a phase."""
        _PAGE.pack_into(self._memory, 0, phase, now_ns)

    def phase(self, now_ns: int) -> Phase:
        """The phase of the broker, or that in which it was killed.

        Args:
            now_ns: The time now, or of the kill, in monotonic nanoseconds.
        """
        number, since_ns = _PAGE.unpack_from(self._memory, 0)
        phase = Phase(number)
        return Phase.IDLE if phase is Phase.ANSWERED and now_ns - since_ns > IDLE_AFTER_NS else phase


class Progress:
    """Records the phases of a broker, and halts its process.

    Args:
        page: The page to record them on.
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
        """Set the moment at which to stop; counting begins now."""
        self._times = 0
        self._halt = halt

    def asked(self, command: DriverCommand) -> None:
        """Record a command."""
        if not isinstance(command, _ASKING):
            return
        self._commit = isinstance(command, Commit | Prepare | CommitXa)
        if not self._written:
            self._come_to(Phase.BEFORE_WRITE)

    def written(self) -> None:
        """Record that the store has taken records."""
        self._written = True
        self._come_to(Phase.WRITTEN)

    def flushing(self) -> None:
        """Record the begin of a flush."""
        self._come_to(Phase.FLUSHING)

    def flushed(self) -> None:
        """Record the end of a flush."""
        self._written = False
        self._come_to(Phase.FLUSHED)

    def answered(self) -> None:
        """Record an answer."""
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
    """A wrapper around a store that reports its phases.

    Args:
        store: The store.
        progress: Gets the reports.
    """

    def __init__(self, store: Store, progress: Progress) -> None:
        self._store = store
        self._progress = progress

    def write(self, records: Sequence[Record]) -> None:
        """Write records."""
        self._store.write(records)
        self._progress.written()

    def flush(self) -> None:
        """Make everything written durable."""
        self._progress.flushing()
        self._store.flush()
        self._progress.flushed()

    def drop(self) -> None:
        """Lose the records that were not flushed."""
        self._store.drop()

    def load(self) -> tuple[Record, ...]:
        """Load the durable records."""
        return self._store.load()

    def holds(self, octets: bytes) -> bool:
        """Whether the store holds these octets anywhere."""
        return self._store.holds(octets)


class ObservedDriver:
    """A wrapper around a driver that reports commands and answers.

    Args:
        driver: The driver.
        progress: Gets the reports.
    """

    def __init__(self, driver: Driver, progress: Progress) -> None:
        self._driver = driver
        self._progress = progress

    @property
    def name(self) -> str:
        """The URL scheme it serves."""
        return self._driver.name

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Wire:
        """Start to connect."""

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
