"""The links that remove no messages from a queue: browsers, and look-ups of a subscription."""

from __future__ import annotations

from collections import deque
from typing import cast

from assay_broker.amqp import engine
from assay_broker.amqp.engine import Delivery, EngineLink
from assay_broker.amqp.frames.attaches import AttachFrame, AttachReply
from assay_broker.amqp.links import termini
from assay_broker.amqp.links.link import LinkContext, LinkEnd
from assay_broker.amqp.links.receivers import ReceiverEnd, receiving_end
from assay_broker.amqp.links.states import LinkEndState
from assay_broker.amqp.links.termini import Reception
from assay_broker.amqp.messages import transcoding
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Browsed
from assay_broker.core.topics.subscriptions import Terms
from assay_sdk.amqp.codec import EncodeError
from assay_sdk.amqp.types import DecodeError


class BrowserEnd(ReceiverEnd):
    """The server's end of a browser's link: sends copies of the messages that are on the queue at the attach."""

    known = False

    def __init__(self, context: LinkContext, engine: EngineLink, attach: AttachFrame, plan: Reception) -> None:
        super().__init__(context, engine, attach, plan)
        self._found: deque[Browsed] = deque()
        self._sent = 0

    def begin(self) -> None:
        """Ask the queue manager for the messages of the queue."""
        self.context.ask(self._looked, commands.Browse, self.plan.address, self.plan.selector)

    def flow(self) -> None:
        """Send as many messages as the client has given credit for, and then answer a drain."""
        if self.state is not LinkEndState.OPEN:
            return
        while self._found and self.engine.credit > 0 and not self.is_full:
            if not self._show(self._found[0]):
                break
            self._found.popleft()
        if self._found and self.engine.credit > 0:
            self.context.starved[self] = None
        if self.wants_drain and (self.engine.credit <= 0 or not self._found) and not self.end_drain():
            self.context.starved[self] = None

    def _show(self, found: Browsed) -> bool:
        """Send a message or its next part; return True if the message is sent completely, or cannot be sent."""
        if self.engine.unfinished:
            return self.engine.send_on()
        try:
            head, rest = transcoding.pieces(found.message, count=found.count, now_ms=self.context.now_ms())
        except (EncodeError, DecodeError):
            return True  # skipped, because AMQP cannot encode this message of another protocol
        self._sent += 1
        self.engine.send_long(self._sent, head, rest, settled=self.settled)
        return not self.engine.unfinished

    def changed(self, delivery: Delivery) -> None:
        """Settle a copy to which the client has given an outcome, and ignore the outcome."""
        if self.state is not LinkEndState.OPEN:
            return
        if engine.is_settled(delivery) or engine.state_of(delivery) > engine.DeliveryState.RECEIVED:
            if self.engine.give_up(delivery):
                self._found.popleft()
            else:
                engine.settle(delivery)

    def ended(self) -> None:
        """Drop the messages that are not sent yet."""
        self._found.clear()

    def _looked(self, answer: Answer) -> None:
        if answer.refused is None:
            self._found.extend(cast("tuple[Browsed, ...]", answer.value))
        self.asked(answer)


class LookupEnd(LinkEnd):
    """The server's end of a link without a source, with which Qpid JMS unsubscribes (``AmqpConnectionSession``).

    The link looks up the subscription that has the link's name, and removes the subscription when the client closes the
    link.  It sends no messages.
    """

    known = False
    _terms: Terms | None = None

    def begin(self) -> None:
        """Ask the queue manager for the subscription with the link's name, on any topic."""
        self.context.ask(self._found, commands.FindSubscription, self._name, is_global=self._is_global)

    def end(self, answer: Answer) -> AttachReply:
        """Return the server's attach, with the source of the subscription that the look-up has found."""
        del answer
        if self._terms is None:
            raise RuntimeError("the queue manager granted a look-up without a subscription")
        return receiving_end(self.attach, termini.found_source(self._terms))

    def leave(self) -> None:
        """Remove the subscription, if the client closes the link and does not only detach it."""
        if self.closes:
            self.context.ask(self.released, commands.Unsubscribe, self._name, is_global=self._is_global)
        else:
            super().leave()

    @property
    def _is_global(self) -> bool:
        return termini.looks_for_global(self.attach)

    @property
    def _name(self) -> str:
        return termini.subscription_name(self.attach.name, shared=True)

    def _found(self, answer: Answer) -> None:
        if answer.refused is None:
            (self._terms,) = cast("tuple[Terms]", answer.value)
        self.asked(answer)
