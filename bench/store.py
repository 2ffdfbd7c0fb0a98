"""The rate at which messages are stored.

This program compares many senders, which share flushes, with a single sender.  It also compares the core and its store
with plain SQLite.

Run with the source roots on Python's path: ``python bench/store.py [MESSAGES]``.  Only the ratios are comparable
between machines.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import apsw
from msgspec.structs import replace

from assay_broker.core import commands
from assay_broker.core.core import Core
from assay_broker.core.effects import Answer, CloseLink, Deliver, Persist
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.records import MessageStored
from assay_broker.core.settings import Settings
from assay_broker.mqsc.defaults import default_settings
from assay_broker.shell import QueueManager
from assay_broker.stores import schema
from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.tables import row_of
from assay_broker.stores.watched import WatchedDisk
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Refused
from assay_sdk.runners.real import RealRunner

FLUSH_S = 0.004
SENDERS = 64
A_COMMIT = 100
ROUNDS = 5
LEAST_SHARED = 15.0
LEAST_TOGETHER = 0.1

QUEUE = Address(AddressKind.QUEUE, "Q")
BODY = "x" * 256


def message(number: int) -> Message:
    """Return a persistent message with the fields that the SDK sets."""
    return Message(
        message_id=f"ID:{number}",
        to=QUEUE,
        durable=True,
        priority=4,
        creation_ms=number,
        properties={"n": 1},
        body=BODY,
    )


# many senders ----------------------------------------------------------------------------------------------------


class Sender:
    """A peer of the queue manager that sends its next message when the last one is answered.

    Args:
        queue_manager: The queue manager.
        runner: The runner of the queue manager and the sender.
        answered: Called without arguments for each answer except the first, which answers the connect.
    """

    def __init__(self, queue_manager: QueueManager, runner: RealRunner, answered: Callable[[], None]) -> None:
        self._queue_manager = queue_manager
        self._runner = runner
        self._answered = answered
        self._tokens = count(1)
        self._attached = False
        self._number = queue_manager.connect(self, next(self._tokens), None)

    def answer(self, answer: Answer, sent: Callable[[], None]) -> None:
        """Handle an answer, and attach or send the next message.

        Raises:
            RuntimeError: The queue manager refused the command.
        """
        if answer.refused is not None:
            raise RuntimeError(answer.refused.text)
        if self._attached:
            self._answered()
        sent()
        self._runner.call_soon(self._go_on)  # the first answer comes before the connection's number is known

    def _go_on(self) -> None:
        token = next(self._tokens)
        if not self._attached:
            self._attached = True
            self._queue_manager.handle(commands.AttachSender(self._number, token, 1, QUEUE))
        else:
            self._queue_manager.handle(commands.Put(self._number, token, 1, message(token)))

    def deliver(self, delivery: Deliver) -> None:
        """Do nothing: a sender gets no deliveries."""

    def close_link(self, closed: CloseLink) -> None:
        """Do nothing: the sender's link is not closed."""

    def lost(self, why: Refused) -> None:
        """Do nothing: the sender's connection is not lost."""


def sends_a_second(senders: int, seconds: float) -> float:
    """Return how many persistent sends are answered in a second, if each flush takes `FLUSH_S` seconds.

    Args:
        senders: The number of senders.
        seconds: How long they send.
    """
    answers = count()
    with tempfile.TemporaryDirectory() as folder:
        disk = WatchedDisk(through=False)
        store = SqliteStore(Path(folder) / "QM", "ASSAY", disk)
        disk.before_sync.append(lambda _: time.sleep(FLUSH_S))
        runner = RealRunner()
        try:
            queue_manager = QueueManager(runner, store, roomy())
            for _ in range(senders):
                runner.call_soon(partial(Sender, queue_manager, runner, partial(next, answers)))
            start = time.perf_counter()
            runner.run_until(lambda: False, runner.clock.monotonic_ns() + int(seconds * 1e9))
            return next(answers) / (time.perf_counter() - start)
        finally:
            runner.close()
            store.abandon()


# compared with plain SQLite --------------------------------------------------------------------------------------


