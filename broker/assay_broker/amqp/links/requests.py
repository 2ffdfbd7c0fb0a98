"""Links on which the client sends requests: each message is a request, its outcome the answer.

They are the transaction coordinator (OASIS AMQP 1.0, part 4) and the cancelling of delayed messages.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

from assay_broker.amqp import engine
from assay_broker.amqp.conditions import DECODE_ERROR, NOT_ALLOWED, TRANSFER_LIMIT, Condition, condition
from assay_broker.amqp.engine import Delivery
from assay_broker.amqp.frames import attach_encoding, attaches
from assay_broker.amqp.frames.attaches import AttachReply, Terminus
from assay_broker.amqp.links.link import LinkEnd
from assay_broker.amqp.links.states import LinkState
from assay_broker.amqp.links.termini import senders
from assay_broker.core import commands
from assay_broker.core.effects import Answer
from assay_sdk.amqp import codec
from assay_sdk.amqp.types import DecodeError

_MAX_OCTETS = 4_096
"""Octets of the longest request. A declare, a discharge or a message id is far shorter."""


class RequestEnd(LinkEnd):
    """A link whose messages are requests; each is passed to `ask`."""

    what = "a request"
    """What a request is called in error descriptions."""

    _parts = b""

    def begin(self) -> None:
        """Attach without asking the queue manager, because the link itself needs no authority."""
        self.asked(Answer(self.context.number, 0))

    def opened(self) -> None:
        """Give credit, unless the client has sent without any."""
        if self.engine.overdrawn:
            self._expel_overdrawn()
        else:
            self.engine.flow(self.context.limits.credit)

    def _expel_overdrawn(self) -> None:
        self.expel(Condition(TRANSFER_LIMIT, "More was sent than there was credit for: wait for a flow."))

    def leave(self) -> None:
        """Detach at once: the queue manager does not know of the link."""
        self.tell_left()
        self.released(Answer(self.context.number, 0))

    @abstractmethod
    def ask(self, delivery: Delivery, octets: bytes) -> None:
        """Carry out a request; the delivery's outcome is the answer.

        Raises:
            DecodeError: The octets are no such request.
        """

    def changed(self, delivery: Delivery) -> None:
        """Take a transfer of a delivery."""
        if self.attach.unreported.flawed and self.is_flawed(delivery):
            self.engine.drop(delivery)
            return
        if self.state is LinkState.EXPELLED or self.engine.overdrawn:
            self._expel_overdrawn()
            self.engine.drop(delivery)
            return
        self._parts += self.engine.read(delivery)
        if engine.is_aborted(delivery):
            self._parts = b""
            self.engine.advance()
            engine.settle(delivery)
            return
        if len(self._parts) > _MAX_OCTETS:
            self.expel(Condition(DECODE_ERROR, f"What is sent here is not {self.what}: it is too long."))
            return
        if engine.is_partial(delivery) or not self.engine.is_current(delivery):
            return
        octets, self._parts = self._parts, b""
        self.engine.advance()
        if self.engine.credit < self.context.limits.credit // 2:
            self.engine.flow(self.context.limits.credit - self.engine.credit)
        if engine.is_settled(delivery):
            engine.settle(delivery)
            self.expel(Condition(NOT_ALLOWED, f"Send {self.what} unsettled: its outcome is the answer."))
            return
        try:
            self.ask(delivery, octets)
        except DecodeError as error:
            self.reject(delivery, Condition(DECODE_ERROR, str(error)))


class CancelEnd(RequestEnd):
    """A link to `CANCEL_NODE`: the body of each message is the id of a delayed message to cancel.

    The outcome is accepted when it was, and rejected with ``amqp:not-found`` when no such message is staged.
    """

    what = "a message id"

    def end(self, answer: Answer) -> AttachReply:
        """Return the target as the client wrote it."""
        del answer
        target = self.attach.target
        return AttachReply(
            name=self.attach.name,
            source=senders(self.attach.source),
            target=attach_encoding.encode_terminus(target, attaches.TARGET) if isinstance(target, Terminus) else b"",
            snd_settle_mode=self.attach.snd_settle_mode,
        )

    def ask(self, delivery: Delivery, octets: bytes) -> None:
        """Cancel a delayed message."""
        body = codec.decode(octets).message.body
        if not isinstance(body, str) or not body:
            raise DecodeError("The body is not a message id: send its text.")
        token = self.context.expect(partial(self._answered, delivery))
        self.context.pass_on()
        self.context.handle(commands.Cancel(self.context.number, token, body))

    def _answered(self, delivery: Delivery, answer: Answer) -> None:
        if not self.engine.alive:
            return
        if answer.refused is None:
            engine.accept(delivery)
        else:
            self.reject(delivery, condition(answer.refused))
