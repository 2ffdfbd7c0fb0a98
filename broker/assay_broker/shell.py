"""What runs the core: time, the store, and the way out to the peers.

Each command is one job on the world's runner.  A batch is written at once and flushed by a job of its own a moment
later, so that all batches written meanwhile share the flush; only then does anything leave that waits for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Protocol

from msgspec.structs import replace

from assay_broker.core.commands import Command, Connect, Disconnect, Put, Stored, StoreFailed, Tick, WorkerDied
from assay_broker.core.core import Core
from assay_broker.core.effects import Answer, CloseLink, Deliver, Effect, Persist
from assay_broker.core.settings import Opmode, Settings
from assay_broker.core.tables import TABLES
from assay_broker.mqsc.defaults import default_settings
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.stores import Store, StoreError
from assay_sdk.driver import LEVEL_PROPERTY, PLATFORM_PROPERTY, PeerProperties
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.time import Cancel, Runner

_NS_PER_MS = 1_000_000
_FLUSH_NS = _NS_PER_MS
"""How long after the first write the flush comes: about what a disk takes, and a whole number of milliseconds, so that
a virtual clock stays on them."""

AnswerHook = Callable[[Message], None]


class Peer(Protocol):
    """The other end of a connection."""

    def answer(self, answer: Answer, sent: Callable[[], None]) -> None:
        """A command is answered; `sent` is to be called once the peer has the answer."""
        ...

    def deliver(self, delivery: Deliver) -> None:
        """A message comes."""
        ...

    def close_link(self, closed: CloseLink) -> None:
        """The broker closes a link."""
        ...

    def lost(self, why: Refused) -> None:
        """The connection is gone without a goodbye; nothing follows."""
        ...


class _Life:
    """What lasts from one start of the core to its end."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.held: dict[int, list[Answer | Deliver]] = {}
        self.asked: dict[tuple[int, int], Message] = {}
        self.written: list[int] = []
        self.flush_job: Cancel | None = None
        self.tick_job: Cancel | None = None
        self.tick_ms: int | None = None

    def end(self) -> None:
        """Nothing of it happens any more."""
        for job in (self.flush_job, self.tick_job):
            if job is not None:
                job()


