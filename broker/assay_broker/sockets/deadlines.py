"""Deadlines that all have the same time limit, such as the time for the login.

Every client gets a deadline, and nearly every client meets it, so setting and cancelling must be cheap.  With one time
limit, deadlines are due in the order in which they were set, so one job of the runner serves all of them without
sorting.
"""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.time import NS_PER_MS, CancelJob, Runner

_PORTION = 64
"""The most due jobs that one call runs, so that the event loop can do other work in between."""


class Deadline:
    """A job that is scheduled for a certain time; a call of this object cancels the job."""

    __slots__ = ("_row", "due_ns", "job")

    def __init__(self, row: dict[Deadline, None], due_ns: int, job: Callable[[], None]) -> None:
        self._row = row
        self.due_ns = due_ns
        """The time at which the job runs, on the monotonic clock, in nanoseconds."""
        self.job = job

    def __call__(self) -> None:
        """Cancel the job; do nothing if the job has run already."""
        self._row.pop(self, None)


class Deadlines:
    """Jobs that are scheduled with one time limit, and that may be cancelled.

    Args:
        runner: Runs the jobs.
        limit_ms: The time from setting a deadline to its job, in milliseconds.
    """

    def __init__(self, runner: Runner, limit_ms: int) -> None:
        self._runner = runner
        self._limit_ns = limit_ms * NS_PER_MS
        self._row: dict[Deadline, None] = {}
        self._alarm: CancelJob | None = None

    def set(self, job: Callable[[], None]) -> Deadline:
        """Schedule a job for the end of the time limit; a call of the returned deadline cancels the job."""
        due_ns = self._runner.clock.monotonic_ns() + self._limit_ns
        deadline = Deadline(self._row, due_ns, job)
        self._row[deadline] = None
        if self._alarm is None:
            self._alarm = self._runner.call_at(due_ns, self._ring)
        return deadline

    def _ring(self) -> None:
        """Run up to `_PORTION` due jobs, and schedule this method for the next deadline even if a job raises."""
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
