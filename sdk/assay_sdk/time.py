"""Clocks and runners.

Code of the kit never sleeps.  The synchronous faces wait in `Runner.run_until` only: a virtual clock advances to the
next due job in the same thread, a real clock waits for the I/O loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """A clock; reading it never waits."""

    @property
    def boot(self) -> str:
        """Id of the clock: monotonic times of clocks with the same id are comparable."""
        ...

    @property
    def uncertainty_ns(self) -> int:
        """Greatest error of a reading, in nanoseconds, in either direction."""
        ...

    def monotonic_ns(self) -> int:
        """Return a monotonic time in nanoseconds."""
        ...

    def wall_ns(self) -> int:
        """Return the time of day, in nanoseconds since the epoch."""
        ...


class CancelJob(Protocol):
    """Cancels a scheduled job; does nothing if the job ran or was cancelled."""

    def __call__(self) -> None:
        """Cancel the job."""
        ...


class Runner(Protocol):
    """Runs jobs one at a time, in the order of their due times and then of their scheduling.

    Jobs, events and the application's callbacks all run here.  A job may call `run_until`, as a listener does that
    commits; the runner then runs other jobs until that call ends.
    """

    @property
    def clock(self) -> Clock:
        """The runner's clock."""
        ...

    @property
    def waited_ns(self) -> int:
        """Total time that callers have spent in `run_until`, in nanoseconds of the runner's clock."""
        ...

    def call_soon(self, job: Callable[[], None]) -> None:
        """Run a job after the jobs that are due.  May be called from any thread."""
        ...

    def call_at(self, due_ns: int, job: Callable[[], None]) -> CancelJob:
        """Run a job at a monotonic time in nanoseconds."""
        ...

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Wait until `done()` is true or the monotonic deadline has passed.

        Args:
            done: Called after every job; must be cheap and have no side effects.
            deadline_ns: Monotonic nanoseconds; None waits without a limit.

        Returns:
            The last result of `done()`.

        Raises:
            StalledError: In virtual time, `done()` is not true, no deadline was given, and no job is scheduled.
        """
        ...


class OtherProcessError(RuntimeError):
    """A runner with a thread is used in a forked process, in which its thread does not run."""

    def __init__(self) -> None:
        super().__init__("this connection was made in another process: connect again in this one")


class StalledError(RuntimeError):
    """A wait without a limit cannot end, because no scheduled job could end it."""
