"""The links to the transaction coordinator, for local transactions of one connection (OASIS AMQP 1.0, part 4)."""

from __future__ import annotations

from functools import partial
from typing import cast

from assay_broker.amqp import engine
from assay_broker.amqp.conditions import (
    NOT_IMPLEMENTED,
    ROLLED_BACK,
    UNKNOWN_TRANSACTION,
    Condition,
    condition,
)
from assay_broker.amqp.engine import Delivery, DeliveryState
from assay_broker.amqp.frames import attach_encoding
from assay_broker.amqp.frames.attaches import AttachReply, Coordinator
from assay_broker.amqp.links.requests import RequestEnd
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.core import commands
from assay_broker.core.effects import Answer
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import LOCAL_TRANSACTIONS
from assay_sdk.amqp.types import DecodeError, Described

_CAPABILITIES = (LOCAL_TRANSACTIONS, "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn")
_VALUES = {0x77, "amqp:amqp-value:*"}
_DECLARES = {0x31, "amqp:declare:list"}
_DISCHARGES = {0x32, "amqp:discharge:list"}


class CoordinatorEnd(RequestEnd):
    """The server's end of a link to the coordinator; each message on it declares or discharges a transaction."""

    what = "a declare or discharge"

    def end(self, answer: Answer) -> AttachReply:
        """Return the server's attach, with the coordinator and its capabilities as the target."""
        del answer
        target = self.attach.target
        wanted = target.capabilities if isinstance(target, Coordinator) else ()
        offered = (LOCAL_TRANSACTIONS, *(name for name in _CAPABILITIES[1:] if name in wanted or not wanted))
        return self.reply(attach_encoding.encode_coordinator(offered))

    def tell_left(self) -> None:
        """Back out the transactions that the client declared on this link and has not discharged (AMQP 1.0, 4.2)."""
        declared = [one for one in self.context.transactions.values() if one.declared_on == self.number]
        for transaction in declared:
            self._back_out(transaction, None)

    def ask(self, delivery: Delivery, octets: bytes) -> None:
        """Declare or discharge a transaction, according to a request.

        Raises:
            DecodeError: The request is neither a declare nor a discharge.
        """
        asked = _asked(octets)
        fields = cast("list[object]", asked.value)
        if asked.descriptor in _DECLARES:
            if fields and fields[0] is not None:
                self.reject(delivery, Condition(NOT_IMPLEMENTED, "The server has only local units of work."))
                return
            self._declare(delivery)
            return
        txn_id = fields[0] if fields else None
        transaction = self.context.transactions.get(txn_id) if isinstance(txn_id, bytes) else None
        if transaction is None:
            self.reject(delivery, Condition(UNKNOWN_TRANSACTION, "The unit of work does not exist or has ended."))
            return
        self._close_transaction(transaction)
        self.context.pass_on()
        transaction.discharge(
            partial(self._discharge, delivery, transaction, fail=len(fields) > 1 and fields[1] is True)
        )

    def _declare(self, delivery: Delivery) -> None:
        number = self.context.next_number()
        transaction = Transaction(number, number.to_bytes(8), self.number)

        def declared(answer: Answer) -> None:
            if answer.refused is not None:
                self.reject(delivery, condition(answer.refused))
                return
            if self.engine.alive:
                self.context.transactions[transaction.txn_id] = transaction
                engine.answer(delivery, DeliveryState.DECLARED, types.fields((types.binary(transaction.txn_id),)))

        self.context.ask(declared, commands.Begin, number, self.engine.session.number)

    def _discharge(self, delivery: Delivery, transaction: Transaction, *, fail: bool) -> None:
        if fail or transaction.broken is not None:
            self._back_out(transaction, partial(self._backed_out, delivery, None if fail else transaction.broken))
            return

        def committed(answer: Answer) -> None:
            if answer.refused is None:
                transaction.committed()
                self.accept(delivery)
            else:
                transaction.backed_out()
                self.reject(delivery, _rolled_back(condition(answer.refused)))

        self.context.ask(committed, commands.Commit, transaction.number)

    def _close_transaction(self, transaction: Transaction) -> None:
        """Remove a transaction from the open transactions, so that the client can no longer use it."""
        if self.context.transactions.pop(transaction.txn_id, None) is not None:
            transaction.end_acquisition()

    def _back_out(self, transaction: Transaction, then: partial[None] | None) -> None:
        self._close_transaction(transaction)

        def backed_out(_answer: Answer) -> None:
            transaction.backed_out()
            if then is not None:
                then()

        self.context.ask(backed_out, commands.Backout, transaction.number)

    def _backed_out(self, delivery: Delivery, why: Condition | None) -> None:
        if why is None:
            self.accept(delivery)
        else:
            self.reject(delivery, _rolled_back(why))


def _rolled_back(why: Condition) -> Condition:
    return Condition(ROLLED_BACK, why.description, why.info)


def _asked(octets: bytes) -> Described:
    """Return the declare or discharge in a message to the coordinator.

    Raises:
        DecodeError: The message is neither a declare nor a discharge.
    """
    reader = types.Reader(octets)
    while reader.more:
        section = reader.value()
        if isinstance(section, Described) and section.descriptor in _VALUES:
            asked = section.value
            if (
                isinstance(asked, Described)
                and isinstance(asked.value, list)
                and (asked.descriptor in _DECLARES or asked.descriptor in _DISCHARGES)
            ):
                return asked
    raise DecodeError("A message to the coordinator is neither a declare nor a discharge.")
