"""Links on which the client receives: the queue manager's messages out, outcomes back."""

from __future__ import annotations

from collections import deque
from functools import partial

from assay_broker.amqp import engine
from assay_broker.amqp.conditions import DECODE_ERROR, NOT_IMPLEMENTED, UNKNOWN_TRANSACTION, Condition, condition
from assay_broker.amqp.engine import Delivery, DeliveryState, EngineLink, SettleMode
from assay_broker.amqp.frames import attach_encoding, attaches
from assay_broker.amqp.frames.attaches import AttachReply, Terminus
from assay_broker.amqp.frames.peer_properties import properties
from assay_broker.amqp.links import termini
from assay_broker.amqp.links.link import LinkContext, LinkEnd
from assay_broker.amqp.links.states import LinkState
from assay_broker.amqp.links.termini import Reception
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.amqp.messages import transcoding
from assay_broker.amqp.messages.dispositions import BARE, Disposition, outcome_of, read_state
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Deliver
from assay_sdk.amqp import types
from assay_sdk.amqp.codec import EncodeError
from assay_sdk.amqp.terms import SHARED_SUBSCRIPTIONS
from assay_sdk.amqp.types import DecodeError
from assay_sdk.driver import Durability, Outcome

_OFFERED = types.symbols((SHARED_SUBSCRIPTIONS,))
_LOOK = 65_536
"""Octets sent before the engine is asked again how much output waits."""
_OPEN = LinkState.OPEN
"""Cached at import: `Enum` attribute lookup is slow in Python 3.11, and this runs for every message."""
_RECEIVED, _TRANSACTIONAL = int(DeliveryState.RECEIVED), int(DeliveryState.TRANSACTIONAL)


