"""Runs the core: gives it the time, stores its records and carries out its effects.

Each command is one job on the runner. Its records go to the log, and effects that depend on them leave only after
they are durable.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import count

from msgspec.structs import replace

from assay_broker.core.commands import Command, Connect, Disconnect, Put, StoreFailed, Tick, WorkerDied
from assay_broker.core.core import Core
from assay_broker.core.effects import Answer, CloseLink, Deliver, Effect, Persist, ToMember, Trace
from assay_broker.core.networks.parcels import Gone
from assay_broker.core.queues.homes import homes_named
from assay_broker.core.settings import Opmode, Settings
from assay_broker.core.states.tables import TABLES
from assay_broker.facility import Facility, Peer
from assay_broker.life import Life
from assay_broker.log import FLUSH_NS, Flushes, Held
from assay_broker.mqsc.defaults import default_settings
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.stores import FileStore, Store
from assay_sdk.driver import LEVEL_PROPERTY, PLATFORM_PROPERTY, PeerProperties
from assay_sdk.model.message import AddressKind, Message
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.time import Runner

_NS_PER_MS = 1_000_000
_LOG = logging.getLogger(__name__)

_TOLD = Deliver, Answer
"""Effects for peers. A union type is created once, since an isinstance check runs for each message."""

Post = Callable[[str, ToMember], None]
"""Takes the name of a queue manager and a message for its core."""

AnswerHook = Callable[[Message], None]


class QueueManager:
    """One running queue manager.

    Args:
        runner: Runs all jobs, and has the clock.
        store: The store of its records, which are recovered at once.
        settings: Its settings; None for `default_settings`.
        seams: The places for defects.
        facility: What it shares with the members of its sharing group; None outside a group.
        post: Takes parcels for others in its network; None outside a network.
        flush_ns: How long after the first write the store is flushed, in nanoseconds; see `assay_broker.log.Log`.
        aside: Waits for the disk when there is much to flush; None to wait on the runner.
    """

    def __init__(
        self,
        runner: Runner,
        store: Store,
        settings: Settings | None = None,
        seams: Seams = NO_SEAMS,
        *,
        facility: Facility | None = None,
        post: Post | None = None,
        flush_ns: int = FLUSH_NS,
        aside: Executor | None = None,
    ) -> None:
        self.before_answer: list[AnswerHook] = []
        """Called with each message whose send is about to be answered."""
        self.after_answer: list[AnswerHook] = []
        """Called with each message whose send has just been answered."""
        self.puts = 0
        """The number of messages put since it was created, for `/metrics`."""
        self.deliveries = 0
        """The number of deliveries made."""
        self.traces: list[Callable[[Trace], None]] = []
        """Called with events for an administrator that no client learns of, such as a report that was discarded."""
        self.after_turn: list[Callable[[], None]] = []
        """Called after each command that was carried out."""
        self._runner = runner
        self._store = seams.store(store)
        self._seams = seams
        self._given = settings or default_settings()
        self._settings = seams.settings(self._given)
        self._shared = facility
        self._flush_ns = flush_ns
        self._aside = aside
        self._facility = facility or Facility(runner, count(1), flush_ns=flush_ns, aside=aside)
        self._post = post
        self._mine: set[int] = set()
        self._telling = False
        self._up = False
        self._isolated = False
        if facility is not None:
            facility.wakers.append(partial(self.handle, Tick()))
        self._begin()

    @property
    def name(self) -> str:
        """The queue manager's name."""
        return self._settings.name

    @property
    def settings(self) -> Settings:
        """Its settings, at the level of its last start."""
        return self._settings

    @property
    def properties(self) -> PeerProperties:
        """The properties that it tells clients (I-6)."""
        return {LEVEL_PROPERTY: self._settings.level, PLATFORM_PROPERTY: self._settings.platform}

    def connect(
        self, peer: Peer, token: int, client_id: str | None, user: str | None = None, *, alone: bool = True
    ) -> int:
        """Connect a peer; the answer to this token says whether it is accepted.

        Args:
            peer: The other end of the connection.
            token: The token of the answer.
            client_id: JMS client id; None for none.
            user: The user whose authority it has; None for anonymous.
            alone: Whether no other connection may have the client id.

        Returns:
            The connection's number, for the commands that follow.
        """
        number = next(self._facility.numbers)
        if not self._up or self._isolated:
            self._runner.call_soon(partial(peer.lost, self._unavailable()))
            return number
        self._facility.peers[number] = peer
        self._mine.add(number)
        self.handle(Connect(number, token, client_id, user, alone))
        return number

    def forget(self, number: int) -> None:
        """Forget a peer that has gone."""
        self._facility.peers.pop(number, None)
        self._mine.discard(number)

    def handle(self, command: Command) -> None:
        """Carry out a command of a peer or of time. Call it on the runner.

        A command that a peer sends while the queue manager calls a peer becomes a job of its own, because the rest of
        the turn's effects come first, and a later message must not overtake an earlier one.

        Args:
            command: The command; without effect while the queue manager is stopped.
        """
        if not self._up:
            return
        if self._telling:
            self._runner.call_soon(partial(self.handle, command))
            return
        self._note_asked(command)
        self.puts += isinstance(command, Put)
        life, now_ms = self._life, self._now_ms()
        for passed in self._seams.command(command, now_ms):
            if life is self._life:
                self._end_turn(life, life.core.handle(passed, now_ms), now_ms)
        life.schedule_tick()

    def contain(self, doing: str, job: Callable[[], None]) -> bool:
        """Run a job, and log an exception of it, so that a mistake of the broker harms no more than one connection.

        The exception of a queue manager with a defect is raised, because it may be a mistake of the defect's author.

        Args:
            doing: What the job does, for the log.
            job: The job.

        Returns:
            Whether it ended without an exception.
        """
        try:
            job()
        except Exception:
            if self._seams is not NO_SEAMS:
                raise
            _LOG.exception("%s: %s has failed; the queue manager goes on", self.name, doing)
            return False
        return True

    def put_together(self, puts: Sequence[Put]) -> None:
        """Put messages that arrived together: like `handle` for each, but written and delivered in one batch.

        Args:
            puts: The commands of one peer.
        """
        if not self._up:
            return
        if self._telling:
            self._runner.call_soon(partial(self.put_together, puts))
        elif self._seams.command is NO_SEAMS.command:
            for put in puts:
                self._note_asked(put)
            self.puts += len(puts)
            life, now_ms = self._life, self._now_ms()
            self._end_turn(life, life.core.put_together(puts, now_ms), now_ms)
            life.schedule_tick()
        else:  # a defect filters each command
            for put in puts:
                self.handle(put)

    def _note_asked(self, command: Command) -> None:
        if (self.before_answer or self.after_answer) and isinstance(command, Put) and command.token is not None:
            self._life.asked[command.connection, command.token] = command.message

    @property
    def flushes(self) -> Flushes:
        """Statistics of the store's flushes since the last start."""
        return self._facility.log.flushes

    @property
    def octets(self) -> int:
        """The memory that messages take, in octets, approximately."""
        return self._life.core.octets

    def kind_of(self, name: str) -> AddressKind:
        """Return the kind of destination that a name means if the client does not say it."""
        return self._life.core.kind_of(name)

    def cut(self) -> None:
        """Cut all connections; the queue manager goes on."""
        for number in sorted(self._mine):
            self._lose(number)

    def isolate(self) -> Callable[[], None]:
        """Cut all connections and accept none until the returned function is called; the queue manager goes on."""
        self._isolated = True
        self.cut()
        return self._rejoin

    def _rejoin(self) -> None:
        self._isolated = False

    def kill(self) -> None:
        """End and start the process: unflushed records and all connections are lost."""
        self._facility.log.land()
        life, mine = self._life, tuple(sorted(self._mine))
        self._stop()
        self._store.drop()
        lost = self._facility.log.lose(life)
        if self._shared is not None:
            self._clear_up(life, (*lost, *(Disconnect(number, None, clean=False) for number in mine)))
        self._begin()

    def restart(self, *, level: str | None = None, opmode: Opmode | None = None) -> None:
        """Shut down in order and start: connections are closed, and everything written is flushed.

        Args:
            level: Start as a queue manager of this level: a migration, back or forth (DD-43); None as before.
            opmode: Start with this OPMODE (DD-44); None as before.

        Raises:
            StoreError: The store cannot flush; the start is from what it holds.
        """
        given = self._given
        self._given = replace(given, level=level or given.level, opmode=opmode or given.opmode)
        self._settings = self._seams.settings(self._given)
        try:
            self.stop()
        finally:
            self.start()

    def stop(self) -> None:
        """Shut down in order; connections are refused until `start`.

        Raises:
            StoreError: The store cannot flush.
        """
        self._facility.log.land()
        for number in sorted(self._mine):
            self.handle(Disconnect(number, None, clean=False))
        life = self._life
        self._stop()
        if self._post is not None:
            self._post(self.name, ToMember(None, Gone()))
        if self._shared is not None:
            self._facility.log.flush()
            return
        self._facility.log.lose(life)
        self._store.flush()

    def start(self) -> None:
        """Start from the store after `stop`; without effect if it runs."""
        if not self._up:
            self._begin()

    @property
    def up(self) -> bool:
        """Whether it runs."""
        return self._up

    def has_store(self) -> bool:
        """Whether its store's files are still there; always true of a store without files."""
        return not isinstance(self._store, FileStore) or self._store.is_there()

    def worker_dies(self) -> None:
        """Kill the delivery delay processor's worker (DD-65)."""
        self.handle(WorkerDied())

    def block_writes(self, queue: str) -> Callable[[], None]:
        """Block the store's writes for a queue, and all later ones, until the returned function is called.

        A restart ends the block.

        Args:
            queue: Its name, as DISPLAY shows it; a subscription's own queue has one, too.
        """
        log, homes = self._facility.log, homes_named(queue)
        log.block(homes)
        return partial(log.unblock, homes)

    def slow_disk(self, flush_ns: int) -> None:
        """Set how long after the first write a flush comes, from now on and after restarts.

        Args:
            flush_ns: How long after the first write the flush comes, in nanoseconds.
        """
        self._flush_ns = flush_ns
        self._facility.log.flush_ns = flush_ns

    # one command -------------------------------------------------------------------------------------------------

    def _now_ms(self) -> int:
        return self._runner.clock.wall_ns() // _NS_PER_MS

    def _run(self, life: Life, command: Command) -> None:
        now_ms = self._now_ms()
        self._end_turn(life, life.core.handle(command, now_ms), now_ms)

    def _end_turn(self, life: Life, effects: tuple[Effect, ...], now_ms: int) -> None:
        self._carry_out(life, self._seams.effects(effects, now_ms))
        if self.after_turn:
            for hook in tuple(self.after_turn):
                hook()

    def _tick(self) -> None:
        self.contain("what is due", partial(self.handle, Tick()))

    def _run_contained(self, life: Life, command: Command) -> None:
        self.contain("what follows a flush", partial(self._run_from_log, life, command))

    def _run_from_log(self, life: Life, command: Command) -> None:
        """Handle the log's report also after the end of a life, because it concerns a sharing group's others."""
        if life.over:
            self._clear_up(life, (command,))
            return
        for passed in self._seams.command(command, self._now_ms()):
            if not life.over:
                self._run(life, passed)
        life.schedule_tick()

    def _clear_up(self, life: Life, commands: tuple[Command, ...]) -> None:
        """Have the others of a sharing group recover what a member leaves on shared queues."""
        for command in commands:
            for effect in life.core.handle(command, self._now_ms()):
                if isinstance(effect, Persist):
                    self._facility.group.ledger.pending.pop(effect.batch, None)
                else:
                    self._send(life, effect)

    def _carry_out(self, life: Life, effects: tuple[Effect, ...]) -> None:
        """Carry out effects in order, until a hook kills the queue manager."""
        failed: StoreFailed | None = None
        hold = self._facility.log.hold
        for effect in effects:
            if life.over:
                return
            if isinstance(effect, _TOLD):  # nearly all
                if effect.after is None:
                    self._tell_peer(life, effect)
                else:
                    hold(life, effect.after, effect)
            elif isinstance(effect, Persist):
                failed = self._facility.log.write(life, effect, self._seams.written(effect.records))
            else:
                self._send(life, effect)
        if failed is not None:
            self._facility.log.drop_held(
                failed.batch
            )  # the core answers the failure with other effects instead of the held ones
            self._run(life, failed)

    def _send(self, life: Life, effect: Held | CloseLink | Trace) -> None:
        if isinstance(effect, Trace):
            for trace in tuple(self.traces):
                trace(effect)
        elif isinstance(effect, CloseLink):
            peer = self._facility.peers.get(effect.connection)
            if peer is not None:
                self._telling = True
                try:
                    peer.close_link(effect)
                finally:
                    self._telling = False
        elif effect.after is None:
            self._let_out(life, (effect,))
        else:
            self._facility.log.hold(life, effect.after, effect)

    def _let_out(self, life: Life, effects: Sequence[Held]) -> None:
        tell = self._tell_peer
        for effect in effects:
            if isinstance(effect, _TOLD):
                tell(life, effect)
            elif self._post is not None:
                self._post(self.name, effect)

    def _tell_peer(self, life: Life, effect: Answer | Deliver) -> None:
        sent = self._asked(life, effect) if life.asked and isinstance(effect, Answer) else None
        peer = self._facility.peers.get(effect.connection)
        if peer is None:
            return
        self._telling = True
        try:
            if isinstance(effect, Deliver):
                self.deliveries += 1
                peer.deliver(effect)
            elif not life.over:
                peer.answer(effect, sent)
        finally:
            self._telling = False

    def _asked(self, life: Life, answer: Answer) -> Callable[[], None] | None:
        """Return the message whose send an effect answers; None for other answers and for refusals."""
        message = life.asked.pop((answer.connection, answer.token), None)
        if message is None or answer.refused is not None or life.over:
            return None
        self._tell(self.before_answer, message)
        return partial(self._tell, self.after_answer, message)

    def _tell(self, hooks: list[AnswerHook], message: Message) -> None:
        for hook in tuple(hooks):
            hook(message)

    # lives -------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._up = True
        if self._shared is None:
            self._facility = Facility(self._runner, self._facility.numbers, flush_ns=self._flush_ns, aside=self._aside)
        records = self._seams.read(self._store.load())
        core, effects = Core.recover(
            records, self._settings, self._now_ms(), self._seams.tables(TABLES), self._facility.group
        )
        self._life = Life(
            core,
            self._store,
            self._runner,
            run=self._run_contained,
            let_out=self._let_out,
            due=self._tick,
        )
        self._carry_out(self._life, effects)
        self._life.schedule_tick()

    def _stop(self) -> None:
        self._up = False
        self._life.end()
        for number in sorted(self._mine):
            self._facility.peers.pop(number).lost(self._broken())
        self._mine.clear()
        for wake in self._facility.wakers:
            wake()

    def _lose(self, number: int) -> None:
        peer = self._facility.peers.pop(number)
        self._mine.discard(number)
        self.handle(Disconnect(number, None, clean=False))
        peer.lost(self._broken())

    def _unavailable(self) -> Refused:
        return refused(Mqrc.Q_MGR_NOT_AVAILABLE, f"{self.name} is stopped; start it, and connect then.", self.name)

    def _broken(self) -> Refused:
        return refused(Mqrc.CONNECTION_BROKEN, f"The connection to {self.name} is lost; connect again.", self.name)
