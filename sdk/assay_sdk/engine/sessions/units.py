"""Local units of work of a transacted session.

The session begins a unit of work at the first send or delivery (JMS 2.0, 6.2.7).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay_sdk.driver import Begin, Commit, Done, Enlist, Outcome, Rollback
from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.operations import Operation, Wait, result_of, unbroken
from assay_sdk.engine.ports import ConnectionPort
from assay_sdk.engine.states import UNIT, Act, Machine, UnitEvent, UnitState
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.observer import Settled, UnitTurned


class InDoubtError(RefusedError):
    """The error for a commit or rollback that the broker may have carried out, because it did not answer in time."""


class UnitOfWork:
    """The local units of work of one session, of which at most one is active at a time.

    Args:
        connection: Connection of the session.
        session: Number of the session.
    """

    def __init__(self, connection: ConnectionPort, session: int) -> None:
        self._connection = connection
        self._session = session
        self._machine: Machine[UnitState, UnitEvent] = Machine(UNIT, UnitState.NONE, "the unit of work")
        self._number = 0
        self._turned: Pending[None] = Pending()
        self._refused: RefusedError | None = None
        self._enlisting: list[Pending[Done]] = []
        """Pending answers about deliveries that were enlisted in the current unit of work."""

    @property
    def state(self) -> UnitState:
        """State of the current unit of work."""
        return self._machine.state

    def need(self) -> Operation[int]:
        """Begin a unit of work, unless one is active.

        Returns:
            Number of the active unit of work.

        Raises:
            RefusedError: The broker refuses to begin a unit of work, or the connection is lost.
        """
        act = yield from self._ask(UnitEvent.NEED)
        if act is Act.GO:
            self._number = number = self._connection.next_number()
            self._refused = None
            self._enlisting.clear()
            try:
                begun = self._connection.submit(lambda token: Begin(token, self._session, number))
                yield from unbroken(result_of(begun))
            except (RefusedError, GeneratorExit):
                self._take(UnitEvent.REFUSED)
                raise
            self._take(UnitEvent.BEGUN)
            self._connection.observe(UnitTurned(number, "begin"))
        return self._number

    def enlist(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Accept deliveries of one consumer in the unit of work; if the broker refuses, `commit` raises the refusal."""
        number = self._number
        link = deliveries[0].consumer.number
        numbers = tuple(delivery.number for delivery in deliveries)
        for delivery in deliveries:
            self._connection.observe(Settled(delivery.handed(), Outcome.ACCEPTED, number))
        answer = self._connection.submit(lambda token: Enlist(token, link, numbers, number))
        answer.then(lambda: self._note(answer.error))
        self._enlisting.append(answer)

    def commit(self) -> Operation[bool]:
        """Commit the active unit of work.

        Returns:
            Whether a unit of work was active; otherwise the call does nothing.

        Raises:
            InDoubtError: The broker did not answer the commit in time.
            RefusedError: The broker rolled the unit of work back instead, or refused the commit
                (`transaction-rolled-back`), or the connection was lost during the commit (`connection-lost`).
        """
        if (yield from self._ask(UnitEvent.COMMIT)) is not Act.GO:
            return False
        number = self._number
        for answer in self._enlisting:  # the broker may still refuse to enlist a delivery
            if not answer.done:
                yield Wait(answer)
        if self._refused is not None:
            # A commit would be incomplete: the broker would redeliver a message that it did not enlist.
            yield from self._end_in_vain(number)
            raise RefusedError(_rolled_back(self._refused))
        try:
            yield from self._end(number, Commit)
        except RefusedError as error:
            raise _in_doubt(error) or RefusedError(_rolled_back(error)) from error
        self._connection.observe(UnitTurned(number, "commit"))
        return True

    def rollback(self) -> Operation[bool]:
        """Roll back the active unit of work.

        Returns:
            Whether a unit of work was active; otherwise the call does nothing.

        Raises:
            InDoubtError: The broker did not answer the rollback in time.
            RefusedError: The broker refuses the rollback, or the connection was lost during the rollback.
        """
        if (yield from self._ask(UnitEvent.ROLLBACK)) is not Act.GO:
            return False
        number = self._number
        try:
            yield from self._end(number, Rollback)
        except RefusedError as error:
            if doubt := _in_doubt(error):
                raise doubt from error
            raise
        self._connection.observe(UnitTurned(number, "rollback"))
        return True

    def lose(self) -> None:
        """Forget the active unit of work, which the broker rolls back because the session has ended."""
        self._take(UnitEvent.LOSE)

    def _end_in_vain(self, number: int) -> Operation[None]:
        """Roll back a unit of work that cannot be committed; only a lost connection is an error."""
        try:
            yield from self._end(number, Rollback)
        except RefusedError as error:
            if error.refused.kind is JmsErrorKind.CONNECTION_LOST:
                raise
        else:
            self._connection.observe(UnitTurned(number, "rollback"))

    def _end(self, number: int, how: type[Commit | Rollback]) -> Operation[None]:
        try:
            yield from unbroken(result_of(self._connection.submit(lambda token: how(token, number))))
        finally:
            self._take(UnitEvent.ENDED)

    def _ask(self, event: UnitEvent) -> Operation[Act]:
        act = self._machine.take(event)
        while act is Act.WAIT:
            yield Wait(self._turned)
            act = self._machine.take(event)
        return act

    def _take(self, event: UnitEvent) -> None:
        self._machine.take(event)
        turned, self._turned = self._turned, Pending()
        turned.resolve(None)

    def _note(self, error: Exception | None) -> None:
        if isinstance(error, RefusedError) and self._refused is None:
            self._refused = error


def _in_doubt(error: RefusedError) -> InDoubtError | None:
    return InDoubtError(error.refused) if error.refused.mqrc == Mqrc.CALL_INTERRUPTED else None


def _rolled_back(error: RefusedError) -> Refused:
    refused = error.refused
    if refused.kind in {JmsErrorKind.CONNECTION_LOST, JmsErrorKind.TRANSACTION_ROLLED_BACK}:
        return refused
    return msgspec.structs.replace(
        refused,
        kind=JmsErrorKind.TRANSACTION_ROLLED_BACK,
        mqrc=None if refused.mqrc == Mqrc.CALL_INTERRUPTED else refused.mqrc,
        text=f"the unit of work was rolled back instead of committed: {refused.text}",
    )