class Desk:
    """A core and its store, for puts, gets and settlements, without a queue manager and a network.

    Args:
        store: The store.
    """

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._core, _ = Core.recover((), roomy(), 1)
        self._tokens = count(1)
        self._batch: int | None = None
        self._asked = 0
        self.delivered: list[Deliver] = []
        for command in (
            commands.Connect(1, next(self._tokens)),
            commands.AttachSender(1, next(self._tokens), 1, QUEUE),
            commands.Attach(connection=1, token=next(self._tokens), link=2, address=QUEUE),
        ):
            self.ask(command)

    def ask(self, command: commands.Command) -> None:
        """Give a command to the core, and store the resulting records."""
        for effect in self._core.handle(command, 1):
            if isinstance(effect, Persist):
                self._store.write(effect.records)
                self._batch = effect.batch
                self._asked += 1
            elif isinstance(effect, Deliver):
                self.delivered.append(effect)
            elif isinstance(effect, CloseLink) or (isinstance(effect, Answer) and effect.refused is not None):
                raise RuntimeError(effect)
        if self._asked == A_COMMIT:
            self.flush()

    def flush(self) -> None:
        """Flush the records, and tell the core that they are stored."""
        self._asked = 0
        if self._batch is not None:
            batch, self._batch = self._batch, None
            self._store.flush()
            self._core.handle(commands.Stored(batch), 1)

    def put(self, messages: list[Message]) -> None:
        """Send messages, and flush their records."""
        for one in messages:
            self.ask(commands.Put(1, next(self._tokens), 1, one))
        self.flush()

    def take(self, number: int) -> None:
        """Get and settle a number of messages, and flush the records."""
        self.ask(commands.Flow(1, None, 2, number))
        for delivery in self.delivered:
            self.ask(commands.Settle(1, next(self._tokens), 2, (delivery.delivery,), Outcome.ACCEPTED))
        self.flush()


def together(folder: Path, messages: list[Message]) -> tuple[float, float]:
    """Send messages through the core to the store, then receive them; return both rates, in messages a second."""
    store = SqliteStore(folder / "QM", "ASSAY")
    desk = Desk(store)
    start = time.perf_counter()
    desk.put(messages)
    sent = time.perf_counter()
    desk.take(len(messages))
    taken = time.perf_counter()
    if len(desk.delivered) != len(messages) or any(isinstance(one, MessageStored) for one in store.load()):
        raise RuntimeError("not all sent messages were received")
    store.close()
    return len(messages) / (sent - start), len(messages) / (taken - sent)


def bare(folder: Path, messages: list[Message]) -> float:
    """Return the number of rows that plain SQLite writes into the same table in a second."""
    path = folder / "bare.db"
    path.write_bytes(schema.blank("ASSAY", 0))
    connection = apsw.Connection(str(path))
    connection.pragma("locking_mode", "EXCLUSIVE")
    connection.pragma("synchronous", "FULL")
    kept = [row_of(stored(number, one)) for number, one in enumerate(messages)]
    rows = [(number, row.octets, None, number) for number, row in enumerate(kept) if row is not None]
    start = time.perf_counter()
    for first in range(0, len(rows), A_COMMIT):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO message VALUES (?, ?, ?, ?)", rows[first : first + A_COMMIT])
        connection.execute("COMMIT")
    rate = len(rows) / (time.perf_counter() - start)
    connection.close()
    return rate


def stored(number: int, one: Message) -> MessageStored:
    """Return the core's record of a message."""
    return MessageStored(key=number, home=str(QUEUE), message=one, arrived_ms=1, expires_ms=None, due_ms=None)


def roomy() -> Settings:
    """Return the settings of a queue manager with a queue for 999,999,999 messages."""
    given = default_settings("ASSAY")
    queue = Definition(Kind.QLOCAL, QUEUE.name, defaults(Kind.QLOCAL) | {"MAXDEPTH": 999_999_999})
    return replace(given, objects=(*given.fresh_objects(), queue))


def main(messages: int) -> int:
    """Measure the store and print the figures.

    Returns:
        The exit code: 1 if a ratio misses its limit, otherwise 0.
    """
    alone = sends_a_second(1, 1.0)
    shared = sends_a_second(SENDERS, 1.0)
    sample = [message(number) for number in range(messages)]
    rounds: list[tuple[float, float, float]] = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append((*together(Path(folder), sample), bare(Path(folder), sample)))
    put, take, rows = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"one sender, flush of {FLUSH_S * 1e3:.0f} ms  {alone:>9,.0f} sends/s")
    many = shared / alone
    print(f"{SENDERS} senders at a time      {shared:>9,.0f} sends/s  {many:6.1f} x (at least {LEAST_SHARED:g})")
    print(f"bare SQLite, {A_COMMIT} a commit {rows:>9,.0f} rows/s")
    print(f"core and store, put      {put:>9,.0f} /s       {put / rows:6.3f} x (at least {LEAST_TOGETHER:g})")
    print(f"core and store, get      {take:>9,.0f} /s       {take / rows:6.3f} x")
    return 0 if many >= LEAST_SHARED and put / rows >= LEAST_TOGETHER else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
