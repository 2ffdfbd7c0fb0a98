"""The core of one queue manager: an object that takes commands and the time, and returns effects.

The same commands at the same times give the same effects. `assay_broker.core.handlers` has a handler for each command.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay_broker.core import commands
from assay_broker.core.clients.subscription_lifetime import end_subscriptions
from assay_broker.core.commands import Command
from assay_broker.core.delay.release import check_staging_queue
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

_WITHOUT_CLIENT = (
    commands.Tick,
    commands.FromMember,
    commands.WorkerDied,
    commands.Stored,
    commands.StoreFailed,
)


class Core:
    """One queue manager, without sockets, threads or a clock.

    Args:
        settings: The settings of the queue manager.
        tables: The state tables of the queue manager.
        group: The state that the members of the queue-sharing group share; None outside a group.
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
        """Return a queue manager that starts from the records of its store.

        Args:
            records: The store's records, in the order in which they were stored.
            settings: The queue manager's settings.
            now_ms: The time, in milliseconds since the epoch.
            tables: The queue manager's state tables.
            group: The state that the members of the queue-sharing group share; None outside a group.

        Returns:
            The queue manager, and its first effects, such as a batch of records that removes expired messages.

        Raises:
            RefusalError: The settings define an alias or model queue, and a local queue of the same name has messages.
        """
        core = cls(settings, tables, group)
        turn = core._turn(now_ms)
        recover(core._state, turn, records)
        end_subscriptions(core._state, turn)
        expire_due(core._state, turn)
        check_staging_queue(core._state, turn)  # DD-60
        if settings.connected:
            greet(core._state, turn)
        return core, core._finish(turn)

    def handle(self, command: Command, now_ms: int) -> tuple[Effect, ...]:
        """Carry out a command.

        Args:
            command: The command.
            now_ms: The time, in milliseconds since the epoch; not before the time of the last command.

        Returns:
            The effects, in the order in which the shell has to carry them out.
        """
        turn = self._turn(now_ms)
        self._do(turn, command)
        return self._finish(turn)

    def put_together(self, puts: Iterable[commands.Put], now_ms: int) -> tuple[Effect, ...]:
        """Carry out several put commands in one turn, so that their records are one batch.

        If one message is refused, the core still puts the others.

        Args:
            puts: The put commands.
            now_ms: The time, in milliseconds since the epoch; not before the time of the last command.

        Returns:
            The effects, in the order in which the shell has to carry them out.
        """
        turn = self._turn(now_ms)
        for put in puts:
            self._do(turn, put)
        return self._finish(turn)

    def next_due_ms(self) -> int | None:
        """Return when the next `Tick` is due, in milliseconds since the epoch; None if no `Tick` is needed."""
        processor = self._state.processor
        return soonest(self._watched if processor.watching else self._schedules, processor.restart_ms)

    @property
    def octets(self) -> int:
        """The memory of all messages, on queues or staged, in octets, approximately."""
        return self._state.queues.octets + self._state.staging.octets

    def kind_of(self, name: str) -> AddressKind:
        """Return the kind of a destination, queue or topic, for a name that a client gave without a kind.

        If a queue object has the name, the destination is a queue. Otherwise, if a topic object has the name as its
        topic string, the destination is a topic. With any other name, the destination is a queue.
        """
        if self._state.objects.queue(name) is None and self._state.objects.topics.at(name) is not None:
            return AddressKind.TOPIC
        return AddressKind.QUEUE

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue; empty without one."""
        return self._state.objects.dead_letter_queue or ""

    def _turn(self, now_ms: int) -> Turn:
        return Turn(now_ms, self._state.ledger.newest + 1, self._state.ledger.pending)

    def _do(self, turn: Turn, command: Command) -> None:
        try:
            HANDLERS[type(command)](self._state, turn, command)
        except RefusalError as error:
            if isinstance(command, _WITHOUT_CLIENT):
                raise
            if turn.touches and isinstance(command, commands.Put):  # deliveries of earlier puts may make room
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
