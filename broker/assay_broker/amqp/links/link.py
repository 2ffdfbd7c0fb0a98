"""The server's endpoint of a link (OASIS AMQP 1.0, 2.6).

`LinkEnd` implements the state machine of all links (`assay_broker.amqp.links.states`).  Its subclasses handle the
messages.  `LinkContext` contains the objects that the links of a connection share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from assay_broker.amqp.conditions import FRAME_TOO_SMALL, NOT_IMPLEMENTED, Condition, condition
from assay_broker.amqp.engine import Delivery, EngineLink
from assay_broker.amqp.frames.attaches import AttachFrame, AttachReply
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.states import TABLE, LinkEndAction, LinkEndInput, LinkEndState
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.collector import CommandCollector
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Deliver
from assay_broker.shell import QueueManager
from assay_sdk.model.reasons import Refused
from assay_sdk.model.stepper import Stepper
from assay_sdk.time import Clock

TOO_LONG = Condition(FRAME_TOO_SMALL, "The server's attach for the link is longer than your max-frame-size.")


class LinkContext(CommandCollector):
    """The context that the links of one connection share: limits, transactions, and commands to the queue manager.

    After the server has handled the input that arrived together, and has sent the collected commands, the links update
    their credit.

    Args:
        queue_manager: The queue manager.
        clock: The clock.
        limits: The limits of the listener.
        memory_is_short: Returns whether messages take so much memory that senders get no new credit.
    """

    def __init__(
        self, queue_manager: QueueManager, clock: Clock, limits: AmqpLimits, memory_is_short: Callable[[], bool]
    ) -> None:
        super().__init__(queue_manager, clock)
        self.limits = limits
        self.memory_is_short = memory_is_short
        self.kind_of = queue_manager.kind_of
        self.congested = False
        """Whether too much output waits for the client to read."""
        self.gets_own = False
        """Whether receivers also get messages that their own session has put in a unit of work but not committed."""
        self.transactions: dict[bytes, Transaction] = {}
        """The open transactions, by their ids."""
        self.links: dict[int, LinkEnd] = {}
        """The links of the connection, by number; a link is removed when both client and server have detached it."""
        self.starved: dict[LinkEnd, None] = {}
        """The links that wait until the client has read output; the connection then calls their `resume`."""
        self._behind: dict[LinkEnd, None] = {}

    def later(self, end: LinkEnd) -> None:
        """Call a link's `catch_up` once, after the server has handled all current input."""
        self._behind[end] = None

    def catch_up(self) -> None:
        """Send the collected puts and settlements, and call `catch_up` of the links for which `later` was called."""
        self.pass_on()
        while self._behind:
            behind, self._behind = self._behind, {}
            for end in behind:
                end.catch_up()
            self.pass_on()


