"""The load of a producer that is four times as fast as its consumer, and the effect on round trips on another queue."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from brokers.clients import Client, Consume, Counters, Produce, Slot, client, consume, produce
from brokers.frames import Role
from brokers.loads import NS_PER_US, Better, Column, Figures, Settings, centile, finish
from brokers.probes import RoundTrips, round_trips
from brokers.processes import memory
from brokers.servers import MIB, Running

MEMORY: Final = 64 * MIB
"""The limit, in octets, on the messages that a broker holds in memory; the load exceeds this limit."""

TAKEN_A_SECOND: Final = 2_500
TIMES: Final = 4
_POLL_S: Final = 0.25


class Overload(Struct, frozen=True):
    """A load of one producer, one consumer at a quarter of the producer's rate, and round trips on another queue."""

    key: str = "overload"
    title: str = f"a producer at {TIMES * TAKEN_A_SECOND:,}/s, a consumer at {TAKEN_A_SECOND:,}/s, {MEMORY // MIB} MiB"
    wanted: Mapping[str, float] = {}
    better: Better = Better.LOWER
    columns: tuple[Column, ...] = (
        Column("p99 of an unrelated round trip, times its idle value", 1),
        Column("p99 idle, us"),
        Column("p99 under load, us"),
        Column("sent/s"),
        Column("producer without credit, % of the time"),
        Column("most waiting"),
        Column("MiB before"),
        Column("MiB at most"),
        Column("out of order"),
        Column("lost"),
    )
    limit: float = 5.0

    def measure(self, running: Running, number: int, settings: Settings) -> Figures:
        """Load a broker, as described in `brokers.loads.Load`.

        If a message was lost, `finish` raises an error, and the load has no figures.
        """
        probe = RoundTrips(running.endpoint, running.address(number + 1))
        seconds = min(settings.overload, 10.0)
        with client(round_trips, probe) as one:
            time.sleep(seconds)
            idle = _stop(one)
        before = peak = memory(running.pids())
        counters = Counters()
        address = running.address(number)
        gives, takes = Role(address, sends=True, durable=False), Role(address, sends=False, durable=False, credit=200)
        slow = Consume(running.endpoint, takes, rate=TAKEN_A_SECOND, ordered=True)
        fast = Produce(running.endpoint, gives, backlog=1 << 40, rate=TAKEN_A_SECOND * TIMES)
        waiting = 0
        with client(consume, slow, counters) as consumer, client(produce, fast, counters) as producer:
            start = time.monotonic()
            with client(round_trips, probe) as one:
                while time.monotonic() - start < settings.overload:
                    time.sleep(_POLL_S)
                    consumer.check()
                    producer.check()
                    peak = max(peak, memory(running.pids()))
                    waiting = max(waiting, counters[Slot.SENT] - counters[Slot.RECEIVED])
                took = time.monotonic() - start
                sent, held_up = counters[Slot.SENT], counters[Slot.HELD_UP_NS] / 1e9
                loaded = _stop(one)
            finish(producer, consumer, counters, settled=False)
        quiet, busy = centile(idle, 99), centile(loaded, 99)
        return (
            busy / quiet,
            quiet / NS_PER_US,
            busy / NS_PER_US,
            sent / took,
            held_up / took * 100,
            waiting,
            before / MIB,
            peak / MIB,
            counters[Slot.OUT_OF_ORDER],
            0,
        )


def _stop(one: Client) -> list[int]:
    one.counters[Slot.STOP] = 1
    taken: list[int] = one.result(60)
    return taken
