"""Local units of work over the transaction coordinator (OASIS AMQP 1.0, part 4).

The client declares a unit of work over a link to the coordinator, and discharges it over the same link.  Transfers and
dispositions contain the unit's id in their transactional state, so they wait until the coordinator has sent this id.  A
discharge waits until the broker has answered all messages of the unit, because the broker may process messages and the
discharge in any order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import StrEnum

from proton import Delivery, Sender, Terminus, ulong
from proton import Described as EngineDescribed

from assay_sdk.drivers.amqp.errors import Condition
from assay_sdk.drivers.amqp.links.ends import LinkContext, LinkState
from assay_sdk.drivers.amqp.links.names import DECLARED
from assay_sdk.drivers.amqp.links.requests import RequestLink
from assay_sdk.drivers.answers import UNKNOWN, GivenUp
from assay_sdk.model.reasons import JmsErrorKind, Refused

_DECLARE, _DISCHARGE = 0x31, 0x32
_NOT_FOUND = "amqp:not-found"


class TransactionState(StrEnum):
    """The state of a unit of work, from its declaration to its end."""

    DECLARING = "declaring"
    """The coordinator has not given the unit an id yet."""
    ACTIVE = "active"
    ENDING = "ending"
    """The engine has requested the end, which waits for the unit's id, or for the outcomes of the unit's messages."""
    DISCHARGING = "discharging"
    """The client has sent the discharge, and waits for its outcome."""
    OVER = "over"


_ENDABLE: Mapping[TransactionState, TransactionState] = {
    TransactionState.DECLARING: TransactionState.ENDING,
    TransactionState.ACTIVE: TransactionState.ENDING,
}


class Transaction:
    """One local unit of work.

    Args:
        number: Number of the unit of work in the SDK's engine.
        session: Number of the session.
    """

    def __init__(self, number: int, session: int) -> None:
        self.number = number
        self.session = session
        self.state = TransactionState.DECLARING
        self.txn_id: bytes = b""
        self.failed: Refused | None = None
        """The reason why the unit of work can only be rolled back; None if it can be committed."""
        self.enlisted: list[Callable[[], None]] = []
        """Called at the commit: each function forgets deliveries of one receiver."""
        self._parked: deque[Callable[[], None]] = deque()
        self._unanswered = 0
        self._end: Callable[[], None] | None = None

    @property
    def over(self) -> bool:
        """Whether the unit of work has ended or failed."""
        return self.state is TransactionState.OVER or self.failed is not None

    def when_declared(self, job: Callable[[], None]) -> None:
        """Run a job when the coordinator has given the unit of work an id or has refused it.

        If the coordinator has answered already, the job runs at once.
        """
        if self.state is TransactionState.DECLARING or (
            self.state is TransactionState.ENDING and not self.txn_id and not self.failed
        ):
            self._parked.append(job)
        else:
            job()

    def declared(self, txn_id: bytes) -> None:
        """Set the id that the coordinator has given to the unit, and run the waiting jobs."""
        self.txn_id = txn_id
        self._go_on(TransactionState.ACTIVE)

    def refuse(self, why: Refused) -> None:
        """Mark the unit as failed, so that it can only be rolled back, and run the waiting jobs."""
        self.failed = self.failed or why
        self._go_on(TransactionState.OVER)

    def sending(self) -> None:
        """Count one more message of the unit that the broker has not answered."""
        self._unanswered += 1

    def answered(self) -> None:
        """Count one message of the unit as answered; if the unit's end waited only for it, discharge the unit."""
        self._unanswered -= 1
        self._end_if_ready()

    def end(self, discharge: Callable[[], None]) -> bool:
        """Discharge the unit when all its messages have outcomes.

        Args:
            discharge: Sends the discharge.

        Returns:
            False if the end of the unit was requested before.
        """
        if self.failed is None and self.state not in _ENDABLE:
            return False
        self.state = _ENDABLE.get(self.state, self.state)
        self._end = discharge
        self.when_declared(self._end_if_ready)
        return True

    def give_up(self) -> GivenUp:
        """Handle the timeout of a commit or rollback; if the discharge still waits, the unit can only be rolled back.

        Returns:
            What the client has done, and whether the command has no effect.
        """
        if self._end is None:
            return UNKNOWN
        self._end = None
        self.refuse(
            Refused(JmsErrorKind.MESSAGING, "the broker did not answer all messages of the unit of work in time")
        )
        return GivenUp("the broker has not answered all messages of the unit of work, so the client rolls it back")

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
        context: Connection of the link.
        engine: Proton's link.
        session: Number of the session.
    """

    def __init__(self, context: LinkContext, engine: Sender, *, session: int) -> None:
        super().__init__(context, engine, session=session, what="units of work", rejected=_LOST)
        self._attached: Callable[[Refused | None], None] | None = None

    def when_attached(self, job: Callable[[Refused | None], None]) -> None:
        """Call a function once, when the broker has attached or refused the link.

        Args:
            job: Called with the refusal; with None if the broker has attached the link.
        """
        if self.state is LinkState.OPEN:
            job(None)
        elif not self.usable:
            job(self._why)
        else:
            self._attached = job

    def opened(self) -> None:
        """Report that the link is attached, and send waiting requests."""
        self._tell_attached(None)
        super().opened()

    def ended(self, why: Refused) -> None:
        """Call the functions of unanswered requests, and the function that `when_attached` has kept, with a refusal."""
        super().ended(why)
        self._tell_attached(why)

    def refused(self, condition: Condition | None) -> Refused:
        """Return the link's refusal.

        Its kind is UNSUPPORTED for the condition "not found", by which IBM MQ says that it has no coordinator.
        """
        why = super().refused(condition)
        if condition is not None and condition.name == _NOT_FOUND:
            return Refused(JmsErrorKind.UNSUPPORTED, why.text)
        return why

    def declare(self, unit: Transaction, token: int) -> None:
        """Declare a unit of work, and answer the token when the coordinator has given the unit an id."""

        def answer(delivery: Delivery | None, why: Refused | None) -> None:
            if delivery is not None and int(delivery.remote_state) == DECLARED and delivery.remote.data:
                unit.declared(bytes(delivery.remote.data[0]))
                self.answers.done(token)
                if unit.failed is not None:  # the declaration had timed out, so the unit is not used
                    self._roll_back(unit)
                return
            refusal_ = why or Refused(
                JmsErrorKind.MESSAGING, "the broker answered the begin of a unit of work without an id"
            )
            unit.refuse(refusal_)
            self.answers.fail(token, refusal_)

        def give_up() -> GivenUp:
            unit.refuse(Refused(JmsErrorKind.MESSAGING, "the broker did not begin the unit of work in time"))
            return GivenUp("the unit of work has not begun")

        self.answers.at_limit(token, give_up)
        self.ask(EngineDescribed(ulong(_DECLARE), [None]), answer)

    def give_up_unit(self, unit: Transaction) -> GivenUp:
        """Handle the timeout of a commit or rollback; roll the unit of work back if its discharge was not sent yet.

        Returns:
            What the client has done, and whether the command has no effect.
        """
        given_up = unit.give_up()
        if given_up.certain and unit.txn_id:
            self._roll_back(unit)
        return given_up

    def _roll_back(self, unit: Transaction) -> None:
        """Discharge a unit of work that no command ends, as failed."""
        self.ask(EngineDescribed(ulong(_DISCHARGE), [unit.txn_id, True]), _ignore_answer)

    def discharge(self, unit: Transaction, token: int, *, fail: bool) -> None:
        """Discharge a unit of work, and answer the token with the outcome.

        Args:
            unit: The unit of work.
            token: Token of the `Commit` or `Rollback` command.
            fail: Whether to roll back; otherwise the unit is committed.
        """
        gone = unit.failed or (None if self.usable else self._why)
        if gone is not None:  # the broker has rolled the unit back already (AMQP 1.0, 4.2)
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
                text = "the broker did not accept the end of a unit of work"
                self.answers.fail(token, why or Refused(JmsErrorKind.MESSAGING, text))

        self.ask(EngineDescribed(ulong(_DISCHARGE), [unit.txn_id, fail]), answer)

    def has_terminus(self) -> bool:
        """Return whether the broker's attach has a coordinator."""
        return bool(self.engine.remote_target.type == Terminus.COORDINATOR)

    def _tell_attached(self, why: Refused | None) -> None:
        job, self._attached = self._attached, None
        if job is not None:
            job(why)


def _ignore_answer(_delivery: Delivery | None, _why: Refused | None) -> None:
    """Ignore the answer to a discharge that the client sends without a command."""


_LOST = JmsErrorKind.TRANSACTION_ROLLED_BACK


def _rolled_back(why: Refused) -> Refused:
    return Refused(_LOST, f"the unit of work was rolled back: {why.text}", mqrc=why.mqrc, objects=why.objects)
