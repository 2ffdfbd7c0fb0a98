"""The loads of brokers, and the figures of each load."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum
from statistics import quantiles
from typing import Final, Protocol

from msgspec import Struct

from brokers.clients import Client, Consume, Counters, Produce, Slot, client, consume, produce
from brokers.frames import Role, WireError
from brokers.probes import Confirm, Connect, Hold, confirm, connect, hold
from brokers.processes import Flushes, Usage, memory, usage
from brokers.servers import MIB, Running

US: Final = 1e6
NS_PER_US: Final = 1e3
CENTILES: Final = 100
STUCK_S: Final = 20.0
_POLL_S: Final = 0.02


class Better(Enum):
    """Whether a higher or a lower figure is better; the values are words for targets."""

    HIGHER = "at least"
    LOWER = "at most"


class Column(Struct, frozen=True):
    """A figure of a load.

    Args:
        title: The figure's title, with the unit.
        digits: The digits after the decimal point.
    """

    title: str
    digits: int = 0


class Settings(Struct, frozen=True):
    """Durations and sizes of loads.

    Args:
        seconds: The duration of a measurement in seconds.
        warm: The seconds of load before a measurement.
        waiting: The number of waiting messages whose memory is measured.
        idle: The number of idle connections whose memory is measured.
        overload: The duration in seconds of the load with a producer that is too fast.
    """

    seconds: float = 5.0
    warm: float = 1.0
    waiting: int = 1_000_000
    idle: int = 2_000
    overload: float = 60.0


Figures = tuple[float | None, ...]
"""The figures of a load, one for each column; None for a figure that could not be measured."""


class Load(Protocol):
    """A kind of load on a broker."""

    @property
    def key(self) -> str:
        """The load's name on the command line."""
        ...

    @property
    def title(self) -> str:
        """The load's title in tables."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """The figures of the load; the first is compared between brokers."""
        ...

    @property
    def better(self) -> Better:
        """Whether a higher or a lower first figure is better."""
        ...

    @property
    def wanted(self) -> Mapping[str, float]:
        """The wanted ratios of our first figure to a peer's first figure, by the peer's `Server.key`."""
        ...

    def measure(self, running: Running, number: int, settings: Settings) -> Figures:
        """Load a broker and return the figures.

        Args:
            running: The broker.
            number: The number of an unused queue.
            settings: Durations and sizes.

        Raises:
            WireError: The broker refuses a client, or loses messages.
            LaunchError: The broker has ended.
        """
        ...


# rates -----------------------------------------------------------------------------------------------------------


class Moment(Struct, frozen=True):
    """Counters and usage at one moment."""

    at: float
    messages: int
    broker: Usage
    producer: Usage
    consumer: Usage


class Rate(Struct, frozen=True):
    """A load of producers and consumers that work as fast as possible.

    Args:
        key: The load's name on the command line.
        title: The load's title in tables.
        lines: The number of producers, and of consumers, each with its own connection, all on one queue.
        settled: Whether delivery is at most once.
        wanted: The wanted ratios of our rate to a peer's rate, by the peer's `Server.key`.
        durable: The durable field of the messages' header.
        stomp: Whether the clients speak STOMP.  They use receipts and `client-individual`, or with `settled` no
            receipts and `auto`.
    """

    key: str
    title: str
    lines: int
    settled: bool
    wanted: Mapping[str, float]
    durable: bool = True
    stomp: bool = False
    better: Better = Better.HIGHER
    columns: tuple[Column, ...] = (
        Column("messages/s"),
        Column("broker CPU, us a message", 1),
        Column("producers busy, %"),
        Column("consumers busy, %"),
        Column("written, octets a message"),
        Column("forced to disk, a second"),
    )

    def measure(self, running: Running, number: int, settings: Settings) -> Figures:
        """Measure the rate at which producers and consumers exchange messages through a broker (see `Load.measure`)."""
        address = running.destination(number) if self.stomp else running.address(number)
        if address is None:
            raise WireError("it has no STOMP")
        counters = Counters()
        takes = Role(address, sends=False, settled=self.settled, durable=self.durable, stomp=self.stomp)
        gives = Role(address, sends=True, settled=self.settled, durable=self.durable, stomp=self.stomp)
        with (
            client(consume, Consume(running.endpoint, takes, self.lines), counters) as consumer,
            client(produce, Produce(running.endpoint, gives, self.lines), counters) as producer,
        ):
            _sleep(settings.warm, consumer, producer)
            pids = running.pids()
            flushes = Flushes(pids) if self.durable else None
            before = _moment(pids, producer, consumer)
            _sleep(settings.seconds, consumer, producer)
            after = _moment(pids, producer, consumer)
            forced = flushes.stop() if flushes is not None else None
            finish(producer, consumer, counters, settled=self.settled)
        seconds, messages = after.at - before.at, after.messages - before.messages
        if not messages:
            raise WireError(f"no message came within {seconds:.0f} s")
        return (
            messages / seconds,
            (after.broker.cpu_s - before.broker.cpu_s) / messages * US,
            (after.producer.cpu_s - before.producer.cpu_s) / seconds * 100,
            (after.consumer.cpu_s - before.consumer.cpu_s) / seconds * 100,
            (after.broker.written - before.broker.written) / messages,
            None if forced is None else forced / seconds,
        )


def _moment(pids: list[int], producer: Client, consumer: Client) -> Moment:
    return Moment(
        time.perf_counter(),
        consumer.counters[Slot.RECEIVED],
        usage(pids),
        usage([producer.pid]),
        usage([consumer.pid]),
    )


def _sleep(seconds: float, *clients: Client) -> None:
    time.sleep(seconds)
    for one in clients:
        one.check()


def finish(producer: Client, consumer: Client, counters: Counters, *, settled: bool) -> None:
    """Stop the producer, wait until the consumer has the remaining messages, and check that each arrived once.

    Raises:
        WireError: Messages are missing, or arrived more than once.
    """
    counters[Slot.STOP] = 1
    producer.result(60)
    expected = counters[Slot.SENT if settled else Slot.CONFIRMED]
    last, limit = -1, time.monotonic() + STUCK_S
    while (received := counters[Slot.RECEIVED]) < expected:
        consumer.check()
        if received != last:
            last, limit = received, time.monotonic() + STUCK_S
        if time.monotonic() > limit:
            raise WireError(f"{expected - received} of {expected} messages never came")
        time.sleep(_POLL_S)
    counters[Slot.STOP] = 2
    consumer.result(60)
    if counters[Slot.RECEIVED] != expected or counters[Slot.RECEIVED_SUM] != counters[Slot.SENT_SUM]:
        told = ", ".join(f"{slot.name.lower()} {counters[slot]}" for slot in Slot if slot > Slot.STOP)
        raise WireError(f"the received messages are not the sent ones: {told}")


# answers ---------------------------------------------------------------------------------------------------------


def centile(values: list[int], which: int) -> float:
    """Return a percentile: the value that `which` percent of the values do not exceed."""
    return quantiles(values, n=CENTILES, method="inclusive")[which - 1] if len(values) > 1 else float(values[0])


class Confirms(Struct, frozen=True):
    """A load of durable messages at a steady rate, to measure the time until each answer."""

    wanted: Mapping[str, float]
    rate: float = 500.0
    key: str = "confirm"
    title: str = "send to answer, durable, 500 a second (a consumer takes them)"
    better: Better = Better.LOWER
    columns: tuple[Column, ...] = (
        Column("p50, us"),
        Column("p99, us"),
        Column("broker CPU, us a message", 1),
        Column("forced to disk, a second"),
    )

    def measure(self, running: Running, number: int, settings: Settings) -> Figures:
        """Run this load on a broker, and return the figures that it measures (see `Load.measure`)."""
        address = running.address(number)
        counters = Counters()
        job = Confirm(running.endpoint, Role(address, sends=True), self.rate, settings.seconds)
        with client(consume, Consume(running.endpoint, Role(address, sends=False)), counters) as consumer:
            pids = running.pids()
            flushes = Flushes(pids)
            before = usage(pids)
            with client(confirm, job) as producer:
                took = producer.result(settings.seconds + 60)
            after = usage(pids)
            forced = flushes.stop()
            counters[Slot.STOP] = 2
            consumer.result(60)
        return (
            centile(took, 50) / NS_PER_US,
            centile(took, 99) / NS_PER_US,
            (after.cpu_s - before.cpu_s) / len(took) * US,
            None if forced is None else forced / settings.seconds,
        )


class Connections(Struct, frozen=True):
    """A load of connections; each attaches one link, waits for the answer, and is closed."""

    wanted: Mapping[str, float]
    together: int = 8
    key: str = "connect"
    title: str = "connect, log in, attach, close; 8 at a time"
    better: Better = Better.HIGHER
    columns: tuple[Column, ...] = (Column("connections/s"), Column("broker CPU, us each"), Column("client busy, %"))

    def measure(self, running: Running, number: int, settings: Settings) -> Figures:
        """Run this load on a broker, and return the figures that it measures (see `Load.measure`)."""
        role = Role(running.address(number), sends=True)
        pids = running.pids()
        before = usage(pids)
        with client(connect, Connect(running.endpoint, role, self.together, settings.seconds)) as one:
            start = usage([one.pid])
            time.sleep(settings.seconds * 0.9)
            end = usage([one.pid])
            rate = one.result(60)
            after, done = usage(pids), one.counters[Slot.RECEIVED]
        busy = (end.cpu_s - start.cpu_s) / (settings.seconds * 0.9) * 100
        return rate, (after.cpu_s - before.cpu_s) / done * US, busy


# memory ----------------------------------------------------------------------------------------------------------


class Waiting(Struct, frozen=True):
    """A load of non-persistent messages that wait for a consumer, to measure their memory."""

    limit: float = 1.5e9 / MIB
    key: str = "memory"
    title: str = "waiting non-persistent messages (a fresh broker)"
    wanted: Mapping[str, float] = {}
    better: Better = Better.LOWER
    columns: tuple[Column, ...] = (
        Column("MiB, all of it"),
        Column("MiB before"),
        Column("messages waiting"),
        Column("octets a message"),
        Column("seconds to send them"),
        Column("MiB, all taken again"),
    )

    def measure(self, running: Running, number: int, settings: Settings) -> Figures:
        """Run this load on a broker, and return the figures that it measures (see `Load.measure`)."""
        address = running.address(number)
        before = memory(running.pids())
        counters = Counters()
        gives, takes = Role(address, sends=True, durable=False), Role(address, sends=False, durable=False)
        job = Produce(running.endpoint, gives, backlog=1 << 40, upto=settings.waiting)
        with client(produce, job, counters) as producer:
            took = _until_stuck(producer)
            full = memory(running.pids())
            waiting = counters[Slot.CONFIRMED]
            with client(consume, Consume(running.endpoint, takes), counters) as consumer:
                finish(producer, consumer, counters, settled=False)
        empty = memory(running.pids())
        return full / MIB, before / MIB, waiting, (full - before) / max(waiting, 1), took, empty / MIB


def _until_stuck(producer: Client) -> float:
    """Wait until the producer has ended, or until the broker has confirmed no message for `STUCK_S` seconds.

    Returns:
        The seconds until the broker's last confirmation.
    """
    start = moved = time.monotonic()
    last = -1
    while producer.running and time.monotonic() - moved < STUCK_S:
        producer.check()
        if producer.counters[Slot.CONFIRMED] != last:
            last, moved = producer.counters[Slot.CONFIRMED], time.monotonic()
        time.sleep(_POLL_S)
    return moved - start


class Idle(Struct, frozen=True):
    """A load of idle connections, each with a session and a link, to measure their memory."""

    limit: float = 500e6 / MIB
    key: str = "idle"
    title: str = "idle connections, each with a session and a receiver (a fresh broker)"
    wanted: Mapping[str, float] = {}
    better: Better = Better.LOWER
    columns: tuple[Column, ...] = (
        Column("MiB, all of it"),
        Column("MiB before"),
        Column("connections"),
        Column("KiB each", 1),
        Column("MiB, all closed"),
    )

    def measure(self, running: Running, number: int, settings: Settings) -> Figures:
        """Run this load on a broker, and return the figures that it measures (see `Load.measure`)."""
        before = memory(running.pids())
        role = Role(running.address(number), sends=False, durable=False)
        with client(hold, Hold(running.endpoint, role, settings.idle)) as one:
            held = one.counters[Slot.RECEIVED]
            full = memory(running.pids())
            one.counters[Slot.STOP] = 1
            one.result(120)
        empty = memory(running.pids())
        return full / MIB, before / MIB, held, (full - before) / held / 1024, empty / MIB
