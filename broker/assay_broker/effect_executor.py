"""The execution of effects: what the shell does after the core has handled a command.

The shell writes the command's records to the log, and carries out the effects that depend on them only after the
records are durable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from assay_broker.core.commands import Command, Put, StoreFailed
from assay_broker.core.effects import Answer, CloseLink, Deliver, Effect, Persist, ToMember, Trace
from assay_broker.life import Life
from assay_broker.log import Held
from assay_broker.seams import Seams
from assay_broker.shared_resources import SharedResources
from assay_sdk.model.message import Message
from assay_sdk.time import NS_PER_MS, Runner

_FOR_PEERS = Deliver, Answer
"""The types of effects for peers that can wait for a batch. The third type for peers, `CloseLink`, never waits."""

Post = Callable[[str, ToMember], None]
"""A function that takes the name of the sending queue manager, and a parcel for one or all other members."""

AnswerHook = Callable[[Message], None]
"""A function that a queue manager calls with a message, just before or after the answer that accepts its send."""


class EffectExecutor:
    """Carries out the effects that a queue manager's core returns in each turn.

    Args:
        runner: The runner, whose clock gives the time.
        resources: The log and the peers of the queue manager. A queue manager in no sharing group gets new resources at
            each start.
        seams: The filters of a defect or of a tolerated variant.
        name: The queue manager's name.
        post: Called with parcels for the other queue managers of the network; None outside a network.
    """

    def __init__(self, runner: Runner, resources: SharedResources, seams: Seams, name: str, post: Post | None) -> None:
        self.resources = resources
        self.before_answer: list[AnswerHook] = []
        """Hooks that run with each message just before the answer that accepts its send."""
        self.after_answer: list[AnswerHook] = []
        """Hooks that run with each message just after the answer that accepts its send."""
        self.after_put: list[AnswerHook] = []
        """Hooks that run with each message just after the turn of its send, whether or not the send gets an answer."""
        self.traces: list[Callable[[Trace], None]] = []
        """Functions to call with events that no answer to a client reports, such as the discarding of a report."""
        self.after_turn: list[Callable[[], None]] = []
        """Hooks that run at the end of each turn, when its effects have been carried out or wait for a flush."""
        self.deliveries = 0
        """The number of deliveries to clients since this object was created."""
        self.is_calling_peer = False
        """Whether the queue manager is calling a peer; a command that the peer sends during the call must wait."""
        self._runner = runner
        self._seams = seams
        self._name = name
        self._post = post

    def note(self, life: Life, command: Command) -> None:
        """Remember the message of a send until its answer, if a fault or an observer has a hook on answers."""
        if (self.before_answer or self.after_answer) and isinstance(command, Put) and command.token is not None:
            life.asked[command.connection, command.token] = command.message

    def end(self, life: Life, effects: tuple[Effect, ...], now_ms: int) -> None:
        """Carry out the effects of a turn, and then run the hooks in `after_turn`."""
        self.carry_out(life, self._seams.effects(effects, now_ms))
        if self.after_turn:
            for hook in tuple(self.after_turn):
                hook()

    def run_from_log(self, life: Life, command: Command) -> None:
        """Handle the result of a flush.

        After the queue manager has ended, the other members of its sharing group still need the result.
        """
        if life.over:
            self.clear_up(life, (command,))
            return
        for passed in self._seams.command(command, self._now_ms()):
            if not life.over:
                self._run(life, passed)
        life.schedule_tick()

    def _run(self, life: Life, command: Command) -> None:
        now_ms = self._now_ms()
        self.end(life, life.core.handle(command, now_ms), now_ms)

    def clear_up(self, life: Life, commands: tuple[Command, ...]) -> None:
        """Handle commands after the end of a member's life, so that other members take over its shared messages.

        Args:
            life: The life that has ended.
            commands: The commands that report the life's lost batches and end its connections.
        """
        for command in commands:
            for effect in life.core.handle(command, self._now_ms()):
                if isinstance(effect, Persist):
                    self.resources.group.ledger.pending.pop(effect.batch, None)
                else:
                    self._send(life, effect)

    def carry_out(self, life: Life, effects: tuple[Effect, ...]) -> None:
        """Carry out effects in order; stop if a hook kills the queue manager."""
        failed: StoreFailed | None = None
        hold = self.resources.log.hold
        for effect in effects:
            if life.over:
                return
            if isinstance(effect, _FOR_PEERS):  # first, because nearly all effects are for peers
                if effect.after is None:
                    self._tell_peer(life, effect)
                else:
                    hold(life, effect.after, effect)
            elif isinstance(effect, Persist):
                failed = self.resources.log.write(life, effect, self._seams.written(effect.records))
            else:
                self._send(life, effect)
        if failed is not None:
            # The core answers the failure with new effects, which replace the held ones.
            self.resources.log.drop_held(failed.batch)
            self._run(life, failed)

    def _send(self, life: Life, effect: Held | CloseLink | Trace) -> None:
        if isinstance(effect, Trace):
            for trace in tuple(self.traces):
                trace(effect)
        elif isinstance(effect, CloseLink):
            peer = self.resources.peers.get(effect.connection)
            if peer is not None:
                self.is_calling_peer = True
                try:
                    peer.close_link(effect)
                finally:
                    self.is_calling_peer = False
        elif effect.after is None:
            self.let_out(life, (effect,))
        else:
            self.resources.log.hold(life, effect.after, effect)

    def let_out(self, life: Life, effects: Sequence[Held]) -> None:
        """Carry out effects that wait for no batch, or whose batch is durable."""
        tell = self._tell_peer
        for effect in effects:
            if isinstance(effect, _FOR_PEERS):
                tell(life, effect)
            elif self._post is not None:
                self._post(self._name, effect)

    def _tell_peer(self, life: Life, effect: Answer | Deliver) -> None:
        sent = self._asked(life, effect) if life.asked and isinstance(effect, Answer) else None
        peer = self.resources.peers.get(effect.connection)
        if peer is None:
            return
        self.is_calling_peer = True
        try:
            if isinstance(effect, Deliver):
                self.deliveries += 1
                peer.deliver(effect)
            elif not life.over:
                peer.answer(effect, sent)
        finally:
            self.is_calling_peer = False

    def _asked(self, life: Life, answer: Answer) -> Callable[[], None] | None:
        """Run the hooks `before_answer`, if an answer accepts a send.

        Returns:
            A function that runs the hooks `after_answer`; None if the answer is for another command or refuses the
            send.
        """
        message = life.asked.pop((answer.connection, answer.token), None)
        if message is None or answer.refused is not None or life.over:
            return None
        self._tell(self.before_answer, message)
        return partial(self._tell, self.after_answer, message)

    def put(self, message: Message) -> None:
        """Run the hooks `after_put`."""
        self._tell(self.after_put, message)

    def _tell(self, hooks: list[AnswerHook], message: Message) -> None:
        for hook in tuple(hooks):
            hook(message)

    def _now_ms(self) -> int:
        return self._runner.clock.wall_ns() // NS_PER_MS
