"""A link endpoint: attaching, refused, detaching, expelled (OASIS AMQP 1.0, 2.6).

`LinkEnd` implements the states that all links share (`assay_broker.amqp.links.states`). Its subclasses handle the
messages. `LinkContext` is what the links of a connection have in common.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Concatenate, ParamSpec

from assay_broker.amqp.conditions import FRAME_TOO_SMALL, NOT_IMPLEMENTED, Condition, condition
from assay_broker.amqp.engine import Delivery, EngineLink
from assay_broker.amqp.frames.attaches import Attach, AttachReply
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.states import TABLE, LinkAction, LinkInput, LinkState
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_broker.core.effects import Answer, Deliver
from assay_broker.shell import QueueManager
from assay_sdk.driver import Outcome
from assay_sdk.model.reasons import Refused
from assay_sdk.model.stepper import Stepper
from assay_sdk.time import Clock

TOO_LONG = Condition(FRAME_TOO_SMALL, "What the server must say of the link is longer than your max-frame-size.")
_TOGETHER = 128
"""Messages put in one turn of the queue manager; other connections have their turn in between."""
_NS_PER_MS = 1_000_000

Answered = Callable[[Answer], None]
_Fields = ParamSpec("_Fields")


class LinkContext:
    """Holds what the links of one connection share: limits, transactions, and commands to the queue manager.

    One read from the socket often brings many messages or settlements. Each run of puts, or of settlements of one link
    with one outcome, goes to the queue manager as one command, in the client's order, and links update their credit
    once afterwards.

    Args:
        queue_manager: The queue manager.
        clock: The clock.
        limits: Limits for the client.
        memory_is_short: Returns whether senders get no new credit for lack of memory.
    """

    def __init__(
        self, queue_manager: QueueManager, clock: Clock, limits: AmqpLimits, memory_is_short: Callable[[], bool]
    ) -> None:
        self.limits = limits
        self.memory_is_short = memory_is_short
        self.kind_of = queue_manager.kind_of
        self.number = 0
        """The queue manager's number of the connection; 0 while it knows of none."""
        self.congested = False
        """Whether too much output waits for the client to read."""
        self.gets_own = False
        """Whether receivers get messages that their own session put in a unit of work and has not committed."""
        self.instant_ms = 0
        """When the present input arrived, as `now_ms` returns it; 0 while none is handled."""
        self.transactions: dict[bytes, Transaction] = {}
        """The open transactions, by their ids."""
        self.links: dict[int, LinkEnd] = {}
        """The links that are not detached on both sides, by their numbers."""
        self.starved: dict[LinkEnd, None] = {}
        """Links whose `resume` is to be called when there is room for their output."""
        self.expected: dict[int, Answered] = {}
        """The receivers of the queue manager's answers, by their tokens."""
        self._queue_manager = queue_manager
        self._clock = clock
        self._numbers = itertools.count(1)
        self._puts: list[commands.Put] = []
        self._settling: tuple[int, Outcome, list[int]] | None = None
        self._behind: dict[LinkEnd, None] = {}

    def now_ms(self) -> int:
        """Return milliseconds since the epoch, the same for everything that arrives together.

        Rounded up, as clients do (DD-02, DD-56), so that no delay ends earlier than the client counts.
        """
        return self.instant_ms or -(-self._clock.wall_ns() // _NS_PER_MS)

    def next_number(self) -> int:
        """Return a number that is unique on this connection."""
        return next(self._numbers)

    def expect(self, answered: Answered) -> int:
        """Return a token for a command, and call `answered` with its answer."""
        token = next(self._numbers)
        self.expected[token] = answered
        return token

    def ask(
        self,
        answered: Answered | None,
        kind: Callable[Concatenate[int, int | None, _Fields], Command],
        *fields: _Fields.args,
        **more: _Fields.kwargs,
    ) -> None:
        """Have the queue manager handle a command of this connection, after what is held.

        Args:
            answered: Called with the answer; None for no answer.
            kind: The command.
            fields: Its fields behind connection and token.
            more: Fields by their names.
        """
        token = None if answered is None else self.expect(answered)
        self.handle(kind(self.number, token, *fields, **more))

    def handle(self, command: Command) -> None:
        """Pass on what is held, then have the queue manager handle a command."""
        self.pass_on()
        self._queue_manager.handle(command)

    def put(self, put: commands.Put) -> None:
        """Hold a put, to be passed on with the puts that follow."""
        if self._settling is not None or (self._puts and self._puts[-1].unit != put.unit):
            self.pass_on()  # puts in a unit of work are answered at once, unless others are stored with them
        self._puts.append(put)
        if len(self._puts) >= _TOGETHER:
            self.pass_on()

    def settle(self, link: int, delivery: int, outcome: Outcome) -> None:
        """Hold a settlement, to be passed on with those of the same link and outcome that follow."""
        settling = self._settling
        if settling is not None and settling[0] == link and settling[1] is outcome:
            settling[2].append(delivery)
            return
        self.pass_on()
        self._settling = (link, outcome, [delivery])

    def pass_on(self) -> None:
        """Pass everything that is held on to the queue manager."""
        if self._puts:
            puts, self._puts = self._puts, []
            self._queue_manager.put_together(puts)
        settling, self._settling = self._settling, None
        if settling is not None:
            link, outcome, deliveries = settling
            self._queue_manager.handle(commands.Settle(self.number, None, link, tuple(deliveries), outcome))

    def later(self, end: LinkEnd) -> None:
        """Have a link's `catch_up` called once, after everything that arrives now."""
        self._behind[end] = None

    def catch_up(self) -> None:
        """Pass on what is held and call `catch_up` of the links that asked for it, until neither is left."""
        self.pass_on()
        while self._behind:
            behind, self._behind = self._behind, {}
            for end in behind:
                end.catch_up()
            self.pass_on()


class LinkEnd(Stepper[LinkState, LinkInput, LinkAction], ABC):
    """Our endpoint of one link.

    Args:
        context: The connection.
        engine: The engine's link.
        attach: The fields of the client's attach.
    """

    known = True
    """Whether the queue manager knows of the link, and is told of its end."""
    holds = True
    """Whether it is told even if the whole connection ends."""

    def __init__(self, context: LinkContext, engine: EngineLink, attach: Attach) -> None:
        super().__init__(TABLE, LinkState.ATTACHING)
        self.context = context
        self.engine = engine
        self.attach = attach
        self.number = context.next_number()
        self.closes = False
        """Whether the client's detach is a close."""
        self.why: Condition | None = None
        """The reason for which the link is refused or expelled; set before the step."""
        self._granted: Answer | None = None

    # --- events

    @abstractmethod
    def begin(self) -> None:
        """Ask the queue manager for what the client's attach wants."""

    def asked(self, answer: Answer) -> None:
        """Take the queue manager's answer to the attach."""
        if answer.refused is not None:
            self.why = self.why or condition(answer.refused)
            self._step(LinkInput.REFUSED)
        else:
            self._granted = answer
            self._step(LinkInput.GRANTED)

    def refuse(self, why: Refused) -> None:
        """Refuse the link without asking the queue manager."""
        self.why = condition(why)
        self._step(LinkInput.REFUSED)

    def detached(self, *, closed: bool) -> None:
        """Handle the client's detach."""
        self.closes = closed
        self._step(LinkInput.DETACHED)

    def released(self, answer: Answer) -> None:
        """Take the queue manager's answer to the detach."""
        if answer.refused is not None:
            self.why = condition(answer.refused)
        self._step(LinkInput.RELEASED)

    def revoked(self, why: Refused) -> None:
        """Detach, because the queue manager has ended the link."""
        self.why = condition(why)
        self._step(LinkInput.EXPELLED)

    def expel(self, why: Condition) -> None:
        """Detach, because of the client's fault or because the link was attached elsewhere."""
        if self.state is LinkState.OPEN:
            self.tell_left()
        self.why = why
        self._step(LinkInput.EXPELLED)

    def cut(self, *, alone: bool) -> None:
        """End the link with its session or connection.

        Args:
            alone: Whether only the session ends, so that the queue manager does not learn it from the connection's end.
        """
        if self.state in {LinkState.ATTACHING, LinkState.LEFT, LinkState.OPEN} and (alone or self.holds):
            self.tell_left()
        self._step(LinkInput.CUT)

    def flow(self) -> None:
        """Handle a change of credit."""

    def flowed(self) -> None:
        """Handle the client's flow, and answer it if the client asks for it."""
        if self.attach.unreported.acquires is not None:
            self._change_acquisition()
        if self.state is not LinkState.EXPELLED:
            self.flow()
            self._echo()

    def _change_acquisition(self) -> None:
        """Acquire deliveries in another transaction, or in none, if the client has asked for it (4.4.3)."""
        wish = self.attach.unreported.acquires
        if wish is not None and self.state is LinkState.OPEN:
            self.attach.unreported.acquires = None
            self.acquire(wish.txn_id)

    def acquire(self, txn_id: object) -> None:
        """Acquire deliveries in a transaction from now on.

        Args:
            txn_id: The transaction's id as the client has sent it; None for no transaction.
        """
        if txn_id is not None:
            self.expel(Condition(NOT_IMPLEMENTED, "This link acquires nothing, so nothing in a unit of work."))

    def _echo(self) -> None:
        """Answer a flow whose echo field asks for it (2.7.4)."""
        unreported = self.attach.unreported
        if unreported.echo and self.state is LinkState.OPEN:
            unreported.echo = False
            self.engine.tell()

    def changed(self, delivery: Delivery) -> None:
        """Handle a new delivery, a further part of one, or its new state."""

    def deliver(self, delivery: Deliver) -> None:
        """Send a message of the queue manager."""

    def resume(self) -> None:
        """Go on after a lack of room in the client's output or of memory is over."""

    def catch_up(self) -> None:
        """Pass on credit, after `LinkContext.later`."""

    # --- for subclasses

    @abstractmethod
    def end(self, answer: Answer) -> AttachReply:
        """Return our attach, after the queue manager has granted the link."""

    def opened(self) -> None:
        """Start the link, which is attached on both sides."""

    def tell_left(self) -> None:
        """Tell the queue manager that the link has ended, without an answer."""
        if self.known:
            self.context.ask(None, commands.Detach, self.number)

    def leave(self) -> None:
        """Tell the queue manager of the client's detach; its answer goes to `released`."""
        if self.known:
            self.context.ask(self.released, commands.Detach, self.number)
        else:
            self.tell_left()
            self.released(Answer(self.context.number, 0))

    def ended(self) -> None:
        """Drop what the link holds."""

    # --- the table

    def _step(self, what: LinkInput) -> None:
        for do in self._DOES[self.step(what)]:
            do(self)

    def _open(self) -> None:
        """Send our attach."""
        if self._granted is None:
            return
        end, self._granted = self.end(self._granted), None
        if self.engine.takes(end):
            self.engine.open(end)
            return
        self.engine.open(self.no_ends())
        if self.state is LinkState.OPEN:
            self.expel(TOO_LONG)  # frame-size-too-small (2.8.15)

    def _go_on(self) -> None:
        """Start the link if it is still open."""
        self._change_acquisition()
        if self.state is LinkState.OPEN:
            self.opened()
            self._echo()

    def _close(self) -> None:
        """Send a detach that closes the link."""
        self.engine.close(self.why)
        self.ended()

    def _answer_detach(self) -> None:
        """Detach, or close, as the client has."""
        if self.closes:
            self.engine.close(self.why)
        else:
            self.engine.detach()

    def _refuse(self) -> None:
        """Attach without source and target, then close with the reason (2.6.3)."""
        self.engine.open(self.no_ends())
        self._close()

    def no_ends(self) -> AttachReply:
        """Return an attach without source and target."""
        return AttachReply(name=self.attach.name, snd_settle_mode=self.attach.snd_settle_mode)

    def _end(self) -> None:
        self.ended()
        self.engine.free()
        self.forget()

    def forget(self) -> None:
        """Make the connection forget the link: it is detached on both sides, or ends with its session."""
        self.context.links.pop(self.number, None)
        self.engine.end = None

    _DOES: ClassVar[Mapping[LinkAction, Sequence[Callable[[Any], None]]]] = {
        LinkAction.NOTHING: (),
        LinkAction.OPEN: (_open, _go_on),
        LinkAction.REFUSE: (_refuse,),
        LinkAction.LEAVE: (lambda end: end.leave(),),
        LinkAction.LEAVE_UNOPENED: (_open, lambda end: end.leave()),
        LinkAction.EXPEL: (_close,),
        LinkAction.WITHDRAW: (lambda end: end.tell_left(),),
        LinkAction.REFUSE_AND_END: (_refuse, _end),
        LinkAction.END: (_answer_detach, _end),
        LinkAction.END_HERE: (lambda end: end.ended(),),
    }
    """The steps of each action, in order; methods of subclasses are looked up at the call."""
