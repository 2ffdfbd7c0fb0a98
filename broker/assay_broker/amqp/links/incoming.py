"""Links on which the client sends: transfers go to the queue manager, its answers return as outcomes."""

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
from assay_broker.amqp.links.states import LinkState
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

_EXPELLED, _TRANSACTIONAL = LinkState.EXPELLED, int(DeliveryState.TRANSACTIONAL)
_OFFERED = types.symbols((DELAYED_DELIVERY,))
_UNROUTED = frozenset((NOT_FOUND, UNAUTHORIZED))
"""Reason codes for which a link to the message's destination would be refused too (Anonymous Terminus, 2.2.2)."""
_NO_TRANSACTION = None, None
_NO_TARGET = refused(
    Mqrc.UNKNOWN_OBJECT_NAME, "The link has no target: name one, or leave its address out to name one in each message."
)


class IncomingEnd(SenderEnd):
    """One link on which the client sends."""

    holds = False
    _plan: Sending | None = None
    _address: Address | None = None
    _credit = 0
    """How many messages the client may still send."""
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
        """Return the target as the server understands it, with properties of the destination."""
        plan = self._plan
        target = b"" if plan is None else attach_encoding.encode_terminus(plan.target, attaches.TARGET)
        told, most = properties(answer.properties), self.context.limits.max_message
        return self.reply(target, offered=_OFFERED, properties=told, most=most)

    def leave(self) -> None:
        """Delete the temporary destination that was made for the link."""
        plan = self._plan
        if plan is None or not plan.made or plan.address is None or not self.closes:
            super().leave()
            return
        self.tell_left()
        self.context.ask(self.released, commands.DeleteTemporary, plan.address)

    def flow(self) -> None:
        """Check the client's count of sent messages: it may exceed the credit, too."""
        if self.engine.overdrawn and self.state is LinkState.OPEN:
            self.expel_overdrawn()

    def resume(self) -> None:
        """Give credit again."""
        self.catch_up()

    # --- transfers

    def changed(self, delivery: Delivery) -> None:
        """Take a transfer of a delivery."""
        octets = self.engine.read(delivery)
        if not octets and not self.engine.is_current(delivery):
            return  # the client has settled a delivery that waits for its outcome
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
        """Advance to the next delivery. Return whether there was credit for this one."""
        self.engine.advance()
        self._credit -= 1
        self.context.later(self)
        return self._credit >= 0

    def _part(self, octets: bytes) -> None:
        if self._parts is None:
            self._parts = bytearray()
        if self.state is not LinkState.EXPELLED:  # otherwise the client has not yet received the detach
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
        """Return the transaction id of a delivery (None for none), and the open transaction of that id.

        Raises:
            DecodeError: Its state cannot be read.
        """
        if engine.state_of(delivery) != _TRANSACTIONAL:
            return _NO_TRANSACTION
        txn_id, _ = read_state(engine.state_fields(delivery))
        return txn_id, self.context.transactions.get(txn_id)

    def _spoil(self, delivery: Delivery) -> None:
        """Make the transaction of a delivery fail that is dropped with the link, without an outcome of its own."""
        with suppress(DecodeError):
            _, transaction = self._transaction_of(delivery)
            if transaction is not None:
                transaction.broken = transaction.broken or self.why

    def _turn_away(self, delivery: Delivery) -> None:
        """Reject a message on a link that has ended: settled without an outcome it might seem accepted."""
        if self.why is None or engine.is_settled(delivery) or not self.takes_rejected:
            engine.settle(delivery)
        else:
            engine.reject(delivery, self.why)

    def _is_resumed(self, delivery: Delivery) -> bool:
        """Whether a delivery resumes one from before the attach, of which the server knows nothing (2.7.5, resume)."""
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
                self._refuse_one(delivery, Condition(UNKNOWN_TRANSACTION, "There is no such unit of work."))
                return
            message = transcoding.read(
                octets, self._address, now_ms=context.now_ms(), max_depth=context.limits.max_depth
            )
        except DecodeError as error:
            self._refuse_one(delivery, Condition(DECODE_ERROR, f"A message cannot be read: {error}."))
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
        """Return a message with its destination, which its own "to" names."""
        if message.to is None:
            return message
        to = termini.named(message.to, self.context.kind_of)
        return message if to == message.to else replace(message, to=to)

    def _refuse_one(self, delivery: Delivery, why: Condition) -> None:
        """Reject a message before it is put, or close the link if the client waits for no outcome."""
        if not engine.is_settled(delivery) and self.takes_rejected:
            engine.reject(delivery, why)
            return
        self.expel(why)
        self._spoil(delivery)
        if engine.is_settled(delivery):
            engine.settle(delivery)

    def _routed(self, tag: bytes, answer: Answer) -> None:
        """Take the answer to a settled message on the anonymous relay; close the link if it has no destination."""
        if answer.refused is not None:
            why = condition(answer.refused, tag)
            if why.name in _UNROUTED and self.state is LinkState.OPEN:
                self.expel(why)

    def _why(self, delivery: Delivery, refused: Refused) -> Condition:
        """Return the error condition of a refused message; on the anonymous relay it names the delivery."""
        return condition(refused, engine.tag_of(delivery) if self._address is None else b"")

    def _stored(self, delivery: Delivery, answer: Answer) -> None:
        """Take the answer to a put."""
        self._unanswered -= 1
        if self.engine.alive:
            if answer.refused is None:
                engine.accept(delivery)
            else:
                self.reject(delivery, self._why(delivery, answer.refused))
        self.context.later(self)

    def _joined(self, delivery: Delivery | None, transaction: Transaction, answer: Answer) -> None:
        """Take the answer to a put in a transaction."""
        self._unanswered -= 1
        why = None if answer.refused is None else condition(answer.refused)
        if delivery is not None and self.engine.alive:
            if answer.refused is not None:
                why = self._why(delivery, answer.refused)
            if why is None or self.takes_rejected:
                engine.answer(delivery, DeliveryState.TRANSACTIONAL, transactional(transaction.txn_id, why))
            else:
                self.expel(why)
        # A refusal that the client cannot be told by an outcome makes the whole transaction fail.
        transaction.answered(why if delivery is None or not self.takes_rejected else None)
        self.context.later(self)

    def catch_up(self) -> None:
        """Give credit for answered messages, in portions."""
        if self.state is not LinkState.OPEN or self._credit < 0:
            return
        most = self.context.limits.credit
        room = most - self._unanswered - self._credit
        if room * 2 >= most and self.engine.alive and not self.context.memory_is_short():
            self._credit += room
            self.engine.flow(room)
