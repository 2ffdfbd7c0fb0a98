"""The runner for real time: an I/O loop on a thread of its own.

The loop runs jobs one at a time, in the order of their due times and then of their scheduling, and callbacks of sockets
between them.  Other threads schedule jobs and wait.  A job may also wait on the loop's thread, as a listener does when
it commits; the loop then runs within this wait.  The loop may therefore call a socket's callback while an earlier call
of the callback has not returned, so the callback must accept a socket that is no longer ready.
"""

from __future__ import annotations

import heapq
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from assay_sdk.runners.machine_clock import MachineClock
from assay_sdk.runners.waiters import Waiter, Wake
from assay_sdk.time import OtherProcessError, Runner

Job = Callable[[], None]

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE

_JOBS_BETWEEN_POLLS = 64
"""The largest number of jobs between two polls of the sockets.  Without this limit, jobs that schedule more jobs could
delay the sockets for ever."""

_LONGEST_POLL_S = 86_400.0
"""Longest timeout of a poll, in seconds.  It is below epoll's limit of 2^31 - 1 ms (24.8 days); a job may be due later
than that."""

_CATCH_UP_S = 1.0
"""The longest time, in seconds, that a wait continues after its timeout.  The loop uses this time to poll its sockets
once more."""

_COMPACT_FROM = 1024
"""The runner removes cancelled jobs from the heap if they are at least this many, and more than half of the heap."""


class SocketRunner(Protocol):
    """The methods with which a runner watches sockets."""

    def register(self, line: socket.socket, events: int, ready: Callable[[int], None]) -> None:
        """Watch a socket, or change the watched events.

        Args:
            line: A non-blocking socket.
            events: `READ`, `WRITE` or both.
            ready: Called with a mask of the events that occurred.
        """
        ...

    def unregister(self, line: socket.socket) -> None:
        """Stop watching a socket."""
        ...


class LoopRunner(Runner, SocketRunner, Protocol):
    """A runner that also watches sockets, for drivers with sockets."""


class _Entry:
    """A job that a `RealRunner` has scheduled; `job` is None after the job has run or was cancelled."""

    __slots__ = ("job", "runner")

    def __init__(self, runner: RealRunner, job: Job) -> None:
        self.runner = runner
        self.job: Job | None = job

    def __call__(self) -> None:
        """Cancel the job (`assay_sdk.time.CancelJob`)."""
        self.runner.take_back(self)


