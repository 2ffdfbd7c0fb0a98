"""Local transactions of one connection (OASIS AMQP 1.0, part 4); a unit of work to the queue manager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay_broker.amqp.conditions import Condition, encode_error
from assay_broker.amqp.engine import DeliveryState
from assay_sdk.amqp import types


class Participant(Protocol):
    """A link whose deliveries have an outcome in a transaction, which holds from the commit on (4.4.2)."""

    def transaction_committed(self, delivery: int) -> None:
        """Settle a delivery: the queue manager has applied its outcome."""
        ...

    def transaction_backed_out(self, delivery: int) -> None:
        """Take back the outcome of a delivery."""
        ...


class Acquirer(Protocol):
    """A link that acquires its deliveries in a transaction (4.4.3)."""

    def acquisition_ended(self, transaction: Transaction) -> None:
        """Acquire nothing more, and give back what has not left: the transaction is being discharged."""
        ...

    def acquisition_committed(self, transaction: Transaction) -> None:
        """Leave the deliveries that have no outcome to the client."""
        ...

    def acquisition_backed_out(self, transaction: Transaction) -> None:
        """Give all deliveries back."""
        ...


class Transaction:
    """One open transaction.

    Args:
        number: The queue manager's number of the unit of work, unique on this connection.
        txn_id: The transaction id that the client uses.
        declared_on: The number of the coordinator's link on which the client declared it.
    """

    def __init__(self, number: int, txn_id: bytes, declared_on: int) -> None:
        self.number = number
        self.txn_id = txn_id
        self.declared_on = declared_on
        self.state = types.fields((types.binary(txn_id),))
        """The fields of a transactional state without an outcome, an encoded list."""
        self.broken: Condition | None = None
        """Why it can no longer be committed; None while it can."""
        self._unanswered = 0
        """Messages and outcomes that the queue manager has not yet taken or refused."""
        self._then: Callable[[], None] | None = None
        """Called when all of them are answered; None until the discharge has arrived."""
        self._settled: list[tuple[Participant, int]] = []
        """Deliveries that have an outcome in it."""
        self._acquirers: dict[Acquirer, None] = {}
        """Links that acquire their deliveries in it, or have done so."""

    def asked(self) -> None:
        """Count a message or outcome that the queue manager was asked to take."""
        self._unanswered += 1

    def answered(self, why: Condition | None) -> None:
        """Count an answer of the queue manager.

        Args:
            why: The error condition that makes the transaction fail; None for none, or if the client is told otherwise.
        """
        self._unanswered -= 1
        self.broken = self.broken or why
        self._end()

    def settle(self, link: Participant, delivery: int) -> None:
        """Add a delivery that has an outcome in the transaction, and count it as asked for."""
        self._settled.append((link, delivery))
        self.asked()

    def acquire(self, link: Acquirer) -> None:
        """Add a link that acquires its deliveries in the transaction."""
        self._acquirers[link] = None

    def end_acquisition(self) -> None:
        """Have the links acquire nothing more in it: its discharge has arrived, or its coordinator's link has ended."""
        for link in self._acquirers:
            link.acquisition_ended(self)

    def discharge(self, then: Callable[[], None]) -> None:
        """Call `then` once everything asked for is answered (4.3); at once if nothing is outstanding."""
        self._then = then
        self._end()

    def _end(self) -> None:
        if self._then is not None and not self._unanswered:
            then, self._then = self._then, None
            then()

    def committed(self) -> None:
        """Settle its deliveries."""
        for acquirer in self._acquirers:
            acquirer.acquisition_committed(self)
        for link, delivery in self._settled:
            link.transaction_committed(delivery)

    def backed_out(self) -> None:
        """Give back the deliveries that it acquired or the client has settled; the others are unsettled again."""
        for acquirer in self._acquirers:
            acquirer.acquisition_backed_out(self)
        for link, delivery in self._settled:
            link.transaction_backed_out(delivery)


def transactional(txn_id: bytes, why: Condition | None = None) -> bytes:
    """Encode the fields of a transactional state: accepted, or rejected with a condition (4.4.4)."""
    if why is None:
        outcome = types.described(DeliveryState.ACCEPTED, types.fields(()))
    else:
        outcome = types.described(DeliveryState.REJECTED, types.fields((encode_error(why),)))
    return types.fields((types.binary(txn_id), outcome))
