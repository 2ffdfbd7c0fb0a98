"""The work of a session in XA mode: sends and deliveries within branches of XA transactions.

Such a session sends and delivers messages only between `XaResource.start` and `XaResource.end`, because at other times
a message would belong to no unit of work.  When the client delivers a message, it accepts the message in the branch at
once, and then keeps no record of it: another client may commit the branch or roll it back.  After a rollback, the
broker delivers the message again.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay_sdk.driver import Begin, Done, EndXa, Enlist, Outcome
from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.engine.ports import ConnectionPort
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, xa_refused
from assay_sdk.observer import Settled, UnitTurned


class BranchWork:
    """The work of one session in branches, of which at most one is active at a time.

    Args:
        connection: Connection of the session.
        session: Number of the session.
    """

    def __init__(self, connection: ConnectionPort, session: int) -> None:
        self.xid: bytes | None = None
        """Encoded xid of the branch in which the session works; None outside a branch."""
        self._connection = connection
        self._session = session
        self._number = 0
        self._enlisting: list[Pending[Done]] = []

    def need(self) -> Operation[int]:
        """Return the number by which sends and deliveries name the branch.

        Raises:
            RefusedError: The session works in no branch.
        """
        yield from ()
        if self.xid is None:
            text = "the session is in no branch of a global unit of work: start one with the session's XA resource"
            raise RefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, text))
        return self._number

    def enlist(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Accept deliveries of one consumer in the branch; if the broker refuses, `end` raises the refusal."""
        number, link = self._number, deliveries[0].consumer.number
        numbers = tuple(delivery.number for delivery in deliveries)
        for delivery in deliveries:
            self._connection.observe(Settled(delivery.handed(), Outcome.ACCEPTED, self.xid))
        self._enlisting.append(self._connection.submit(lambda token: Enlist(token, link, numbers, number)))

    def start(self, xid: bytes, how: XaStart) -> Operation[None]:
        """Start the session's work in a branch.

        Args:
            xid: Encoded xid of the branch.
            how: Whether the branch is new, joined, or resumed.

        Raises:
            RefusedError: The session works in a branch already, or the broker refuses the call.
        """
        if self.xid is not None:
            why = f"the session works in the branch {self.xid.hex().upper()}: end this branch first."
            raise RefusedError(xa_refused(XaCode.XAER_PROTO, why))
        number = self._connection.next_number()
        yield from result_of(self._connection.submit(lambda token: Begin(token, self._session, number, xid, how)))
        self.xid, self._number = xid, number
        self._enlisting.clear()
        self._connection.observe(UnitTurned(xid, "begin"))

    def end(self, xid: bytes, how: XaEnd) -> Operation[None]:
        """End the session's work in a branch.

        Args:
            xid: Encoded xid of the branch.
            how: Whether the work succeeded, failed, or is suspended.

        Raises:
            RefusedError: The broker refuses the call.  Or the broker did not make a delivered message part of the
                branch; the branch can then only be rolled back.
        """
        if self.xid == xid:
            self.xid = None
        refused = yield from self._refusal()
        kind = how if refused is None else XaEnd.FAIL
        yield from result_of(self._connection.submit(lambda token: EndXa(token, xid, kind)))
        if refused is not None:
            why = f"a delivery could not be made part of the branch, which can only be rolled back: {refused.text}"
            raise RefusedError(xa_refused(XaCode.XA_RBROLLBACK, why))

    def lose(self) -> None:
        """Forget the branch, because the session has ended."""
        self.xid = None

    def _refusal(self) -> Operation[Refused | None]:
        """Wait for the answers about all deliveries of the branch.

        Returns:
            The first refusal; None if the broker has made every message part of the branch.
        """
        enlisting, self._enlisting = self._enlisting, []
        first: Refused | None = None
        for answer in enlisting:
            if not answer.done:
                yield Wait(answer)
            if isinstance(answer.error, RefusedError) and first is None:
                first = answer.error.refused
        return first
