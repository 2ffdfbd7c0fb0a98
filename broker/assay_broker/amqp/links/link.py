"""Our end of a link: attaching, being refused, detaching, being expelled (OASIS AMQP 1.0, 2.6).

`LinkEnd` holds the states that all links share, as one table; what flows over a link is its subclasses'.
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

_REJECTED = "amqp:rejected:list"
_TOO_LONG = Condition(FRAME_TOO_SMALL, "What the server must say of the link is longer than your max-frame-size.")


Answered = Callable[[Answer], None]


class LinkContext(Protocol):
    """What a link needs of the connection that it belongs to."""

    number: int
    limits: AmqpLimits
    transactions: dict[bytes, Transaction]
    """The open transactions, by their ids."""

    @property
    def congested(self) -> bool:
        """Whether more waits for the peer than is good."""
        ...

    def expel(self, why: Condition) -> None:
        """Close the connection, for the peer's fault."""
        ...

    def starve(self, end: LinkEnd) -> None:
        """There is no room for what a link has for the peer; it resumes when there is."""
        ...

    @property
    def gets_own(self) -> bool:
        """Whether receivers get what their own session's units of work have not committed (`OWN_UNCOMMITTED`)."""
        ...

    @property
    def memory_is_short(self) -> bool:
        """Whether senders get no new credit."""
        ...

    def kind_of(self, name: str) -> AddressKind:
        """What a name means of which nobody says whether it is a queue's or a topic's."""
        ...

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def next_number(self) -> int:
        """A number that nothing else of this connection has."""
        ...

    def expect(self, answered: Answered) -> int:
        """A token for a command; its answer goes where it is said."""
        ...

    def handle(self, command: Command) -> None:
        """Have the queue manager do something."""
        ...

    def put(self, put: commands.Put) -> None:
        """Put a message, together with others that follow at once."""
        ...

    def settle(self, link: int, delivery: int, outcome: Outcome) -> None:
        """Settle a delivery, together with others that follow at once."""
        ...

    def pass_on(self) -> None:
        """Put and settle now what waits for others that follow."""
        ...

    def later(self, end: LinkEnd) -> None:
        """Have `LinkEnd.catch_up` called, once for all that happens now."""
        ...

    def forget(self, end: LinkEnd) -> None:
        """The link is gone on both sides."""
        ...

    def steal(self, name: str, *, receives: bool) -> None:
        """Take a link of this name away from the other connections of the same container (2.6.1)."""
        ...


