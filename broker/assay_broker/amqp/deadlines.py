"""Jobs that all have the same time: what peers must have done by then, such as to log in.

Everybody who comes gets a deadline, and nearly nobody misses it.  So they stand in one row, which their due times need
not be sorted into, and the runner has one job for all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.time import CancelJob, Runner

_NS_PER_MS = 1_000_000
_PORTION = 64
"""Jobs that are done in a row before it is others' turn."""


class Deadline:
    """A job that waits; called, it is taken back (`assay_sdk.time.Cancel`)."""

    __slots__ = ("_row", "due_ns", "job")

    def __init__(self, row: dict[Deadline, None], due_ns: int, job: Callable[[], None]) -> None:
        self._row = row
        self.due_ns = due_ns
        """When it is due, on the monotonic clock, in nanoseconds."""
        self.job = job

    def __call__(self) -> None:
        """Take it back; nothing happens where it is over."""
        self._row.pop(self, None)


class Deadlines:
    """Jobs that are due the same time after they were given.

    Args:
        runner: Where they run.
        limit_ms: After how many milliseconds.
    """

    def __init__(self, runner: Runner, limit_ms: int) -> None:
        self._runner = runner
        self._limit_ns = limit_ms * _NS_PER_MS
        self._row: dict[Deadline, None] = {}
        self._alarm: CancelJob | None = None

    def set(self, job: Callable[[], None]) -> Deadline:
        """Have a job done when the time is over, unless it is taken back."""
        due_ns = self._runner.clock.monotonic_ns() + self._limit_ns
        deadline = Deadline(self._row, due_ns, job)
        self._row[deadline] = None
        if self._alarm is None:
            self._alarm = self._runner.call_at(due_ns, self._ring)
        return deadline

    def _ring(self) -> None:
        """Do what is due, a portion of it, and wait for the rest, even where a job fails."""
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
