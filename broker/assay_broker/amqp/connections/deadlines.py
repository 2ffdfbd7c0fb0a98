"""Jobs that all have the same time limit, such as the time to log in.

Every client gets a deadline and hardly any misses it. Since the limit is the same, the jobs are due in the order they
were set, and one job of the runner serves them all without sorting.
"""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.time import CancelJob, Runner

_NS_PER_MS = 1_000_000
_PORTION = 64
"""Jobs that run in a row before other work of the loop."""


class Deadline:
    """A job that waits for its time. Calling it cancels the job (`assay_sdk.time.Cancel`)."""

    __slots__ = ("_row", "due_ns", "job")

    def __init__(self, row: dict[Deadline, None], due_ns: int, job: Callable[[], None]) -> None:
        self._row = row
        self.due_ns = due_ns
        """When it is due, on the monotonic clock, in nanoseconds."""
        self.job = job

    def __call__(self) -> None:
        """Cancel the job; without effect after it has run."""
        self._row.pop(self, None)


class Deadlines:
    """Jobs that run the same time after they were set.

    Args:
        runner: Runs the jobs.
        limit_ms: The time limit, in milliseconds.
    """

    def __init__(self, runner: Runner, limit_ms: int) -> None:
        self._runner = runner
        self._limit_ns = limit_ms * _NS_PER_MS
        self._row: dict[Deadline, None] = {}
        self._alarm: CancelJob | None = None

    def set(self, job: Callable[[], None]) -> Deadline:
        """Run a job when the time is over, unless it is cancelled."""
        due_ns = self._runner.clock.monotonic_ns() + self._limit_ns
        deadline = Deadline(self._row, due_ns, job)
        self._row[deadline] = None
        if self._alarm is None:
            self._alarm = self._runner.call_at(due_ns, self._ring)
        return deadline

    def _ring(self) -> None:
        """Run up to `_PORTION` due jobs and set the alarm for the next, even if a job fails."""
        now_ns = self._runner.clock.monotonic_ns()
        try:
            for _ in range(_PORTION):
                first = self._first
                if first is None or first.due_ns > now_ns:
                    break
                first()
                first.job()
        finally:
            following = self._first
            self._alarm = None if following is None else self._runner.call_at(following.due_ns, self._ring)

    @property
    def _first(self) -> Deadline | None:
        return next(iter(self._row), None)
