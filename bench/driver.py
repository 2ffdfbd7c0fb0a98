"""A comparison of the SDK over STOMP with stomp.py alone, against the same server, in one run.

Run with the SDK on Python's path: ``python bench/driver.py [--rounds N] [--seconds S]``.

Loads:

- ``persistent``: persistent messages of 256 octets, each with a receipt for which the sender waits.
- ``transient``: the same, not persistent.
- ``receive``: 1,000 waiting transient messages, each received and acknowledged with a receipt before the next one.

Both clients take turns in this process, so that a ratio is meaningful.  The server is a process of its own.

Exit code 1: the SDK reaches less than 0.8 of stomp.py's rate of persistent messages.
"""

from __future__ import annotations

import argparse
import platform
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import stomp
from brokers.launch import Launched, free_port, wait_until
from brokers.servers import ROOT, source_path
from brokers.wire import BODY
from msgspec import Struct

from assay_sdk import DeliveryMode, Queue, connect
from assay_sdk.drivers.stomp import StompDriver

WANTED: Final = 0.8
TARGETS: Final = ("persistent",)
_LIMIT_S: Final = 30.0
_WAITING: Final = 1_000
_TEXT: Final = "x" * BODY


class Figure(Struct, frozen=True):
    """The result of one round.

    Args:
        rate: Messages a second.
        cpu_us: This process's processor time for each message, in microseconds.
    """

    rate: float
    cpu_us: float


class _Answers(stomp.ConnectionListener):  # type: ignore[misc]  # stomp.py has no types
    """A listener of stomp.py: wakes the thread that waits for a receipt, and puts messages into a queue."""

    def __init__(self) -> None:
        self.receipt = threading.Semaphore(0)
        self.messages: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def on_receipt(self, _: Any) -> None:
        """Wake the waiting thread."""
        self.receipt.release()

    def on_message(self, frame: Any) -> None:
        """Put a message into the queue."""
        self.messages.put(frame)

    def wait(self) -> None:
        """Wait for a receipt.

        Raises:
            TimeoutError: No receipt came within `_LIMIT_S` seconds.
        """
        if not self.receipt.acquire(timeout=_LIMIT_S):
            raise TimeoutError("no receipt came")


def _measured(job: Callable[[], object], seconds: float, most: int = sys.maxsize) -> Figure:
    """Repeat a job for `seconds`, but at most `most` times, and return its rate and processor time."""
    done, used, start = 0, time.process_time(), time.perf_counter()
    while done < most and (done % 16 or time.perf_counter() - start < seconds):
        job()
        done += 1
    took = time.perf_counter() - start
    return Figure(done / took, (time.process_time() - used) / done * 1e6)


# --- stomp.py alone


def bare(port: int, load: str, destination: str, seconds: float) -> Figure:
    """Run a load with stomp.py alone.

    Args:
        port: The server's STOMP port on 127.0.0.1.
        load: The load's name.
        destination: The queue's destination over STOMP.
        seconds: How long to send; the load `receive` ends when it has received all waiting messages.
    """
    line, answers = stomp.Connection12([("127.0.0.1", port)]), _Answers()
    line.set_listener("bench", answers)
    line.connect(wait=True)
    headers = {"persistent": "true" if load == "persistent" else "false", "content-type": "text/plain"}

    def send() -> None:
        line.send(destination, _TEXT, receipt="r", **headers)
        answers.wait()

    def receive() -> None:
        frame = answers.messages.get(timeout=_LIMIT_S)
        line.ack(frame.headers["ack"], receipt="r")
        answers.wait()

    try:
        if load != "receive":
            return _measured(send, seconds)
        for _ in range(_WAITING):
            send()
        line.subscribe(destination, id="1", ack="client-individual")
        return _measured(receive, _LIMIT_S, _WAITING)
    finally:
        line.disconnect()


# --- the SDK


def sdk(port: int, load: str, destination: str, seconds: float) -> Figure:
    """Run a load with the SDK; the arguments are those of `bare`."""
    where = Queue[str](destination.removeprefix("/queue/"))
    mode = DeliveryMode.PERSISTENT if load == "persistent" else DeliveryMode.NON_PERSISTENT
    with connect(f"stomp://127.0.0.1:{port}", driver=StompDriver()) as context:
        producer = context.create_producer(where, delivery_mode=mode)
        if load != "receive":
            return _measured(lambda: producer.send(_TEXT), seconds)
        for _ in range(_WAITING):
            producer.send(_TEXT)
        with context.create_consumer(where) as consumer:
            return _measured(lambda: consumer.receive(int(_LIMIT_S * 1_000)), _LIMIT_S, _WAITING)


CLIENTS: Final[dict[str, Callable[[int, str, str, float], Figure]]] = {"stomp.py": bare, "SDK": sdk}


@contextmanager
def broker(queues: Iterable[str]) -> Iterator[int]:
    """Run a server during the block, with queues for 999,999,999 messages each, and provide its STOMP port."""
    port, amqp = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        script = folder / "queues.mqsc"
        script.write_text("".join(f"DEFINE QLOCAL('{one}') MAXDEPTH(999999999)\n" for one in queues), encoding="utf-8")
        command = [
            *(sys.executable, "-m", "assay", "broker", "--data", str(folder / "data"), "--mqsc", str(script)),
            *("--amqp", f"127.0.0.1:{amqp}", "--stomp", f"127.0.0.1:{port}", "--http", "none"),
        ]
        launched = Launched("assay", command, {"PYTHONPATH": source_path(ROOT)}, folder)
        try:
            wait_until(launched, lambda: _answers(port))
            yield port
        finally:
            launched.stop()


def _queue(load: str, turn: int, client: str) -> str:
    return f"bench.{load}.{turn}.{client}"


def _answers(port: int) -> bool:
    line = stomp.Connection12([("127.0.0.1", port)], reconnect_attempts_max=1)
    try:
        line.connect(wait=True)
        line.disconnect()
    except stomp.exception.ConnectFailedException:
        return False
    return True


def main() -> int:
    """Measure, and print the table; return 1 if a target was missed."""
    parser = argparse.ArgumentParser(description="The SDK over STOMP beside stomp.py alone.")
    parser.add_argument("loads", nargs="*", default=["persistent", "transient", "receive"], metavar="LOAD")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each load and client, after a warm-up")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds of one measurement")
    asked = parser.parse_args()
    print(f"{BODY}-octet messages, {asked.rounds} rounds, Python {platform.python_version()}\n")
    print("| load | stomp.py, messages/s | SDK, messages/s | ratio | stomp.py, CPU us | SDK, CPU us |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    missed: list[str] = []
    turns = range(asked.rounds + 1)
    with broker(_queue(load, turn, name) for load in asked.loads for turn in turns for name in CLIENTS) as port:
        for load in asked.loads:
            rounds = [
                {
                    name: run(port, load, f"/queue/{_queue(load, turn, name)}", asked.seconds)
                    for name, run in CLIENTS.items()
                }
                for turn in turns
            ][1:]
            ratio = median(one["SDK"].rate / one["stomp.py"].rate for one in rounds)
            rates = [f"{median(one[name].rate for one in rounds):,.0f}" for name in CLIENTS]
            used = [f"{median(one[name].cpu_us for one in rounds):.0f}" for name in CLIENTS]
            print(f"| {load} | {rates[0]} | {rates[1]} | {ratio:.2f} | {used[0]} | {used[1]} |", flush=True)
            if load in TARGETS and ratio < WANTED:
                missed.append(f"{load}: {ratio:.2f} of stomp.py, wanted {WANTED}")
    print(*(f"\nNot reached: {one}." for one in missed), sep="")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