class OutgoingEnd(LinkEnd):
    """One link on which the client receives.

    Args:
        context: The connection.
        link: The engine's link.
        attach: The fields of the client's attach.
        session: The number of the session that it belongs to.
        plan: The destination and options of its source.
    """

    def __init__(
        self, context: LinkContext, link: EngineLink, attach: attaches.Attach, session: int, plan: Reception
    ) -> None:
        super().__init__(context, link, attach, session)
        self.plan = plan
        self._settled = attach.snd_settle_mode == SettleMode.SETTLED
        self._unsettled: dict[Delivery, int] = {}
        """Deliveries that were sent and are not settled, with the queue manager's numbers."""
        self._enlisted: dict[int, Delivery | None] = {}
        self._asked = 0
        """Credit that the queue manager has and has not used."""
        self._unlooked = 0
        """Octets sent since the engine was asked how much output waits."""
        self._draining = False
        self._drain_due = False
        """Whether a drain is to be answered once the messages waiting here or for the window have left."""
        self._waiting: deque[Deliver] = deque()
        """Deliveries for which the client's output has no room. The first may have been sent in part."""
        self._settling: dict[int, Delivery] = {}
        """Deliveries whose outcome is being stored."""

    def begin(self) -> None:
        """Ask the queue manager for the source."""
        plan = self.plan
        token = self.context.expect(self.asked)
        self.context.handle(
            commands.Attach(
                connection=self.context.number,
                token=token,
                link=self.number,
                address=plan.address,
                selector=plan.selector,
                no_local=plan.no_local,
                durability=plan.durability,
                name=plan.name,
                shared=plan.shared,
                everybodys=plan.everybodys,
                settled=self._settled,
                session=self.session if self.context.gets_own else None,
                timeout_ms=plan.timeout_ms,
                adopt=plan.made,
            )
        )

    def end(self, answer: Answer) -> AttachReply:
        """Return the source as the server understands it, with properties of the queue."""
        return receiving_end(self.attach, self.plan.source, properties(answer.properties))

    def opened(self) -> None:
        """Use credit that arrived with the attach."""
        self.flow()

    # --- credit

    def flow(self) -> None:
        """Pass credit on in portions, and answer a drain."""
        if self.state is not _OPEN or self._draining:
            return
        credit, draining = self.engine.credit, self.wants_drain
        full = self.is_full or bool(self._waiting)
        wanted = max(0, min(credit - len(self._waiting), self.context.limits.window))
        if full:
            wanted = min(wanted, self._asked)
        more = wanted - self._asked
        if draining:
            if full and credit > 0:
                self.context.starve(self)
                return  # `resume` calls this again
            self._draining = True
            self._asked += more
            token = self.context.expect(self._drained)
            self.context.handle(commands.Flow(self.context.number, token, self.number, more, drain=True))
        elif more < 0 or (more and more * 2 >= wanted):
            self._asked += more
            self.context.handle(commands.Flow(self.context.number, None, self.number, more))

    def _drained(self, answer: Answer) -> None:
        """Take the answer to a drain: the queue manager has sent what it had, and the credit is used up."""
        del answer
        self._draining = False
        filled, self._asked = self._asked == 0, 0
        if not self.wants_drain or (filled and self.engine.credit > len(self._waiting)):
            self.flow()  # the client has stopped draining, or more messages than one portion may be left
        else:
            self._end_drain()

    def _end_drain(self) -> None:
        """Answer a drain once all its messages have left."""
        self._drain_due = bool(self._waiting) or not self.end_drain()
        if self._drain_due:
            self.context.starve(self)

    def resume(self) -> None:
        """Send what waits, and pass credit on again."""
        self._unlooked = _LOOK
        while self._waiting and self.state is LinkState.OPEN and not self._has_filled:
            if not self._send(self._waiting[0]):
                break
            self._waiting.popleft()
        if self._waiting:
            self.context.starve(self)
        elif self._drain_due:
            self._end_drain()
        self.flow()

    # --- deliveries

    def deliver(self, delivery: Deliver) -> None:
        """Send a message."""
        if self.state is not _OPEN:
            return  # the queue manager took it back with the link
        self._asked -= 1
        if not self._waiting and not self._has_filled and self._send(delivery):
            self.context.later(self)
        elif self.state is _OPEN:
            self._waiting.append(delivery)
            self.context.starve(self)

    @property
    def _has_filled(self) -> bool:
        """Whether the output has no room. The engine is asked only after `_LOOK` octets, because asking is slow."""
        if self._unlooked < _LOOK and not self.context.congested:
            return False
        self._unlooked = 0
        return self.is_full

    def catch_up(self) -> None:
        """Pass credit on."""
        self.flow()

    def _send(self, delivery: Deliver) -> bool:
        """Send a message, or more of it. Return whether it is complete."""
        link = self.engine
        if link.unfinished:
            return link.send_on()
        message, octets = delivery.message, delivery.message.encoded
        now_ms = 0 if message.expiry_ms is None else self.context.now_ms()
        try:
            if octets is not None and len(octets) <= engine.SHORT:
                octets = transcoding.write(message, count=delivery.count, now_ms=now_ms)
                self._unlooked += len(octets)
                sent = link.send(delivery.delivery, octets, settled=self._settled)
            else:
                head, rest = transcoding.pieces(message, count=delivery.count, now_ms=now_ms)
                self._unlooked = _LOOK
                sent = link.send_long(delivery.delivery, head, rest, settled=self._settled)
        except (EncodeError, DecodeError) as error:  # it arrived by another protocol
            self.expel(Condition(NOT_IMPLEMENTED, f"A message cannot be said in AMQP: {error}."))
            return False
        if sent is not None and not self._settled:
            self._unsettled[sent] = delivery.delivery
        return not link.unfinished

    def changed(self, delivery: Delivery) -> None:
        """Take the client's state of a delivery."""
        if self.state is not _OPEN:
            return  # the queue manager took back unsettled deliveries
        state, settled = engine.state_of(delivery), engine.is_settled(delivery)
        if self._waiting and (settled or state > _RECEIVED) and self.engine.give_up(delivery):
            self._waiting.popleft()  # the client does not want the rest
            settled = True
        number = self._unsettled.get(delivery)
        if number is None:
            if settled:
                self._settled_again(delivery)
            return
        if state == _TRANSACTIONAL:
            self._enlist(delivery, number, settled=settled)
            return
        said = BARE.get(state) or self._other_outcome(delivery, state, settled=settled)
        if said is None:
            return  # received in part, or nothing said
        del self._unsettled[delivery]
        if settled:
            engine.settle(delivery)
            self._settle(number, said)
            return

        self._settling[number] = delivery

        def stored(_answer: Answer) -> None:
            found = self._settling.pop(number, None)  # None if the client has settled it meanwhile
            if found is not None and self.engine.alive:
                engine.settle(found)

        self._settle_alone(self.context.expect(stored), number, said)

    def _other_outcome(self, delivery: Delivery, state: int, *, settled: bool) -> Disposition | None:
        try:
            said = outcome_of(delivery, state)
        except DecodeError as error:
            self._misread(error)
            return None
        return Disposition(self.plan.settled) if said is None and settled else said

    def _misread(self, error: DecodeError) -> None:
        self.expel(Condition(DECODE_ERROR, f"A delivery's state cannot be read: {error}."))

    def _settled_again(self, delivery: Delivery) -> None:
        """Settle a delivery that got its outcome before, in a transaction or by itself."""
        number = int.from_bytes(engine.tag_of(delivery))
        if number in self._enlisted:
            self._enlisted[number] = None
        self._settling.pop(number, None)
        engine.settle(delivery)

    def _settle(self, number: int, said: Disposition) -> None:
        if said.leave_out or said.annotations:
            self._settle_alone(None, number, said)
        else:
            self.context.settle(self.number, number, said.outcome)

    def _settle_alone(self, token: int | None, number: int, said: Disposition, unit: int | None = None) -> None:
        self.context.handle(
            commands.Settle(
                self.context.number,
                token,
                self.number,
                (number,),
                said.outcome,
                unit,
                leave_out=said.leave_out,
                annotations=said.annotations,
            )
        )

    def _enlist(self, delivery: Delivery, number: int, *, settled: bool) -> None:
        """Apply a delivery's outcome within a transaction."""
        try:
            txn_id, said = read_state(engine.state_fields(delivery))
        except DecodeError as error:
            self._misread(error)
            return
        transaction = self.context.transactions.get(txn_id)
        if transaction is None:
            self.expel(Condition(UNKNOWN_TRANSACTION, "A delivery is settled in a unit of work that there is not."))
            return
        del self._unsettled[delivery]
        self._enlisted[number] = None if settled else delivery
        if settled:
            engine.settle(delivery)
        transaction.settle(self, number)
        token = self.context.expect(partial(_joined, transaction))
        self._settle_alone(token, number, said, transaction.number)

    def transaction_committed(self, delivery: int) -> None:
        """Settle a delivery: the queue manager has applied its outcome."""
        unsettled = self._enlisted.pop(delivery, None)
        if unsettled is not None and self.engine.alive:
            engine.settle(unsettled)

    def transaction_backed_out(self, delivery: int) -> None:
        """Give a delivery back if the client has settled it; otherwise it is unsettled again."""
        unsettled = self._enlisted.pop(delivery, None)
        if self.state is not LinkState.OPEN:
            return
        if unsettled is None:
            self.context.settle(self.number, delivery, Outcome.MODIFIED)
        else:
            self._unsettled[unsettled] = delivery

    # --- ending

    def leave(self) -> None:
        """Apply the default outcome to unsettled deliveries.

        Remove the subscription if the client closes it for good.
        """
        plan = self.plan
        self._give_back()
        lasts = plan.durability is Durability.DURABLE and plan.name is not None
        if not self.closes or not (plan.made or lasts):
            super().leave()
            return
        self.tell_left()
        token = self.context.expect(self.released)
        if plan.made:
            self.context.handle(commands.DeleteTemporary(self.context.number, token, plan.address))
        else:
            self.context.handle(
                commands.Unsubscribe(self.context.number, token, str(plan.name), everybodys=plan.everybodys)
            )

    def tell_left(self) -> None:
        """Apply the default outcome to unsettled deliveries first."""
        self._give_back()
        super().tell_left()

    def _give_back(self) -> None:
        """Apply the default outcome to unsettled deliveries."""
        if not self._unsettled:
            return
        # With credit left, the messages given back would be delivered to this link again.
        self.context.handle(commands.Flow(self.context.number, None, self.number, -self._asked))
        self._asked = 0
        for number in self._unsettled.values():
            self.context.settle(self.number, number, self.plan.default)
        self._unsettled.clear()

    def ended(self) -> None:
        """Drop all deliveries."""
        self._unsettled.clear()
        self._settling.clear()
        self._waiting.clear()
        self._enlisted = dict.fromkeys(self._enlisted)


def receiving_end(attach: attaches.Attach, source: Terminus, told: bytes = b"") -> AttachReply:
    """Return our attach for a link on which the client receives."""
    target = attach.target
    mode = attach.snd_settle_mode
    return AttachReply(
        name=attach.name,
        source=attach_encoding.encode_terminus(source, attaches.SOURCE, termini.OUTCOMES),
        target=attach_encoding.encode_terminus(target, attaches.TARGET) if isinstance(target, Terminus) else b"",
        offered=_OFFERED,
        properties=told,
        snd_settle_mode=SettleMode.SETTLED if mode == SettleMode.SETTLED else SettleMode.UNSETTLED,
        rcv_settle_mode=attach.rcv_settle_mode,
    )


def _joined(transaction: Transaction, answer: Answer) -> None:
    """Count the queue manager's answer to an outcome within a transaction."""
    transaction.answered(None if answer.refused is None else condition(answer.refused))
