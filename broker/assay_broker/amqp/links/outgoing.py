"""Links on which the client receives: the queue manager's messages out; `SettlingEnd` takes the outcomes back.

A flow whose properties hold a `txn-id` makes the link acquire deliveries in a transaction (OASIS AMQP 1.0, 4.4.3).  A
flow whose `txn-id` is null ends it, and so does the arrival of the discharge: later deliveries are in no transaction.
What happens to an acquired delivery:

| it is        | committed             | rolled back          | the client's outcome |
|--------------|-----------------------|----------------------|----------------------|
| not yet sent | sent in no unit       | given back           | -                    |
| sent in part | the rest is sent      | aborted, given back  | aborted, enlisted    |
| sent         | the client settles it | released, given back | enlisted             |
| enlisted     | the outcome holds     | released, given back | -                    |

On a link of settled deliveries a delivery is accepted in the transaction when it begins to leave.  So it is enlisted at
once; one that has not been sent when the discharge arrives is given back, and comes again in no unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay_broker.amqp import engine
from assay_broker.amqp.conditions import (
    BAD_FIELD,
    NOT_IMPLEMENTED,
    UNKNOWN_TRANSACTION,
    Condition,
)
from assay_broker.amqp.engine import Delivery, DeliveryState, EngineLink
from assay_broker.amqp.frames.attaches import Attach
from assay_broker.amqp.links.link import LinkContext
from assay_broker.amqp.links.settlement import SettlingEnd
from assay_broker.amqp.links.states import LinkState
from assay_broker.amqp.links.termini import Reception
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.amqp.messages import transcoding
from assay_broker.amqp.messages.dispositions import BARE, Disposition
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Deliver
from assay_sdk.amqp.codec import EncodeError
from assay_sdk.amqp.types import DecodeError
from assay_sdk.driver import Durability, Outcome

_LOOK = 65_536
"""Octets sent before the engine is asked again how much output waits."""
_OPEN = LinkState.OPEN
"""Cached at import: `Enum` attribute lookup is slow in Python 3.11, and this runs for every message."""
_FAILED = Disposition(Outcome.MODIFIED)


class OutgoingEnd(SettlingEnd):
    """One link on which the client receives."""

    def __init__(self, context: LinkContext, engine: EngineLink, attach: Attach, plan: Reception) -> None:
        super().__init__(context, engine, attach, plan)
        self._asked = 0
        """Credit that the queue manager has and has not used."""
        self._unlooked = 0
        """Octets sent since the engine was asked how much output waits."""
        self._draining = False
        self._drain_due = False
        """Whether a drain is to be answered once the messages waiting here or for the window have left."""

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
                settled=self.settled,
                session=self.engine.session.number if self.context.gets_own else None,
                timeout_ms=plan.timeout_ms,
                adopt=plan.made,
            )
        )

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
                self.context.starved[self] = None
                return  # `resume` calls this again
            self._draining = True
            self._asked += more
            self.context.ask(self._drained, commands.Flow, self.number, more, drain=True)
        elif more < 0 or (more and more * 2 >= wanted):
            self._asked += more
            self.context.ask(None, commands.Flow, self.number, more)

    def heed_credit(self) -> None:
        """Take back the credit that the client has taken back, before a message is given back that would use it.

        The engine reports flows after the outcomes that arrived with them.
        """
        less = max(0, self.engine.credit - len(self._waiting)) - self._asked
        if less < 0 and not self._draining:
            self._asked += less
            self.context.handle(commands.Flow(self.context.number, None, self.number, less))

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
            self.context.starved[self] = None

    def resume(self) -> None:
        """Send what waits, and pass credit on again."""
        self._unlooked = _LOOK
        if self._to_release and self.state is _OPEN:
            self._release()
        while self._waiting and self.state is LinkState.OPEN and not self._has_filled:
            if not self._send(self._waiting[0]):
                break
            self._waiting.popleft()
        if self._waiting:
            self.context.starved[self] = None
        elif self._drain_due:
            self._end_drain()
        self.flow()

    # --- deliveries

    def deliver(self, delivery: Deliver) -> None:
        """Send a message."""
        if self.state is not _OPEN:
            return  # the queue manager took it back with the link
        self._asked -= 1
        if (self._acquirer is not None or delivery.settled is not self.settled) and not self._acquires(delivery):
            return
        if not self._waiting and not self._has_filled and self._send(delivery):
            self.context.later(self)
        elif self.state is _OPEN:
            self._waiting.append(delivery)
            self.context.starved[self] = None

    def _acquires(self, delivery: Deliver) -> bool:
        """Acquire a delivery in the link's transaction. Return False if it is given back instead.

        The queue manager may have handed it out before it learned that the link's transaction has begun or ended.
        """
        if delivery.settled:
            return True
        if self._acquirer is None:  # the client, outside a transaction, wants it settled
            self.context.settle(self.number, delivery.delivery, Outcome.RELEASED)
            self.context.later(self)
            return False
        self._acquired[delivery.delivery] = self._acquirer
        return True

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
        acquirer = self._acquired.get(delivery.delivery)
        if acquirer is not None and self.settled and acquirer.txn_id not in self.context.transactions:
            return False  # nothing can be accepted in it any more; its end gives the delivery back
        state = b"" if acquirer is None else acquirer.state
        now_ms = 0 if message.expiry_ms is None else self.context.now_ms()
        try:
            if octets is not None and len(octets) <= engine.SHORT:
                octets = transcoding.write(message, count=delivery.count, now_ms=now_ms)
                self._unlooked += len(octets)
                sent = link.send(delivery.delivery, octets, settled=self.settled, state=state)
            else:
                head, rest = transcoding.pieces(message, count=delivery.count, now_ms=now_ms)
                self._unlooked = _LOOK
                sent = link.send_long(delivery.delivery, head, rest, settled=self.settled, state=state)
        except (EncodeError, DecodeError) as error:  # it arrived by another protocol
            self.expel(Condition(NOT_IMPLEMENTED, f"A message cannot be said in AMQP: {error}."))
            return False
        if sent is not None and not self.settled:
            self._unsettled[sent] = delivery.delivery
        elif acquirer is not None and link.alive:
            self._enlisted[delivery.delivery] = None
            self._settle_in(acquirer, delivery.delivery, BARE[DeliveryState.ACCEPTED])
        return not link.unfinished

    # --- acquisition (4.4.3)

    def acquire(self, txn_id: object) -> None:
        """Acquire deliveries in a transaction from now on, in none if the id is None."""
        transaction = self.context.transactions.get(txn_id) if isinstance(txn_id, bytes) else None
        if txn_id is not None and not isinstance(txn_id, bytes):
            self.expel(Condition(BAD_FIELD, "The txn-id of a flow is not binary."))
        elif txn_id is not None and transaction is None:
            self.expel(Condition(UNKNOWN_TRANSACTION, "A flow names a unit of work that does not exist or is over."))
        else:
            self._acquire_in(transaction)

    def _acquire_in(self, transaction: Transaction | None) -> None:
        was, self._acquirer = self._acquirer, transaction
        if transaction is not None:
            transaction.acquire(self)
        if self.settled and (was is None) is not (transaction is None):
            # In a transaction a delivery stays the link's until the discharge.
            settled = transaction is None
            self.context.ask(None, commands.Flow, self.number, 0, settled=settled)

    def acquisition_ended(self, transaction: Transaction) -> None:
        """Acquire nothing more in a transaction that is being discharged."""
        if self._acquirer is transaction and self.state is LinkState.OPEN:
            self._acquire_in(None)

    def _take_acquired(self, transaction: Transaction) -> list[int]:
        """Return the deliveries that a transaction has acquired, in the order of their sending, and forget them."""
        numbers = [number for number, one in self._acquired.items() if one is transaction]
        for number in numbers:
            del self._acquired[number]
        return numbers

    def acquisition_committed(self, transaction: Transaction) -> None:
        """Leave deliveries without an outcome to the client. On a link of settled deliveries, give back the unsent."""
        numbers = self._take_acquired(transaction)
        if self.state is not _OPEN:
            return
        if self.settled:
            for number in numbers:
                self._give_back_unsent(number)
            self.context.later(self)
        elif self.engine.alive:
            for delivery in self._sent(numbers).values():
                engine.clear_state(delivery)

    def acquisition_backed_out(self, transaction: Transaction) -> None:
        """Give all deliveries back, with or without an outcome."""
        numbers = self._take_acquired(transaction)
        if self.state is not _OPEN:
            return
        sent = self._sent(numbers)
        for number in numbers:
            self._enlisted.pop(number, None)
            if not self._give_back_unsent(number):
                self._give_back_sent(number, sent.get(number))
        self.context.later(self)
        self._release()

    def _sent(self, numbers: Sequence[int]) -> dict[int, Delivery]:
        """Return the deliveries of these numbers that have left and that the client has not settled."""
        sent = {number: delivery for delivery, number in self._unsettled.items()}
        found = {number: self._enlisted.get(number) or sent.get(number) for number in numbers}
        return {number: delivery for number, delivery in found.items() if delivery is not None}

    def _give_back_unsent(self, number: int) -> bool:
        """Give a delivery back, not counted as one, if it has not begun to leave. Return whether it was given back."""
        delivery = next((one for one in self._waiting if one.delivery == number), None)
        if delivery is None or self._is_begun(number):
            return False
        self._waiting.remove(delivery)
        self._settle_alone(None, number, BARE[DeliveryState.RELEASED])
        return True

    def _give_back_sent(self, number: int, delivery: Delivery | None) -> None:
        """Give a delivery back, counted as one: abort it if it was sent in part, otherwise release it."""
        if self._is_begun(number):
            self._waiting.popleft()
            delivery = self.engine.abort()
        elif delivery is not None:
            self._to_release[delivery] = None
        if delivery is not None:
            self._unsettled.pop(delivery, None)
        self._settle_alone(None, number, _FAILED)

    def _release(self) -> None:
        """Release what was given back. A delivery that waits for the session's window has to leave first."""
        if self.engine.queued > 0:
            self.context.starved[self] = None
            return
        released, self._to_release = self._to_release, {}
        for delivery in released:
            if self.engine.alive:
                engine.release(delivery)

    def _is_begun(self, number: int) -> bool:
        """Whether a delivery was sent in part."""
        return self.engine.unfinished and self._waiting[0].delivery == number

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
        if plan.made:
            self.context.ask(self.released, commands.DeleteTemporary, plan.address)
        else:
            self.context.ask(self.released, commands.Unsubscribe, str(plan.name), everybodys=plan.everybodys)

    def tell_left(self) -> None:
        """Apply the default outcome to unsettled deliveries first."""
        self._give_back()
        super().tell_left()

    def _give_back(self) -> None:
        """Apply the default outcome to unsettled deliveries."""
        if not self._unsettled:
            return
        # With credit left, the messages given back would be delivered to this link again.
        self.context.ask(None, commands.Flow, self.number, -self._asked)
        self._asked = 0
        for number in self._unsettled.values():
            outcome = Outcome.MODIFIED if number in self._acquired else self.plan.default
            self.context.settle(self.number, number, outcome)
        self._unsettled.clear()

    def ended(self) -> None:
        """Drop all deliveries."""
        self._unsettled.clear()
        self._settling.clear()
        self._waiting.clear()
        self._acquirer = None
        self._acquired.clear()
        self._to_release.clear()
        self._enlisted = dict.fromkeys(self._enlisted)
