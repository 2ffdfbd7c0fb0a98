"""A comparison of this broker with others under the same load, in one run.

Run with the SDK on Python's path: ``python bench/broker.py [LOAD...] [--rounds N]``; ``--help`` lists the options.

Loads: ceiling durable durable8 once stomp stomp-auto confirm connect memory idle overload.  Without a load, the program
runs all of them.  Brokers: this one, RabbitMQ (installed, and version 4 as an image), Apache Artemis, and a plain
broker on proton's `Container`.  The output names the brokers that this machine lacks; the tables leave them out.  All
brokers listen on 127.0.0.1.  Under most loads they run at the same time, and each round loads them one after the other
and begins with another broker.  Under memory, idle and overload, each broker runs alone.  The clients are in
`brokers.clients`; `ceiling` measures the speed of the clients alone.

Only the ratios of one run are comparable between machines.  Processor time varies less than rates when other programs
use the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Final

from brokers.caller import Endpoint
from brokers.clients import Consume, Counters, Produce, Slot, client, consume, produce
from brokers.frames import Role, WireError
from brokers.launch import LaunchError, free_port
from brokers.loads import Confirms, Connections, Idle, Load, Rate, Settings, Waiting
from brokers.overload import MEMORY, Overload
from brokers.processes import usage
from brokers.servers import QUEUES, SERVERS, Options, Running, Server, earlier, started
from brokers.sink import Listen, sink
from brokers.tables import Result, missed, table
from brokers.wire import BODY

ROUNDS: Final = 5
CEILING: Final = "ceiling"

TOGETHER: Final[tuple[Load, ...]] = (
    Rate(
        "durable",
        "durable, at least once, one producer and one consumer",
        lines=1,
        settled=False,
        wanted={"plain": 4.5, "rabbitmq": 1.0, "rabbitmq4": 1.0, "artemis": 0.22},
    ),
    Rate("durable8", "durable, at least once, eight producers and eight consumers", lines=8, settled=False, wanted={}),
    Rate(
        "once",
        "at most once, not durable, one producer and one consumer",
        lines=1,
        settled=True,
        durable=False,
        wanted={"plain": 6.5, "rabbitmq": 1.4, "rabbitmq4": 1.4, "artemis": 0.19},
    ),
    Rate(
        "stomp",
        "STOMP, persistent with receipts, client-individual, one producer and one consumer",
        lines=1,
        settled=False,
        stomp=True,
        wanted={"rabbitmq": 1.9, "rabbitmq4": 1.9, "artemis": 1.0},
    ),
    Rate(
        "stomp-auto",
        "STOMP, not persistent, without receipts, auto, one producer and one consumer",
        lines=1,
        settled=True,
        durable=False,
        stomp=True,
        wanted={"rabbitmq": 1.8, "rabbitmq4": 1.8, "artemis": 0.8},
    ),
    Confirms(wanted={"artemis": 1.7}),
    Connections(wanted={"artemis": 0.8}),
)
"""Loads for brokers that run at the same time."""

ALONE: Final[tuple[Load, ...]] = (Waiting(), Idle(), Overload())
"""Loads for a newly started broker, while no other broker runs."""


def main() -> int:
    """Measure the brokers and print the tables.

    Returns:
        The exit code: 1 if our broker failed under a load or missed a target, otherwise 0.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    asked = _arguments()
    settings = Settings(asked.seconds, asked.warm, asked.waiting, asked.idle, asked.overload)
    chosen = [server for server in SERVERS if server.key in asked.brokers]
    if asked.earlier is not None:
        chosen.append(earlier(asked.earlier))
    here = [server for server in chosen if server.missing() is None]
    _head(asked.rounds, settings)
    for server in chosen:
        if (why := server.missing()) is not None:
            _say(f"Not measured: {server.key}, {why}.")
    complaints: list[str] = []
    if CEILING in asked.loads:
        _ceiling(asked.rounds, settings)
    with tempfile.TemporaryDirectory(prefix="assay-bench-", dir=asked.folder) as name:
        loads = [load for load in TOGETHER if load.key in asked.loads]
        if loads:
            complaints += _together(Path(name), here, loads, asked.rounds, settings)
        for load in ALONE:
            if load.key in asked.loads:
                complaints += _alone(Path(name), here, load, settings)
    if any(load.key in asked.loads for load in TOGETHER):
        _say("### What is flushed to disk by whom", "")
        _say(*(f"- {server.title} ({server.key}): {server.disk}." for server in here), "")
    _say(*(f"Not reached: {one}." for one in complaints))
    return 1 if complaints else 0


def _together(
    folder: Path, servers: Sequence[Server], loads: Sequence[Load], rounds: int, settings: Settings
) -> list[str]:
    """Load brokers in turns, print the tables, and return the missed targets; the first turn is a warm-up."""
    with ExitStack() as stack:
        stomp = any(isinstance(load, Rate) and load.stomp for load in loads)
        running = [
            stack.enter_context(started(server, folder / server.key, Options(stomp=free_port() if stomp else 0)))
            for server in servers
        ]
        results = {load.key: {one.server.key: Result(one.title, [], []) for one in running} for load in loads}
        number = 0
        for turn in range(rounds + 1):
            for load in loads:
                number = (number + 1) % QUEUES
                order = running[turn % len(running) :] + running[: turn % len(running)]
                for one in order:
                    _measure(load, one, number, settings, results[load.key][one.server.key], counts=turn > 0)
            _note(f"round {turn} of {rounds}")
    for load in loads:
        _say(*table(load, results[load.key]))
    return [told for load in loads for told in missed(load, results[load.key])]


