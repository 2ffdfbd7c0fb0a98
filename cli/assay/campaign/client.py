"""A client's process: its part of each round, with a journal of its own."""

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

from assay.campaign.acts import Player
from assay.campaign.families import Family, scenario_id
from assay.campaign.seat import LostError, Seat
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
"""How long a client waits before it looks again for a broker that is gone."""
INSIST_NS = 60_000_000_000
"""How long a client believes that a broker which is gone will be back."""
DRAIN_MS = 100
"""How long silence is listened to."""


class Role(StrEnum):
    """Which part of the load a client plays."""

    MIXED = "mixed"
    """Sends and takes of every kind."""
    WATCHER = "watcher"
    """Waits for delayed messages."""
    SUBSCRIBER = "subscriber"
    """Has the durable subscriptions."""


class ClientOrder(Struct, frozen=True, kw_only=True):
    """Who a client is.

    Args:
        name: Its name, as a writer of the run.
        role: Its part.
        run: The run's id.
        journals: The folder of journals.
        url: Where the broker is.
        begin: What its journal says first.
        seed: The run's seed.
        gap_ms: Between two acts, at most, in milliseconds.
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
    """Play a round until the next word comes.

    Args:
        number: The round's.
    """

    number: int


class Resolve(Struct, frozen=True):
    """Decide on every branch that is in doubt."""


class Drain(Struct, frozen=True):
    """Take what is left.

    Args:
        queues: From these queues, by family.
        subscriptions: For these subscriptions.
        calm_ns: When nothing can become due any more: monotonic nanoseconds.
    """

    queues: tuple[tuple[Family, Address], ...]
    subscriptions: tuple[str, ...]
    calm_ns: int


def play(order: ClientOrder, control: Connection) -> None:
    """Be a client until told to end; to be run in a process of its own.

    Args:
        order: Who to be.
        control: The way to the campaign: words come in, `DONE` goes out when each was followed.
    """
    logging.getLogger("assay_sdk").addHandler(logging.NullHandler())  # connections are lost all the time here
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the campaign's, and so is what follows
    with suppress(EOFError), _cranked() as runner:  # the campaign is gone: the journal stays without its end
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
def _cranked() -> Generator[RealRunner, None, None]:
    """A real crank for the length of a block."""
    runner = RealRunner()
    try:
        yield runner
    finally:
        runner.close()


class Part:
    """A client's part of one round.

    Args:
        order: Who it is.
        number: The round's.
        journal: Where it writes.
        runner: Its crank.
    """

    def __init__(self, order: ClientOrder, number: int, journal: JournalWriter, runner: RealRunner) -> None:
        self._order = order
        self._number = number
        self._runner = runner
        self._rng = random.Random(f"{order.seed}/{order.name}/{number}")  # noqa: S311 - a load is to be repeatable
        self._recorders = {
            family: Recorder(ScenarioJournal(journal, scenario_id(family, number), runner.clock)) for family in Family
        }
        self._seats: dict[str, Seat] = {}
        self._player = Player(order.name, number, self._rng, self._seat)

    def play(self, control: Connection) -> None:
        """Act until the next word comes."""
        player = self._player
        act: Callable[[], None] = player.perform
        if self._order.role is Role.SUBSCRIBER:
            self._insist(player.subscribe)
            act = player.attend
        elif self._order.role is Role.WATCHER:
            act = player.watch
        control.send(DONE)
        pause = self._pause()
        while not control.poll(pause):
            pause = self._pause()
            try:
                act()
            except LostError:
                pause = RETRY_S

    def last(self) -> None:
        """One more message of each kind, which no kill keeps anybody from watching for, so that none is without any."""
        player = self._player
        if self._order.role is Role.MIXED:
            for act in (player.send_delayed, player.send, player.send_passing, player.work, player.branch):
                self._insist(act)
            self._insist(partial(player.publish, delay_ms=0))

    def leave(self) -> None:
        """Close every connection."""
        for seat in self._seats.values():
            seat.leave()

    def resolve(self) -> None:
        """Leave no branch in doubt."""
        self._insist(self._player.resolve)

    def drain(self, word: Drain) -> None:
        """Take what is left, until there is nothing and nothing can come."""
        for family, address in word.queues:
            self._until_silent(partial(self._player.drain, family, address, DRAIN_MS), word)
        for name in word.subscriptions:
            self._until_silent(partial(self._player.drain_subscription, name, DRAIN_MS), word)

    def _until_silent(self, take: Callable[[], bool], word: Drain) -> None:
        while True:
            begun_ns = self._runner.clock.monotonic_ns()
            if not self._insist(take) and begun_ns > word.calm_ns:
                return

    def _insist(self, act: Callable[[], T]) -> T:
        """Do something that needs a broker, however often it is killed meanwhile.

        Raises:
            LostError: There is none for a long time.
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

    def _seat(self, family: Family, name: str, ack: AckMode, client_id: str | None) -> Seat:
        if name not in self._seats:
            client = SdkClient("simplified", LocalDriver(), self._runner)
            to = Endpoint(self._order.url)
            self._seats[name] = Seat(
                name,
                client,
                to,
                ack=ack,
                recorder=self._recorders[family],
                runner=self._runner,
                client_id=client_id,
            )
        return self._seats[name]
