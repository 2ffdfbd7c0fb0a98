"""Protocols of clocks and runners.

The SDK waits only in `Runner.run_until`, and never sleeps.  With a virtual clock, `run_until` runs one job after the
other on the calling thread, and advances the clock to the due time of each.  With a real clock, an I/O loop runs the
jobs, and `run_until` waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

NS_PER_MS = 1_000_000


class Clock(Protocol):
    """A clock; reading it never waits."""

    @property
    def boot(self) -> str:
        """Id of the clock: monotonic times of two clocks are comparable if the ids are equal."""
        ...

    @property
    def uncertainty_ns(self) -> int:
        """Greatest error of a reading, in nanoseconds, in either direction."""
        ...

    def monotonic_ns(self) -> int:
        """Return the monotonic time in nanoseconds."""
        ...

    def wall_ns(self) -> int:
        """Return the time of day, in nanoseconds since the epoch."""
        ...


class CancelJob(Protocol):
    """A function that cancels a scheduled job."""

    def __call__(self) -> None:
        """Cancel the job; do nothing if the job has run or was cancelled."""
        ...


class Runner(Protocol):
    """A runner, which runs jobs one at a time, in the order of their due times and then of their scheduling.

    The driver's events and the application's callbacks are jobs, too.  A job may call `run_until`, for example a
    listener that commits.  The runner then runs other jobs until that call ends.
    """

    @property
    def clock(self) -> Clock:
        """The runner's clock."""
        ...

    @property
    def waited_ns(self) -> int:
        """Total time during which callers have waited in `run_until`, in nanoseconds of the runner's clock."""
        ...

    def call_soon(self, job: Callable[[], None]) -> None:
        """Schedule a job after the jobs that are due now.

        In real time any thread may call this.  In virtual time no other thread may be in `run_until`.
        """
        ...

    def call_at(self, due_ns: int, job: Callable[[], None]) -> CancelJob:
        """Schedule a job for a monotonic time in nanoseconds.

        Returns:
            A function that cancels the job.
        """
        ...

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Wait until `done()` is true or the monotonic deadline has passed.

        Args:
            done: Returns whether to stop waiting.  The runner calls it after every job, so it must be cheap and have
                no side effects.
            deadline_ns: Monotonic time in nanoseconds; None waits without limit.

        Returns:
            The last result of `done()`.

        Raises:
            StalledError: In virtual time, `done()` is false, no deadline is given, and no job is scheduled.
        """
        ...


class OtherProcessError(RuntimeError):
    """The error for the use of a runner in a forked process, in which the runner's thread does not run."""

    def __init__(self) -> None:
        super().__init__("this connection was made in another process: connect again in this one")


class StalledError(RuntimeError):
    """The error for a wait without limit in virtual time that cannot end, because no job is scheduled."""
