"""The scheduled jobs of `VirtualRunner` and `AsyncioRunner`, which change their jobs on one thread, without a lock."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Job = Callable[[], None]

_COMPACT_FROM = 1024
"""The runner removes cancelled jobs from the heap if they are at least this many, and more than half of the heap.
Without this, the timeouts of receive calls that have ended early would stay in the heap until they are due."""


class ScheduledJob:
    """A job that a runner has scheduled; `job` is None after the job has run or was cancelled."""

    __slots__ = ("_jobs", "job")

    def __init__(self, jobs: JobHeap, job: Job) -> None:
        self._jobs = jobs
        self.job: Job | None = job

    def __call__(self) -> None:
        """Cancel the job (`assay_sdk.time.CancelJob`)."""
        if self.job is not None:
            self.job = None
            self._jobs.swept()


class JobHeap:
    """The base class of the two runners: the scheduled jobs, in the order of due time and then of scheduling."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, ScheduledJob]] = []
        self._seq = 0
        self._taken_back = 0

    def swept(self) -> None:
        """Count a cancelled job, and remove cancelled jobs from the heap if they are many (`_COMPACT_FROM`)."""
        self._taken_back += 1
        if self._taken_back >= _COMPACT_FROM and self._taken_back * 2 > len(self._heap):
            self._heap = [item for item in self._heap if item[2].job is not None]
            heapq.heapify(self._heap)
            self._taken_back = 0