class LinkEnd(ABC):
    """One link.

    Args:
        context: The connection.
        engine: The engine's link.
        attach: What the peer's attach says.
        session: The number of the session that it belongs to.
    """

    holds = True
    """Whether the queue manager is told more of its end than that it comes with the connection's."""

    def __init__(self, context: LinkContext, engine: EngineLink, attach: Attach, session: int) -> None:
        self.context = context
        self.engine = engine
        self.attach = attach
        self.session = session
        self.number = context.next_number()
        self.state = LinkState.ATTACHING
        self.closes = False
        """Whether the peer has detached for good."""
        self.why: Condition | None = None
        """Why the peer is refused or expelled; set before the table is asked."""
        self._granted: Answer | None = None

    # --- what happens

    @abstractmethod
    def begin(self) -> None:
        """The peer has attached: ask the queue manager."""

    def asked(self, answer: Answer) -> None:
        """The queue manager has answered the attach."""
        if answer.refused is not None:
            self.why = self.why or condition(answer.refused)
            self._step(LinkInput.REFUSED)
        else:
            self._granted = answer
            self._step(LinkInput.GRANTED)

    def refuse(self, why: Refused) -> None:
        """It means nothing; the queue manager is not even asked."""
        self.why = condition(why)
        self._step(LinkInput.REFUSED)

    def detached(self, *, closed: bool) -> None:
        """The peer has detached."""
        self.closes = closed
        self._step(LinkInput.DETACHED)

    def released(self, answer: Answer) -> None:
        """The queue manager has let go of it, after the peer's detach."""
        if answer.refused is not None:
            self.why = condition(answer.refused)
        self._step(LinkInput.RELEASED)

    def revoked(self, why: Refused) -> None:
        """The queue manager closes it: it is gone there already."""
        self.why = condition(why)
        self._step(LinkInput.EXPELLED)

    def expel(self, why: Condition) -> None:
        """We close it, for the peer's fault or in another's favour."""
        if self.state is LinkState.OPEN:
            self.tell_left()
        self.why = why
        self._step(LinkInput.EXPELLED)

    def cut(self, *, alone: bool) -> None:
        """Its session or connection is gone; the engine's link goes with that.

        Args:
            alone: Whether the queue manager does not hear anyway that the whole connection is over.
        """
        if self.state in {LinkState.ATTACHING, LinkState.LEFT, LinkState.OPEN} and (alone or self.holds):
            self.tell_left()
        self._step(LinkInput.CUT)

    def flow(self) -> None:
        """The peer has given or taken credit."""

    def flowed(self) -> None:
        """The peer has said how the link stands, and may want to know how it stands here."""
        if not self._refuses_to_acquire():
            self.flow()
            self._echo()

    def _refuses_to_acquire(self) -> bool:
        """End a link whose peer wants deliveries acquired in a unit of work, before any is sent outside one (4.4.3)."""
        if not self.attach.unreported.acquires or self.state is not LinkState.OPEN:
            return False
        self.expel(Condition(NOT_IMPLEMENTED, "Deliveries are not acquired in units of work: accept them in one."))
        return True

    def _echo(self) -> None:
        """Answer a flow that asks for one (2.7.4, echo)."""
        unreported = self.attach.unreported
        if unreported.echo and self.state is LinkState.OPEN:
            unreported.echo = False
            self.engine.tell()

    @property
    def takes_rejected(self) -> bool:
        """Whether the peer, as a sender, has not left rejected out of the outcomes that it knows."""
        source = self.attach.source
        return source is None or not source.outcomes or _REJECTED in source.outcomes

    def reject(self, delivery: Delivery, why: Condition) -> None:
        """Reject a delivery of the peer's; where it does not know that outcome, the link is closed instead (4.3)."""
        if not self.takes_rejected:
            self.expel(why)
        elif self.engine.alive:
            reject(delivery, why)

    def is_flawed(self, delivery: Delivery) -> bool:
        """End the link if a transfer of a delivery lacks or contradicts a field (2.7.5); whether one does."""
        flaw = self.attach.unreported.marked.get(tag_of(delivery))
        if flaw is None:
            return False
        if self.state is not LinkState.EXPELLED:
            self.expel(Condition(BAD_FIELD, flaw))
        return True

    def changed(self, delivery: Delivery) -> None:
        """A delivery has come or changed."""

    def deliver(self, delivery: Deliver) -> None:
        """The queue manager has a message for it."""

    def resume(self) -> None:
        """What was short is not any more: the line to the peer, or memory."""

    def catch_up(self) -> None:
        """Pass on what has been gathered of credit, as asked for by `LinkContext.later`."""

    @property
    def is_full(self) -> bool:
        """Whether so much waits for the peer, on the line or for its session's window, that no more is to be said."""
        return self.context.congested or self.engine.session.unsent > self.context.limits.unsent

    @property
    def wants_drain(self) -> bool:
        """Whether the peer still wants its credit used or given back, and has not been told that it is."""
        return self.attach.unreported.drain and self.engine.draining

    def end_drain(self) -> bool:
        """Say that a drain is over; whether that could be said: not while something of it waits for the window.

        The engine would wait with that itself, but never come back to it.
        """
        if self.engine.queued > 0:
            return False
        if self.wants_drain:
            self.attach.unreported.drain = self.attach.unreported.echo = False
            self.engine.drained()
        return True

    # --- what subclasses say

    @abstractmethod
    def end(self, answer: Answer) -> AttachReply:
        """What our attach says, once the queue manager has granted the link."""

    def opened(self) -> None:
        """It is attached on both sides."""

    def tell_left(self) -> None:
        """Tell the queue manager that the link is over; nothing is answered."""
        self.context.handle(commands.Detach(self.context.number, None, self.number))

    def leave(self) -> None:
        """The peer has detached: tell the queue manager, and call `released` with its answer."""
        token = self.context.expect(self.released)
        self.context.handle(commands.Detach(self.context.number, token, self.number))

    def ended(self) -> None:
        """Nothing goes over it any more."""

    # --- the table

    def _step(self, what: LinkInput) -> None:
        self.state, act = TABLE[self.state, what]
        for do in self._DOES[act]:
            do(self)

    def _open(self) -> None:
        """Attach."""
        if self._granted is None:
            return
        end, self._granted = self.end(self._granted), None
        if self.engine.takes(end):
            self.engine.open(end)
        else:
            self._refuse_too_long()

    def _refuse_too_long(self) -> None:
        """End a link whose attach would be longer than a frame of the peer's (2.8.15, frame-size-too-small)."""
        if self._open_without_ends() and self.state is LinkState.OPEN:
            self.expel(_TOO_LONG)

    def _open_without_ends(self) -> bool:
        """Attach a link that comes to nothing; where even that is too long, end the connection.  Whether it goes on."""
        end = self.no_ends()
        if self.engine.takes(end):
            self.engine.open(end)
            return True
        self.context.expel(_TOO_LONG)
        return False

    def _go_on(self) -> None:
        """It is attached on both sides."""
        if self.state is LinkState.OPEN and not self._refuses_to_acquire():
            self.opened()
            self._echo()

    def _close(self) -> None:
        """Detach for good."""
        self.engine.close(self.why)
        self.ended()

    def _answer_detach(self) -> None:
        """Detach as the peer has."""
        if self.closes:
            self.engine.close(self.why)
        else:
            self.engine.detach()

    def _refuse(self) -> None:
        """Attach without ends, and detach with the reason (2.6.3)."""
        if self._open_without_ends():
            self.engine.close(self.why)
            self.ended()

    def no_ends(self) -> AttachReply:
        """What our attach says to a link that comes to nothing."""
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
    """What an act consists of; what subclasses have in their own way is looked up in them."""