class LinkEnd(Stepper[LinkEndState, LinkEndInput, LinkEndAction], ABC):
    """The server's end of one link.

    Args:
        context: The context that the connection's links share.
        engine: The engine's link.
        attach: The fields of the client's attach.
    """

    known = True
    """Whether the queue manager knows the link; if so, the link must tell the queue manager of its end."""
    holds = True
    """Whether the link must tell the queue manager of its end even when the whole connection ends."""

    def __init__(self, context: LinkContext, engine: EngineLink, attach: AttachFrame) -> None:
        super().__init__(TABLE, LinkEndState.ATTACHING)
        self.context = context
        self.engine = engine
        self.attach = attach
        self.number = context.next_number()
        self.closes = False
        """Whether the client's detach is a close."""
        self.why: Condition | None = None
        """The error with which the server refuses or detaches the link; set before the state machine's step."""
        self._granted: Answer | None = None

    # --- events

    @abstractmethod
    def begin(self) -> None:
        """Ask the queue manager for the source or target in the client's attach."""

    def asked(self, answer: Answer) -> None:
        """Open or refuse the link, according to the queue manager's answer to the attach."""
        if answer.refused is not None:
            self.why = self.why or condition(answer.refused)
            self._step(LinkEndInput.REFUSED)
        else:
            self._granted = answer
            self._step(LinkEndInput.GRANTED)

    def refuse(self, why: Refused) -> None:
        """Refuse the link without asking the queue manager."""
        self.why = condition(why)
        self._step(LinkEndInput.REFUSED)

    def detached(self, *, closed: bool) -> None:
        """Handle the client's detach, which may close the link."""
        self.closes = closed
        self._step(LinkEndInput.DETACHED)

    def released(self, answer: Answer) -> None:
        """Answer the client's detach, after the queue manager's answer."""
        if answer.refused is not None:
            self.why = condition(answer.refused)
        self._step(LinkEndInput.RELEASED)

    def revoked(self, why: Refused) -> None:
        """Detach the link, because the queue manager has ended it."""
        self.why = condition(why)
        self._step(LinkEndInput.EXPELLED)

    def expel(self, why: Condition) -> None:
        """Detach the link with an error, because the client made a mistake or has attached the link again."""
        if self.state is LinkEndState.OPEN:
            self.tell_left()
        self.why = why
        self._step(LinkEndInput.EXPELLED)

    def cut(self, *, alone: bool) -> None:
        """End the link with its session or connection.

        Args:
            alone: Whether the connection continues and only the session ends.  If so, the link itself tells the queue
                manager of its end.
        """
        if self.state in {LinkEndState.ATTACHING, LinkEndState.LEFT, LinkEndState.OPEN} and (alone or self.holds):
            self.tell_left()
        self._step(LinkEndInput.CUT)

    def flow(self) -> None:
        """Handle a change of credit."""

    def flowed(self) -> None:
        """Handle the client's flow, and answer with a flow if the client requests one (echo)."""
        if self.attach.unreported.acquires is not None:
            self._change_acquisition()
        if self.state is not LinkEndState.EXPELLED:
            self.flow()
            self._echo()

    def _change_acquisition(self) -> None:
        """Start or stop acquiring deliveries in a transaction, if the last flow asks for it (AMQP 1.0, 4.4.3)."""
        wish = self.attach.unreported.acquires
        if wish is not None and self.state is LinkEndState.OPEN:
            self.attach.unreported.acquires = None
            self.acquire(wish.txn_id)

    def acquire(self, txn_id: object) -> None:
        """Acquire deliveries in a transaction from now on; a link that cannot do this is detached.

        Args:
            txn_id: The transaction's id as the client has sent it; None for no transaction.
        """
        if txn_id is not None:
            self.expel(Condition(NOT_IMPLEMENTED, "This link cannot acquire deliveries in a unit of work."))

    def _echo(self) -> None:
        """Send a flow, if the client's flow asks for one with its echo field (AMQP 1.0, 2.7.4)."""
        unreported = self.attach.unreported
        if unreported.echo and self.state is LinkEndState.OPEN:
            unreported.echo = False
            self.engine.tell()

    def changed(self, delivery: Delivery) -> None:
        """Handle a new delivery, a further part of a delivery, or a delivery's new state."""

    def deliver(self, delivery: Deliver) -> None:
        """Send a message from the queue manager to the client."""

    def resume(self) -> None:
        """Continue after the client has read output, or after memory is free again."""

    def catch_up(self) -> None:
        """Update credit, after a call of `LinkContext.later`."""

    # --- for subclasses

    @abstractmethod
    def end(self, answer: Answer) -> AttachReply:
        """Return the fields of the server's attach, after the queue manager has granted the link."""

    def opened(self) -> None:
        """Start the link, after client and server have attached it."""

    def tell_left(self) -> None:
        """Tell the queue manager that the link has ended, without asking for an answer."""
        if self.known:
            self.context.ask(None, commands.Detach, self.number)

    def leave(self) -> None:
        """Tell the queue manager of the client's detach, and pass the queue manager's answer to `released`."""
        if self.known:
            self.context.ask(self.released, commands.Detach, self.number)
        else:
            self.tell_left()
            self.released(Answer(self.context.number, 0))

    def ended(self) -> None:
        """Drop the link's messages and deliveries."""

    # --- the table

    def _step(self, what: LinkEndInput) -> None:
        for do in self._DOES[self.step(what)]:
            do(self)

    def _open(self) -> None:
        """Send the server's attach, or refuse the link if the attach is too long for a frame."""
        if self._granted is None:
            return
        end, self._granted = self.end(self._granted), None
        if self.engine.takes(end):
            self.engine.open(end)
            return
        self.engine.open(self.no_ends())
        if self.state is LinkEndState.OPEN:
            self.expel(TOO_LONG)  # frame-size-too-small (AMQP 1.0, 2.8.15)

    def _go_on(self) -> None:
        """Start the link, if it is still open."""
        self._change_acquisition()
        if self.state is LinkEndState.OPEN:
            self.opened()
            self._echo()

    def _close(self) -> None:
        """Send a detach that closes the link, with the error in `why`, if any; then drop the link's deliveries."""
        self.engine.close(self.why)
        self.ended()

    def _answer_detach(self) -> None:
        """Answer the client's detach with a detach; the answer closes the link if the client has closed it."""
        if self.closes:
            self.engine.close(self.why)
        else:
            self.engine.detach()

    def _refuse(self) -> None:
        """Refuse the link: attach it without source and target, and close it with the error (AMQP 1.0, 2.6.3)."""
        self.engine.open(self.no_ends())
        self._close()

    def no_ends(self) -> AttachReply:
        """Return the fields of an attach without source and target."""
        return AttachReply(name=self.attach.name, snd_settle_mode=self.attach.snd_settle_mode)

    def _end(self) -> None:
        self.ended()
        self.engine.free()
        self.forget()

    def forget(self) -> None:
        """Remove the link from the connection, because both sides have detached the link or its session has ended."""
        self.context.links.pop(self.number, None)
        self.engine.end = None

    _DOES: ClassVar[Mapping[LinkEndAction, Sequence[Callable[[Any], None]]]] = {
        LinkEndAction.NOTHING: (),
        LinkEndAction.OPEN: (_open, _go_on),
        LinkEndAction.REFUSE: (_refuse,),
        LinkEndAction.LEAVE: (lambda end: end.leave(),),
        LinkEndAction.LEAVE_UNOPENED: (_open, lambda end: end.leave()),
        LinkEndAction.EXPEL: (_close,),
        LinkEndAction.WITHDRAW: (lambda end: end.tell_left(),),
        LinkEndAction.REFUSE_AND_END: (_refuse, _end),
        LinkEndAction.END: (_answer_detach, _end),
        LinkEndAction.END_HERE: (lambda end: end.ended(),),
    }
    """The methods of each action, in order; a lambda calls a method that subclasses override."""