def _alone(folder: Path, servers: Sequence[Server], load: Load, settings: Settings) -> list[str]:
    """Start, load and stop the brokers one after the other, print the table, and return the missed targets."""
    options = Options(memory=MEMORY) if isinstance(load, Overload) else Options()
    results: dict[str, Result] = {}
    for server in servers:
        with started(server, folder / f"{load.key}-{server.key}", options) as one:
            results[server.key] = Result(one.title, [], [])
            _measure(load, one, 1, settings, results[server.key], counts=True)
    _say(*table(load, results))
    return missed(load, results)


def _measure(load: Load, one: Running, number: int, settings: Settings, result: Result, *, counts: bool) -> None:
    """Measure one round, and add its figures (if the round counts) or its error to the result.

    An error does not end the measurement: later rounds still run.
    """
    try:
        figures = load.measure(one, number, settings)
    except (WireError, LaunchError, OSError) as error:
        result.failed.append(str(error))
        _note(f"{load.key} {one.title}: {error}")
        return
    _note(f"{load.key} {one.title}: " + ", ".join("?" if value is None else f"{value:,.1f}" for value in figures))
    if counts:
        result.rounds.append(figures)


def _ceiling(rounds: int, settings: Settings) -> None:
    """Print the speed of the clients with a server that only answers."""
    _say("### ceiling: the clients against a server that does nothing with messages", "")
    _say("| | messages/s (median) | client CPU, us a message |", "| --- | ---: | ---: |")
    for title, sends, settled in (
        ("send, at least once", True, False),
        ("send, at most once", True, True),
        ("receive, at least once", False, False),
        ("receive, at most once", False, True),
    ):
        figures = [_against_sink(settings, sends=sends, settled=settled) for _ in range(rounds)]
        rate, cpu = (median(column) for column in zip(*figures, strict=True))
        _say(f"| {title} | {rate:,.0f} | {cpu:.1f} |")
    _say("")


def _against_sink(settings: Settings, *, sends: bool, settled: bool) -> tuple[float, float]:
    port, counters = free_port(), Counters()
    role = Role("sink", sends=sends, settled=settled)
    job = Produce(Endpoint(port), role, backlog=1 << 40) if sends else Consume(Endpoint(port), role)
    with client(sink, Listen(port)) as server, client(produce if sends else consume, job, counters) as one:
        slot = Slot.SENT if sends else Slot.RECEIVED
        time.sleep(settings.warm)
        before, start, used = counters[slot], time.perf_counter(), usage([one.pid])
        time.sleep(settings.seconds)
        messages, took, after = counters[slot] - before, time.perf_counter() - start, usage([one.pid])
        counters[Slot.STOP] = 2
        one.result(60)
        server.counters[Slot.STOP] = 1
        server.result(10)
    return messages / took, (after.cpu_s - used.cpu_s) / messages * 1e6


def _arguments() -> argparse.Namespace:
    loads = [CEILING, *(load.key for load in (*TOGETHER, *ALONE))]
    servers = [server.key for server in SERVERS]
    parser = argparse.ArgumentParser(description="This broker beside others, under the same load.")
    parser.add_argument("loads", nargs="*", metavar="LOAD", help=f"{', '.join(loads)}; without one, all")
    parser.add_argument("--brokers", default=",".join(servers), help="the brokers to measure, separated by commas")
    parser.add_argument(
        "--earlier", type=_checkout, metavar="FOLDER", help="another checkout, measured beside this one"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of each load of brokers side by side")
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds of one measurement")
    parser.add_argument("--warm", type=float, default=1.0, help="seconds of load before a measurement")
    parser.add_argument("--waiting", type=int, default=1_000_000, help="messages that wait (memory)")
    parser.add_argument("--idle", type=int, default=2_000, help="connections (idle)")
    parser.add_argument("--overload", type=float, default=60.0, help="seconds (overload)")
    parser.add_argument("--folder", help="the folder for the brokers' data; a temporary folder by default")
    asked = parser.parse_args()
    asked.loads = asked.loads or loads
    asked.brokers = asked.brokers.split(",")
    for given, known in ((asked.loads, loads), (asked.brokers, servers)):
        if unknown := set(given) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    return asked


def _checkout(name: str) -> Path:
    root = Path(name).resolve()
    if not (root / "broker" / "assay_broker").is_dir():
        message = f"{name} is no checkout of this project: it has no folder broker/assay_broker"
        raise argparse.ArgumentTypeError(message)
    return root


def _head(rounds: int, settings: Settings) -> None:
    _say(f"{BODY}-octet messages, {rounds} rounds of {settings.seconds:g} s, {os.cpu_count()} processors, ")
    _say(f"Python {platform.python_version()}, Linux {platform.release()}", "")


def _say(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
