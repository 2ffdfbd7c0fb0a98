"""The runner for virtual time: one thread, and a clock that advances only during waits.

Jobs run in the order of their due times and then of their scheduling.  The runner never sleeps, and never reads the
machine's clock.  Hours of delay therefore take no time, and a run with the same jobs repeats exactly.

A client or broker with a bug may schedule one job after another without an end.  In real time such a loop takes time,
so waits reach their timeouts.  In virtual time the loop takes no time, so the runner itself advances the clock after
many jobs (`_BUSY`).
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable

from assay_sdk.runners.jobs import Job, JobHeap, ScheduledJob
from assay_sdk.signals import hold
from assay_sdk.time import StalledError

EPOCH_2026_NS = 1_767_225_600_000_000_000
"""2026-01-01T00:00:00Z, the default time of day at which virtual time begins, in nanoseconds since the epoch."""

_BUSY = 30_000
"""If this number of jobs has run at one moment, the runner assumes a loop without an end; thousands of messages need
fewer jobs.  The clock then advances after every `_BUSY_TURN` jobs: first by a millisecond, then each time by twice as
much as before, up to `_LONGEST_BUSY_NS`."""
_BUSY_TURN = 250
_BUSY_NS = 1_000_000
_LONGEST_BUSY_NS = 10_000_000_000


class VirtualClock:
    """The clock of one virtual runner."""

    def __init__(self, start_wall_ns: int, boot: str) -> None:
        self._start_wall_ns = start_wall_ns
        self._boot = boot
        self._now_ns = 0

    @property
    def boot(self) -> str:
        """Id of the clock."""
        return self._boot

    @property
    def uncertainty_ns(self) -> int:
        """Always 0, because virtual time is not measured."""
        return 0

    def monotonic_ns(self) -> int:
        """Return the nanoseconds since the start of virtual time."""
        return self._now_ns

    def wall_ns(self) -> int:
        """Return the virtual time of day, in nanoseconds since the epoch."""
        return self._start_wall_ns + self._now_ns

    def advance_to(self, now_ns: int) -> None:
        """Advance the clock to a monotonic time in nanoseconds; an earlier time is ignored.  For the runner only."""
        self._now_ns = max(self._now_ns, now_ns)


class VirtualRunner(JobHeap):
    """A runner that runs jobs in virtual time.

    Args:
        start_wall_ns: Time of day at which virtual time begins, in nanoseconds since the epoch.
        boot: Id of the clock; monotonic times of two clocks are comparable if the ids are equal.
    """

    def __init__(self, start_wall_ns: int = EPOCH_2026_NS, boot: str = "virtual:0") -> None:
        super().__init__()
        self._clock = VirtualClock(start_wall_ns, boot)
        self._at_once = 0
        """Number of jobs that have run since the clock last advanced to a job's due time or a deadline."""
        self._busy_ns = _BUSY_NS
        self._thread: threading.Thread | None = None
        """The thread that is in `run_until`; None if no thread is."""
        self.waited_ns = 0
        """Total virtual time that has passed during waits, in nanoseconds."""

    @property
    def clock(self) -> VirtualClock:
        """The runner's clock."""
        return self._clock

    def call_soon(self, job: Job) -> None:
        """Schedule a job after the jobs that are due now.

        Raises:
            RuntimeError: Another thread is in `run_until`.
        """
        self._push(self._clock.monotonic_ns(), job)

    def call_at(self, due_ns: int, job: Job) -> ScheduledJob:
        """Schedule a job for a monotonic time in nanoseconds; a time in the past means now.

        Returns:
            An object that cancels the job when it is called.

        Raises:
            RuntimeError: Another thread is in `run_until`.
        """
        return self._push(max(due_ns, self._clock.monotonic_ns()), job)

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Run jobs until `done()` is true or the deadline is reached, and advance the clock to each job's due time.

        Jobs that are due at the deadline itself still run.  A job may call this method; the innermost call raises the
        exception of a job.  On the main thread, handlers of signals are called between jobs, and may raise.

        Args:
            done: Returns whether to stop waiting; called before the first job and after every job.
            deadline_ns: Monotonic time in nanoseconds; None waits without limit.

        Returns:
            The last result of `done()`.

        Raises:
            StalledError: `done()` is false, no deadline is given, and no job is scheduled.
            RuntimeError: Another thread is in this method.
        """
        self._check_thread()
        outer, self._thread = self._thread, threading.current_thread()
        try:
            with hold:
                return self._run_until(done, deadline_ns)
        finally:
            self._thread = outer

    def _run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        while not done():
            self._drop_taken_back()
            if not self._heap or (deadline_ns is not None and self._heap[0][0] > deadline_ns):
                if deadline_ns is None:
                    raise StalledError(
                        "this wait would never end: it has no timeout, and this in-process broker has no scheduled "
                        "event that could end it; give a timeout, or send the message first, on this thread"
                    )
                self._pass_to(deadline_ns)
                return False
            due_ns, _, entry = heapq.heappop(self._heap)
            self._pass_to(due_ns)
            job, entry.job = entry.job, None
            if job is not None:
                job()
                self._count()
            if hold.came:
                hold.tell()
        return True

    def _count(self) -> None:
        """Count a job; after `_BUSY` jobs at one moment, advance the clock, because the jobs probably have no end."""
        self._at_once += 1
        if self._at_once >= _BUSY and self._at_once % _BUSY_TURN == 0:
            self._clock.advance_to(self._clock.monotonic_ns() + self._busy_ns)
            self._busy_ns = min(2 * self._busy_ns, _LONGEST_BUSY_NS)

    def _check_thread(self) -> None:
        if self._thread is not None and self._thread.ident != threading.get_ident():
            raise RuntimeError(
                f"thread {threading.current_thread().name!r} uses an in-process broker in which thread "
                f"{self._thread.name!r} is waiting: use it from one thread only"
            )

    def _push(self, due_ns: int, job: Job) -> ScheduledJob:
        self._check_thread()
        entry = ScheduledJob(self, job)
        self._seq += 1
        heapq.heappush(self._heap, (due_ns, self._seq, entry))
        return entry

    def _drop_taken_back(self) -> None:
        while self._heap and self._heap[0][2].job is None:
            heapq.heappop(self._heap)
            self._taken_back -= 1

    def _pass_to(self, now_ns: int) -> None:
        before = self._clock.monotonic_ns()
        if now_ns <= before:
            return
        self._clock.advance_to(now_ns)
        self.waited_ns += now_ns - before
        self._at_once = 0
        self._busy_ns = _BUSY_NS
