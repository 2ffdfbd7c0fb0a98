"""The local transactions of one connection (OASIS AMQP 1.0, part 4), which are the queue manager's units of work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay_broker.amqp.conditions import Condition, encode_error
from assay_broker.amqp.engine import DeliveryState
from assay_sdk.amqp import types


class Participant(Protocol):
    """A link whose deliveries have outcomes in a transaction; the commit applies the outcomes (AMQP 1.0, 4.4.2)."""

    def transaction_committed(self, delivery: int) -> None:
        """Settle a delivery, because the queue manager has applied its outcome with the commit."""
        ...

    def transaction_backed_out(self, delivery: int) -> None:
        """Undo the outcome of a delivery, because the transaction is backed out."""
        ...


class Acquirer(Protocol):
    """A link on which the client acquires deliveries in a transaction (AMQP 1.0, 4.4.3)."""

    def acquisition_ended(self, transaction: Transaction) -> None:
        """Stop acquiring deliveries in a transaction, because the client discharges it."""
        ...

    def acquisition_committed(self, transaction: Transaction) -> None:
        """Take acquired deliveries without an outcome out of the transaction, because the transaction is committed."""
        ...

    def acquisition_backed_out(self, transaction: Transaction) -> None:
        """Return to the queue all deliveries that the transaction has acquired."""
        ...


class Transaction:
    """One open transaction.

    Args:
        number: The number of the queue manager's unit of work, unique on this connection.
        txn_id: The transaction id that the client uses.
        declared_on: The number of the link on which the client declared the transaction.
    """

    def __init__(self, number: int, txn_id: bytes, declared_on: int) -> None:
        self.number = number
        self.txn_id = txn_id
        self.declared_on = declared_on
        self.state = types.fields((types.binary(txn_id),))
        """The fields of a transactional state without an outcome, as an encoded list."""
        self.broken: Condition | None = None
        """The error because of which the transaction cannot be committed; None if it can be committed."""
        self._unanswered = 0
        """The number of messages and outcomes that the queue manager has not answered yet."""
        self._then: Callable[[], None] | None = None
        """The function to call when the queue manager has answered all messages and outcomes; None before the
        discharge."""
        self._settled: list[tuple[Participant, int]] = []
        """The deliveries with an outcome in the transaction, with their links."""
        self._acquirers: dict[Acquirer, None] = {}
        """The links that acquire, or have acquired, deliveries in the transaction."""

    def asked(self) -> None:
        """Count a message or outcome that was sent to the queue manager in the transaction."""
        self._unanswered += 1

    def answered(self, why: Condition | None) -> None:
        """Count an answer of the queue manager to a message or outcome.

        Args:
            why: The error that makes the transaction fail; None if the queue manager accepted, or if the client gets
                the refusal as an outcome.
        """
        self._unanswered -= 1
        self.broken = self.broken or why
        self._end()

    def settle(self, link: Participant, delivery: int) -> None:
        """Add a delivery with an outcome in the transaction, and count the outcome as not answered."""
        self._settled.append((link, delivery))
        self.asked()

    def acquire(self, link: Acquirer) -> None:
        """Add a link on which the client acquires deliveries in the transaction."""
        self._acquirers[link] = None

    def end_acquisition(self) -> None:
        """Make the links stop acquiring deliveries in the transaction."""
        for link in self._acquirers:
            link.acquisition_ended(self)

    def discharge(self, then: Callable[[], None]) -> None:
        """Call `then` once the queue manager has answered the transaction's messages and outcomes (AMQP 1.0, 4.3)."""
        self._then = then
        self._end()

    def _end(self) -> None:
        if self._then is not None and not self._unanswered:
            then, self._then = self._then, None
            then()

    def committed(self) -> None:
        """Tell the links that the transaction is committed, so that they settle its deliveries."""
        for acquirer in self._acquirers:
            acquirer.acquisition_committed(self)
        for link, delivery in self._settled:
            link.transaction_committed(delivery)

    def backed_out(self) -> None:
        """Tell the links that the transaction is backed out.

        The links return to their queues the deliveries that were acquired in the transaction or that the client has
        settled.  All other deliveries become unsettled.
        """
        for acquirer in self._acquirers:
            acquirer.acquisition_backed_out(self)
        for link, delivery in self._settled:
            link.transaction_backed_out(delivery)


def transactional(txn_id: bytes, why: Condition | None = None) -> bytes:
    """Encode a transactional state's fields (AMQP 1.0, 4.5.6): the outcome *accepted*, or *rejected* with an error."""
    if why is None:
        outcome = types.described(DeliveryState.ACCEPTED, types.fields(()))
    else:
        outcome = types.described(DeliveryState.REJECTED, types.fields((encode_error(why),)))
    return types.fields((types.binary(txn_id), outcome))
