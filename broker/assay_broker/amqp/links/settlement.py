"""The unsettled deliveries of a link on which the client receives (OASIS AMQP 1.0, 3.4, 4.4.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from functools import partial

from assay_broker.amqp import engine
from assay_broker.amqp.conditions import DECODE_ERROR, ILLEGAL_STATE, UNKNOWN_TRANSACTION, Condition, condition
from assay_broker.amqp.engine import Delivery, DeliveryState, EngineLink
from assay_broker.amqp.frames.attaches import AttachFrame
from assay_broker.amqp.links.link import LinkContext
from assay_broker.amqp.links.receivers import ReceiverEnd
from assay_broker.amqp.links.states import LinkEndState
from assay_broker.amqp.links.termini import Reception
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.amqp.messages.dispositions import BARE, Disposition, outcome_of, read_state
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Deliver
from assay_sdk.amqp.types import DecodeError
from assay_sdk.driver import Outcome

_OPEN = LinkEndState.OPEN
"""Cached at import, because `Enum` lookups are slow.

Without caching, 13 lookups would take 0.8 of the 24 us that a message takes (`bench/broker.py durable`, 2026-11-28).
"""
_GIVEN_BACK = frozenset((Outcome.RELEASED, Outcome.MODIFIED))
_RECEIVED, _TRANSACTIONAL = int(DeliveryState.RECEIVED), int(DeliveryState.TRANSACTIONAL)


class SettlingEnd(ReceiverEnd):
    """The server's end of a consumer's link: the part that handles outcomes and settlements.

    `assay_broker.amqp.links.outgoing.OutgoingEnd` is the part that sends messages.
    """

    def __init__(self, context: LinkContext, engine: EngineLink, attach: AttachFrame, plan: Reception) -> None:
        super().__init__(context, engine, attach, plan)
        self._waiting: deque[Deliver] = deque()
        """Deliveries that wait until the client has read output.  The first may have been sent in part."""
        self._unsettled: dict[Delivery, int] = {}
        """Deliveries that the server has sent unsettled and that have no outcome, with the queue manager's numbers."""
        self._settling: dict[int, Delivery] = {}
        """Deliveries whose outcome the queue manager is storing, by number."""
        self._enlisted: dict[int, Delivery | None] = {}
        """Deliveries with an outcome in an open transaction, by number; None for a settled delivery."""
        self._acquirer: Transaction | None = None
        """The transaction in which the client acquires further deliveries (AMQP 1.0, 4.4.3), or None."""
        self._acquired: dict[int, Transaction] = {}
        """The open transactions that have acquired deliveries, by the deliveries' numbers."""
        self._to_release: dict[Delivery, None] = {}
        """Deliveries that a rollback has given back, and for which the link has not sent the client *released* yet."""

    def changed(self, delivery: Delivery) -> None:
        """Handle a state or settlement that the client has given a delivery."""
        if self.state is not _OPEN:
            return  # the queue manager took back the unsettled deliveries when the link ended
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
            return  # the state is no outcome
        acquirer = self._acquired.get(number)
        if acquirer is not None and acquirer.txn_id in self.context.transactions:
            self._join(delivery, number, said, acquirer, settled=settled)
            return
        self._acquired.pop(number, None)
        self._take_outcome(delivery, number, said, settled=settled)

    @abstractmethod
    def heed_credit(self) -> None:
        """Take back credit that the client has withdrawn, before the queue manager uses it for a delivery."""

    def _take_outcome(self, delivery: Delivery, number: int, said: Disposition, *, settled: bool) -> None:
        """Apply a delivery's outcome outside a transaction."""
        del self._unsettled[delivery]
        if said.outcome in _GIVEN_BACK:
            self.heed_credit()
        if settled:
            engine.settle(delivery)
            self._settle(number, said)
            return

        self._settling[number] = delivery

        def stored(answer: Answer) -> None:
            found = self._settling.pop(number, None)  # None if the client has settled the delivery since
            if answer.refused is not None:
                # The link is detached, because on an open link the client would get the message again at once, and
                # the client's next outcome would need the failing store again.
                self.expel(condition(answer.refused))
            elif found is not None and self.engine.alive:
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
        self.expel(Condition(DECODE_ERROR, f"A delivery's state is not valid: {error}."))

    def _settled_again(self, delivery: Delivery) -> None:
        """Handle the settlement of a delivery that has an outcome already, inside or outside a transaction."""
        number = int.from_bytes(engine.tag_of(delivery))
        if number in self._enlisted:
            self._enlisted[number] = None
        self._settling.pop(number, None)
        self._to_release.pop(delivery, None)
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
        """Apply an outcome that the client gives a delivery in a transaction."""
        try:
            txn_id, said = read_state(engine.state_fields(delivery))
        except DecodeError as error:
            self._misread(error)
            return
        transaction = self.context.transactions.get(txn_id)
        if transaction is None:
            self.expel(Condition(UNKNOWN_TRANSACTION, "A delivery is settled in a unit of work that does not exist."))
            return
        if self._acquired.get(number) not in {None, transaction}:
            self.expel(
                Condition(ILLEGAL_STATE, "A delivery that one unit of work has acquired is settled in another one.")
            )
            return
        self._join(delivery, number, said, transaction, settled=settled)

    def _join(
        self, delivery: Delivery, number: int, said: Disposition, transaction: Transaction, *, settled: bool
    ) -> None:
        """Add a delivery and its outcome to a transaction."""
        del self._unsettled[delivery]
        self._enlisted[number] = None if settled else delivery
        if settled:
            engine.settle(delivery)
        self._settle_in(transaction, number, said)

    def _settle_in(self, transaction: Transaction, number: int, said: Disposition) -> None:
        transaction.settle(self, number)
        token = self.context.expect(partial(_joined, transaction))
        self._settle_alone(token, number, said, transaction.number)

    def transaction_committed(self, delivery: int) -> None:
        """Settle a delivery, because the queue manager has applied its outcome with the commit."""
        unsettled = self._enlisted.pop(delivery, None)
        if unsettled is not None and self.engine.alive:
            engine.settle(unsettled)

    def transaction_backed_out(self, delivery: int) -> None:
        """Return a delivery to its queue if the client has settled it; otherwise make it unsettled again."""
        if self.state is not LinkEndState.OPEN or delivery not in self._enlisted:
            return  # given back already, at the link's end or by `acquisition_backed_out`
        unsettled = self._enlisted.pop(delivery)
        if unsettled is None:
            self.context.settle(self.number, delivery, Outcome.MODIFIED)
        else:
            self._unsettled[unsettled] = delivery


def _joined(transaction: Transaction, answer: Answer) -> None:
    """Tell a transaction the queue manager's answer to an outcome."""
    transaction.answered(None if answer.refused is None else condition(answer.refused))