class RealRunner:
    """A runner with an I/O loop on a daemon thread; the thread starts with the first job or wait.

    Args:
        on_error: Called with each exception of a job or callback; the loop keeps running.  With None, `run_until`
            raises the exception in all threads that wait.  If no thread waits, the next call of `run_until` or `close`
            raises the exception.
    """

    def __init__(self, on_error: Callable[[BaseException], None] | None = None) -> None:
        self._clock = MachineClock()
        self._process = os.getpid()
        self._on_error = on_error
        self._lock = threading.Lock()
        self._heap: list[tuple[int, int, _Entry]] = []
        self._seq = 0
        self._taken_back = 0
        self._waiters: list[Waiter] = []
        self._errors: deque[BaseException] = deque()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._asleep = False
        self._jobs_since_poll = 0
        self._selector = selectors.DefaultSelector()
        self._alarm, self._bell = socket.socketpair()
        self._alarm.setblocking(False)  # noqa: FBT003  the standard library takes it by position
        self._bell.setblocking(False)  # noqa: FBT003  the standard library takes it by position
        self._selector.register(self._alarm, READ, self._silence)
        self._waited_ns = 0
        self._waiting_since_ns = 0
        self._polls_begun = 0
        self._catching_up: list[tuple[int, Wake]] = []
        """Threads that wait for the end of a poll: the number of the poll, and the object that wakes the thread."""

    @property
    def clock(self) -> MachineClock:
        """The machine's clock."""
        return self._clock

    @property
    def waited_ns(self) -> int:
        """Total time during which at least one thread other than the loop's has waited in `run_until`, in nanoseconds.

        Waits on the loop's thread are left out, so that such a wait does not count twice while another thread waits.
        """
        return self._waited_ns

    @property
    def on_loop(self) -> bool:
        """Whether the caller is on the loop's thread."""
        return threading.current_thread() is self._thread

    def call_soon(self, job: Job) -> None:
        """Schedule a job after the jobs that are due now; any thread may call this.

        Raises:
            RuntimeError: The runner is closed, or was created in another process (`OtherProcessError`).
        """
        self._push(0, job)

    def call_at(self, due_ns: int, job: Job) -> _Entry:
        """Schedule a job for a monotonic time in nanoseconds; a time in the past means now.

        Any thread may call this.

        Returns:
            An object that cancels the job when it is called.

        Raises:
            RuntimeError: The runner is closed, or was created in another process (`OtherProcessError`).
        """
        return self._push(due_ns, job)

    def take_back(self, entry: _Entry) -> None:
        """Cancel a scheduled job; do nothing if the job has run or was cancelled."""
        with self._lock:
            if entry.job is None:
                return
            entry.job = None
            self._taken_back += 1
            if self._taken_back >= _COMPACT_FROM and self._taken_back * 2 > len(self._heap):
                self._heap = [item for item in self._heap if item[2].job is not None]
                heapq.heapify(self._heap)
                self._taken_back = 0

    def register(self, line: socket.socket, events: int, ready: Callable[[int], None]) -> None:
        """Watch a socket, or change the watched events; must be called on the loop's thread.

        Args:
            line: A non-blocking socket.
            events: `READ`, `WRITE` or both.
            ready: Called with a mask of the events that occurred.
        """
        if line in self._selector.get_map():
            self._selector.modify(line, events, ready)
        else:
            self._selector.register(line, events, ready)

    def unregister(self, line: socket.socket) -> None:
        """Stop watching a socket; must be called on the loop's thread.  A socket that is not watched is ignored."""
        if line in self._selector.get_map():
            self._selector.unregister(line)

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Wait until `done()` is true or the deadline has passed; a call on the loop's thread runs the loop.

        Args:
            done: Returns whether to stop waiting.  The loop calls it after every job and callback, so it must be cheap
                and have no side effects.
            deadline_ns: Monotonic time in nanoseconds; None waits without limit.

        Returns:
            The last result of `done()`.

        Raises:
            RuntimeError: The runner is closed, was closed during the wait, or was created in another process
                (`OtherProcessError`).
            Exception: A job or `done` raised it during the wait, or a job raised it before, while no thread waited.
        """
        if self.on_loop:
            return self._run_loop(done, deadline_ns)
        self._start()
        begin_ns = time.monotonic_ns()
        waiter = Waiter(done)
        with self._lock:
            if self._closing:
                raise RuntimeError("the runner is closed: create a new one")
            if self._errors:
                raise self._errors.popleft()
            if not self._waiters:
                self._waiting_since_ns = begin_ns
            self._waiters.append(waiter)
        try:
            if not done():
                self._wait(waiter, deadline_ns)
                if not waiter.woken.is_set():
                    self._catch_up()
        finally:
            with self._lock:
                self._waiters.remove(waiter)
                if not self._waiters:  # simultaneous waits count once
                    self._waited_ns += time.monotonic_ns() - self._waiting_since_ns
        if waiter.error is not None:
            raise waiter.error
        return waiter.woken.is_set() or done()

    def close(self) -> None:
        """End the loop, and drop the jobs that have not run; `run_until` raises RuntimeError in waiting threads.

        Raises:
            Exception: A job raised it earlier, and no thread has waited since.
        """
        with self._lock:
            already, self._closing = self._closing, True
            thread = self._thread
        if not already and thread is None:
            self._dispose()
        self._wake_up()
        if thread is not None and not self.on_loop:
            thread.join()
        if self._errors:
            raise self._errors.popleft()

    @staticmethod
    def _wait(waiter: Waiter, deadline_ns: int | None) -> None:
        if deadline_ns is None:
            waiter.woken.wait()
            return
        while (left_ns := deadline_ns - time.monotonic_ns()) > 0:
            if waiter.woken.wait(min(left_ns / 1e9, threading.TIMEOUT_MAX)):
                return

    def _catch_up(self) -> None:
        """Wait until the loop has polled its sockets once more, or for `_CATCH_UP_S`.

        A message that arrived before the deadline then still counts, even if the loop is busy.  The wait has a limit,
        because a callback on the loop may itself wait for this thread.
        """
        polled = Wake()
        with self._lock:
            if self._closing:
                return
            self._catching_up.append((self._polls_begun + 1, polled))
        self._wake_up()
        polled.wait(_CATCH_UP_S)

    def _push(self, due_ns: int, job: Job) -> _Entry:
        entry = _Entry(self, job)
        self._start()
        with self._lock:
            self._seq += 1
            heapq.heappush(self._heap, (max(due_ns, time.monotonic_ns()), self._seq, entry))
            wake = self._asleep
        if wake:
            self._wake_up()
        return entry

    def _start(self) -> None:
        if os.getpid() != self._process:  # before the lock, which a thread of the parent may have held at the fork
            raise OtherProcessError
        with self._lock:
            if self._closing and not self.on_loop:
                raise RuntimeError("the runner is closed: create a new one")
            if self._thread is None:
                self._thread = threading.Thread(target=self._live, name="assay-io", daemon=True)
                self._thread.start()

    def _wake_up(self) -> None:
        """Wake the loop from its poll."""
        try:
            self._bell.send(b"!")
        except BlockingIOError:
            return  # the socket is full of earlier wake-ups, which wake the loop as well
        except OSError:
            if not self._closing:
                raise

    def _silence(self, _mask: int) -> None:
        with suppress(BlockingIOError):
            self._alarm.recv(4096)  # the next poll reports octets that are left

    def _live(self) -> None:
        """Run the loop until `close`."""
        while not self._closing:
            try:
                self._run_loop(lambda: self._closing, None)
            except BaseException as error:  # noqa: BLE001  `on_error`, the waiters or `close` get it: if `sys.exit()` in
                # a listener ended this thread, every call would wait for ever
                self._report(error)
        self._dispose()

    def _dispose(self) -> None:
        with self._lock:
            waiters, catching_up = tuple(self._waiters), tuple(self._catching_up)
            self._heap.clear()
        for waiter in waiters:
            waiter.fail(RuntimeError("the runner was closed during a wait"))
        for _, polled in catching_up:
            polled.set()
        self._selector.close()
        self._alarm.close()
        self._bell.close()

    def _report(self, error: BaseException) -> None:
        if self._on_error is not None:
            self._on_error(error)
            self._check_waiters()  # a thread's condition may depend on what `on_error` has done
            return
        with self._lock:
            waiters = tuple(self._waiters)
            if not waiters:
                self._errors.append(error)
        for waiter in waiters:
            waiter.fail(error)

    def _run_loop(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Run jobs and callbacks until `done()` is true or the deadline has passed.

        Returns:
            The last result of `done()`.

        Raises:
            RuntimeError: The runner was closed during the wait.
            BaseException: A job or a callback raised it.
        """
        while not done():
            if self._run_job():
                self._jobs_since_poll += 1
                # The job may have made `done()` true, and a poll could then wait long for the next job or socket.
                if self._jobs_since_poll < _JOBS_BETWEEN_POLLS or done():
                    continue
            if deadline_ns is not None and time.monotonic_ns() >= deadline_ns:
                return done()
            if self._closing and not done():
                raise RuntimeError("the runner was closed during a wait")
            self._jobs_since_poll = 0
            self._poll(done, deadline_ns)
        return True

    def _run_job(self) -> bool:
        """Run the first job that is due, and return whether a job was due."""
        with self._lock:
            while self._heap and self._heap[0][2].job is None:
                heapq.heappop(self._heap)
                self._taken_back -= 1
            if not self._heap or self._heap[0][0] > time.monotonic_ns():
                return False
            entry = heapq.heappop(self._heap)[2]
            job, entry.job = entry.job, None
        if job is not None:
            try:
                job()
            finally:
                self._check_waiters()
        return True

    def _poll(self, done: Callable[[], bool], deadline_ns: int | None) -> None:
        """Wait for sockets, the next job, a wake-up or the deadline, then call the callbacks of ready sockets."""
        with self._lock:
            due = [deadline_ns] if deadline_ns is not None else []
            due += [0] if self._catching_up else []
            if self._heap:
                due.append(self._heap[0][0])
            self._asleep = True
        timeout = min(max(0.0, (min(due) - time.monotonic_ns()) / 1e9), _LONGEST_POLL_S) if due else None
        self._polls_begun += 1
        number = self._polls_begun
        try:
            ready = self._selector.select(timeout)
        finally:
            self._asleep = False
        for key, mask in ready:
            current = self._selector.get_map().get(key.fd)
            if current is None or current.data is not key.data:
                continue  # an earlier callback of this poll has unregistered the socket
            try:
                key.data(mask)
            finally:
                self._check_waiters()
            if done():
                return  # the next poll reports a socket that is still ready
        if self._catching_up:
            self._tell_caught_up(number)

    def _tell_caught_up(self, number: int) -> None:
        with self._lock:
            waiting, self._catching_up = self._catching_up, []
            for wanted, polled in waiting:
                if wanted <= number:
                    polled.set()
                else:
                    self._catching_up.append((wanted, polled))

    def _check_waiters(self) -> None:
        """Evaluate the conditions of all waiting threads."""
        if self._waiters:
            with self._lock:
                waiters = tuple(self._waiters)
            for waiter in waiters:
                waiter.check()
