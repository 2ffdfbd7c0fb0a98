"""The transaction coordinator: local units of work of one connection (OASIS AMQP 1.0, part 4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from assay_broker.amqp import attach_frames, engine
from assay_broker.amqp.attaches import AttachEnd, Coordinator
from assay_broker.amqp.conditions import (
    NOT_IMPLEMENTED,
    ROLLED_BACK,
    UNKNOWN_TRANSACTION,
    Condition,
    condition,
    encode_error,
)
from assay_broker.amqp.engine import Delivery, State
from assay_broker.amqp.requests import RequestEnd
from assay_broker.amqp.termini import senders
from assay_broker.core import commands
from assay_broker.core.effects import Answer
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import LOCAL_TRANSACTIONS
from assay_sdk.amqp.types import DecodeError, Described
from assay_sdk.model.reasons import Refused

if TYPE_CHECKING:
    from assay_broker.amqp.outgoing import OutgoingEnd

_CAPABILITIES = (LOCAL_TRANSACTIONS, "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn")
_VALUES = {0x77, "amqp:amqp-value:*"}
_DECLARES = {0x31, "amqp:declare:list"}
_DISCHARGES = {0x32, "amqp:discharge:list"}


class Unit:
    """One open unit of work.

    Args:
        number: The queue manager's number for it on this connection.
        txn_id: What the peer calls it.
        owner: The coordinator's link over which it was declared.
    """

    def __init__(self, number: int, txn_id: bytes, owner: CoordinatorEnd) -> None:
        self.number = number
        self.txn_id = txn_id
        self.owner = owner
        self.broken: Condition | None = None
        """Why it cannot be committed any more."""
        self.unanswered = 0
        """Messages and outcomes that it may still turn out not to have taken."""
        self.over: Callable[[], None] | None = None
        """Ends it, once all of them are answered; None until its discharge has come."""
        self.settled: list[tuple[OutgoingEnd, int]] = []
        """Deliveries that have an outcome in it, which holds from the commit on (4.4.2)."""

    def asked(self) -> None:
        """It is to take something."""
        self.unanswered += 1

    def answered(self, why: Condition | None) -> None:
        """It has taken something, or not.

        Args:
            why: Why not, where nobody hears of that and the whole unit fails for it.
        """
        self.unanswered -= 1
        self.broken = self.broken or why
        self._end()

    def end(self, over: Callable[[], None]) -> None:
        """Its discharge has come, perhaps together with what it is to take: that is answered first (4.3)."""
        self.over = over
        self._end()

    def _end(self) -> None:
        if self.over is not None and not self.unanswered:
            over, self.over = self.over, None
            over()

    def committed(self) -> None:
        """It was committed: what it held is settled."""
        for end, number in self.settled:
            end.unit_over(number)

    def backed_out(self) -> None:
        """It was backed out: what the peer has settled goes back, the rest is unsettled again."""
        for end, number in self.settled:
            end.unit_backed_out(number)


def transactional(unit: bytes, why: Condition | None = None) -> bytes:
    """The fields of a transactional state: accepted in a unit of work, or rejected."""
    if why is None:
        outcome = types.described(State.ACCEPTED, types.fields(()))
    else:
        outcome = types.described(State.REJECTED, types.fields((encode_error(why),)))
    return types.fields((types.binary(unit), outcome))


class CoordinatorEnd(RequestEnd):
    """A link to the coordinator: each message on it begins or ends a unit of work."""

    what = "a declare or discharge"

    def end(self, answer: Answer) -> AttachEnd:
        """Ourselves as the coordinator, with what we can do."""
        del answer
        target = self.attach.target
        wanted = target.capabilities if isinstance(target, Coordinator) else ()
        offered = (LOCAL_TRANSACTIONS, *(name for name in _CAPABILITIES[1:] if name in wanted or not wanted))
        return AttachEnd(
            name=self.attach.name,
            source=senders(self.attach.source),
            target=attach_frames.encode_coordinator(offered),
            snd_settle_mode=self.attach.snd_settle_mode,
        )

    def tell_left(self) -> None:
        """Whoever declares units and goes has given them up (4.2)."""
        for unit in [unit for unit in self.context.units.values() if unit.owner is self]:
            self._back_out(unit, None)

    def ask(self, delivery: Delivery, octets: bytes) -> None:
        """Begin or end a unit of work."""
        asked = _asked(octets)
        fields = cast("list[object]", asked.value)
        if asked.descriptor in _DECLARES:
            if fields and fields[0] is not None:
                self.reject(delivery, Condition(NOT_IMPLEMENTED, "There are local units of work only (4.2)."))
                return
            self._declare(delivery)
            return
        txn_id = fields[0] if fields else None
        unit = self.context.units.get(txn_id) if isinstance(txn_id, bytes) else None
        if unit is None:
            self.reject(delivery, Condition(UNKNOWN_TRANSACTION, "There is no such unit of work, or it is over."))
            return
        del self.context.units[unit.txn_id]
        self.context.pass_on()
        unit.end(partial(self._discharge, delivery, unit, fail=len(fields) > 1 and fields[1] is True))

    def _declare(self, delivery: Delivery) -> None:
        number = self.context.next_number()
        unit = Unit(number, number.to_bytes(8), self)

        def declared(answer: Answer) -> None:
            if answer.refused is not None:
                self.reject(delivery, condition(answer.refused))
                return
            if self.engine.alive:
                self.context.units[unit.txn_id] = unit
                engine.answer(delivery, State.DECLARED, types.fields((types.binary(unit.txn_id),)))

        token = self.context.expect(declared)
        self.context.handle(commands.Begin(self.context.number, token, number, self.session))

    def _discharge(self, delivery: Delivery, unit: Unit, *, fail: bool) -> None:
        if fail or unit.broken is not None:
            self._back_out(unit, partial(self._backed_out, delivery, None if fail else unit.broken))
            return

        def committed(answer: Answer) -> None:
            if answer.refused is None:
                unit.committed()
                self._accept(delivery)
            else:
                unit.backed_out()
                self.reject(delivery, _rolled_back(answer.refused))

        token = self.context.expect(committed)
        self.context.handle(commands.Commit(self.context.number, token, unit.number))

    def _back_out(self, unit: Unit, then: partial[None] | None) -> None:
        self.context.units.pop(unit.txn_id, None)

        def backed_out(_answer: Answer) -> None:
            unit.backed_out()
            if then is not None:
                then()

        token = self.context.expect(backed_out)
        self.context.handle(commands.Backout(self.context.number, token, unit.number))

    def _backed_out(self, delivery: Delivery, why: Condition | None) -> None:
        if why is None:
            self._accept(delivery)
        else:
            self.reject(delivery, Condition(ROLLED_BACK, why.description, why.info))

    def _accept(self, delivery: Delivery) -> None:
        if self.engine.alive:
            engine.accept(delivery)


def _rolled_back(why: Refused) -> Condition:
    found = condition(why)
    return Condition(ROLLED_BACK, found.description, found.info)


def _asked(octets: bytes) -> Described:
    """The declare or discharge in a message to the coordinator.

    Raises:
        DecodeError: It is neither.
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


__all__ = ["CoordinatorEnd", "Unit", "transactional"]
