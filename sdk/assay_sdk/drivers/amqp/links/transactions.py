"""Local units of work over the transaction coordinator (OASIS AMQP 1.0, part 4).

A unit is declared over a link to the coordinator, carried by transfers and dispositions as their transactional state,
and discharged over the same link.  What is sent in a unit before its declaration is answered waits for its id; a
discharge waits until every message of the unit is answered, because a broker may take the two in any order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import StrEnum

from proton import Delivery, Sender, Terminus, ulong
from proton import Described as EngineDescribed

from assay_sdk.drivers.amqp.links.ends import LinkContext
from assay_sdk.drivers.amqp.links.names import DECLARED
from assay_sdk.drivers.amqp.links.requests import RequestLink
from assay_sdk.drivers.answers import UNKNOWN
from assay_sdk.model.reasons import JmsErrorKind, Refused

_DECLARE, _DISCHARGE = 0x31, 0x32


class TransactionState(StrEnum):
    """Where a unit of work is."""

    DECLARING = "declaring"
    ACTIVE = "active"
    ENDING = "ending"
    """Its end was asked for and waits for answers to its messages."""
    DISCHARGING = "discharging"
    OVER = "over"


_ENDABLE: Mapping[TransactionState, TransactionState] = {
    TransactionState.DECLARING: TransactionState.ENDING,
    TransactionState.ACTIVE: TransactionState.ENDING,
}


class Transaction:
    """One local unit of work.

    Args:
        number: The engine's number for it.
        session: The session that it belongs to.
    """

    def __init__(self, number: int, session: int) -> None:
        self.number = number
        self.session = session
        self.state = TransactionState.DECLARING
        self.txn_id: bytes = b""
        self.failed: Refused | None = None
        """Why it cannot be committed any more."""
        self.enlisted: list[Callable[[], None]] = []
        """Called at its commit: each forgets deliveries of one receiver."""
        self._parked: deque[Callable[[], None]] = deque()
        self._unanswered = 0
        self._end: Callable[[], None] | None = None

    @property
    def over(self) -> bool:
        """Whether it was committed or backed out."""
        return self.state is TransactionState.OVER or self.failed is not None

    def when_declared(self, job: Callable[[], None]) -> None:
        """Do something now, or once the unit has its id or has failed."""
        if self.state is TransactionState.DECLARING or (
            self.state is TransactionState.ENDING and not self.txn_id and not self.failed
        ):
            self._parked.append(job)
        else:
            job()

    def declared(self, txn_id: bytes) -> None:
        """The coordinator has given the unit its id."""
        self.txn_id = txn_id
        self._go_on(TransactionState.ACTIVE)

    def refuse(self, why: Refused) -> None:
        """The unit has failed: nothing of it will last."""
        self.failed = self.failed or why
        self._go_on(TransactionState.OVER)

    def sending(self) -> None:
        """A message of the unit is on its way."""
        self._unanswered += 1

    def answered(self) -> None:
        """A message of the unit has been answered."""
        self._unanswered -= 1
        self._end_if_ready()

    def end(self, discharge: Callable[[], None]) -> bool:
        """Discharge the unit once nothing of it is open; False when its end was asked for before."""
        if self.failed is None and self.state not in _ENDABLE:
            return False
        self.state = _ENDABLE.get(self.state, self.state)
        self._end = discharge
        self.when_declared(self._end_if_ready)
        return True

    def give_up(self) -> str:
        """Its end has taken too long; where the broker was not asked for it yet, it will not be."""
        if self._end is None:
            return UNKNOWN
        self._end = None
        return "messages of the unit of work wait for their answers, and the broker was not asked to end it"

    def _go_on(self, state: TransactionState) -> None:
        if self.state is TransactionState.DECLARING:
            self.state = state
        parked, self._parked = self._parked, deque()
        for job in parked:
            job()

    def _end_if_ready(self) -> None:
        if self._end is not None and self._unanswered == 0:
            end, self._end = self._end, None
            self.state = TransactionState.DISCHARGING
            end()


class Coordinator(RequestLink):
    """A session's link to the transaction coordinator.

    Args:
        context: The connection.
        engine: Proton's link.
        session: The session that it belongs to.
    """

    def __init__(self, context: LinkContext, engine: Sender, *, session: int) -> None:
        super().__init__(context, engine, session=session, what="units of work", rejected=_LOST)

    def declare(self, unit: Transaction, token: int) -> None:
        """Begin a unit of work."""

        def answer(delivery: Delivery | None, why: Refused | None) -> None:
            if delivery is not None and int(delivery.remote_state) == DECLARED and delivery.remote.data:
                unit.declared(bytes(delivery.remote.data[0]))
                self.answers.done(token)
                if unit.failed is not None:  # it was given up meanwhile
                    self.ask(EngineDescribed(ulong(_DISCHARGE), [unit.txn_id, True]), _nobody_waits)
                return
            refusal_ = why or Refused(
                JmsErrorKind.MESSAGING, "the broker answered the begin of a unit of work with no id"
            )
            unit.refuse(refusal_)
            self.answers.fail(token, refusal_)

        def give_up() -> str:
            unit.refuse(Refused(JmsErrorKind.MESSAGING, "the broker did not begin the unit of work in time"))
            return "there is no unit of work"

        self.answers.at_limit(token, give_up)
        self.ask(EngineDescribed(ulong(_DECLARE), [None]), answer)

    def discharge(self, unit: Transaction, token: int, *, fail: bool) -> None:
        """End a unit of work: commit it, or back it out."""
        gone = unit.failed or (None if self.usable else self._why)
        if gone is not None:  # the broker has backed it out already (4.2)
            unit.state = TransactionState.OVER
            if fail:
                self.answers.done(token)
            else:
                self.answers.fail(token, _rolled_back(gone))
            return

        def answer(delivery: Delivery | None, why: Refused | None) -> None:
            unit.state = TransactionState.OVER
            if why is None and delivery is not None and int(delivery.remote_state) == int(Delivery.ACCEPTED):
                if not fail:
                    for forget in unit.enlisted:
                        forget()
                self.answers.done(token)
            else:
                text = "the broker did not say that it took the end of a unit of work"
                self.answers.fail(token, why or Refused(JmsErrorKind.MESSAGING, text))

        self.ask(EngineDescribed(ulong(_DISCHARGE), [unit.txn_id, fail]), answer)

    def has_terminus(self) -> bool:
        """The peer's coordinator."""
        return bool(self.engine.remote_target.type == Terminus.COORDINATOR)


def _nobody_waits(_delivery: Delivery | None, _why: Refused | None) -> None:
    """The answer to a discharge that nobody asked for."""


_LOST = JmsErrorKind.TRANSACTION_ROLLED_BACK


def _rolled_back(why: Refused) -> Refused:
    return Refused(_LOST, f"the unit of work was rolled back: {why.text}", mqrc=why.mqrc, objects=why.objects)
