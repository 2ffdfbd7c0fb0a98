"""A link endpoint: attaching, refused, detaching, expelled (OASIS AMQP 1.0, 2.6).

`LinkEnd` implements the states that all links share (`assay_broker.amqp.links.states`). Its subclasses handle the
messages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from assay_broker.amqp.conditions import BAD_FIELD, FRAME_TOO_SMALL, NOT_IMPLEMENTED, Condition, condition
from assay_broker.amqp.engine import Delivery, EngineLink, reject, tag_of
from assay_broker.amqp.frames.attaches import Attach, AttachReply
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.states import TABLE, LinkAction, LinkInput, LinkState
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_broker.core.effects import Answer, Deliver
from assay_sdk.driver import Outcome
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import Refused
from assay_sdk.model.stepper import Stepper

_REJECTED = "amqp:rejected:list"
_TOO_LONG = Condition(FRAME_TOO_SMALL, "What the server must say of the link is longer than your max-frame-size.")


Answered = Callable[[Answer], None]


class LinkContext(Protocol):
    """What a link needs of its connection."""

    number: int
    limits: AmqpLimits
    transactions: dict[bytes, Transaction]
    """The open transactions, by their ids."""

    @property
    def congested(self) -> bool:
        """Whether too much output waits for the client to read."""
        ...

    def expel(self, why: Condition) -> None:
        """Close the connection, because of the client's fault."""
        ...

    def starve(self, end: LinkEnd) -> None:
        """Have the link's `resume` called when there is room for its output."""
        ...

    @property
    def gets_own(self) -> bool:
        """Whether receivers get uncommitted messages of their own session (`OWN_UNCOMMITTED`)."""
        ...

    @property
    def memory_is_short(self) -> bool:
        """Whether senders get no new credit for lack of memory."""
        ...

    def kind_of(self, name: str) -> AddressKind:
        """Return the kind of destination that a name means if the client does not say it."""
        ...

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        ...

    def next_number(self) -> int:
        """Return a number that is unique on this connection."""
        ...

    def expect(self, answered: Answered) -> int:
        """Return a token for a command, and call `answered` with its answer."""
        ...

    def handle(self, command: Command) -> None:
        """Have the queue manager handle a command."""
        ...

    def put(self, put: commands.Put) -> None:
        """Put a message, together with those that follow."""
        ...

    def settle(self, link: int, delivery: int, outcome: Outcome) -> None:
        """Settle a delivery, together with those that follow."""
        ...

    def pass_on(self) -> None:
        """Pass the puts and settlements that are held on to the queue manager."""
        ...

    def later(self, end: LinkEnd) -> None:
        """Have `LinkEnd.catch_up` called once, after everything that arrives now."""
        ...

    def forget(self, end: LinkEnd) -> None:
        """Forget a link that is detached on both sides."""
        ...

    def steal(self, name: str, *, receives: bool) -> None:
        """Detach links of this name on the other connections of the same container (2.6.1)."""
        ...


class LinkEnd(Stepper[LinkState, LinkInput, LinkAction], ABC):
    """Our endpoint of one link.

    Args:
        context: The connection.
        engine: The engine's link.
        attach: The fields of the client's attach.
    """

    holds = True
    """Whether the queue manager is told of the link's end even if the whole connection ends."""

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

    @property
    def takes_rejected(self) -> bool:
        """Whether the client, as a sender, supports the outcome rejected."""
        source = self.attach.source
        return source is None or not source.outcomes or _REJECTED in source.outcomes

    def reject(self, delivery: Delivery, why: Condition) -> None:
        """Reject a delivery; close the link instead if the client does not support that outcome (4.3)."""
        if not self.takes_rejected:
            self.expel(why)
        elif self.engine.alive:
            reject(delivery, why)

    def is_flawed(self, delivery: Delivery) -> bool:
        """Detach if a transfer lacks or contradicts a field (2.7.5). Return whether it does."""
        flaw = self.attach.unreported.marked.get(tag_of(delivery))
        if flaw is None:
            return False
        if self.state is not LinkState.EXPELLED:
            self.expel(Condition(BAD_FIELD, flaw))
        return True

    def changed(self, delivery: Delivery) -> None:
        """Handle a new delivery, a further part of one, or its new state."""

    def deliver(self, delivery: Deliver) -> None:
        """Send a message of the queue manager."""

    def resume(self) -> None:
        """Go on after a lack of room in the client's output or of memory is over."""

    def catch_up(self) -> None:
        """Pass on credit, after `LinkContext.later`."""

    @property
    def is_full(self) -> bool:
        """Whether so much output waits for the client or its session's window that no more is written."""
        return self.context.congested or self.engine.session.unsent > self.context.limits.unsent

    @property
    def wants_drain(self) -> bool:
        """Whether the client drains its credit and has not been answered."""
        return self.attach.unreported.drain and self.engine.draining

    def end_drain(self) -> bool:
        """Answer a drain. Return False while messages of it wait for the session's window.

        The engine would postpone its answer, but never send it.
        """
        if self.engine.queued > 0:
            return False
        if self.wants_drain:
            self.attach.unreported.drain = self.attach.unreported.echo = False
            self.engine.drained()
        return True

    # --- for subclasses

    @abstractmethod
    def end(self, answer: Answer) -> AttachReply:
        """Return our attach, after the queue manager has granted the link."""

    def opened(self) -> None:
        """Start the link, which is attached on both sides."""

    def tell_left(self) -> None:
        """Tell the queue manager that the link has ended, without an answer."""
        self.context.handle(commands.Detach(self.context.number, None, self.number))

    def leave(self) -> None:
        """Tell the queue manager of the client's detach; its answer goes to `released`."""
        token = self.context.expect(self.released)
        self.context.handle(commands.Detach(self.context.number, token, self.number))

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
        else:
            self._refuse_too_long()

    def _refuse_too_long(self) -> None:
        """Detach a link whose attach exceeds the client's max-frame-size (2.8.15, frame-size-too-small)."""
        if self._open_without_ends() and self.state is LinkState.OPEN:
            self.expel(_TOO_LONG)

    def _open_without_ends(self) -> bool:
        """Attach without source and target. Expel the connection, and return False, if even that is too long."""
        end = self.no_ends()
        if self.engine.takes(end):
            self.engine.open(end)
            return True
        self.context.expel(_TOO_LONG)
        return False

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
        if self._open_without_ends():
            self.engine.close(self.why)
            self.ended()

    def no_ends(self) -> AttachReply:
        """Return an attach without source and target."""
        return AttachReply(name=self.attach.name, snd_settle_mode=self.attach.snd_settle_mode)

    def _end(self) -> None:
        self.ended()
        self.engine.free()
        self.context.forget(self)

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