class QueueManager:
    """One running queue manager.

    Args:
        runner: The world's crank; everything happens on it.
        store: Where records are kept; what it holds is recovered at once.
        settings: What the queue manager is set to; None for settings that suit a newcomer.
        seams: Where a defect may stand.
    """

    def __init__(self, runner: Runner, store: Store, settings: Settings | None = None, seams: Seams = NO_SEAMS) -> None:
        self.before_answer: list[AnswerHook] = []
        """Told each message whose send is about to be answered."""
        self.after_answer: list[AnswerHook] = []
        """Told each message whose send has just been answered."""
        self._runner = runner
        self._store = store
        self._seams = seams
        self._settings = seams.settings(settings or default_settings())
        self._numbers = count(1)
        self._peers: dict[int, Peer] = {}
        self._up = False
        self._begin()

    @property
    def name(self) -> str:
        """The queue manager's name."""
        return self._settings.name

    @property
    def settings(self) -> Settings:
        """What it is set to, at the level at which it was last started."""
        return self._settings

    @property
    def properties(self) -> PeerProperties:
        """What it says of itself to whoever connects (I-6)."""
        return {LEVEL_PROPERTY: self._settings.level, PLATFORM_PROPERTY: self._settings.platform}

    def connect(self, peer: Peer, token: int, client_id: str | None, user: str | None = None) -> int:
        """A peer comes; whether it may stay is said by the answer to this token.

        Args:
            peer: Who comes.
            token: The token of the answer.
            client_id: JMS client id; None for none.
            user: Whose authority counts; None for one who has not said who he is.

        Returns:
            The connection's number, for the commands that follow.
        """
        number = next(self._numbers)
        if not self._up:
            self._runner.call_soon(partial(peer.lost, self._unavailable()))
            return number
        self._peers[number] = peer
        self.handle(Connect(number, token, client_id, user))
        return number

    def forget(self, number: int) -> None:
        """A peer has gone and wants to hear nothing more."""
        self._peers.pop(number, None)

    def handle(self, command: Command) -> None:
        """Do what a peer, or time, asks for; to be called on the runner.

        Args:
            command: What is asked; nothing happens while the queue manager is stopped.
        """
        if not self._up:
            return
        if isinstance(command, Put) and command.token is not None:
            self._life.asked[command.connection, command.token] = command.message
        life = self._life
        for passed in self._seams.command(command, self._now_ms()):
            if life is self._life:
                self._run(life, passed)
        self._schedule_tick(life)

    def cut(self) -> None:
        """Every connection is lost; the queue manager goes on."""
        for number in tuple(self._peers):
            self._lose(number)

    def kill(self) -> None:
        """The process dies and is started again: what was not flushed is gone, and so are the connections."""
        self._stop()
        self._store.drop()
        self._begin()

    def restart(self, *, level: str | None = None, opmode: Opmode | None = None) -> None:
        """An orderly shutdown and start: connections are closed and everything written is flushed.

        Args:
            level: Start as a queue manager of this level: a migration, back or forth (DD-43); None as before.
            opmode: Start with this OPMODE (DD-44); None as before.

        Raises:
            StoreError: The store cannot flush; the start is from what it holds.
        """
        settings = self._settings
        self._settings = replace(settings, level=level or settings.level, opmode=opmode or settings.opmode)
        try:
            self.stop()
        finally:
            self.start()

    def stop(self) -> None:
        """An orderly shutdown; whoever connects is refused until `start`.

        Raises:
            StoreError: The store cannot flush.
        """
        for number in tuple(self._peers):
            self.handle(Disconnect(number, None, clean=False))
        self._stop()
        self._store.flush()

    def start(self) -> None:
        """Begin from what the store holds, after `stop`; nothing happens to one that is up."""
        if not self._up:
            self._begin()

    @property
    def up(self) -> bool:
        """Whether it runs."""
        return self._up

    def worker_dies(self) -> None:
        """The delivery delay processor's worker dies (DD-65)."""
        self.handle(WorkerDied())

    # one command -------------------------------------------------------------------------------------------------

    def _now_ms(self) -> int:
        return self._runner.clock.wall_ns() // _NS_PER_MS

    def _run(self, life: _Life, command: Command) -> None:
        now_ms = self._now_ms()
        self._carry_out(life, self._seams.effects(life.core.handle(command, now_ms), now_ms))

    def _carry_out(self, life: _Life, effects: tuple[Effect, ...]) -> None:
        """Carry effects out, in order; a hook that kills the queue manager ends it."""
        failed: StoreFailed | None = None
        for effect in effects:
            if life is not self._life:
                return
            if isinstance(effect, Persist):
                failed = self._write(life, effect)
            elif isinstance(effect, CloseLink) or effect.after is None:
                self._let_out(life, effect)
            else:
                life.held.setdefault(effect.after, []).append(effect)
        if failed is not None:
            self._fail(life, failed)

    def _let_out(self, life: _Life, effect: Answer | Deliver | CloseLink) -> None:
        peer = self._peers.get(effect.connection)
        if isinstance(effect, Answer):
            message = life.asked.pop((effect.connection, effect.token), None)
            if effect.refused is not None:
                message = None
            if message is not None:
                self._tell(self.before_answer, message)
            if peer is not None and life is self._life:
                peer.answer(effect, partial(self._sent, message))
        elif isinstance(effect, Deliver):
            if peer is not None:
                peer.deliver(effect)
        elif peer is not None:
            peer.close_link(effect)

    def _sent(self, message: Message | None) -> None:
        if message is not None:
            self._tell(self.after_answer, message)

    def _tell(self, hooks: list[AnswerHook], message: Message) -> None:
        for hook in tuple(hooks):
            hook(message)

    # the store ---------------------------------------------------------------------------------------------------

    def _write(self, life: _Life, persist: Persist) -> StoreFailed | None:
        try:
            self._store.write(self._seams.written(persist.records))
        except StoreError as error:
            return StoreFailed(persist.batch, str(error))
        life.written.append(persist.batch)
        if life.flush_job is None:
            due_ns = self._runner.clock.monotonic_ns() + _FLUSH_NS
            life.flush_job = self._runner.call_at(due_ns, partial(self._flush, life))
        return None

    def _flush(self, life: _Life) -> None:
        written, life.written, life.flush_job = life.written, [], None
        try:
            self._store.flush()
        except StoreError as error:
            for batch in reversed(written):
                self._fail(life, StoreFailed(batch, str(error)))
            self._schedule_tick(life)
            return
        newest = written[-1]
        self.handle(Stored(newest))
        for batch in sorted(batch for batch in life.held if batch <= newest):
            for effect in life.held.pop(batch):
                if life is not self._life:
                    return
                self._let_out(life, effect)

    def _fail(self, life: _Life, failed: StoreFailed) -> None:
        life.held.pop(failed.batch, None)  # the core's answer to the failure replaces what waited for it
        self._run(life, failed)

    # time --------------------------------------------------------------------------------------------------------

    def _schedule_tick(self, life: _Life) -> None:
        due_ms = life.core.next_due_ms()
        if life is not self._life or due_ms == life.tick_ms:
            return
        if life.tick_job is not None:
            life.tick_job()
        life.tick_ms, life.tick_job = due_ms, None
        if due_ms is not None:
            clock = self._runner.clock
            due_ns = clock.monotonic_ns() + due_ms * _NS_PER_MS - clock.wall_ns()
            life.tick_job = self._runner.call_at(due_ns, partial(self._tick, life))

    def _tick(self, life: _Life) -> None:
        life.tick_ms = life.tick_job = None
        self.handle(Tick())

    # lives -------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._up = True
        records = self._seams.read(self._store.load())
        core, effects = Core.recover(records, self._settings, self._now_ms(), self._seams.tables(TABLES))
        self._life = _Life(core)
        self._carry_out(self._life, effects)
        self._schedule_tick(self._life)

    def _stop(self) -> None:
        self._up = False
        self._life.end()
        peers, self._peers = self._peers, {}
        for peer in peers.values():
            peer.lost(self._broken())

    def _lose(self, number: int) -> None:
        peer = self._peers.pop(number)
        self.handle(Disconnect(number, None, clean=False))
        peer.lost(self._broken())

    def _unavailable(self) -> Refused:
        return refused(Mqrc.Q_MGR_NOT_AVAILABLE, f"{self.name} is stopped; start it, and connect then.", self.name)

    def _broken(self) -> Refused:
        return refused(Mqrc.CONNECTION_BROKEN, f"The connection to {self.name} is lost; connect again.", self.name)
