"""The links on which the client sends messages.

Each message goes to the queue manager, whose answer becomes the delivery's outcome.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from assay_broker.amqp import engine
from assay_broker.amqp.conditions import (
    DECODE_ERROR,
    MESSAGE_SIZE,
    NOT_FOUND,
    UNAUTHORIZED,
    UNKNOWN_TRANSACTION,
    Condition,
    condition,
)
from assay_broker.amqp.engine import Delivery, DeliveryState
from assay_broker.amqp.frames import attach_encoding, attaches
from assay_broker.amqp.frames.attaches import AttachReply, Terminus
from assay_broker.amqp.frames.peer_properties import properties
from assay_broker.amqp.links import termini
from assay_broker.amqp.links.senders import SenderEnd
from assay_broker.amqp.links.states import LinkEndState
from assay_broker.amqp.links.termini import Sending
from assay_broker.amqp.links.transactions import Transaction, transactional
from assay_broker.amqp.messages import transcoding
from assay_broker.amqp.messages.dispositions import read_state
from assay_broker.core import commands
from assay_broker.core.effects import Answer
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import DELAYED_DELIVERY
from assay_sdk.amqp.types import DecodeError
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc, Refused, refused

_EXPELLED, _TRANSACTIONAL = LinkEndState.EXPELLED, int(DeliveryState.TRANSACTIONAL)
_OFFERED = types.symbols((DELAYED_DELIVERY,))
_UNROUTED = frozenset((NOT_FOUND, UNAUTHORIZED))
"""The conditions of a settled message's refusal for which the server detaches the link (Anonymous Terminus, 2.2.2)."""
_NO_TRANSACTION = None, None
_NO_TARGET = refused(
    Mqrc.UNKNOWN_OBJECT_NAME, "The link has no target: name one, or leave its address out to name one in each message."
)


