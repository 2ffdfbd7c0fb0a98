"""Time and waiting (I-2): one clock and one crank for each world.

Nobody sleeps.  `Runner.run_until` is the only wait of the synchronous faces: under a virtual clock it advances to the
next thing due, in one thread; under a real one it waits for the I/O loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Reads time; never waits."""

    @property
    def boot(self) -> str:
        """Which clock `monotonic_ns` belongs to: readings of one boot can be compared."""
        ...

    @property
    def uncertainty_ns(self) -> int:
        """How far a reading may be off, plus or minus, in nanoseconds."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go back."""
        ...

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch."""
        ...


class CancelJob(Protocol):
    """Takes a scheduled job back; calling it after the job ran, or twice, does nothing."""

    def __call__(self) -> None:
        """Take the job back."""
        ...


class Runner(Protocol):
    """Turns the crank: runs jobs one at a time, in the order of their due times and then of their scheduling.

    Jobs, events and application callbacks all run here; `run_until` may be called from inside a job (a listener that
    commits) and then turns the same crank.
    """

    @property
    def clock(self) -> Clock:
        """The world's clock."""
        ...

    @property
    def waited_ns(self) -> int:
        """Nanoseconds of the world's clock that callers of `run_until` have spent waiting, in all."""
        ...

    def call_soon(self, job: Callable[[], None]) -> None:
        """Run a job as soon as the ones before it are done.  May be called from any thread."""
        ...

    def call_at(self, due_ns: int, job: Callable[[], None]) -> CancelJob:
        """Run a job at a monotonic time in nanoseconds."""
        ...

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Wait until `done()` is true, or the monotonic deadline has come.

        Args:
            done: Asked after every job; must be cheap and free of side effects.
            deadline_ns: Monotonic nanoseconds; None waits without a limit.

        Returns:
            What `done()` said last.

        Raises:
            StalledError: A virtual world with nothing left to do can never make `done()` true.
        """
        ...


class StalledError(RuntimeError):
    """Somebody waits without a limit for something that nothing scheduled can bring about."""
