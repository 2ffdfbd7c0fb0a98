"""The links on which the server sends the queue manager's messages to the client.

`SettlingEnd`, the base class, handles the outcomes.

A flow with a `txn-id` in its properties makes the link acquire deliveries in a transaction (OASIS AMQP 1.0, 4.4.3).
The transaction acquires no further deliveries after a flow whose `txn-id` is null, or after the client's discharge.
The link treats an acquired delivery as follows; an enlisted delivery has an outcome in the transaction:

| delivery     | at a commit           | at a rollback        | at the client's outcome |
|--------------|-----------------------|----------------------|-------------------------|
| not yet sent | sent, not enlisted    | given back           | -                       |
| sent in part | the rest is sent      | aborted, given back  | aborted, enlisted       |
| sent         | the client settles it | released, given back | enlisted                |
| enlisted     | the outcome holds     | released, given back | -                       |

If the link's snd-settle-mode is *settled*, the client sends no outcome.  So the link enlists a delivery as accepted
when it begins to send the delivery.  At the discharge, such a link gives back the deliveries that it has not begun to
send; the client then gets them outside the transaction.
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
from assay_broker.amqp.frames.attaches import AttachFrame
from assay_broker.amqp.links.link import LinkContext
from assay_broker.amqp.links.settlement import SettlingEnd
from assay_broker.amqp.links.states import LinkEndState
from assay_broker.amqp.links.termini import Reception
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.amqp.messages import transcoding
from assay_broker.amqp.messages.dispositions import BARE, Disposition
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Deliver
from assay_sdk.amqp.codec import EncodeError
from assay_sdk.amqp.types import DecodeError
from assay_sdk.driver import Durability, Outcome

_CHECK_OCTETS = 65_536
"""The octets to send before the link asks the engine again how much output waits for the client."""
_OPEN = LinkEndState.OPEN
"""Cached at import, because `Enum` lookups are slow.