class IncomingEnd(SenderEnd):
    """The server's end of a link on which the client sends messages."""

    holds = False
    _plan: Sending | None = None
    _address: Address | None = None
    _credit = 0
    """The number of messages that the client may still send."""
    _unanswered = 0
    _parts: bytearray | None = None

    def begin(self) -> None:
        """Ask the queue manager for the destination."""
        target = self.attach.target
        if not isinstance(target, Terminus):
            self.refuse(_NO_TARGET)
            return
        plan = termini.sending(target, self.context.kind_of)
        self._plan, self._address = plan, plan.address
        self.context.ask(self.asked, commands.AttachSender, self.number, plan.address, adopt=plan.made)

    def end(self, answer: Answer) -> AttachReply:
        """Return the server's attach, with the target as the server applies it and the destination's properties."""
        plan = self._plan
        target = b"" if plan is None else attach_encoding.encode_terminus(plan.target, attaches.TARGET)
        told, most = properties(answer.properties), self.context.limits.max_message
        return self.reply(target, offered=_OFFERED, properties=told, most=most)

    def leave(self) -> None:
        """Tell the queue manager of the client's detach; at a close, also delete the link's temporary destination."""
        plan = self._plan
        if plan is None or not plan.made or plan.address is None or not self.closes:
            super().leave()
            return
        self.tell_left()
        self.context.ask(self.released, commands.DeleteTemporary, plan.address)

    def flow(self) -> None:
        """Detach the link if the client's flow claims more sent messages than the client had credit for."""
        if self.engine.overdrawn and self.state is LinkEndState.OPEN:
            self.expel_overdrawn()

    def resume(self) -> None:
        """Give the client credit again, after memory is free."""
        self.catch_up()

    # --- transfers

    def changed(self, delivery: Delivery) -> None:
        """Handle a transfer: collect the parts of a message, and put it once it is complete."""
        octets = self.engine.read(delivery)
        if not octets and not self.engine.is_current(delivery):
            return  # not a transfer: the client has settled a delivery that waits for its outcome
        if self.attach.unreported.flawed and self.is_flawed(delivery):
            self._spoil(delivery)
        if engine.is_partial(delivery):
            self._part(octets)
        elif not octets and engine.is_aborted(delivery):
            self._parts = None
            self._is_resumed(delivery)
            self._take()
            engine.settle(delivery)
        else:
            self._whole(delivery, octets)

    def _take(self) -> bool:
        """Continue with the next delivery; return True if the current delivery was within the client's credit."""
        self.engine.advance()
        self._credit -= 1
        self.context.later(self)
        return self._credit >= 0

    def _part(self, octets: bytes) -> None:
        if self._parts is None:
            self._parts = bytearray()
        if self.state is not LinkEndState.EXPELLED:  # after its detach the server drops the client's octets
            self._parts += octets
            self._check_size(len(self._parts))

    def _whole(self, delivery: Delivery, octets: bytes) -> None:
        if self._parts is not None:
            octets, self._parts = bytes(self._parts) + octets, None
        resumed = self.attach.unreported.marked and self._is_resumed(delivery)
        if not self._take() or self.state is _EXPELLED:
            if self.state is not _EXPELLED:
                self.expel_overdrawn()
            self._spoil(delivery)
            self._turn_away(delivery)
        elif resumed:
            engine.settle(delivery)
        elif self._check_size(len(octets)):
            self._put(delivery, octets)
        else:
            self._spoil(delivery)

    def _transaction_of(self, delivery: Delivery) -> tuple[bytes | None, Transaction | None]:
        """Return the transaction of a delivery.

        Returns:
            The transaction id in the delivery's state (None for a state without one), and the open transaction with
            this id (None if no such transaction is open).

        Raises:
            DecodeError: The delivery's state is not valid.
        """
        if engine.state_of(delivery) != _TRANSACTIONAL:
            return _NO_TRANSACTION
        txn_id, _ = read_state(engine.state_fields(delivery))
        return txn_id, self.context.transactions.get(txn_id)

    def _spoil(self, delivery: Delivery) -> None:
        """Make the transaction of a delivery fail, because the server drops the delivery together with its link."""
        with suppress(DecodeError):
            _, transaction = self._transaction_of(delivery)
            if transaction is not None:
                transaction.broken = transaction.broken or self.why

    def _turn_away(self, delivery: Delivery) -> None:
        """Reject a message on a link that has ended, because the client could take a missing outcome for acceptance.

        A message that cannot be rejected is only settled: the client sent it settled or does not support *rejected*.
        """
        if self.why is None or engine.is_settled(delivery) or not self.takes_rejected:
            engine.settle(delivery)
        else:
            engine.reject(delivery, self.why)

    def _is_resumed(self, delivery: Delivery) -> bool:
        """Return whether a delivery resumes an earlier one, of which the server has no state (AMQP 1.0, 2.7.5).

        The method also removes the mark of such a delivery.
        """
        marked, tag = self.attach.unreported.marked, engine.tag_of(delivery)
        found = tag in marked and marked[tag] is None
        if found:
            del marked[tag]
        return found

    def _check_size(self, size: int) -> bool:
        limit = self.context.limits.max_message
        if size <= limit:
            return True
        self._parts = None
        self.expel(Condition(MESSAGE_SIZE, f"A message has more than {limit} octets."))
        return False

    def _put(self, delivery: Delivery, octets: bytes) -> None:
        context = self.context
        settled = engine.is_settled(delivery)
        try:
            txn_id, transaction = self._transaction_of(delivery)
            if txn_id is not None and transaction is None:
                self._refuse_one(delivery, Condition(UNKNOWN_TRANSACTION, "The unit of work does not exist."))
                return
            message = transcoding.read(
                octets, self._address, now_ms=context.now_ms(), max_depth=context.limits.max_depth
            )
        except DecodeError as error:
            self._refuse_one(delivery, Condition(DECODE_ERROR, f"A message is not valid: {error}."))
            return
        if self._address is None:
            message = self._addressed(message)
        tag = engine.tag_of(delivery) if settled and self._address is None else b""
        if settled:
            engine.settle(delivery)
        if transaction is None and settled:
            routed = None if self._address is not None else context.expect(partial(self._routed, tag))
            context.put(commands.Put(context.number, routed, self.number, message))
            return
        self._unanswered += 1
        if transaction is None:
            token = context.expect(partial(self._stored, delivery))
            context.put(commands.Put(context.number, token, self.number, message))
        else:
            transaction.asked()
            token = context.expect(partial(self._joined, None if settled else delivery, transaction))
            context.put(commands.Put(context.number, token, self.number, message, transaction.number))

    def _addressed(self, message: Message) -> Message:
        """Return a message whose "to" is resolved to a queue or a topic."""
        if message.to is None:
            return message
        to = termini.named(message.to, self.context.kind_of)
        return message if to == message.to else replace(message, to=to)

    def _refuse_one(self, delivery: Delivery, why: Condition) -> None:
        """Reject an invalid message, or detach the link if the client cannot receive *rejected* for this delivery."""
        if not engine.is_settled(delivery) and self.takes_rejected:
            engine.reject(delivery, why)
            return
        self.expel(why)
        self._spoil(delivery)
        if engine.is_settled(delivery):
            engine.settle(delivery)

    def _routed(self, tag: bytes, answer: Answer) -> None:
        """Detach the link if the queue manager has refused the destination of a settled message (anonymous relay)."""
        if answer.refused is not None:
            why = condition(answer.refused, tag)
            if why.name in _UNROUTED and self.state is LinkEndState.OPEN:
                self.expel(why)

    def _why(self, delivery: Delivery, refused: Refused) -> Condition:
        """Return the error condition for a refused message; for the anonymous relay, with the delivery's tag."""
        return condition(refused, engine.tag_of(delivery) if self._address is None else b"")

    def _stored(self, delivery: Delivery, answer: Answer) -> None:
        """Accept or reject a delivery, according to the queue manager's answer to the put."""
        self._unanswered -= 1
        if self.engine.alive:
            if answer.refused is None:
                engine.accept(delivery)
            else:
                self.reject(delivery, self._why(delivery, answer.refused))
        self.context.later(self)

    def _joined(self, delivery: Delivery | None, transaction: Transaction, answer: Answer) -> None:
        """Give a delivery in a transaction its state, according to the queue manager's answer to the put."""
        self._unanswered -= 1
        why = None if answer.refused is None else condition(answer.refused)
        if delivery is not None and self.engine.alive:
            if answer.refused is not None:
                why = self._why(delivery, answer.refused)
            if why is None or self.takes_rejected:
                engine.answer(delivery, DeliveryState.TRANSACTIONAL, transactional(transaction.txn_id, why))
            else:
                self.expel(why)
        # If the client cannot get a refusal as an outcome, the refusal makes the whole transaction fail.
        transaction.answered(why if delivery is None or not self.takes_rejected else None)
        self.context.later(self)

    def catch_up(self) -> None:
        """Give the client new credit for answered messages, once half of the credit is used."""
        if self.state is not LinkEndState.OPEN or self._credit < 0:
            return
        most = self.context.limits.credit
        room = most - self._unanswered - self._credit
        if room * 2 >= most and self.engine.alive and not self.context.memory_is_short():
            self._credit += room
            self.engine.flow(room)
