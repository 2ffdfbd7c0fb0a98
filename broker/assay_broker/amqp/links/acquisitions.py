"""Deliveries that a link acquires in a transaction (OASIS AMQP 1.0, 4.4.3).

A flow whose properties hold a `txn-id` starts it.  A flow whose `txn-id` is null ends it, and so does the arrival of
the discharge: later deliveries are in no transaction.  What happens to an acquired delivery:

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

from assay_broker.amqp.links.transactions import Transaction


class Acquisitions:
    """The transaction in which a link acquires deliveries now, and those of each delivery acquired before."""

    __slots__ = ("_transactions", "current")

    def __init__(self) -> None:
        self.current: Transaction | None = None
        """The transaction that acquires deliveries from now on; None for none."""
        self._transactions: dict[int, Transaction] = {}

    def add(self, number: int, transaction: Transaction) -> None:
        """Note the transaction that has acquired a delivery."""
        self._transactions[number] = transaction

    def of(self, number: int) -> Transaction | None:
        """Return the transaction that has acquired a delivery; None if none has, or if it is over."""
        return self._transactions.get(number)

    def forget(self, number: int) -> None:
        """Forget a delivery that its transaction has no say in any more."""
        self._transactions.pop(number, None)

    def take(self, transaction: Transaction) -> list[int]:
        """Return the deliveries that a transaction has acquired, in the order of their sending, and forget them."""
        numbers = [number for number, one in self._transactions.items() if one is transaction]
        for number in numbers:
            del self._transactions[number]
        return numbers

    def clear(self) -> None:
        """Forget everything, because the link has ended."""
        self.current = None
        self._transactions.clear()
