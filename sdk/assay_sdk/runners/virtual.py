"""A world of its own: a clock that moves only when somebody waits, and one thread.

Jobs run in the order of their due times and, among equals, of their scheduling.  Nothing here reads the machine's
clock or sleeps, so hours of delay take no time and a run with the same jobs is the same run.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from assay_sdk.time import StalledError

Job = Callable[[], None]

EPOCH_2026_NS = 1_767_225_600_000_000_000
"""2026-01-01T00:00:00Z: an ordinary time of day for worlds that do not care which."""

_COMPACT_FROM = 1024
"""Taken-back jobs are swept from the heap once they are this many and half of it: receives with long timeouts that are
answered at once would otherwise pile up until their deadlines come."""


class VirtualClock:
    """The clock of one virtual world; its readings are exact."""

    def __init__(self, start_wall_ns: int, boot: str) -> None:
        self._start_wall_ns = start_wall_ns
        self._boot = boot
        self._now_ns = 0

    @property
    def boot(self) -> str:
        """The world's name."""
        return self._boot

    @property
    def uncertainty_ns(self) -> int:
        """Always 0: virtual time is not measured."""
        return 0

    def monotonic_ns(self) -> int:
        """Nanoseconds since the world began."""
        return self._now_ns

    def wall_ns(self) -> int:
        """The world's time of day, in nanoseconds since the epoch."""
        return self._start_wall_ns + self._now_ns

    def advance_to(self, now_ns: int) -> None:
        """Move on to a monotonic time, for the runner alone; the past is left alone."""
        self._now_ns = max(self._now_ns, now_ns)


class _Entry:
    """A scheduled job; `job` is None once it ran or was taken back."""

    __slots__ = ("job", "runner")

    def __init__(self, runner: VirtualRunner, job: Job) -> None:
        self.runner = runner
        self.job: Job | None = job

    def __call__(self) -> None:
        """Take the job back (`assay_sdk.time.Cancel`)."""
        if self.job is not None:
            self.job = None
            self.runner.swept()


class VirtualRunner:
    """The crank of one virtual world.

    Args:
        start_wall_ns: Time of day at which the world begins, in nanoseconds since the epoch.
        boot: The world's name; readings of clocks with one name can be compared.
    """

    def __init__(self, start_wall_ns: int = EPOCH_2026_NS, boot: str = "virtual:0") -> None:
        self._clock = VirtualClock(start_wall_ns, boot)
        self._heap: list[tuple[int, int, _Entry]] = []
        self._seq = 0
        self._taken_back = 0
        self.waited_ns = 0
        """Virtual time that has passed while somebody waited, in nanoseconds."""

    @property
    def clock(self) -> VirtualClock:
        """The world's clock."""
        return self._clock

    def call_soon(self, job: Job) -> None:
        """Run a job after those that are due already."""
        self._push(self._clock.monotonic_ns(), job)

    def call_at(self, due_ns: int, job: Job) -> _Entry:
        """Run a job at a monotonic time; a time that has passed means now.

        Returns:
            What takes the job back when called.
        """
        return self._push(max(due_ns, self._clock.monotonic_ns()), job)

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Run jobs, moving the clock to each job's due time, until `done()` or the deadline.

        Jobs that are due at the deadline itself still run.  May be called from inside a job; an exception of a job
        reaches whoever turned the crank at that moment.

        Args:
            done: Asked before the first and after every job.
            deadline_ns: Monotonic nanoseconds; None waits without a limit.

        Returns:
            What `done()` said last.

        Raises:
            StalledError: Without a deadline, when nothing is scheduled that could make `done()` true.
        """
        while not done():
            self._drop_taken_back()
            if not self._heap or (deadline_ns is not None and self._heap[0][0] > deadline_ns):
                if deadline_ns is None:
                    raise StalledError(
                        "this wait would never end: it has no timeout, and nothing is scheduled in this broker's "
                        "virtual time that could end it; give a timeout, or send first"
                    )
                self._pass_to(deadline_ns)
                return False
            due_ns, _, entry = heapq.heappop(self._heap)
            self._pass_to(due_ns)
            job, entry.job = entry.job, None
            if job is not None:
                job()
        return True

    def swept(self) -> None:
        """Count a job that was taken back, and sweep the heap when they are many."""
        self._taken_back += 1
        if self._taken_back >= _COMPACT_FROM and self._taken_back * 2 > len(self._heap):
            self._heap = [item for item in self._heap if item[2].job is not None]
            heapq.heapify(self._heap)
            self._taken_back = 0

    def _push(self, due_ns: int, job: Job) -> _Entry:
        entry = _Entry(self, job)
        self._seq += 1
        heapq.heappush(self._heap, (due_ns, self._seq, entry))
        return entry

    def _drop_taken_back(self) -> None:
        while self._heap and self._heap[0][2].job is None:
            heapq.heappop(self._heap)
            self._taken_back -= 1

    def _pass_to(self, now_ns: int) -> None:
        before = self._clock.monotonic_ns()
        self._clock.advance_to(now_ns)
        self.waited_ns += self._clock.monotonic_ns() - before
