"""The process of one client of the campaign, which takes part in each round and writes its own journal."""

from __future__ import annotations

import logging
import random
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from assay.campaign.acts import Acts
from assay.campaign.connection import ClientConnection, LostError
from assay.campaign.families import Family, scenario_id
from assay_adapters.clients.sdk import SdkClient
from assay_adapters.ports.client import AckMode, Endpoint
from assay_evidence import events
from assay_evidence.writer import JournalWriter
from assay_sdk.drivers.local import LocalDriver
from assay_sdk.model.message import Address
from assay_sdk.runners.real import RealRunner
from assay_steps.cast.journal import ScenarioJournal, instant
from assay_steps.cast.recording import Recorder

T = TypeVar("T")

DONE, LAST, LEAVE, END = "done", "last", "leave", "end"
RETRY_S = 0.01
"""The seconds between two attempts to reach the broker."""
INSIST_NS = 60_000_000_000
"""The nanoseconds after which a client stops its attempts to reach the broker."""
DRAIN_MS = 100
"""The milliseconds for which a drain waits for each message."""


class Role(StrEnum):
    """The role of a client in the load: the kinds of acts that the client does."""

    MIXED = "mixed"
    """Sends and receives messages of every kind."""
    WATCHER = "watcher"
    """Waits for delayed messages."""
    SUBSCRIBER = "subscriber"
    """Creates both durable subscriptions, and receives the messages of `active`."""


class ClientOrder(Struct, frozen=True, kw_only=True):
    """The configuration of a client.

    Args:
        name: The name of the client and of its journal.
        role: The client's role.
        run: The run's id.
        journals: The folder of journals.
        url: The broker's URL.
        begin: The fields of the journal's first event.
        seed: The run's seed.
        gap_ms: The longest pause between two acts, in milliseconds.
    """

    name: str
    role: Role
    run: str
    journals: Path
    url: str
    begin: dict[str, Any]
    seed: int
    gap_ms: int


class Play(Struct, frozen=True):
    """The command to take part in a round until the campaign sends the next command.

    Args:
        number: The round's number.
    """

    number: int


class Resolve(Struct, frozen=True):
    """The command to commit or roll back every branch that is in doubt."""


class Drain(Struct, frozen=True):
    """The command to receive the messages that are left.

    Args:
        queues: The queues to drain, each with its family.
        subscriptions: The subscriptions to drain.
        calm_ns: The monotonic time, in nanoseconds, after which no more message becomes due.
    """

    queues: tuple[tuple[Family, Address], ...]
    subscriptions: tuple[str, ...]
    calm_ns: int


def play(order: ClientOrder, control: Connection) -> None:
    """Run a client until the campaign ends it; the main function of the client's process.

    Args:
        order: The client's configuration.
        control: The connection to the campaign. The campaign sends commands. The client answers each command but `END`
            with `DONE`: it answers `Play` when the load begins, and any other command after its execution.
    """
    logging.getLogger("assay_sdk").addHandler(logging.NullHandler())  # lost connections are normal here
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the campaign handles Ctrl-C and ends its clients
    with suppress(EOFError), _real_runner() as runner:  # if the campaign dies, the journal gets no end event
        path = order.journals / f"{order.name}.jsonl"
        with JournalWriter(path, run=order.run, writer=order.name) as journal:
            journal.write(events.Begin, instant(runner.clock), **order.begin)
            part = Part(order, 0, journal, runner)
            while (word := control.recv()) != END:
                if isinstance(word, Play):
                    part = Part(order, word.number, journal, runner)
                    part.play(control)
                    continue
                if isinstance(word, Drain):
                    part.drain(word)
                elif isinstance(word, Resolve):
                    part.resolve()
                elif word == LAST:
                    part.last()
                part.leave()
                control.send(DONE)
            journal.close(instant(runner.clock))


@contextmanager
def _real_runner() -> Generator[RealRunner, None, None]:
    """Provide a runner in real time, and close it after the `with` block."""
    runner = RealRunner()
    try:
        yield runner
    finally:
        runner.close()


class Part:
    """A client's part of one round.

    Args:
        order: The client's configuration.
        number: The round's number.
        journal: The client's journal.
        runner: The client's runner.
    """

    def __init__(self, order: ClientOrder, number: int, journal: JournalWriter, runner: RealRunner) -> None:
        self._order = order
        self._number = number
        self._runner = runner
        self._rng = random.Random(f"{order.seed}/{order.name}/{number}")  # noqa: S311 - the load must be repeatable
        self._recorders = {
            family: Recorder(ScenarioJournal(journal, scenario_id(family, number), runner.clock)) for family in Family
        }
        self._connections: dict[str, ClientConnection] = {}
        self._acts = Acts(order.name, number, self._rng, self._connection)

    def play(self, control: Connection) -> None:
        """Perform acts until the next command comes."""
        acts = self._acts
        act: Callable[[], None] = acts.perform
        if self._order.role is Role.SUBSCRIBER:
            self._insist(acts.subscribe)
            act = acts.attend
        elif self._order.role is Role.WATCHER:
            act = acts.watch
        control.send(DONE)
        pause = self._pause()
        while not control.poll(pause):
            pause = self._pause()
            try:
                act()
            except LostError:
                pause = RETRY_S

    def last(self) -> None:
        """Send one message of each kind after the last kill, so that no kill disturbs it; only mixed clients send."""
        acts = self._acts
        if self._order.role is Role.MIXED:
            for act in (acts.send_delayed, acts.send, acts.send_passing, acts.work, acts.branch):
                self._insist(act)
            self._insist(partial(acts.publish, delay_ms=0))

    def leave(self) -> None:
        """Close every connection."""
        for connection in self._connections.values():
            connection.leave()

    def resolve(self) -> None:
        """Commit or roll back every branch that is in doubt."""
        self._insist(self._acts.resolve)

    def drain(self, word: Drain) -> None:
        """Receive messages until the queues and subscriptions are empty and no more message becomes due."""
        for family, address in word.queues:
            self._until_silent(partial(self._acts.drain, family, address, DRAIN_MS), word)
        for name in word.subscriptions:
            self._until_silent(partial(self._acts.drain_subscription, name, DRAIN_MS), word)

    def _until_silent(self, take: Callable[[], bool], word: Drain) -> None:
        while True:
            begun_ns = self._runner.clock.monotonic_ns()
            if not self._insist(take) and begun_ns > word.calm_ns:
                return

    def _insist(self, act: Callable[[], T]) -> T:
        """Repeat an act until it ends without a loss of the connection, and return its result.

        Raises:
            LostError: The act has not succeeded within `INSIST_NS`.
        """
        clock = self._runner.clock
        limit_ns = clock.monotonic_ns() + INSIST_NS
        while True:
            try:
                return act()
            except LostError:
                now_ns = clock.monotonic_ns()
                if now_ns > limit_ns:
                    raise
                self._runner.run_until(lambda: False, now_ns + int(RETRY_S * 1e9))

    def _pause(self) -> float:
        return self._rng.random() * self._order.gap_ms / 1_000

    def _connection(self, family: Family, name: str, ack: AckMode, client_id: str | None) -> ClientConnection:
        if name not in self._connections:
            client = SdkClient("simplified", LocalDriver(), self._runner)
            to = Endpoint(self._order.url)
            self._connections[name] = ClientConnection(
                name,
                client,
                to,
                ack=ack,
                recorder=self._recorders[family],
                runner=self._runner,
                client_id=client_id,
            )
        return self._connections[name]
