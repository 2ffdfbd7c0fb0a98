"""The crank of a server: an asyncio loop that runs anyway, whose sockets are its own affair.

Jobs run on the loop's thread, one at a time, in the order of their due times and then of their scheduling, with the
loop's other callbacks in between.  Nobody waits inside a loop, so `AsyncioRunner.run_until` refuses to.
"""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections import deque
from collections.abc import Callable
from typing import Never

from assay_sdk.runners.real import MachineClock

Job = Callable[[], None]

_JOBS_A_TURN = 64
"""The loop looks at its sockets after so many jobs at the latest, so that jobs which schedule jobs cannot starve
them."""

_COMPACT_FROM = 1024
"""Taken-back jobs are swept from the heap once they are this many and half of it."""


class _Entry:
    """A scheduled job; `job` is None once it ran or was taken back."""

    __slots__ = ("job", "runner")

    def __init__(self, runner: AsyncioRunner, job: Job) -> None:
        self.runner = runner
        self.job: Job | None = job

    def __call__(self) -> None:
        """Take the job back (`assay_sdk.time.Cancel`)."""
        if self.job is not None:
            self.job = None
            self.runner.swept()


class AsyncioRunner:
    """Jobs on an asyncio loop.

    An exception of a job goes to the loop's exception handler, and the jobs behind it still run.

    Args:
        loop: The loop; None for the one that is running here.

    Raises:
        RuntimeError: No loop is given, and none is running here.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop or asyncio.get_running_loop()
        self._thread: threading.Thread | None = None
        self._clock = MachineClock()
        self._ready: deque[_Entry] = deque()
        self._heap: list[tuple[int, int, _Entry]] = []
        self._seq = 0
        self._taken_back = 0
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
        """Always 0: nobody waits here."""
        return 0

    def call_soon(self, job: Job) -> None:
        """Run a job after those that are due already; from any thread.

        Raises:
            RuntimeError: The runner or its loop is closed.
        """
        entry = _Entry(self, job)
        if self._here():
            self._enter(entry)
        else:
            self._loop.call_soon_threadsafe(self._enter, entry)

    def call_at(self, due_ns: int, job: Job) -> _Entry:
        """Run a job at a monotonic time in nanoseconds, never before it; a time that has passed means now.

        From any thread; what is returned is for the loop's thread.

        Returns:
            What takes the job back when called.

        Raises:
            RuntimeError: The runner or its loop is closed.
        """
        entry = _Entry(self, job)
        if self._here():
            self._push(due_ns, entry)
        else:
            self._loop.call_soon_threadsafe(self._push, due_ns, entry)
        return entry

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> Never:
        """Nobody waits here: a loop that waits for itself stands still.

        Raises:
            RuntimeError: Always.
        """
        del done, deadline_ns
        raise RuntimeError("nobody waits inside an asyncio loop: schedule what is to follow, or wait on another thread")

    def close(self) -> None:
        """Drop all jobs; to be called on the loop's thread, and twice is once.  The loop itself goes on."""
        self._closed = True
        self._ready.clear()
        self._heap.clear()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def swept(self) -> None:
        """Count a job that was taken back, and sweep the heap when they are many."""
        self._taken_back += 1
        if self._taken_back >= _COMPACT_FROM and self._taken_back * 2 > len(self._heap):
            self._heap = [item for item in self._heap if item[2].job is not None]
            heapq.heapify(self._heap)
            self._taken_back = 0

    # scheduling ------------------------------------------------------------------------------------------------------

    def _here(self) -> bool:
        """Whether this is the loop's thread."""
        if self._closed:
            raise RuntimeError("the runner is closed: make a new one")
        thread = threading.current_thread()  # and not its number, which the system gives again
        if thread is self._thread and self._loop.is_running():
            return True
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:  # no loop runs on this thread
            return False
        if here:
            self._thread = thread  # to ask asyncio is a system call, and a loop stays on its thread
        return here

    def _enter(self, entry: _Entry) -> None:
        if self._heap:
            self._wake(self._clock.monotonic_ns())
        self._ready.append(entry)
        self._take_turn()

    def _push(self, due_ns: int, entry: _Entry) -> None:
        now_ns = self._clock.monotonic_ns()
        self._seq += 1
        heapq.heappush(self._heap, (max(due_ns, now_ns), self._seq, entry))
        self._wake(now_ns)

    def _wake(self, now_ns: int) -> None:
        """Make everything ready that is due now, and set the alarm for what is due next."""
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
        """The alarm goes off; where it is a moment early it is set again."""
        self._alarm = None
        self._wake(self._clock.monotonic_ns())

    def _take_turn(self) -> None:
        if not self._turn_due:
            self._turn_due = True
            self._loop.call_soon(self._turn)

    # running ---------------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        """Run what is ready; what that schedules waits until the loop has looked at its sockets."""
        self._turn_due = False
        if self._heap:
            self._wake(self._clock.monotonic_ns())
        for _ in range(min(len(self._ready), _JOBS_A_TURN)):
            if not self._ready:  # closed meanwhile
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
        except Exception as error:  # noqa: BLE001  handed to the loop's handler; the jobs behind it are not to blame
            self._loop.call_exception_handler({"message": "a job has failed", "exception": error})
