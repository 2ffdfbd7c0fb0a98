"""Clients that load a broker, each in a process of its own.

The clients count in shared memory.  So the measuring process can read the counters and the broker's processor time at
the same moment, and no client needs to know when a measurement begins.
"""

from __future__ import annotations

import multiprocessing
import select
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

from msgspec import Struct

from brokers.caller import Endpoint
from brokers.frames import Role, WireError
from brokers.lines import Connection as Speaker
from brokers.lines import connection

CONTEXT = multiprocessing.get_context("spawn")
BATCH: Final = 128
"""The largest number of messages that a client writes at once."""

READY_S: Final = 60.0
END_S: Final = 30.0
_TICK_S: Final = 0.002
_BURST_S: Final = 0.1
"""After a pause, a producer with a fixed rate sends at most the messages of this many seconds at once."""


class Slot(IntEnum):
    """A counter in shared memory."""

    READY = 0
    """The number of clients that are ready.

    A client is ready when its connections are open. A `probes.connect` client is ready before its first connection,
    because it measures how fast connections open; a `sink.sink` is ready when it listens.
    """
    STOP = 1
    """1 stops all clients but `consume`; 2 stops `consume`, too."""
    SENT = 2
    CONFIRMED = 3
    SENT_SUM = 4
    """The sum of the sent messages' numbers; `RECEIVED_SUM` is the sum for the received messages."""
    RECEIVED = 5
    RECEIVED_SUM = 6
    HELD_UP_NS = 7
    """The time in nanoseconds in which a producer with a fixed rate could not send the messages that were due."""
    OUT_OF_ORDER = 8


class Counters:
    """Counters in shared memory; at most one process at a time writes a counter."""

    def __init__(self) -> None:
        self._slots: Any = CONTEXT.RawArray("Q", len(Slot))

    def __getitem__(self, slot: Slot) -> int:
        return int(self._slots[slot])

    def __setitem__(self, slot: Slot, value: int) -> None:
        self._slots[slot] = value


class Produce(Struct, frozen=True):
    """The job of a process that produces.

    Args:
        endpoint: The broker's address and a login.
        role: The link of each connection.
        lines: The number of connections.
        window: The largest number of unanswered messages of each connection.
        backlog: The largest number of messages that wait on the broker; the producer pauses above this number.
        rate: The wanted number of messages a second on all connections together; None for as many as possible.
        upto: The number of messages on all connections after which the process ends; None to send until it is stopped.
    """

    endpoint: Endpoint
    role: Role
    lines: int = 1
    window: int = 500
    backlog: int = 10_000
    rate: float | None = None
    upto: int | None = None


class Consume(Struct, frozen=True):
    """The job of a process that consumes.

    Args:
        endpoint: The broker's address and a login.
        role: The link of each connection.
        lines: The number of connections.
        rate: Messages a second to settle until the producer has stopped; None for all that arrive.
        ordered: Whether the numbers of the messages must rise by one.
    """

    endpoint: Endpoint
    role: Role
    lines: int = 1
    rate: float | None = None
    ordered: bool = False


# processes -------------------------------------------------------------------------------------------------------