Without caching, 13 lookups would take 0.8 of the 24 us that a message takes (`bench/broker.py durable`, 2026-11-28).
"""
_FAILED = Disposition(Outcome.MODIFIED)


class OutgoingEnd(SettlingEnd):
    """The server's end of a consumer's link: sends messages to the client."""

    def __init__(self, context: LinkContext, engine: EngineLink, attach: AttachFrame, plan: Reception) -> None:
        super().__init__(context, engine, attach, plan)
        self._asked = 0
        """The credit that the link has given the queue manager and that the queue manager has not used yet."""
        self._unchecked = 0
        """The octets sent since the link last asked the engine how much output waits."""
        self._draining = False
        self._drain_due = False
        """Whether the server must answer a drain as soon as all waiting messages are sent."""

    def begin(self) -> None:
        """Ask the queue manager for the queue or subscription of the source."""
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
                is_global=plan.is_global,
                settled=self.settled,
                session=self.engine.session.number if self.context.gets_own else None,
                timeout_ms=plan.timeout_ms,
                adopt=plan.made,
            )
        )

    # --- credit

    def flow(self) -> None:
        """Pass a change of the client's credit on to the queue manager, and start a drain that the client requests.

        The link passes new credit on when it is at least half of the credit that the queue manager then has.  It passes
        withdrawn credit on at once.
        """
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
        """Take back credit that the client has withdrawn, before the queue manager uses it for a delivery.

        This is needed at an outcome that returns a message to its queue, because the engine reports outcomes before the
        flows that arrived together with them.
        """
        less = max(0, self.engine.credit - len(self._waiting)) - self._asked
        if less < 0 and not self._draining:
            self._asked += less
            self.context.handle(commands.Flow(self.context.number, None, self.number, less))

    def _drained(self, answer: Answer) -> None:
        """Handle the end of a drain: the queue manager has sent all available messages and has no credit left."""
        del answer
        self._draining = False
        filled, self._asked = self._asked == 0, 0
        if not self.wants_drain or (filled and self.engine.credit > len(self._waiting)):
            self.flow()  # the client has stopped the drain, or the queue may hold more messages than were asked for
        else:
            self._end_drain()

    def _end_drain(self) -> None:
        """Answer a drain if all waiting messages are sent; otherwise let `resume` try again."""
        self._drain_due = bool(self._waiting) or not self.end_drain()
        if self._drain_due:
            self.context.starved[self] = None

    def resume(self) -> None:
        """Send the waiting deliveries, and give the queue manager the client's new credit."""
        self._unchecked = _CHECK_OCTETS
        if self._to_release and self.state is _OPEN:
            self._release()
        while self._waiting and self.state is LinkEndState.OPEN and not self._has_filled:
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
        """Send a message to the client, or let it wait until the client has read output."""
        if self.state is not _OPEN:
            return  # the queue manager took the message back when the link ended
        self._asked -= 1
        if (self._acquirer is not None or delivery.settled is not self.settled) and not self._acquires(delivery):
            return
        if not self._waiting and not self._has_filled and self._send(delivery):
            self.context.later(self)
        elif self.state is _OPEN:
            self._waiting.append(delivery)
            self.context.starved[self] = None

    def _acquires(self, delivery: Deliver) -> bool:
        """Acquire a delivery in the link's transaction.

        The queue manager may have sent the delivery before it knew that the transaction has begun or ended.

        Returns:
            False if the link gives the delivery back instead. This happens after the link has left its transaction: the
            link then sends deliveries settled, but the queue manager had already sent this delivery unsettled.
        """
        if delivery.settled:
            return True
        if self._acquirer is None:  # outside a transaction, this link must send deliveries settled
            self.context.settle(self.number, delivery.delivery, Outcome.RELEASED)
            self.context.later(self)
            return False
        self._acquired[delivery.delivery] = self._acquirer
        return True

    @property
    def _has_filled(self) -> bool:
        """Whether too much output waits; checked only once per `_CHECK_OCTETS`, because asking the engine is slow."""
        if self._unchecked < _CHECK_OCTETS and not self.context.congested:
            return False
        self._unchecked = 0
        return self.is_full

    def catch_up(self) -> None:
        """Give the queue manager the client's new credit."""
        self.flow()

    def _send(self, delivery: Deliver) -> bool:
        """Send a message or its next part; return True if the message is sent completely."""
        link = self.engine
        if link.unfinished:
            return link.send_on()
        message, octets = delivery.message, delivery.message.encoded
        acquirer = self._acquired.get(delivery.delivery)
        if acquirer is not None and self.settled and acquirer.txn_id not in self.context.transactions:
            return False  # the transaction is being discharged, and its end gives the delivery back
        state = b"" if acquirer is None else acquirer.state
        now_ms = 0 if message.expiry_ms is None else self.context.now_ms()
        try:
            if octets is not None and len(octets) <= engine.SHORT:
                octets = transcoding.write(message, count=delivery.count, now_ms=now_ms)
                self._unchecked += len(octets)
                sent = link.send(delivery.delivery, octets, settled=self.settled, state=state)
            else:
                head, rest = transcoding.pieces(message, count=delivery.count, now_ms=now_ms)
                self._unchecked = _CHECK_OCTETS
                sent = link.send_long(delivery.delivery, head, rest, settled=self.settled, state=state)
        except (EncodeError, DecodeError) as error:  # the message arrived over another protocol
            self.expel(Condition(NOT_IMPLEMENTED, f"A message cannot be sent over AMQP: {error}."))
            return False
        if sent is not None and not self.settled:
            self._unsettled[sent] = delivery.delivery
        elif acquirer is not None and link.alive:
            self._enlisted[delivery.delivery] = None
            self._settle_in(acquirer, delivery.delivery, BARE[DeliveryState.ACCEPTED])
        return not link.unfinished

    # --- acquisition (AMQP 1.0, 4.4.3)

    def acquire(self, txn_id: object) -> None:
        """Acquire deliveries in a transaction from now on.

        Args:
            txn_id: The transaction's id as the client has sent it; None for no transaction.
        """
        transaction = self.context.transactions.get(txn_id) if isinstance(txn_id, bytes) else None
        if txn_id is not None and not isinstance(txn_id, bytes):
            self.expel(Condition(BAD_FIELD, "The txn-id of a flow is not binary."))
        elif txn_id is not None and transaction is None:
            self.expel(Condition(UNKNOWN_TRANSACTION, "A flow names a unit of work that does not exist or has ended."))
        else:
            self._acquire_in(transaction)

    def _acquire_in(self, transaction: Transaction | None) -> None:
        was, self._acquirer = self._acquirer, transaction
        if transaction is not None:
            transaction.acquire(self)
        if self.settled and (was is None) is not (transaction is None):
            # In a transaction the queue manager keeps each delivery until the discharge, so deliveries are unsettled.
            settled = transaction is None
            self.context.ask(None, commands.Flow, self.number, 0, settled=settled)

    def acquisition_ended(self, transaction: Transaction) -> None:
        """Stop acquiring deliveries in a transaction, because the client discharges it."""
        if self._acquirer is transaction and self.state is LinkEndState.OPEN:
            self._acquire_in(None)

    def _take_acquired(self, transaction: Transaction) -> list[int]:
        """Remove and return the numbers of the deliveries that a transaction has acquired, in the order of sending."""
        numbers = [number for number, one in self._acquired.items() if one is transaction]
        for number in numbers:
            del self._acquired[number]
        return numbers

    def acquisition_committed(self, transaction: Transaction) -> None:
        """Handle the commit of a transaction: its deliveries without an outcome are in no transaction any more.

        If the link sends its deliveries settled, it gives back the deliveries that it has not begun to send.
        """
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
        """Return to the queue all deliveries that the transaction has acquired, with or without an outcome."""
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
        """Return the deliveries with these numbers that were sent and that the client has not settled, by number."""
        sent = {number: delivery for delivery, number in self._unsettled.items()}
        found = {number: self._enlisted.get(number) or sent.get(number) for number in numbers}
        return {number: delivery for number, delivery in found.items() if delivery is not None}

    def _give_back_unsent(self, number: int) -> bool:
        """Return a delivery to the queue, not counted as failed, if the link has not begun to send it.

        Returns:
            True if the delivery was given back.
        """
        delivery = next((one for one in self._waiting if one.delivery == number), None)
        if delivery is None or self._is_begun(number):
            return False
        self._waiting.remove(delivery)
        self._settle_alone(None, number, BARE[DeliveryState.RELEASED])
        return True

    def _give_back_sent(self, number: int, delivery: Delivery | None) -> None:
        """Return a delivery to the queue, counted as failed.

        If the link has sent the delivery only in part, the link aborts it at once; otherwise `_release` sends the
        client *released* later.
        """
        if self._is_begun(number):
            self._waiting.popleft()
            delivery = self.engine.abort()
        elif delivery is not None:
            self._to_release[delivery] = None
        if delivery is not None:
            self._unsettled.pop(delivery, None)
        self._settle_alone(None, number, _FAILED)

    def _release(self) -> None:
        """Send the client *released* for the deliveries given back, once no delivery waits for the session's window."""
        if self.engine.queued > 0:
            self.context.starved[self] = None
            return
        released, self._to_release = self._to_release, {}
        for delivery in released:
            if self.engine.alive:
                engine.release(delivery)

    def _is_begun(self, number: int) -> bool:
        """Return whether the link has sent a delivery in part."""
        return self.engine.unfinished and self._waiting[0].delivery == number

    # --- ending

    def leave(self) -> None:
        """Apply the default outcome to unsettled deliveries, and tell the queue manager that the client has detached.

        If the client closes the link, delete its temporary destination or its durable subscription.
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
            self.context.ask(self.released, commands.Unsubscribe, str(plan.name), is_global=plan.is_global)

    def tell_left(self) -> None:
        """Apply the default outcome to unsettled deliveries, and tell the queue manager that the link has ended."""
        self._give_back()
        super().tell_left()

    def _give_back(self) -> None:
        """Apply an outcome to unsettled deliveries: *modified* to acquired ones, the default outcome to the others."""
        if not self._unsettled:
            return
        # The link first takes its credit back; otherwise the queue manager would deliver these messages on it again.
        self.context.ask(None, commands.Flow, self.number, -self._asked)
        self._asked = 0
        for number in self._unsettled.values():
            outcome = Outcome.MODIFIED if number in self._acquired else self.plan.default
            self.context.settle(self.number, number, outcome)
        self._unsettled.clear()

    def ended(self) -> None:
        """Drop all deliveries; of the deliveries enlisted in a transaction, keep only the numbers."""
        self._unsettled.clear()
        self._settling.clear()
        self._waiting.clear()
        self._acquirer = None
        self._acquired.clear()
        self._to_release.clear()
        self._enlisted = dict.fromkeys(self._enlisted)
