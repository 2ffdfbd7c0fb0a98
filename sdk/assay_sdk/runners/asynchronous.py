"""The runner on an asyncio loop, for a server whose sockets the loop watches.

Jobs run on the loop's thread, one at a time, in the order of their due times and then of their scheduling.  After at
most `_JOBS_A_TURN` jobs the loop runs its other callbacks.  Code on the loop cannot wait, so `AsyncioRunner.run_until`
raises an error.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from typing import Never

from assay_sdk.runners.jobs import Job, JobHeap, ScheduledJob
from assay_sdk.runners.machine_clock import MachineClock

_JOBS_A_TURN = 64
"""The largest number of jobs between two polls of the loop's sockets.  Without this limit, jobs that schedule more jobs
could delay the sockets for ever."""


class AsyncioRunner(JobHeap):
    """A runner that runs jobs on an asyncio loop.

    The loop's exception handler gets the exception of a job, and later jobs still run.

    Args:
        loop: The loop; None for the loop that is running in this thread.

    Raises:
        RuntimeError: No loop is given, and no loop is running in this thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__()
        self._loop = loop or asyncio.get_running_loop()
        self._clock = MachineClock()
        self._ready: deque[ScheduledJob] = deque()
        self._turn_due = False
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ns = 0
        self._closed = False

    @property
    def clock(self) -> MachineClock:
        """The machine's clock."""
        return self._clock

    @property
    def waited_ns(self) -> int:
        """Always 0, because no call blocks while an asyncio loop runs."""
        return 0

    def call_soon(self, job: Job) -> None:
        """Schedule a job after the jobs that are due now; any thread may call this.

        Raises:
            RuntimeError: The runner or its loop is closed.
        """
        entry = ScheduledJob(self, job)
        if self._here():
            self._enter(entry)
        else:
            self._loop.call_soon_threadsafe(self._enter, entry)

    def call_at(self, due_ns: int, job: Job) -> ScheduledJob:
        """Schedule a job for a monotonic time in nanoseconds; a time in the past means now.

        Any thread may call this.

        Returns:
            An object that cancels the job when it is called on the loop's thread.

        Raises:
            RuntimeError: The runner or its loop is closed.
        """
        entry = ScheduledJob(self, job)
        if self._here():
            self._push(due_ns, entry)
        else:
            self._loop.call_soon_threadsafe(self._push, due_ns, entry)
        return entry

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> Never:
        """Raise an error, because the loop could run no job during the wait.

        Raises:
            RuntimeError: Always.
        """
        del done, deadline_ns
        raise RuntimeError("code on an asyncio loop cannot wait: schedule a job instead, or wait on another thread")

    def close(self) -> None:
        """Drop all jobs; must be called on the loop's thread.

        The loop itself keeps running.  A second call does nothing.
        """
        self._closed = True
        self._ready.clear()
        self._heap.clear()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    # scheduling ------------------------------------------------------------------------------------------------------

    def _here(self) -> bool:
        """Return whether this is the loop's thread.

        Raises:
            RuntimeError: The runner is closed.
        """
        if self._closed:
            raise RuntimeError("the runner is closed: create a new one")
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:  # no loop runs on this thread
            return False

    def _enter(self, entry: ScheduledJob) -> None:
        if self._heap:
            self._wake(self._clock.monotonic_ns())
        self._ready.append(entry)
        self._take_turn()

    def _push(self, due_ns: int, entry: ScheduledJob) -> None:
        now_ns = self._clock.monotonic_ns()
        self._seq += 1
        heapq.heappush(self._heap, (max(due_ns, now_ns), self._seq, entry))
        self._wake(now_ns)

    def _wake(self, now_ns: int) -> None:
        """Move jobs that are due to the ready queue, and set the timer for the next job."""
        heap = self._heap
        while heap and (heap[0][2].job is None or heap[0][0] <= now_ns):
            entry = heapq.heappop(heap)[2]
            if entry.job is None:
                self._taken_back = max(0, self._taken_back - 1)
            else:
                self._ready.append(entry)
        if self._ready:
            self._take_turn()
        if heap and (self._alarm is None or heap[0][0] < self._alarm_ns):
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm_ns = heap[0][0]
            self._alarm = self._loop.call_later((self._alarm_ns - now_ns) / 1e9, self._ring)

    def _ring(self) -> None:
        """Handle the timer; if it has fired too early, set it again."""
        self._alarm = None
        self._wake(self._clock.monotonic_ns())

    def _take_turn(self) -> None:
        if not self._turn_due:
            self._turn_due = True
            self._loop.call_soon(self._turn)

    # running ---------------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        """Run up to `_JOBS_A_TURN` ready jobs; jobs that they schedule wait for the next poll of the sockets."""
        self._turn_due = False
        if self._heap:
            self._wake(self._clock.monotonic_ns())
        for _ in range(min(len(self._ready), _JOBS_A_TURN)):
            if not self._ready:  # a job has closed the runner
                return
            entry = self._ready.popleft()
            job, entry.job = entry.job, None
            if job is not None:
                self._run(job)
        if self._ready:
            self._take_turn()

    def _run(self, job: Job) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001  the loop's handler gets it, so that later jobs still run
            self._loop.call_exception_handler({"message": "a job has failed", "exception": error})
