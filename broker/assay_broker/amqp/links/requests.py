"""The links on which the client sends requests: each message is a request, and its outcome is the answer.

These are the links to the transaction coordinator (OASIS AMQP 1.0, part 4), and the links that cancel delayed messages.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

from assay_broker.amqp import engine
from assay_broker.amqp.conditions import DECODE_ERROR, NOT_ALLOWED, Condition, condition
from assay_broker.amqp.engine import Delivery
from assay_broker.amqp.frames import attach_encoding, attaches
from assay_broker.amqp.frames.attaches import AttachReply, Terminus
from assay_broker.amqp.links.senders import SenderEnd
from assay_broker.amqp.links.states import LinkEndState
from assay_broker.core import commands
from assay_broker.core.effects import Answer
from assay_sdk.amqp import codec
from assay_sdk.amqp.types import DecodeError

_MAX_OCTETS = 4_096
"""The most octets of a request; a declare, a discharge or a message id is far shorter."""


class RequestEnd(SenderEnd):
    """The server's end of a link whose messages are requests; `ask` carries out each request."""

    known = False
    what = "a request"
    """The noun for a request in error descriptions."""

    _parts = b""

    def begin(self) -> None:
        """Open the link without asking the queue manager, because the link itself needs no authority."""
        self.asked(Answer(self.context.number, 0))

    def catch_up(self) -> None:
        """Give the client new credit, once it has used half of its credit."""
        most = self.context.limits.credit
        room = most - self.engine.credit
        if room * 2 >= most:
            self.engine.flow(room)

    @abstractmethod
    def ask(self, delivery: Delivery, octets: bytes) -> None:
        """Carry out a request, and answer it with the delivery's outcome.

        Raises:
            DecodeError: The octets are not a valid request.
        """

    def accept(self, delivery: Delivery) -> None:
        """Accept a delivery, because its request was carried out."""
        if self.engine.alive:
            engine.accept(delivery)

    def changed(self, delivery: Delivery) -> None:
        """Handle a transfer: collect the parts of a request, and carry it out once it is complete."""
        if self.attach.unreported.flawed and self.is_flawed(delivery):
            self.engine.drop(delivery)
            return
        if self.state is LinkEndState.EXPELLED or self.engine.overdrawn:
            self.expel_overdrawn()
            self.engine.drop(delivery)
            return
        self._parts += self.engine.read(delivery)
        if engine.is_aborted(delivery):
            self._parts = b""
            self.engine.advance()
            engine.settle(delivery)
            return
        if len(self._parts) > _MAX_OCTETS:
            self.expel(Condition(DECODE_ERROR, f"A message on this link is too long for {self.what}."))
            return
        if engine.is_partial(delivery) or not self.engine.is_current(delivery):
            return
        octets, self._parts = self._parts, b""
        self.engine.advance()
        self.catch_up()
        if engine.is_settled(delivery):
            engine.settle(delivery)
            self.expel(Condition(NOT_ALLOWED, f"Send {self.what} unsettled, because its outcome is the answer."))
            return
        try:
            self.ask(delivery, octets)
        except DecodeError as error:
            self.reject(delivery, Condition(DECODE_ERROR, str(error)))


class CancelEnd(RequestEnd):
    """The server's end of a link to `CANCEL_NODE`: each message's body is the id of a delayed message to cancel.

    The server accepts the message if it has cancelled the delayed message.  It rejects the message with
    ``amqp:not-found`` if no message of this id is staged.
    """

    what = "a message id"

    def end(self, answer: Answer) -> AttachReply:
        """Return the server's attach, with the target as the client wrote it."""
        del answer
        target = self.attach.target
        return self.reply(
            attach_encoding.encode_terminus(target, attaches.TARGET) if isinstance(target, Terminus) else b""
        )

    def ask(self, delivery: Delivery, octets: bytes) -> None:
        """Cancel the delayed message whose id is the body of a request.

        Raises:
            DecodeError: The request is malformed, or its body is empty or not a text.
        """
        body = codec.decode(octets).message.body
        if not isinstance(body, str) or not body:
            raise DecodeError("The body is not a message id: send its text.")
        self.context.ask(partial(self._answered, delivery), commands.Cancel, body)

    def _answered(self, delivery: Delivery, answer: Answer) -> None:
        if answer.refused is None:
            self.accept(delivery)
        else:
            self.reject(delivery, condition(answer.refused))