class Client:
    """A process that runs a client.

    Args:
        target: The function to run, with the job, the counters and a pipe for the result.
        job: The job.
        counters: Counters that other clients share; None for new counters.
    """

    def __init__(
        self, target: Callable[[Any, Counters, Connection], None], job: Struct, counters: Counters | None = None
    ) -> None:
        self.counters = counters or Counters()
        self._result, theirs = CONTEXT.Pipe(duplex=False)
        self._process: BaseProcess = CONTEXT.Process(
            target=_run, args=(target, job, self.counters, theirs), daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid or 0

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process.is_alive()

    def check(self) -> None:
        """Raise an error if the process has failed.

        Raises:
            WireError: The process has failed; the text is its error.
        """
        if not self._process.is_alive() and self._process.exitcode:
            raise WireError(self._told() or f"a client ended with code {self._process.exitcode}")

    def result(self, timeout_s: float) -> Any:
        """Wait for the result of the job.

        Raises:
            WireError: The process has failed, or gives no result in time.
        """
        if not self._result.poll(timeout_s):
            raise WireError(f"a client has not ended within {timeout_s:.0f} s")
        told = self._told()
        if isinstance(told, str):
            raise WireError(told)
        self._process.join(END_S)
        return told

    def _told(self) -> Any:
        try:
            return self._result.recv() if self._result.poll(1) else None
        except EOFError:
            return None

    def end(self) -> None:
        """End the process if it is still running."""
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._result.close()


@contextmanager
def client(
    target: Callable[[Any, Counters, Connection], None], job: Struct, counters: Counters | None = None
) -> Generator[Client]:
    """Run a client during the block, which begins when the client is ready (`Slot.READY`).

    Raises:
        WireError: The client failed before it was ready, for example because it could not connect.
    """
    before = counters[Slot.READY] if counters is not None else 0
    one = Client(target, job, counters)
    limit = time.monotonic() + READY_S
    try:
        while one.counters[Slot.READY] == before:
            one.check()
            if time.monotonic() > limit:
                raise WireError(f"a client was not ready after {READY_S:.0f} s")
            time.sleep(_TICK_S)
        yield one
    finally:
        one.end()


def _run(target: Callable[[Any, Counters, Connection], None], job: Struct, counters: Counters, out: Connection) -> None:
    try:
        target(job, counters, out)
    except (WireError, OSError) as error:
        out.send(str(error) or repr(error))
        raise SystemExit(1) from error


# producers and consumers -----------------------------------------------------------------------------------------


def produce(job: Produce, counters: Counters, out: Connection) -> None:
    """Run a `Produce` job until it is stopped or has sent enough messages, and wait for the last answers.

    The result is the duration in seconds.
    """
    lines = _lines(job.endpoint, job.role, job.lines)
    poll, by_number = _poll(lines)
    counters[Slot.READY] += 1
    start = now = time.perf_counter()
    owed = 0.0
    while not counters[Slot.STOP] and (job.upto is None or counters[Slot.SENT] < job.upto):
        sent = sum(line.sent for line in lines)
        before, now = now, time.perf_counter()
        room = job.backlog - sent + counters[Slot.RECEIVED]
        if job.rate is not None:
            owed = min(owed + job.rate * (now - before), job.rate * _BURST_S)
            room = min(room, int(owed))
        if job.upto is not None:
            room = min(room, job.upto - sent)
        done = _send(lines, room, job.window)
        owed -= done
        if job.rate is not None and room and done < room:
            counters[Slot.HELD_UP_NS] += int((now - before) * 1e9)
        _count_sent(lines, counters)
        for number, _ in poll.poll(0 if done else _TICK_S * 1000):
            by_number[number].read()
    limit = time.perf_counter() + END_S
    while any(line.unconfirmed for line in lines) or not all(line.flush() for line in lines):
        for number, _ in poll.poll(_TICK_S * 1000):
            by_number[number].read()
        _count_sent(lines, counters)
        if time.perf_counter() > limit:
            raise WireError(f"{sum(line.unconfirmed for line in lines)} messages were not answered in {END_S:.0f} s")
    _count_sent(lines, counters)
    took = time.perf_counter() - start
    for line in lines:
        line.close()
    out.send(took)


def _send(lines: Sequence[Speaker], room: int, window: int) -> int:
    done = 0
    for line in lines:
        count = min(line.room(window), BATCH, room - done)
        if count > 0:
            line.send(count)
            done += count
    return done


def _count_sent(lines: Sequence[Speaker], counters: Counters) -> None:
    counters[Slot.SENT] = sum(line.sent for line in lines)
    counters[Slot.CONFIRMED] = sum(line.confirmed for line in lines)
    counters[Slot.SENT_SUM] = sum(line.sent * (line.sent - 1) // 2 for line in lines)


def consume(job: Consume, counters: Counters, out: Connection) -> None:
    """Run a `Consume` job, which receives and settles messages until it is stopped; the result is its duration in s."""
    lines = _lines(job.endpoint, job.role, job.lines)
    poll, by_number = _poll(lines)
    if job.ordered:
        for line in lines:
            line.on_message = _order(counters)
    counters[Slot.READY] += 1
    start = time.perf_counter()
    taken = dict.fromkeys(lines, 0)
    owed, now = 0.0, start
    while counters[Slot.STOP] < 2:  # noqa: PLR2004 - 1: the producers stop; 2: the consumers stop, too
        for number, _ in poll.poll(_TICK_S * 1000):
            by_number[number].read()
        before, now = now, time.perf_counter()
        paced = job.rate is not None and not counters[Slot.STOP]
        owed = min(owed + (job.rate or 0) * (now - before), (job.rate or 0) * _BURST_S)
        for line in lines:
            waiting = line.received - taken[line]
            take = min(waiting, int(owed)) if paced else waiting
            if take:
                owed -= take
                taken[line] += take
                _take(line, taken[line])
        counters[Slot.RECEIVED] = sum(taken.values())
        counters[Slot.RECEIVED_SUM] = sum(line.total for line in lines)
    for line in lines:
        line.close()
    out.send(time.perf_counter() - start)


def _take(line: Speaker, upto: int) -> None:
    if not line.role.settled:
        line.settle(upto)
    line.top_up(upto)


def _order(counters: Counters) -> Callable[[int], None]:
    """Return a function that takes the messages' numbers, and counts each number that does not follow the last one."""
    expected = 0

    def hear(number: int) -> None:
        nonlocal expected
        if number != expected:
            counters[Slot.OUT_OF_ORDER] += 1
        expected = number + 1

    return hear


def _lines(endpoint: Endpoint, role: Role, count: int) -> list[Speaker]:
    lines: list[Speaker] = [connection(endpoint, role) for _ in range(count)]
    for line in lines:
        line.wait()
    return lines


def _poll(lines: Sequence[Speaker]) -> tuple[select.poll, dict[int, Speaker]]:
    poll = select.poll()
    for line in lines:
        poll.register(line, select.POLLIN)
    return poll, {line.fileno(): line for line in lines}
