"""Clients that measure a broker under little load: the time until an answer, round trips, and connections."""

from __future__ import annotations

import select
import time
from multiprocessing.connection import Connection

from msgspec import Struct

from brokers.caller import Caller, Endpoint
from brokers.clients import Counters, Slot
from brokers.frames import Role, WireError
from brokers.wire import Line

NS = 1_000_000_000


class Confirm(Struct, frozen=True):
    """The job of sending at a steady rate and measuring the time until each answer.

    Args:
        endpoint: The broker's address and a login.
        role: The link of the connection.
        rate: Messages a second.
        seconds: The duration in seconds.
    """

    endpoint: Endpoint
    role: Role
    rate: float
    seconds: float


class RoundTrips(Struct, frozen=True):
    """The job of sending a message to a queue and receiving it, again and again, until the process is stopped.

    Args:
        endpoint: The broker's address and a login.
        address: The queue's address.
        interval_s: The seconds from one round trip to the next.
    """

    endpoint: Endpoint
    address: str
    interval_s: float = 0.01


class Connect(Struct, frozen=True):
    """The job of connecting, attaching and closing, with several connections at a time.

    Args:
        endpoint: The broker's address and a login.
        role: The link of each connection.
        together: The number of connections at a time.
        seconds: The duration in seconds.
    """

    endpoint: Endpoint
    role: Role
    together: int
    seconds: float


class Hold(Struct, frozen=True):
    """The job of holding idle connections until the process is stopped.

    Args:
        endpoint: The broker's address and a login.
        role: The link of each connection.
        connections: The number of connections.
    """

    endpoint: Endpoint
    role: Role
    connections: int


def confirm(job: Confirm, counters: Counters, out: Connection) -> None:
    """Run a `Confirm` job; its result is a list with the nanoseconds from each send to its answer."""
    line = Caller(job.endpoint, job.role)
    line.wait()
    sent_at: list[int] = []
    took: list[int] = []

    def answered(first: int, last: int) -> None:
        now = time.perf_counter_ns()
        took.extend(now - sent_at[number] for number in range(first, last + 1))

    line.on_confirmed = answered
    counters[Slot.READY] += 1
    step = int(NS / job.rate)
    start = time.perf_counter_ns()
    limit = start + int((job.seconds + 30) * NS)
    for number in range(int(job.rate * job.seconds)):
        due = start + number * step
        _read_until(line, due)
        while not line.room(1 << 30):
            _read_until(line, time.perf_counter_ns() + NS // 1000)
            if time.perf_counter_ns() > limit:
                raise WireError(f"the broker gives no credit for {job.role.address}")
        sent_at.append(time.perf_counter_ns())
        line.send(1)
        counters[Slot.SENT] = line.sent
    while line.unconfirmed:
        if time.perf_counter_ns() > limit:
            raise WireError(f"{line.unconfirmed} messages to {job.role.address} were not answered")
        _read_until(line, time.perf_counter_ns() + NS // 1000)
    counters[Slot.CONFIRMED] = line.confirmed
    line.close()
    out.send(took)


def _read_until(line: Line, due_ns: int) -> None:
    while (left := due_ns - time.perf_counter_ns()) > 0:
        if select.select((line,), (), (), left / NS)[0]:
            line.read()


def round_trips(job: RoundTrips, counters: Counters, out: Connection) -> None:
    """Run a `RoundTrips` job; its result is a list with the nanoseconds of each round trip."""
    receiver = Caller(job.endpoint, Role(job.address, sends=False, durable=False))
    receiver.wait()
    sender = Caller(job.endpoint, Role(job.address, sends=True, durable=False))
    sender.wait()
    counters[Slot.READY] += 1
    took: list[int] = []
    due = time.perf_counter_ns()
    step = int(job.interval_s * NS)
    while not counters[Slot.STOP]:
        _read_until(sender, due)
        while not sender.room(1):
            _read_until(sender, time.perf_counter_ns() + NS // 1000)
        sent = time.perf_counter_ns()
        sender.send(1)
        limit = sent + 30 * NS
        while receiver.received < sender.sent:
            if select.select((sender, receiver), (), (), 1.0)[0]:
                sender.read()
                receiver.read()
            if time.perf_counter_ns() > limit:
                raise WireError(f"a message to {job.address} has not come back in 30 s")
        took.append(time.perf_counter_ns() - sent)
        receiver.settle(receiver.received)
        receiver.top_up(receiver.received)
        counters[Slot.RECEIVED] = receiver.received
        due = max(due + step, time.perf_counter_ns())
    sender.close()
    receiver.close()
    out.send(took)


def connect(job: Connect, counters: Counters, out: Connection) -> None:
    """Run a `Connect` job; its result is the number of connections a second that attached and closed.

    The job is ready (`Slot.READY`) before its first connection, because it measures how fast connections open.
    """
    poll = select.poll()
    lines: dict[int, Caller] = {}
    counters[Slot.READY] += 1
    start = time.perf_counter()
    done, end = 0, start + job.seconds
    while lines or time.perf_counter() < end:
        while len(lines) < job.together and time.perf_counter() < end:
            line = Caller(job.endpoint, job.role)
            lines[line.fileno()] = line
            poll.register(line, select.POLLIN)
        for number, _ in poll.poll(1000):
            line = lines[number]
            before = line.ready
            line.read()
            if line.closed:
                poll.unregister(number)
                del lines[number]
                line.socket.close()
                done += 1
                counters[Slot.RECEIVED] = done
            elif line.ready and not before:
                line.say_close()
        if time.perf_counter() > end + 30:
            raise WireError(f"{len(lines)} connections were not closed within 30 s")
    out.send(done / (time.perf_counter() - start))


def hold(job: Hold, counters: Counters, out: Connection) -> None:
    """Run a `Hold` job; its result is the number of held connections."""
    lines: list[Caller] = []
    for _ in range(job.connections):
        line = Caller(job.endpoint, job.role)
        line.wait()
        lines.append(line)
        counters[Slot.RECEIVED] = len(lines)
    counters[Slot.READY] += 1
    while not counters[Slot.STOP]:
        time.sleep(0.05)
    for line in lines:
        line.close()
    out.send(len(lines))
