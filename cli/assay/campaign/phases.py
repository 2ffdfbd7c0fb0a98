"""Where a broker process is in its work, told so that a kill can be placed, and counted afterwards.

The process keeps its phase on a page of memory that outlives it.  Told to halt at a phase, it stops itself there, so
that the kill which follows lands nowhere else.
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
"""So long after the last answer, with nothing asked meanwhile, a broker is idle."""

_PAGE = struct.Struct("<Bq")
_ASKING = (Send, Settle, Commit, Prepare, CommitXa, RollbackXa)
"""Commands that may have something written."""


class Phase(IntEnum):
    """What the broker was last seen to begin."""

    IDLE = 0
    BEFORE_WRITE = 1
    WRITTEN = 2
    FLUSHING = 3
    FLUSHED = 4
    ANSWERED = 5

    @property
    def words(self) -> str:
        """For people."""
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
"""Between write and answer: what is on disk then, nobody was promised; what was promised must be there."""


class Halt(Struct, frozen=True):
    """Where to stop.

    Args:
        phase: At which phase.
        times: When it has come to it so often since it was told.
        commits: Whether only those times count at which a commit was the last that was asked for.
    """

    phase: Phase
    times: int
    commits: bool = False


class Page:
    """The page, in a file that two processes have mapped.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _PAGE.size)

    @classmethod
    def make(cls, path: Path) -> Page:
        """A fresh one, idle."""
        path.write_bytes(_PAGE.pack(Phase.IDLE, 0))
        return cls(path)

    def turn(self, phase: Phase, now_ns: int) -> None:
        """The broker has come to a phase."""
        _PAGE.pack_into(self._memory, 0, phase, now_ns)

    def phase(self, now_ns: int) -> Phase:
        """Where the broker is, or was when it was killed.

        Args:
            now_ns: Monotonic nanoseconds, of now or of the kill.
        """
        number, since_ns = _PAGE.unpack_from(self._memory, 0)
        phase = Phase(number)
        return Phase.IDLE if phase is Phase.ANSWERED and now_ns - since_ns > IDLE_AFTER_NS else phase


class Progress:
    """A broker's way through the phases.

    Args:
        page: Where it is told.
        now: Reads the monotonic clock, in nanoseconds.
        halted: Called just before stopping.
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
        """Stop there, from now on."""
        self._times = 0
        self._halt = halt

    def asked(self, command: DriverCommand) -> None:
        """A command has come."""
        if not isinstance(command, _ASKING):
            return
        self._commit = isinstance(command, Commit | Prepare | CommitXa)
        if not self._written:
            self._come_to(Phase.BEFORE_WRITE)

    def written(self) -> None:
        """Records were handed to the store."""
        self._written = True
        self._come_to(Phase.WRITTEN)

    def flushing(self) -> None:
        """The flush begins."""
        self._come_to(Phase.FLUSHING)

    def flushed(self) -> None:
        """The flush is over."""
        self._written = False
        self._come_to(Phase.FLUSHED)

    def answered(self) -> None:
        """A command was answered."""
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


class ToldStore:
    """A store that tells its phases.

    Args:
        store: The store behind.
        progress: Who is told.
    """

    def __init__(self, store: Store, progress: Progress) -> None:
        self._store = store
        self._progress = progress

    def write(self, records: Sequence[Record]) -> None:
        """Take records."""
        self._store.write(records)
        self._progress.written()

    def flush(self) -> None:
        """Make everything written durable."""
        self._progress.flushing()
        self._store.flush()
        self._progress.flushed()

    def drop(self) -> None:
        """Lose what was not flushed."""
        self._store.drop()

    def load(self) -> tuple[Record, ...]:
        """What is durable."""
        return self._store.load()

    def holds(self, octets: bytes) -> bool:
        """Whether these octets are anywhere."""
        return self._store.holds(octets)


class ToldDriver:
    """A driver that tells what is asked and answered.

    Args:
        driver: The driver behind.
        progress: Who is told.
    """

    def __init__(self, driver: Driver, progress: Progress) -> None:
        self._driver = driver
        self._progress = progress

    @property
    def name(self) -> str:
        """The URL scheme it serves."""
        return self._driver.name

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Wire:
        """Start an attempt."""

        def tell(event: DriverEvent) -> None:
            sink(event)
            if isinstance(event, Done | Failed):
                self._progress.answered()

        return _ToldWire(self._driver.connect(target, tell, runner), self._progress)


class _ToldWire:
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
