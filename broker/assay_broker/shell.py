"""The shell of a queue manager: gives the core the time, stores its records and carries out its effects.

The shell handles each command in a job of the runner.  `assay_broker.effect_executor` carries out its effects.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import count

from msgspec.structs import replace

from assay_broker.core.commands import Command, Connect, Disconnect, Put, Tick, WorkerDied
from assay_broker.core.core import Core
from assay_broker.core.effects import ToMember
from assay_broker.core.networks.parcels import Gone
from assay_broker.core.queues.homes import homes_named
from assay_broker.core.settings import Opmode, Settings
from assay_broker.core.states.tables import TABLES
from assay_broker.effect_executor import EffectExecutor, Post
from assay_broker.life import Life
from assay_broker.log import FLUSH_NS, Flushes
from assay_broker.mqsc.defaults import default_settings
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.shared_resources import Peer, SharedResources
from assay_broker.stores import FileStore, Store
from assay_sdk.driver import LEVEL_PROPERTY, PLATFORM_PROPERTY, PeerProperties
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.time import NS_PER_MS, Runner

_LOG = logging.getLogger(__name__)


class QueueManager:
    """A queue manager: its core, and the shell that runs the core.

    Args:
        runner: Runs all jobs, and has the clock.
        store: The store of records, from which the new queue manager recovers at once.
        settings: The queue manager's settings; None for `default_settings`.
        seams: The filters of a defect or of a tolerated variant; the default changes nothing.
        shared: The log, peers and state that the queue manager shares with its sharing group; None outside a group.
        post: Called with parcels for the other queue managers of the network; None outside a network.
        flush_ns: Nanoseconds from the first write to the flush; see `assay_broker.log.Log`.
        aside: The executor whose thread waits for the disk when many records are to be flushed; None to wait on the
            runner's thread.

    Raises:
        StoreError: The store cannot be read.
        RefusalError: The settings define an alias or model queue, and a local queue of the same name has messages.
    """

    def __init__(
        self,
        runner: Runner,
        store: Store,
        settings: Settings | None = None,
        seams: Seams = NO_SEAMS,
        *,
        shared: SharedResources | None = None,
        post: Post | None = None,
        flush_ns: int = FLUSH_NS,
        aside: Executor | None = None,
    ) -> None:
        self.puts = 0
        """The number of puts since this object was created, for `/metrics`."""
        self._runner = runner
        self._store = seams.store(store)
        self._seams = seams
        self._given = settings or default_settings()
        self._settings = seams.settings(self._given)
        self._shared = shared
        self._flush_ns = flush_ns
        self._aside = aside
        self._resources = shared or SharedResources(runner, count(1), flush_ns=flush_ns, aside=aside)
        self._post = post
        self._mine: set[int] = set()
        self._up = False
        self._isolated = False
        self._executor = EffectExecutor(runner, self._resources, self._seams, self._settings.name, post)
        self.before_answer = self._executor.before_answer
        self.after_answer = self._executor.after_answer
        self.traces = self._executor.traces
        self.after_put = self._executor.after_put
        self.after_turn = self._executor.after_turn
        if shared is not None:
            shared.wakers.append(partial(self.handle, Tick()))
        self._begin()

    @property
    def name(self) -> str:
        """The queue manager's name."""
        return self._settings.name

    @property
    def settings(self) -> Settings:
        """The settings of the queue manager's last start, with the level of that start."""
        return self._settings

    @property
    def properties(self) -> PeerProperties:
        """The connection properties that the queue manager sends to clients: its level and its platform."""
        return {LEVEL_PROPERTY: self._settings.level, PLATFORM_PROPERTY: self._settings.platform}

    @property
    def deliveries(self) -> int:
        """The number of deliveries to clients since this object was created."""
        return self._executor.deliveries

    def connect(
        self, peer: Peer, token: int, client_id: str | None, user: str | None = None, *, alone: bool = True
    ) -> int:
        """Connect a client; the answer with this token accepts or refuses the connection.

        A queue manager that is stopped or isolated calls `peer.lost` instead of answering.

        Args:
            peer: The listener's or wire's end of the connection, which takes answers and messages.
            token: The token of the answer.
            client_id: The client's JMS client id; None if it has none.
            user: The user whose authority the connection has; None for an anonymous client.
            alone: Whether no other connection may have the same client id.

        Returns:
            The connection's number, which all its later commands carry.
        """
        number = next(self._resources.numbers)
        if not self._up or self._isolated:
            self._runner.call_soon(partial(peer.lost, self._unavailable()))
            return number
        self._resources.peers[number] = peer
        self._mine.add(number)
        self.handle(Connect(number, token, client_id, user, alone))
        return number

    def forget(self, number: int) -> None:
        """Forget the peer of a connection that has ended."""
        self._resources.peers.pop(number, None)
        self._mine.discard(number)

    def handle(self, command: Command) -> None:
        """Carry out a command from a peer, a timer or an administrator.  Call this in a job of the runner.

        A peer may call this while the queue manager is calling a peer.  The command then becomes a job of its own,
        because the remaining effects of the current turn come first.

        Args:
            command: The command; ignored while the queue manager is stopped.
        """
        if not self._up:
            return
        if self._executor.is_calling_peer:
            self._runner.call_soon(partial(self.handle, command))
            return
        self._executor.note(self._life, command)
        self.puts += isinstance(command, Put)
        life, now_ms = self._life, self._now_ms()
        for passed in self._seams.command(command, now_ms):
            if life is self._life:
                self._executor.end(life, life.core.handle(passed, now_ms), now_ms)
        life.schedule_tick()
        if self.after_put and isinstance(command, Put):
            self._executor.put(command.message)

    def contain(self, doing: str, job: Callable[[], None]) -> bool:
        """Run a job and log its exception, so that a bug of the broker harms only one connection.

        A queue manager with a defect or a variant lets the exception pass, so that the author of either sees it.

        Args:
            doing: A noun phrase for the job, for the log.
            job: The job.

        Returns:
            True if the job ended without an exception.
        """
        try:
            job()
        except Exception:  # any error of the job is a bug, which must harm one connection only
            if self._seams is not NO_SEAMS:
                raise
            _LOG.exception("%s: %s has failed; the queue manager goes on", self.name, doing)
            return False
        return True

    def put_together(self, puts: Sequence[Put]) -> None:
        """Carry out several puts of one peer in one turn, so that their records form one batch.

        If a defect or a variant filters commands, each put has its own turn.

        Args:
            puts: The commands, in the order of arrival.
        """
        if not self._up:
            return
        if self._executor.is_calling_peer:
            self._runner.call_soon(partial(self.put_together, puts))
        elif self._seams.command is NO_SEAMS.command:
            for put in puts:
                self._executor.note(self._life, put)
            self.puts += len(puts)
            life, now_ms = self._life, self._now_ms()
            self._executor.end(life, life.core.put_together(puts, now_ms), now_ms)
            life.schedule_tick()
            if self.after_put:
                for put in puts:
                    self._executor.put(put.message)
        else:  # a filter of a defect or variant takes one command at a time
            for put in puts:
                self.handle(put)

    @property
    def flushes(self) -> Flushes:
        """The statistics of flushes since the last start; in a sharing group, of all members since the group began."""
        return self._resources.log.flushes

    @property
    def octets(self) -> int:
        """The approximate memory that all messages take, in octets."""
        return self._life.core.octets

    def kind_of(self, name: str) -> AddressKind:
        """Return the kind of destination, such as queue or topic, for a name that a client gave without a kind."""
        return self._life.core.kind_of(name)

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue; empty without one."""
        return self._life.core.dead_letter_queue

    def cut(self) -> None:
        """Cut all connections; the queue manager keeps running."""
        for number in sorted(self._mine):
            self._lose(number)

    def isolate(self) -> Callable[[], None]:
        """Cut all connections and refuse new ones, while the queue manager keeps running.

        Returns:
            A function that lets the queue manager accept connections again.
        """
        self._isolated = True
        self.cut()
        return self._rejoin

    def _rejoin(self) -> None:
        self._isolated = False

    def kill(self) -> None:
        """End the queue manager as a kill does, and start it again: unflushed records and connections are lost."""
        self._resources.log.land()
        life, mine = self._life, tuple(sorted(self._mine))
        self._stop()
        self._store.drop()
        lost = self._resources.log.lose(life)
        if self._shared is not None:
            self._executor.clear_up(life, (*lost, *(Disconnect(number, None, clean=False) for number in mine)))
        self._begin()

    def restart(self, *, level: str | None = None, opmode: Opmode | None = None) -> None:
        """Shut down normally and start: close the connections, flush the store, recover from it.

        Args:
            level: The level of the queue manager from now on, for a migration forward or backward (DD-43); None to
                keep its level.
            opmode: The OPMODE from now on (DD-44); None to keep it.

        Raises:
            StoreError: The store could not flush.  The queue manager has started all the same, from the records that
                the store holds.
        """
        given = self._given
        self._given = replace(given, level=level or given.level, opmode=opmode or given.opmode)
        self._settings = self._seams.settings(self._given)
        try:
            self.stop()
        finally:
            self.start()

    def stop(self) -> None:
        """Shut down normally: close the connections, flush the store, and refuse connections until `start`.

        Raises:
            StoreError: The store could not flush.
        """
        self._resources.log.land()
        for number in sorted(self._mine):
            self.handle(Disconnect(number, None, clean=False))
        life = self._life
        self._stop()
        if self._post is not None:
            self._post(self.name, ToMember(None, Gone()))
        if self._shared is not None:
            self._resources.log.flush()
            return
        self._resources.log.lose(life)
        self._store.flush()

    def start(self) -> None:
        """Start after `stop` and recover from the store; do nothing if the queue manager is running.

        Raises:
            StoreError: The store cannot be read.
        """
        if not self._up:
            self._begin()

    @property
    def up(self) -> bool:
        """Whether the queue manager is running."""
        return self._up

    def has_store(self) -> bool:
        """Return whether the store's files are still those that it opened; always True for a store without files."""
        return not isinstance(self._store, FileStore) or self._store.is_there()

    def worker_dies(self) -> None:
        """Kill the delivery delay processor's worker (DD-65)."""
        self.handle(WorkerDied())

    def block_writes(self, queue: str) -> Callable[[], None]:
        """Hold back the next write with a message for a queue, and all later writes.

        Outside a sharing group, a kill or a restart also ends the block.

        Args:
            queue: The queue's name as DISPLAY shows it, also for the queue of a subscription.

        Returns:
            A function that ends the block.
        """
        log, homes = self._resources.log, homes_named(queue)
        log.block(homes)
        return partial(log.unblock, homes)

    def slow_disk(self, flush_ns: int) -> None:
        """Set the time from the first write to the flush, for this life and for later starts.

        Args:
            flush_ns: Nanoseconds from the first write to the flush.
        """
        self._flush_ns = flush_ns
        self._resources.log.flush_ns = flush_ns

    # one command -------------------------------------------------------------------------------------------------

    def _now_ms(self) -> int:
        return self._runner.clock.wall_ns() // NS_PER_MS

    def _tick(self) -> None:
        self.contain("a timed job", partial(self.handle, Tick()))

    def _run_contained(self, life: Life, command: Command) -> None:
        self.contain("the result of a flush", partial(self._executor.run_from_log, life, command))

    # lives -------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._up = True
        if self._shared is None:
            self._resources = SharedResources(
                self._runner, self._resources.numbers, flush_ns=self._flush_ns, aside=self._aside
            )
            self._executor.resources = self._resources
        records = self._seams.read(self._store.load())
        core, effects = Core.recover(
            records, self._settings, self._now_ms(), self._seams.tables(TABLES), self._resources.group
        )
        self._life = Life(
            core,
            self._store,
            self._runner,
            run=self._run_contained,
            let_out=self._executor.let_out,
            due=self._tick,
            contain=partial(self.contain, "a flush"),
        )
        self._executor.carry_out(self._life, effects)
        self._life.schedule_tick()

    def _stop(self) -> None:
        self._up = False
        self._life.end()
        for number in sorted(self._mine):
            self._resources.peers.pop(number).lost(self._broken())
        self._mine.clear()
        for wake in self._resources.wakers:
            wake()

    def _lose(self, number: int) -> None:
        peer = self._resources.peers.pop(number)
        self._mine.discard(number)
        self.handle(Disconnect(number, None, clean=False))
        peer.lost(self._broken())

    def _unavailable(self) -> Refused:
        return refused(Mqrc.Q_MGR_NOT_AVAILABLE, f"{self.name} is stopped; start it, then connect.", self.name)

    def _broken(self) -> Refused:
        return refused(Mqrc.CONNECTION_BROKEN, f"The connection to {self.name} is lost; connect again.", self.name)
