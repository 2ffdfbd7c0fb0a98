"""One queue manager: a command and the time in, effects out.

The same commands at the same times give the same effects.  What each command does is in `assay_broker.core.handlers`.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay_broker.core import commands
from assay_broker.core.clients.subscription_lifetime import end_subscriptions
from assay_broker.core.commands import Command
from assay_broker.core.delay.release import look
from assay_broker.core.effects import Effect
from assay_broker.core.handlers import HANDLERS
from assay_broker.core.networks.channels import greet
from assay_broker.core.networks.hierarchy import announce
from assay_broker.core.networks.sharing_group import Group
from assay_broker.core.queues.delivery import expire_due, pump
from assay_broker.core.records import Record
from assay_broker.core.recovery import recover
from assay_broker.core.refusals import RefusalError
from assay_broker.core.schedule import soonest
from assay_broker.core.settings import Settings
from assay_broker.core.state import State
from assay_broker.core.states.tables import TABLES, Tables
from assay_broker.core.turn import Turn
from assay_sdk.model.message import AddressKind

_ASKED_BY_NOBODY = (
    commands.Tick,
    commands.FromMember,
    commands.WorkerDied,
    commands.Stored,
    commands.StoreFailed,
)


class Core:
    """One queue manager.

    Args:
        settings: What it is set to.
        tables: Its state machines.
        group: What it has in common with other members of its sharing group; None when it is in none.
    """

    def __init__(self, settings: Settings, tables: Tables = TABLES, group: Group | None = None) -> None:
        state = self._state = State(settings, tables, group)
        self._schedules = *state.expiry.schedules, state.endings, state.members.retries
        self._watched = *self._schedules, state.staging.schedule

    @classmethod
    def recover(
        cls,
        records: Iterable[Record],
        settings: Settings,
        now_ms: int,
        tables: Tables = TABLES,
        group: Group | None = None,
    ) -> tuple[Core, tuple[Effect, ...]]:
        """Start from what the store holds: what was flushed is there, what was not has never been.

        Args:
            records: What the store holds, in the order in which it was stored.
            settings: What the queue manager is set to.
            now_ms: When, in milliseconds since the epoch.
            tables: Its state machines.
            group: What it has in common with other members of its sharing group; None when it is in none.

        Returns:
            The queue manager, and what it wants done: what expired meanwhile is removed from the store.
        """
        core = cls(settings, tables, group)
        turn = core._turn(now_ms)
        recover(core._state, turn, records)
        end_subscriptions(core._state, turn)
        expire_due(core._state, turn)
        look(core._state, turn)  # DD-60
        if settings.connected:
            greet(core._state, turn)
        return core, core._finish(turn)

    def handle(self, command: Command, now_ms: int) -> tuple[Effect, ...]:
        """Do what is asked.

        Args:
            command: What is asked.
            now_ms: When, in milliseconds since the epoch; never less than before.

        Returns:
            What is to be done outside, in this order.
        """
        turn = self._turn(now_ms)
        self._do(turn, command)
        return self._finish(turn)

    def put_together(self, puts: Iterable[commands.Put], now_ms: int) -> tuple[Effect, ...]:
        """Put messages that have come together in one turn: what they record is one batch, stored altogether or not.

        One that is refused leaves the others alone.

        Args:
            puts: What is asked.
            now_ms: When, in milliseconds since the epoch; never less than before.

        Returns:
            What is to be done outside, in this order.
        """
        turn = self._turn(now_ms)
        for put in puts:
            self._do(turn, put)
        return self._finish(turn)

    def next_due_ms(self) -> int | None:
        """When `Tick` is wanted next, in milliseconds since the epoch; None when nothing is due by itself."""
        processor = self._state.processor
        return soonest(self._watched if processor.watching else self._schedules, processor.restart_ms)

    @property
    def octets(self) -> int:
        """About how much memory the messages take, on queues and staged."""
        return self._state.queues.octets + self._state.staging.octets

    def kind_of(self, name: str) -> AddressKind:
        """What a name means of which nobody says whether it is a queue's or a topic's: what an object of it says.

        A queue goes before a topic object with that topic string; where there is neither, it is a queue's.
        """
        if self._state.objects.queue(name) is None and self._state.objects.topics.at(name) is not None:
            return AddressKind.TOPIC
        return AddressKind.QUEUE

    def _turn(self, now_ms: int) -> Turn:
        return Turn(now_ms, self._state.ledger.newest + 1, self._state.ledger.pending)

    def _do(self, turn: Turn, command: Command) -> None:
        try:
            HANDLERS[type(command)](self._state, turn, command)
        except RefusalError as error:
            if isinstance(command, _ASKED_BY_NOBODY):
                raise
            if turn.touches and isinstance(command, commands.Put):  # what came before may find receivers, and make room
                self._pump(turn)
                self._do(turn, command)
                return
            turn.answer(command.connection, command.token, error.refused)

    def _pump(self, turn: Turn) -> None:
        while (queue := turn.pop_touched()) is not None:
            pump(self._state, turn, queue)

    def _finish(self, turn: Turn) -> tuple[Effect, ...]:
        self._pump(turn)
        if self._state.members.connected:
            announce(self._state, turn)
        self._state.queues.forget_unused()
        if turn.recorded:
            self._state.ledger.newest = turn.number
        return turn.effects()
